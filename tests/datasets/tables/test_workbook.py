from __future__ import annotations

import io
from collections.abc import Callable
from datetime import date, datetime, time
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fabula.core.errors import InputError
from fabula.datasets.table import read_table
from fabula.datasets.tables.rows import read_rows
from fabula.datasets.tables.stories import StoryFile
from fabula.datasets.tables.text_file import FileForm, Reading, TextFile
from fakes.office import ods, ods_cell, ods_row, xlsx, zip_parts

Write = Callable[[str, "str | bytes"], Path]

TALES = [["id", "text", "rating"], [1, "A fox.", 2.5], [2, "No, none.", 3]]
READ = [
    {"id": "1", "text": "A fox.", "rating": "2.5"},
    {"id": "2", "text": "No, none.", "rating": "3"},
]


def read(path: Path, **form: str) -> tuple[list[dict[str, str]], str]:
    reading = Reading(path.name, FileForm(**form))
    rows = [dict(row) for _, row in read_rows(TextFile(path, path.name), "", reading)]
    return rows, ", ".join(reading.notes)


@pytest.mark.parametrize("name", ["a.xlsx", "a.ods"])
def test_a_workbook_is_read_like_a_table(write: Write, name: str) -> None:
    raw = (
        xlsx({"Tales": TALES})
        if name == "a.xlsx"
        else ods({"T": "".join(ods_row(*r) for r in TALES)})
    )
    assert read(write(name, raw)) == (READ, "")
    assert [story.id for story in StoryFile(write(name, raw))] == ["1", "2"]
    assert read_table(write(name, raw), gold=["rating"]).ratings


def test_the_first_sheet_that_is_a_table_is_taken_and_others_are_said(write: Write) -> None:
    other = [["text"], ["x"]]
    sheets = {"Secret": TALES, "Cover": [["Read me", "well"]], "Tales": TALES, "Notes": other}
    path = write("a.xlsx", xlsx(sheets, hidden=["Secret"]))
    rows, said = read(path)
    assert rows == READ
    assert said == "sheet 'Tales' ('Cover', 'Notes', 'Secret' hold rows too: --sheet)"
    for sheet in ("Notes", "3"):
        assert read(path, sheet=sheet) == ([{"text": "x"}], "")
    assert read(path, sheet="Secret") == (READ, "")
    with pytest.raises(InputError, match=r"no sheet 'Tale'; did you mean 'Tales'\?"):
        read(path, sheet="Tale")
    assert StoryFile(path, sheet="Notes").checksum() != StoryFile(path).checksum()


def test_cells_become_the_text_they_would_be_in_a_csv_file(write: Write) -> None:
    cells = [7, 0.5, 1e22, True, date(2026, 11, 16), datetime(2026, 1, 2, 3, 4), time(5, 6), None]
    rows, _ = read(write("a.xlsx", xlsx({"A": [list("abcdefgh"), cells]})))
    expected = ["7", "0.5", "1e+22", "TRUE", "2026-11-16", "2026-01-02T03:04:00", "05:06:00", ""]
    assert list(rows[0].values()) == expected


def test_errors_and_formulas_without_a_value_are_named(write: Write) -> None:
    rows = [["id", "x", "y"], [1, 2, "#DIV/0!"], [2, "=A1*2", 4], [3, 1, 2], [4, 1, 2], [5, 1, 2]]
    path = write("a.xlsx", xlsx({"A": rows}))
    found, said = read(path)
    assert (found[0]["y"], found[1]["x"]) == ("#DIV/0!", "formula without a value")
    assert said == "2 cells without a value (C2 #DIV/0!, B3 formula without a value)"
    with pytest.raises(
        InputError, match=r"row 3, column 'x': 'formula without a value' is no numb"
    ):
        read_table(path, gold=["y"])
    error = (
        '<table:table-cell office:value-type="string" office:string-value="" '
        'calcext:value-type="error"><text:p>#DIV/0!</text:p></table:table-cell>'
    )
    row = f"<table:table-row>{ods_cell(1)}{error}</table:table-row>"
    found, said = read(write("a.ods", ods({"A": ods_row("id", "x") + row})))
    assert (found, said) == ([{"id": "1", "x": "#DIV/0!"}], "1 cell without a value (B2 #DIV/0!)")


def test_a_table_may_stand_anywhere_and_notes_beside_it(write: Write) -> None:
    book = openpyxl.Workbook()
    for place, value in {"C3": "id", "D3": "text", "C4": 1, "D4": "x", "G9": "mind this"}.items():
        book.active[place] = value
    out = io.BytesIO()
    book.save(out)
    path = write("a.xlsx", out.getvalue())
    assert read(path) == ([{"id": "1", "text": "x"}], "cells under no name are left alone")


FAR = (
    '<table:table-row table:number-rows-repeated="1048576"><table:table-cell '
    'table:number-columns-repeated="16384" office:value-type="float" office:value="1"/>'
    "</table:table-row>"
)


def test_a_sheet_of_more_cells_than_can_be_is_refused_before_it_is_laid_out(write: Write) -> None:
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "text", "far"
    out = io.BytesIO()
    book.save(out)
    for path in (write("a.xlsx", out.getvalue()), write("a.ods", ods({"Sheet": FAR}))):
        with pytest.raises(
            InputError, match=r"'Sheet': cells as far as row 1,048,576 and column 16"
        ):
            read(path)


def test_rows_that_an_office_repeats_at_the_end_are_none(write: Write) -> None:
    end = (
        '<table:table-row table:number-rows-repeated="1048574"><table:table-cell '
        'table:number-columns-repeated="16384"/></table:table-row>'
    )
    assert read(write("a.ods", ods({"A": ods_row("text") + ods_row("x") + end})))[0] == [
        {"text": "x"}
    ]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "not a workbook"),
        (b"id,text\n", "not a workbook, whatever its name says; is it a CSV file"),
        (b"<html>", "not a workbook"),
        (xlsx({"A": TALES})[:-40], "not a whole file of its kind"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "not a whole workbook"),
        (zip_parts({"xl/workbook.bin": b""}), "a binary workbook"),
        (zip_parts({"a.txt": b""}), "not a whole file of its kind"),
        (zip_parts({f"{n}": b"" for n in range(10_001)}), "10,001 files in one archive"),
    ],
    ids=["empty", "csv", "html", "cut", "old", "binary", "other", "many"],
)
def test_what_is_no_workbook_is_named(write: Write, raw: bytes, words: str) -> None:
    with pytest.raises(InputError, match=rf"a\.xlsx: {words}") as caught:
        read(write("a.xlsx", raw))
    assert caught.value.remedy


def test_times_that_python_has_no_dates_for_are_text(write: Write) -> None:
    late = pa.array([2**60, 0], pa.timestamp("ms"))
    lists = pa.array([[2**60], [0]], pa.list_(pa.timestamp("ms")))
    out = io.BytesIO()
    pq.write_table(pa.table({"text": ["x", "y"], "when": late, "times": lists}), out)
    path = write("a.parquet", out.getvalue())
    assert [story.text for story in StoryFile(path)] == ["x", "y"]
    assert all(isinstance(row["when"], str) for row in read(path)[0])
