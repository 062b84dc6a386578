"""Regions out of a table: its forms, whose they are, and what is said of a bad one."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.errors import InputError, SettingError
from fabula.core.model import Detector, Picture, Region
from fabula.models import load_model, need
from fabula.models.boxes import load

SIZES = """image_id,x,y,w,h,label,confidence
dog.jpg,10,20,30,40,dog,0.5
dog.jpg,0,0,50,50,"a dog, running",0.9
cat,1.5,2,3e1,4,,
nothing,,,,,,
"""


def picture(name: str, width: int = 100, height: int = 80) -> Picture:
    return Picture(name, width, height, name, np.zeros((height, width, 3), np.uint8))


def table(folder: Path, text: str, name: str = "regions.csv") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_regions_go_to_the_picture_of_their_name_surest_first(tmp_path: Path) -> None:
    model = need(load_model(f"boxes({table(tmp_path, SIZES)!r})"), Detector)
    pictures = [picture("photos/dog.jpg"), picture("cat.png"), picture("nothing.gif")]
    dog, cat, nothing = model.detect(pictures)
    assert dog == [
        Region((0, 0, 50, 50), "a dog, running", 0.9),
        Region((10, 20, 30, 40), "dog", 0.5),
    ]
    assert cat[0].box == (1.5, 2, 30, 4)
    assert cat[0].label == ""
    assert math.isnan(cat[0].confidence)
    assert nothing == []
    assert model.labels == ("a dog, running", "dog")


def test_ten_are_given_of_many_in_the_order_of_the_file(tmp_path: Path) -> None:
    rows = "".join(f"a,{at * 5},0,4,4,{at}\n" for at in range(15))
    model = load(table(tmp_path, f"image_id,x,y,w,h,label\n{rows}"))
    [found] = model.detect([picture("a.jpg")])
    assert [region.label for region in found] == [str(at) for at in range(10)]
    assert len(model.detect([picture("a.jpg")], most=3)[0]) == 3


@pytest.mark.parametrize("told", ['"10,20,40,60"', '"[10, 20, 40.0, 60]"', "10_20_40_60"])
def test_a_bbox_of_corners_is_read_however_it_is_spelled(told: str, tmp_path: Path) -> None:
    text = f"image_id,bbox,noun_phrase\n77,{told},two dogs\n77,_whole_img,all of it\n"
    [found] = load(table(tmp_path, text)).detect([picture("77.jpg")])
    assert found == [
        Region((10, 20, 30, 40), "two dogs", found[0].confidence),
        Region((0, 0, 100, 80), "all of it", found[1].confidence),
    ]


def test_a_bbox_may_hold_sizes(tmp_path: Path) -> None:
    file = table(tmp_path, "image_id\tbbox\tscore\n77\t1 2 30 40\t.25\n", "boxes.tsv")
    [found] = load(file, bbox="sizes").detect([picture("77.jpg")])
    assert found == [Region((1, 2, 30, 40), "", 0.25)]
    assert load(file, bbox="sizes").signature != load(file).signature


def test_boxes_are_cut_to_the_picture(tmp_path: Path) -> None:
    file = table(tmp_path, "image_id,x,y,w,h\na,-10,-10,500,20\na,300,0,5,5\n")
    [found] = load(file).detect([picture("a")])
    assert [region.box for region in found] == [(0, 0, 100, 10)]


def test_a_picture_that_is_not_named_is_an_error_that_says_what_names_are(tmp_path: Path) -> None:
    model = load(table(tmp_path, SIZES))
    with pytest.raises(InputError, match=r"regions\.csv names no picture bird; image_id is"):
        model.detect([picture("bird.jpg")])


def test_the_signature_goes_by_what_the_file_holds(tmp_path: Path) -> None:
    one, same = load(table(tmp_path, SIZES)), load(table(tmp_path, SIZES))
    assert one.signature == same.signature
    assert str(tmp_path) not in one.signature
    assert load(table(tmp_path, SIZES.replace("0.9", "0.8"))).signature != one.signature


BAD = {
    "no column": ("image_id,x,y,w\n", "no column h; name the columns image_id"),
    "nothing": ("", "no column image_id"),
    "no number": ("image_id,x,y,w,h\na,1,2,3,four\n", "line 2: h is 'four'"),
    "half a box": ("image_id,x,y,w,h\na,1,2,3,\n", "line 2: h is ''"),
    "not finite": ("image_id,x,y,w,h\na,1,2,3,1e999\n", "line 2: h is '1e999'"),
    "no width": ("image_id,x,y,w,h\na,1,2,0,4\n", "line 2: a box 0 wide"),
    "no name": ("image_id,x,y,w,h\n,1,2,3,4\n", "line 2: there is no image_id"),
    "three numbers": ("image_id,bbox\na,1 2 3\n", "'1 2 3' is not four numbers"),
    "turned corners": ("image_id,bbox\na,50 50 10 10\n", "a box -40 wide"),
    "confidence": ("image_id,x,y,w,h,confidence\na,1,2,3,4,high\n", "confidence is 'high'"),
    "open quote": ('image_id,x,y,w,h\n"a,1,2,3,4\n', "write it as CSV again"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_table_is_one_line_that_names_file_and_row(name: str, tmp_path: Path) -> None:
    text, told = BAD[name]
    with pytest.raises(InputError, match=told) as caught:
        load(table(tmp_path, text))
    assert "regions.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("make", [lambda f: f, lambda f: f / "gone.csv", lambda f: "a\0b"])
def test_what_is_no_file_is_refused(make: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"image_id, x, y, w, h"):
        load(str(make(tmp_path)))


def test_another_encoding_and_another_form_are_refused(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_bytes("image_id,x,y,w,h\nn\xe9,1,2,3,4\n".encode("latin-1"))
    with pytest.raises(InputError, match="is not UTF-8"):
        load(str(tmp_path / "old.csv"))
    with pytest.raises(SettingError, match="boxes: bbox"):
        load(table(tmp_path, SIZES), bbox="centres")  # type: ignore[arg-type]
