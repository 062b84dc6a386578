from __future__ import annotations

import json

import numpy as np
import pytest

from fabula.core.errors import InputError
from fabula.learned.training.regions import read_regions, strip_phrase
from fabula.models import PictureReader

Image = pytest.importorskip("PIL.Image")


def draw(path, size=(8, 6), colour=(255, 0, 0)):
    Image.new("RGB", size, colour).save(path)


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_phrase_is_left_without_its_stop_words():
    assert strip_phrase("The two dogs of a Man") == "two dogs man"


def test_rows_name_files_beside_the_table_and_boxes_in_them(tmp_path):
    draw(tmp_path / "a.png")
    rows = [
        {"file": "a.png", "noun": "Dog", "x": 2, "y": 1, "w": 3, "h": 4},
        {"image": "a.png", "phrase": "a cat", "box": [0, 0, 8, 6]},
        {"crop": "a.png", "noun": "hat"},
        {"crop": "a.png", "noun": "hat"},
        {"crop": "a.png", "noun": "the"},
    ]
    table = read_regions(write(tmp_path / "r.jsonl", rows), held_out=0.0)
    assert [region.phrase for region in table.train] == ["dog", "cat", "hat"]
    assert table.train[0].cut(PictureReader()).shape == (4, 3, 3)
    assert table.train[2].cut(PictureReader()).shape == (6, 8, 3)
    assert table.counts == {"doubled": 1, "without a word": 1, "to learn from": 3, "held out": 0}


def test_the_layout_of_flickr30k_entities_is_read_as_it_is(tmp_path):
    crops = tmp_path / "crops"
    crops.mkdir()
    draw(crops / "36_10_20_30_40.jpg", (20, 20))
    draw(crops / "36_whole_img.jpg", (50, 40))
    draw(crops / "37.jpg", (50, 40))
    table = tmp_path / "entities.csv"
    table.write_text(
        "image_id,bbox,noun_phrase\n36,10_20_30_40,a brown dog\n36,_whole_img,the park\n"
        '37,"[5, 5, 15, 25]",a tree\n'
    )
    read = read_regions(table, crops, held_out=0.0).train
    shapes = [region.cut(PictureReader()).shape[:2] for region in read]
    assert [region.phrase for region in read] == ["brown dog", "park", "tree"]
    assert shapes == [(20, 20), (40, 50), (20, 10)]


def test_regions_of_one_picture_are_held_out_together(tmp_path):
    draw(tmp_path / "a.png")
    rows = [
        {"crop": "a.png", "noun": f"noun{n}", "image": f"p{n % 10}", "source": "s"}
        for n in range(40)
    ]
    table = read_regions(write(tmp_path / "r.jsonl", rows), held_out=0.3, seed=1)
    apart = [{region.source for region in part} for part in (table.train, table.held_out)]
    assert [len(sources) for sources in apart] == [7, 3]
    assert not apart[0] & apart[1]


def test_a_table_that_tells_parts_is_taken_at_its_word(tmp_path):
    draw(tmp_path / "a.png")
    parts = ["train", "valid", "test", "train"]
    rows = [
        {"crop": "a.png", "noun": f"noun{n}", "image": str(n), "split": part}
        for n, part in enumerate(parts)
    ]
    table = read_regions(write(tmp_path / "r.jsonl", rows))
    assert [region.phrase for region in table.train] == ["noun0", "noun3"]
    assert [region.phrase for region in table.held_out] == ["noun1"]
    assert table.counts["of the test part"] == 1


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"crop": "a.png"}, "no noun"),
        ({"noun": "dog"}, "no picture"),
        ({"crop": "b.png", "noun": "dog"}, "no picture .*b.png"),
        ({"crop": "a.png", "noun": "dog", "box": "1 2 3"}, "no box"),
        ({"crop": "a.png", "noun": "dog", "box": "1 2 0 3"}, "no box"),
        ({"crop": "a.png", "noun": "dog", "split": "dev"}, "split is 'dev'"),
        ({"crop": "a.png", "noun": "of the"}, "no region to learn from"),
    ],
)
def test_a_row_that_will_not_do_is_named(tmp_path, row, problem):
    draw(tmp_path / "a.png")
    with pytest.raises(InputError, match=problem) as error:
        read_regions(write(tmp_path / "r.jsonl", [row]))
    assert "r.jsonl" in str(error.value)


def test_the_digest_goes_by_files_boxes_and_phrases(tmp_path):
    draw(tmp_path / "a.png")
    one = read_regions(write(tmp_path / "r.jsonl", [{"crop": "a.png", "noun": "dog"}]))
    two = read_regions(write(tmp_path / "r.jsonl", [{"crop": "a.png", "noun": "cat"}]))
    assert one.about["sha256"] != two.about["sha256"]
    assert np.all([len(table.about["sha256"]) == 64 for table in (one, two)])
