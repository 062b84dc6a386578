"""Pictures by their names: where they lie, in which order, and what they hold."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fabula.core.images import (
    digest_image,
    find_images,
    list_images,
    relate_images,
    split_images,
)


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("a.jpg", ["a.jpg"]),
        ("a.jpg; b.jpg ;c d.png", ["a.jpg", "b.jpg", "c d.png"]),
        ("a.jpg|b.jpg", ["a.jpg", "b.jpg"]),
        ("a.jpg\nb.jpg\n", ["a.jpg", "b.jpg"]),
        ("a.jpg, b.JPG,c.webp", ["a.jpg", "b.JPG", "c.webp"]),
        ("Rome, by night.jpg", ["Rome, by night.jpg"]),
        ("Rome, Italy.jpg; Paris, France.jpg", ["Rome, Italy.jpg", "Paris, France.jpg"]),
        ('["a;b.jpg", "c.jpg"]', ["a;b.jpg", "c.jpg"]),
        ("[1].jpg", ["[1].jpg"]),
        ("501", ["501"]),
        (" ", []),
        ("", []),
    ],
)
def test_a_cell_may_hold_several_names(cell, names):
    assert split_images(cell) == names


def test_names_are_relative_to_the_folder_of_the_file():
    folder = Path("data/week")
    assert find_images(["a.jpg", "../b.png", "/c/d.gif"], folder) == (
        "data/week/a.jpg",
        "data/b.png",
        "/c/d.gif",
    )


def test_what_names_no_file_stays_as_it_is(tmp_path):
    names = ("501", "https://example.org/a.jpg", "data:image/png;base64,xx.png", "~/a.jpg", "\0.a")
    assert find_images(names, tmp_path) == names
    assert relate_images(names, tmp_path) == [*names]
    assert find_images(["x" * 5000], tmp_path) == ("x" * 5000,)


def test_a_folder_stands_for_its_pictures_as_people_count_them(tmp_path):
    for name in ("10.jpg", "2.jpg", "1.PNG", "notes.txt", ".hidden.jpg"):
        (tmp_path / "day" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "day" / name).touch()
    names = ["1.PNG", "2.jpg", "10.jpg"]
    assert [path.name for path in list_images(tmp_path / "day")] == names
    assert find_images(["day"], tmp_path) == tuple(str(tmp_path / "day" / name) for name in names)


def test_a_run_beside_its_pictures_may_be_moved_with_them(tmp_path, monkeypatch):
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.jpg").write_bytes(b"a")
    monkeypatch.chdir(tmp_path)
    written = relate_images(["pictures/a.jpg"], Path("runs/first"))
    assert written == ["../../pictures/a.jpg"]
    assert find_images(written, Path("runs/first")) == ("pictures/a.jpg",)
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for name in ("pictures",):
        (tmp_path / name).rename(moved / name)
    [found] = find_images(written, moved / "runs" / "first")
    assert Path(found).read_bytes() == b"a"


def test_pictures_with_nothing_but_the_root_in_common_keep_their_whole_names(tmp_path):
    assert relate_images(["/nowhere/at all/a.jpg"], tmp_path) == ["/nowhere/at all/a.jpg"]


def test_a_link_to_the_folder_of_a_run_leads_nobody_astray(tmp_path):
    (tmp_path / "deep" / "runs").mkdir(parents=True)
    (tmp_path / "runs").symlink_to(tmp_path / "deep" / "runs")
    (tmp_path / "a.jpg").touch()
    [name] = relate_images([str(tmp_path / "a.jpg")], tmp_path / "runs")
    assert (tmp_path / "deep" / "runs" / name).exists()


def test_a_digest_goes_by_what_a_picture_holds(tmp_path):
    one, other = tmp_path / "a.jpg", tmp_path / "b.jpg"
    one.write_bytes(b"the sea")
    other.write_bytes(b"the sea")
    before = digest_image(str(one))
    assert digest_image(str(other)) == before
    one.write_bytes(b"the sun")
    os.utime(one, ns=(1, 1))
    assert digest_image(str(one)) != before


def test_what_is_no_file_has_a_digest_of_its_own(tmp_path):
    os.mkfifo(tmp_path / "pipe.jpg")
    names = [str(tmp_path / name) for name in ("none.jpg", "pipe.jpg", "")] + ["\0", "501"]
    assert len({digest_image(name) for name in names}) == len(names)
