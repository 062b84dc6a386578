"""What a file is written like: found out by looking at it, said in one line, or told."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.core.errors import InputError, SettingError
from fabula.datasets.tables import text_file
from fabula.datasets.tables.rows import sniff_delimiter
from fabula.datasets.tables.stories import StoryFile, StoryLayout, load_stories
from fabula.datasets.tables.text_file import FileForm
from fakes.factories import find_slowness

Write = Callable[[str, "str | bytes"], Path]

TALE = "Il était une fois, dans un café, un roi."


def read(path: Path, **form: object) -> tuple[list[str], list[str]]:
    """Give the texts of a file and what was said of it."""
    said: list[str] = []
    file = StoryFile(path, say=said.append, label=path.name, **form)
    texts = [story.text for story in file]
    assert [story.text for story in file] == texts
    return texts, said


@pytest.mark.parametrize(
    ("delimiter", "word"), [(";", "semicolons"), ("\t", "tabs"), ("|", "pipes"), (",", "")]
)
def test_a_delimiter_is_found_out_and_said_once(write: Write, delimiter: str, word: str) -> None:
    rows = [["id", "text"], ["1", f'"{TALE}"'], ["2", '"one; two, three | four\tfive"']]
    path = write("a.csv", "".join(delimiter.join(row) + "\r\n" for row in rows))
    said = [f"a.csv: {word}"] if word else []
    assert read(path) == ([TALE, "one; two, three | four\tfive"], said)


def test_commas_of_prose_do_not_make_columns(write: Write) -> None:
    prose = "text\nOnce, upon a time, there was a fox.\nIt left, of course.\n\nNo comma here.\n"
    texts, said = read(write("a.csv", prose))
    assert texts == ["Once, upon a time, there was a fox.", "It left, of course.", "No comma here."]
    assert said == []
    with pytest.raises(InputError, match=r"among Once, there was; .*first row must hold the names"):
        read(write("b.csv", 'Once, there was\n"A fox, it; was."\nNo more, no less.\nNever.\n'))


def test_a_semicolon_file_with_commas_in_every_text_has_two_columns() -> None:
    lines = ["id;text\n", *(f"{n};One, two, three.\n" for n in range(9))]
    assert sniff_delimiter(lines) == ";"
    assert sniff_delimiter(["id,text\n", "1,a; b; c\n", "2,d; e; f\n"]) == ","
    assert sniff_delimiter(["id;a, b\n", "1;2\n"]) == ";"
    cut = ["id;text\n", '1;"a\n', "b; c\n"]
    assert sniff_delimiter(cut, whole=False) == ";"


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "sep=;;;"])
def test_the_first_line_of_excel_is_honoured(write: Write, first: str) -> None:
    path = write("a.csv", f"{first}\r\nid;text\r\n1;a,b\r\n2\r\n")
    with pytest.raises(InputError, match=r"line 4: 1 cell where the header has 2"):
        list(StoryFile(path))
    assert read(path, skip_bad=True)[0] == ["a,b"]


def test_a_delimiter_may_be_told_by_its_name_or_itself(write: Write) -> None:
    path = write("a.csv", "id;text\n1;a,b\n2;c,d\n")
    for told in (";", "semicolon", "Semicolon"):
        assert read(path, delimiter=told) == (["a,b", "c,d"], [])
    with pytest.raises(
        InputError, match=r"2 cells where the header has 1 \(id;text\).*semicolons\?"
    ):
        list(StoryFile(path, delimiter="comma"))
    for bad in (";;", '"', "\n", "word"):
        with pytest.raises(SettingError, match=r"--delimiter .* will not do; give one character"):
            FileForm(delimiter=bad)


def test_a_row_that_is_too_long_says_what_is_the_matter(write: Write) -> None:
    path = write("a.csv", "id,text\n1,Once, upon a time, there was.\n2,And then, no more.\n")
    with pytest.raises(InputError, match=r"parted by commas; put cells that hold commas into quot"):
        list(StoryFile(path))


def test_lines_of_an_old_mac_are_lines(write: Write) -> None:
    assert read(write("a.csv", "id,text\r1,a\r2,b\r"))[0] == ["a", "b"]


def test_empty_columns_that_a_spreadsheet_left_are_no_doubled_names(write: Write) -> None:
    assert read(write("a.csv", "id;text;;\n1;a;;\n"))[0] == ["a"]
    with pytest.raises(InputError, match="line 3: cell 4 stands under no name"):
        list(StoryFile(write("b.csv", "id;text;;\n1;a;;\n2;b;;c\n")))


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-8", []),
        ("utf-8-sig", []),
        ("utf-16", ["utf-16"]),
        ("utf-32", ["utf-32"]),
        ("utf-16-le", ["utf-16-le"]),
        ("utf-16-be", ["utf-16-be"]),
        ("cp1252", ["cp1252"]),
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json", "a.txt"])
def test_an_encoding_is_found_out_and_said_once(
    write: Write, name: str, encoding: str, said: list[str]
) -> None:
    row = {"id": "1", "text": TALE}
    forms = {
        "a.csv": f'id,text\n1,"{TALE}"\n',
        "a.jsonl": json.dumps(row, ensure_ascii=False),
        "a.json": json.dumps([row], ensure_ascii=False),
        "a.txt": TALE,
    }
    path = write(name, forms[name].encode(encoding))
    assert read(path) == ([TALE], [f"{name}: {word}" for word in said])
    assert StoryFile(path).encoding == (said[0] if said else "utf-8")


def test_all_that_is_not_ordinary_is_one_line(write: Write) -> None:
    path = write("stories.csv", f"id;text\n1;{TALE}\n".encode("cp1252"))
    assert read(path) == ([TALE], ["stories.csv: semicolons, cp1252"])
    assert read(path, encoding="cp1252", delimiter=";") == ([TALE], [])


def test_a_late_letter_decides_as_an_early_one_does(write: Write) -> None:
    lines = "".join(f'{{"text": "{"a fox " * 900}"}}\n' for number in range(300))
    path = write("a.jsonl", f'{lines}{{"text": "café"}}\n'.encode("cp1252"))
    texts, said = read(path)
    assert (texts[-1], said) == ("café", ["a.jsonl: cp1252"])


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("naïve café\n" * 20 + "x", r"line 21, byte 2: not UTF-8 text, though the rest"),
        ("Жил-был король. " * 9, r"line 1, byte 1: neither UTF-8 nor cp1252 text; .*cp1251"),
        ("昔々あるところに", r"line 1, byte 1: neither UTF-8 nor cp1252 text; .*shift_jis"),
    ],
    ids=["broken UTF-8", "Russian", "Japanese"],
)
def test_what_cannot_be_told_is_named_and_not_guessed(write: Write, raw: str, words: str) -> None:
    encoded = {"Ж": raw.encode("cp1251", "replace"), "昔": raw.encode("shift_jis", "replace")}
    path = write("a.txt", encoded.get(raw[0], raw.encode() + b"\xe9 no more"))
    with pytest.raises(InputError, match=words):
        list(StoryFile(path))


def test_a_small_gzip_file_of_nothing_but_blank_lines_is_refused_at_once(write: Write) -> None:
    path = write("a.jsonl.gz", gzip.compress(b"\n" * 80_000_000, 6))
    for encoding in ("", "utf-8"):
        began = time.monotonic()
        with pytest.raises(InputError, match=r"a\.jsonl\.gz: more than 200 times as large"):
            list(StoryFile(path, encoding=encoding))
        assert time.monotonic() - began < 5 * find_slowness()


def test_a_gzip_file_that_lies_about_its_size_is_refused_too(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_file, "_FREE_BYTES", 100_000)
    raw = gzip.compress(b"\n" * 1_000_000) + gzip.compress(b"\n")
    with pytest.raises(InputError, match="more than 200 times as large"):
        list(StoryFile(write("a.jsonl.gz", raw), encoding="utf-8"))


def test_a_table_of_very_many_columns_is_read_in_little_time(write: Write) -> None:
    names = [f"c{number}" for number in range(40_000)]
    path = write("a.csv", ",".join(["text", *names]) + "\n" + ",".join(["x", *names]) + "\n")
    began = time.monotonic()
    assert [story.text for story in StoryFile(path)] == ["x"]
    assert time.monotonic() - began < 5 * find_slowness()


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.jsonl", '{"text": "a"}\n{"text": "b", "text": "c"}', "line 2: key 'text' stands twice"),
        (
            "a.json",
            '[{"text": "a"},\n{"id": 1,\n"text": "b",\n"id": 2}]',
            "line 4: key 'id' stands",
        ),
        ("b.json", '[{"text": "a", "x": {"y": 1, "\\u0079": 2}}]', "key 'y' stands twice"),
    ],
)
def test_a_doubled_key_of_json_is_named(write: Write, name: str, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        list(StoryFile(write(name, text)))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_an_id_that_is_no_number_is_none(write: Write, number: str) -> None:
    path = write("a.jsonl", f'{{"id": {number}, "text": "x"}}')
    with pytest.raises(
        InputError, match=r"line 1: field 'id' \(the id\) holds .*give the story an"
    ):
        list(StoryFile(path))


def test_an_id_of_blanks_is_empty_and_a_prompt_that_is_no_number_is_missing(write: Write) -> None:
    with pytest.raises(InputError, match=r"line 1: field 'id' \(the id\) is empty"):
        list(StoryFile(write("a.jsonl", '{"id": " \\t", "text": "x"}')))
    [story] = StoryFile(write("b.jsonl", '{"prompt": NaN, "text": "x"}'))
    assert story.prompt is None


def test_a_forced_form_is_part_of_what_was_read(write: Write) -> None:
    path = write("a.csv", "text\nx\n")
    plain = StoryFile(path).checksum()
    assert StoryFile(path, skip_bad=True).checksum() == plain
    assert StoryFile(path, delimiter=";").checksum() != plain


def test_a_review_reads_by_a_layout_too(write: Write) -> None:
    said: list[str] = []
    path = write("a.csv", f"id;text\n1;{TALE}\n".encode("cp1252"))
    stories = load_stories(str(path), layout=StoryLayout(say=said.append))
    assert [story.text for story in stories] == [TALE]
    assert said == [f"{path}: semicolons, cp1252"]
