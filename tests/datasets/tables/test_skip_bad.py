"""What cannot be used is named, or left out and named; folders that cannot be read as well."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import InputError
from fabula.datasets.tables.stories import StoryFile

Write = Callable[[str, "str | bytes"], Path]


def read(path: Path) -> tuple[list[str], list[str], int]:
    said: list[str] = []
    file = StoryFile(path, say=said.append, label=path.name, skip_bad=True)
    texts = [story.text for story in file]
    assert len(list(file)) == len(texts)
    return texts, said, file.left_out


ROWS = {
    "a.jsonl": ('{"text": "x"}\n{"text"\n7\n{"text": null}\n{"text": "y"}\n', 3, "line 2: not val"),
    "a.json": ('[{"text": "x"}, 7, {"text": 3}, {"text": "y"}]', 2, "story 2: not a JSON object"),
    "a.csv": ('id,text\n1,x\n2\n3,"a" b\n1,again\n5,y\n', 3, "line 3: 1 cell where the header"),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_bad_row_is_named_and_may_be_left_out(write: Write, name: str) -> None:
    content, count, words = ROWS[name]
    path = write(name, content)
    with pytest.raises(InputError, match=rf"{words}.*or leave it out with --skip-bad"):
        list(StoryFile(path))
    texts, said, left_out = read(path)
    assert (texts, left_out, len(said)) == (["x", "y"], count, 1)
    assert said[0].startswith(f"{name}: {count} left out by --skip-bad: {words}")


def test_of_many_bad_rows_the_first_few_are_named(write: Write) -> None:
    _, said, left_out = read(write("a.csv", "id,text\n1,x\n" + "2\n" * 50))
    assert left_out == 50
    assert said[0].startswith("a.csv: 50 left out by --skip-bad: line 3: ")
    assert said[0].count("; ") == 3 and said[0].endswith("; …")


def test_where_nothing_is_left_that_is_an_error_which_says_why(write: Write) -> None:
    with pytest.raises(
        InputError, match=r"holds no stories that can be used \(.*line 1: not valid"
    ):
        list(StoryFile(write("a.jsonl", "{\n{\n"), skip_bad=True))


def test_a_broken_text_of_a_folder_is_named_and_may_be_left_out(write: Write) -> None:
    write("set/a.txt", "x")
    bad = write("set/b.txt", b"\x00\x81\xff")
    (bad.parent / "gone.txt").symlink_to("nowhere")
    write("set/c.docx", b"PK no document")
    with pytest.raises(
        InputError, match=r"b\.txt, line 1, byte 2: neither .* with --skip-bad|gone"
    ):
        list(StoryFile(bad.parent))
    texts, said, left_out = read(bad.parent)
    assert (texts, left_out) == (["x"], 3)
    assert all(name in said[0] for name in ("b.txt", "c.docx", "gone.txt"))


def test_a_folder_that_may_not_be_opened_is_named(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write("set/open/a.txt", "x").parents[1]
    write("set/shut/b.txt", "y")
    scan = os.scandir

    def refuse(path: Any) -> Any:
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(InputError, match=r"shut: cannot be read \(Permission denied\).*--skip-bad"):
        list(StoryFile(folder))
    texts, said, left_out = read(folder)
    assert (texts, left_out) == (["x"], 1)
    assert "shut: cannot be read" in said[0]
    assert StoryFile(folder, skip_bad=True).checksum()


def test_texts_of_a_folder_may_be_of_several_kinds(write: Write) -> None:
    folder = write("set/a.txt", "café".encode("cp1252")).parent
    write("set/b.md", "# One\n\nTwo *three*.\n")
    write("set/README.md", "What this is.")
    write("set/~$c.docx", b"no document")
    write("set/._a.txt", b"\x00\x05")
    said: list[str] = []
    file = StoryFile(folder, say=said.append, label="set")
    assert [story.text for story in file] == ["café", "One\n\nTwo three."]
    assert said == ["set: README.md is not read as a story, 1 file in cp1252"]


def test_names_of_files_that_are_no_utf_8_can_be_written_down(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    try:
        Path(os.fsdecode(bytes(folder) + b"/caf\xe9.txt")).write_text("x")
    except OSError:
        pytest.skip("names here are letters")
    file = StoryFile(folder)
    [story] = file
    assert story.id == "caf\\xe9" and len(file.checksum()) == 64
    [alone] = StoryFile(os.fsdecode(bytes(folder) + b"/caf\xe9.txt"))
    assert alone.id.encode() == b"caf\\xe9"
