from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fabula.core.errors import InputError
from fabula.datasets.tables.rows import FORMATS, detect_format, read_rows
from fabula.datasets.tables.text_file import TextFile

Write = Callable[[str, "str | bytes"], Path]

PLAIN = [{"id": "a", "text": "One, two."}, {"id": "b", "text": 'She said "no"\nand left.'}]


def parquet(records: list[dict[str, Any]]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(records), out)
    return out.getvalue()


FILES: dict[str, str | bytes] = {
    "a.jsonl": "".join(json.dumps(one) + "\n" for one in PLAIN),
    "a.ndjson": "".join(json.dumps(one) + "\n" for one in PLAIN).rstrip("\n"),
    "a.json": json.dumps(PLAIN, indent=2),
    "stories.json": json.dumps({"about": "a set", "stories": PLAIN}),
    "a.csv": 'id,text\na,"One, two."\nb,"She said ""no""\nand left."\n',
    "a.tsv": 'id\ttext\na\tOne, two.\nb\t"She said ""no""\nand left."\n',
    "A.CSV": 'id,text\na,"One, two."\nb,"She said ""no""\nand left."\n',
    "a.parquet": parquet(PLAIN),
}
ZIPPED = {
    f"{name}.gz": gzip.compress(content.encode())
    for name, content in FILES.items()
    if isinstance(content, str)
}


def got(path: Path, kind: str = "") -> list[dict[str, Any]]:
    return [
        dict(row) for _, row in read_rows(TextFile(path, str(path)), kind or detect_format(path))
    ]


def places(path: Path) -> list[str]:
    return [
        where.removeprefix(f"{path}, ")
        for where, _ in read_rows(TextFile(path, str(path)), detect_format(path))
    ]


@pytest.mark.parametrize("name", [*FILES, *ZIPPED])
def test_every_format_gives_the_same_rows(write: Write, name: str) -> None:
    assert got(write(name, (FILES | ZIPPED)[name])) == PLAIN


@pytest.mark.parametrize("name", [name for name in FILES if name != "a.parquet"])
def test_a_byte_order_mark_is_not_part_of_the_first_name(write: Write, name: str) -> None:
    assert got(write(name, "\ufeff" + FILES[name])) == PLAIN


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv", "a.tsv"])
def test_windows_line_ends_do_not_matter(write: Write, name: str) -> None:
    found = got(write(name, FILES[name].replace("\n", "\r\n")))
    # Within a quoted cell the line end is part of the story and is kept.
    assert [one["text"].replace("\r\n", "\n") for one in found] == [one["text"] for one in PLAIN]
    assert [one["id"] for one in found] == ["a", "b"]


def test_rows_say_where_they_stand(write: Write) -> None:
    assert places(write("a.jsonl", '{"text": "1"}\n\n{"text": "2"}\n')) == ["line 1", "line 3"]
    assert places(write("a.json", '[{"text": "1"}, {"text": "2"}]')) == ["story 1", "story 2"]
    assert places(write("a.csv", 'text\n"1\n1"\n2\n')) == ["line 2", "line 4"]
    assert places(write("a.parquet", parquet(PLAIN))) == ["row 1", "row 2"]


def test_blank_lines_are_no_rows(write: Write) -> None:
    assert got(write("a.jsonl", '\n  \n{"text": "x"}\n\t\n')) == [{"text": "x"}]
    assert got(write("a.csv", "id,text\n\n1,x\n\n")) == [{"id": "1", "text": "x"}]
    assert got(write("b.jsonl", "\n\n \n")) == got(write("b.csv", "")) == []


def test_a_cell_may_be_empty(write: Write) -> None:
    assert got(write("a.csv", "id,text\n1,\n")) == [{"id": "1", "text": ""}]


def test_a_text_file_is_one_story_named_after_it(write: Write) -> None:
    assert got(write("tale.txt", "Once.\n\nThe end.\n")) == [
        {"id": "tale", "text": "Once.\n\nThe end.\n"}
    ]


def test_a_zipped_text_file_is_named_without_its_endings(write: Write) -> None:
    assert got(write("tale.txt.gz", gzip.compress(b"Once.")))[0]["id"] == "tale"


def test_a_folder_is_a_story_a_file_and_a_system_a_folder(write: Write) -> None:
    for name in ("b/1.txt", "a/2.txt", "a/1.txt", "a/deep/1.txt", "3.txt"):
        write(f"set/{name}", name)
    write("set/notes.csv", "not a story")
    folder = write("set/a/1.txt", "a/1.txt").parents[1]
    assert got(folder) == [
        {"id": "3", "text": "3.txt", "item": "3"},
        {"id": "a/1", "text": "a/1.txt", "item": "1", "system": "a"},
        {"id": "a/2", "text": "a/2.txt", "item": "2", "system": "a"},
        {"id": "a/deep/1", "text": "a/deep/1.txt", "item": "1", "system": "a/deep"},
        {"id": "b/1", "text": "b/1.txt", "item": "1", "system": "b"},
    ]


def test_a_format_may_be_said_instead_of_guessed(write: Write) -> None:
    assert got(write("a.data", FILES["a.csv"]), "csv") == PLAIN
    with pytest.raises(InputError, match=r"a\.data: cannot tell the format.*--input-format"):
        detect_format(write("a.data", ""))
    with pytest.raises(InputError, match=r"test\.pkl: a pickle is read as a data set.*data add"):
        detect_format(write("test.pkl", ""))
    tables = {"jsonl", "json", "csv", "tsv", "parquet", "xlsx", "xls", "ods"}
    assert {*tables, "txt", "md", "docx", "odt", "epub", "html", "folder"} == set(FORMATS)


SEVENTH = "".join(f'{{"id": {n}, "text": "x"}}\n' for n in range(1, 7)) + '{"id": 7, "text"\n'
BAD: dict[str, tuple[str, str | bytes, str]] = {
    "broken JSON": ("a.jsonl", SEVENTH, r"a\.jsonl, line 7: not valid JSON"),
    "number": ("a.jsonl", '{"text": "x"}\n5\n', "line 2: not a JSON object"),
    "list": ("a.jsonl", '["x"]\n', "line 1: not a JSON object"),
    "deep": ("a.jsonl", "[" * 200_000 + "\n", "line 1: not valid JSON .nested too deeply"),
    "long number": ("a.jsonl", '{"id": ' + "1" * 5000 + "}\n", "line 1: not valid JSON"),
    "broken list": ("a.json", '[\n{"text": "x"},\n{"text" 1}]', r"a\.json: .* line 3, column 9\)"),
    "outline": (
        "outline.json",
        '[\n{"text": "x"},\n{"text" 1}]',
        r"outline\.json: .* line 3, column 9\)",
    ),
    "JSON text": ("a.json", '"text"', "not a list of stories"),
    "JSON object": ("a.json", '{"text": "x"}', "not a list of stories"),
    "member": ("a.json", '[{"text": "x"}, 5]', "story 2: not a JSON object"),
    "empty JSON": ("a.json", "", r"a\.json: not valid JSON"),
    "ragged": ("a.csv", "id,text\n1,x\n2,x,y\n", "line 3: 3 cells where the header has 2"),
    "short": ("a.csv", "id,text\n1\n", "line 2: 1 cell where the header has 2"),
    "quote": ("a.csv", 'id,text\n1,"x\n2,y\n', r"a\.csv, line 2: broken CSV .*mend the quotes"),
    "after quote": ("a.csv", 'id,text\n1,"x" y\n', "line 2: broken CSV"),
    "late quote": ("a.csv", 'id,text\n1,x\n2,"y\n' + "3,z\n" * 50, "line 3: broken CSV"),
    "doubled": ("a.csv", "id,text,text\n1,x,y\n", "line 1: column 'text' stands twice; rename"),
    "no Parquet": ("a.parquet", b"PAR1 not at all", r"a\.parquet: not a Parquet file"),
    "empty Parquet": ("a.parquet", b"", r"a\.parquet: not a Parquet file"),
    "cut Parquet": ("a.parquet", parquet(PLAIN)[:-9], r"a\.parquet: not a Parquet file"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_one_line_that_names_the_place_and_the_remedy(
    write: Write, case: str
) -> None:
    name, content, words = BAD[case]
    with pytest.raises(InputError, match=words) as caught:
        got(write(name, content))
    assert caught.value.remedy
    assert len(str(caught.value).splitlines()) == 1


def test_a_folder_without_text_files_is_named(write: Write) -> None:
    folder = write("set/notes.csv", "x").parent
    with pytest.raises(InputError, match=r"set: a folder without texts \(\.txt "):
        got(folder)
