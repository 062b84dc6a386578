"""Pictures of stories: in a field of a table, or beside the text in a folder."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from fabula.core.errors import InputError
from fabula.datasets.tables.stories import StoryFile, StoryLayout, load_stories, open_stories


def touch(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"The text of {name}." if name.endswith(".txt") else "")


def images_of(path, **settings):
    return [story.images for story in StoryFile(path, **settings)]


def test_names_in_a_table_are_relative_to_its_folder_from_wherever_one_is(tmp_path, monkeypatch):
    rows = [{"text": "a", "images": ["p/1.jpg", "p/2.jpg"]}, {"text": "b", "images": "p/3.jpg"}]
    table = tmp_path / "data" / "stories.jsonl"
    table.parent.mkdir()
    table.write_text("\n".join(map(json.dumps, rows)))
    whole = [tuple(str(table.parent / "p" / f"{n}.jpg") for n in (1, 2))]
    assert images_of(table)[:1] == whole
    monkeypatch.chdir(tmp_path)
    assert images_of("data/stories.jsonl") == [
        ("data/p/1.jpg", "data/p/2.jpg"),
        ("data/p/3.jpg",),
    ]


def test_a_cell_of_a_csv_file_holds_several_names_or_a_folder(tmp_path):
    touch(tmp_path, "day/2.png", "day/10.png")
    table = tmp_path / "stories.csv"
    table.write_text('text,images\none,a.jpg;b.jpg\ntwo,day\nthree,\nfour,"a.jpg, b.jpg"\n')
    names = (str(tmp_path / "a.jpg"), str(tmp_path / "b.jpg"))
    day = (str(tmp_path / "day" / "2.png"), str(tmp_path / "day" / "10.png"))
    assert images_of(table) == [names, day, (), names]


def test_what_is_no_list_of_names_is_refused_with_its_row_and_field(tmp_path):
    table = tmp_path / "stories.jsonl"
    table.write_text('{"text": "a", "images": ["a.jpg"]}\n{"text": "b", "images": [1]}\n')
    with pytest.raises(InputError, match=r"stories\.jsonl, line 2: field 'images' is no string"):
        images_of(table)


def test_another_column_may_hold_them(tmp_path):
    table = tmp_path / "stories.csv"
    table.write_text("text,photos\none,a.jpg\n")
    assert images_of(table) == [()]
    assert images_of(table, columns={"images": "photos"}) == [(str(tmp_path / "a.jpg"),)]


def test_names_that_come_through_a_pipe_are_relative_to_where_one_is(monkeypatch):
    line = json.dumps({"text": "a", "images": ["p/1.jpg"]}).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(line)))
    with open_stories("-", StoryLayout()) as file:
        assert [story.images for story in file] == [("p/1.jpg",)]


class TestFolders:
    """A folder per story: a text and its pictures."""

    def test_the_folder_is_the_story_and_the_one_around_it_the_system(self, tmp_path):
        touch(tmp_path, "ann/monday/tale.txt", "ann/monday/10.jpg", "ann/monday/9.jpg")
        touch(tmp_path, "bob/monday/story.txt", "bob/monday/a.jpg", "sunday/it.txt", "sunday/1.gif")
        stories = {story.id: story for story in StoryFile(tmp_path)}
        assert set(stories) == {"ann/monday", "bob/monday", "sunday"}
        monday = stories["ann/monday"]
        assert (monday.item, monday.system) == ("monday", "ann")
        assert [Path(name).name for name in monday.images] == ["9.jpg", "10.jpg"]
        assert (stories["sunday"].item, stories["sunday"].system) == ("sunday", None)

    def test_one_story_and_its_pictures_are_a_folder_by_themselves(self, tmp_path):
        touch(tmp_path, "tale.txt", "1.jpg", "2.jpg")
        [story] = load_stories(str(tmp_path))
        assert (story.id, story.system) == ("tale", None)
        assert story.images == (str(tmp_path / "1.jpg"), str(tmp_path / "2.jpg"))

    def test_pictures_beside_several_texts_belong_to_none(self, tmp_path):
        touch(tmp_path, "a.txt", "b.txt", "cover.jpg")
        told: list[str] = []
        stories = list(StoryFile(tmp_path, say=told.append))
        assert [(story.id, story.images) for story in stories] == [("a", ()), ("b", ())]
        assert any("belong to none" in line for line in told)

    def test_texts_without_pictures_are_read_as_ever(self, tmp_path):
        touch(tmp_path, "ann/1.txt", "bob/1.txt")
        assert [
            (story.id, story.item, story.system, story.images) for story in StoryFile(tmp_path)
        ] == [
            ("ann/1", "1", "ann", ()),
            ("bob/1", "1", "bob", ()),
        ]
