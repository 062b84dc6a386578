from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.datasets.tables.stories import StoryFile, StoryLayout, load_stories, open_stories

Write = Callable[[str, "str | bytes"], Path]
Read = Callable[..., list[Story]]


def test_a_file_can_be_gone_through_again_and_again(write: Write) -> None:
    file = StoryFile(write("a.csv", "id,story\n1,one\n2,two\n"))
    assert list(file) == list(file) == [Story("1", "one"), Story("2", "two")]


def test_two_passes_at_once_do_not_disturb_each_other(write: Write) -> None:
    file = StoryFile(write("a.csv", "id,story\n1,one\n2,two\n"))
    assert [one.id + other.id for one, other in zip(file, file, strict=True)] == ["11", "22"]


def test_stories_without_ids_are_numbered(read: Read) -> None:
    found = read("a.jsonl", '{"text": "x"}\n\n{"text": "y"}\n')
    assert found == [Story("1", "x"), Story("2", "y")]


def test_columns_are_set_and_left_out(read: Read) -> None:
    found = read("a.csv", "n,a,b,prompt\n1,x,y,p\n", columns={"text": "b", "id": "n", "prompt": ""})
    assert found == [Story("1", "y")]


def test_a_doubled_id_names_both_rows(read: Read) -> None:
    with pytest.raises(InputError, match=r"a\.csv, line 4: id '1' .* story 1"):
        read("a.csv", "id,text\n1,x\n2,y\n1,z\n")


def test_a_number_and_a_string_that_look_alike_are_the_same_id(read: Read) -> None:
    with pytest.raises(InputError, match="line 2: id '1'"):
        read("a.jsonl", '{"id": 1, "text": "x"}\n{"id": "1", "text": "y"}\n')


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", ""),
        ("a.jsonl", "\n \n\n"),
        ("a.csv", ""),
        ("a.csv", "id,text\n"),
        ("a.json", "[]"),
    ],
)
def test_a_file_without_stories_is_named(read: Read, name: str, content: str) -> None:
    with pytest.raises(InputError, match=rf"{name}: holds no stories"):
        read(name, content)


@pytest.mark.parametrize("part", ["references", "system", "prompt"])
def test_a_part_the_first_row_lacks_is_not_lost(read: Read, part: str) -> None:
    names = {"references": "reference"}
    later = f'{{"text": "y", "{names.get(part, part)}": "here"}}\n'
    found = read("a.jsonl", '{"text": "x"}\n' + later)
    assert getattr(found[1], part) in ("here", ("here",))


def test_systems_of_a_folder_are_known_even_if_a_file_lies_beside_them(write: Write) -> None:
    write("set/alone.txt", "x")
    folder = write("set/writer/one.txt", "y").parents[1]
    assert [story.system for story in StoryFile(folder)] == [None, "writer"]


def test_an_empty_text_file_is_an_empty_story(read: Read) -> None:
    assert read("tale.txt", "") == [Story("tale", "")]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.jsonl: no such file"):
        StoryFile(tmp_path / "nothing.jsonl")


def test_a_name_that_is_too_long_for_a_file_is_an_input_error() -> None:
    with pytest.raises(InputError):
        StoryFile("a" * 5000)


def test_a_folder_is_not_read_as_a_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a folder, not a csv file"):
        StoryFile(tmp_path, kind="csv")


def test_a_file_is_not_read_as_a_folder(write: Write) -> None:
    with pytest.raises(InputError):
        list(StoryFile(write("a.txt", "x"), kind="folder"))


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(write: Write) -> None:
    path = write("a.jsonl", '{"text": "x"}\n')
    path.chmod(0)
    with pytest.raises(InputError, match=r"a\.jsonl: cannot be read"):
        list(StoryFile(path))


def test_the_checksum_of_a_file_is_that_of_its_bytes(write: Write) -> None:
    raw = gzip.compress(b'{"text": "x"}\n')
    assert StoryFile(write("a.jsonl.gz", raw)).checksum() == hashlib.sha256(raw).hexdigest()


def test_the_checksum_of_a_folder_depends_on_names_and_texts(write: Write) -> None:
    folder = write("set/a/1.txt", "x").parents[1]
    first = StoryFile(folder).checksum()
    write("set/notes.csv", "no story")
    assert StoryFile(folder).checksum() == first
    write("set/a/1.txt", "y")
    second = StoryFile(folder).checksum()
    (folder / "a" / "1.txt").rename(folder / "a" / "2.txt")
    assert len({first, second, StoryFile(folder).checksum()}) == 3


def test_a_text_file_is_one_story_and_a_table_or_folder_several(write: Write) -> None:
    text = write("set/tale.txt", "\ufeffOnce.\r\nTwice.")
    assert load_stories(str(text), prompt="p") == [Story("tale", "Once.\nTwice.", "p")]
    assert [story.text for story in load_stories(str(text.parent))] == ["Once.\r\nTwice."]
    table = write("a.csv.gz", gzip.compress(b"id,story\n1,one\n2,two\n"))
    assert load_stories(str(table)) == [Story("1", "one"), Story("2", "two")]


@pytest.mark.parametrize(
    ("raw", "encoding", "problem"),
    [
        (b"", "utf-8", "holds no text"),
        (b"\x7fELF\0", "utf-8", "no text but binary data"),
        (b"one\ncaf\xe9", "utf-8", "line 2, byte 4: not utf-8 text"),
        (b"one", "nope", "no encoding is called 'nope'"),
    ],
)
def test_what_is_no_text_is_refused(write: Write, raw: bytes, encoding: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        load_stories(str(write("tale.md", raw)), encoding=encoding)


def test_an_encoding_that_is_unknown_is_refused_for_whole_texts_too(write: Write) -> None:
    with pytest.raises(InputError, match="no encoding is called 'nope'"):
        list(StoryFile(write("tale.txt", "once"), encoding="nope"))


def test_a_data_set_is_opened_by_its_name_and_a_file_by_its_layout(write: Write) -> None:
    with open_stories("examples", StoryLayout()) as stories:
        assert stories.label == "examples" and sum(1 for _ in stories) == 56
    table = write("a.data", "n;story\n".replace(";", "\t") + "1\tone\n")
    with open_stories(str(table), StoryLayout("tsv", {"id": "n"})) as stories:
        assert list(stories) == [Story("1", "one")]
    with (
        pytest.raises(InputError, match="no such file or data set; check it; data sets: coauthor"),
        open_stories("nowhere", StoryLayout()),
    ):
        pass
