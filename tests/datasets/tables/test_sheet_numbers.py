"""Numbers of a table as people write them; a cell that is none is named, never lost in silence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.core.errors import InputError
from fabula.datasets.table import read_table
from fabula.datasets.tables.text_file import FileForm
from fakes.office import xlsx

Write = Callable[[str, "str | bytes"], Path]


def read(path: Path, *, skip_bad: bool = False) -> tuple[dict[str, list[float | None]], list[str]]:
    """Give the values of every metric in a table with ratings called `fun`, and what is said."""
    said: list[str] = []
    data = read_table(path, gold=["fun"], form=FileForm(skip_bad=skip_bad, say=said.append))
    values: dict[str, list[float | None]] = {name: [] for name in data.scores.scorers}
    for score in data.scores:
        values[score.scorer].append(score.value if score.ok else None)
    return values, said


def columns(delimiter: str, **cells: list[str]) -> str:
    rows = [
        ["id", "fun", *cells],
        *([str(n), str(n), *row] for n, row in enumerate(zip(*cells.values(), strict=True))),
    ]
    quoted = [[f'"{cell}"' if delimiter in cell else cell for cell in row] for row in rows]
    return "".join(delimiter.join(row) + "\n" for row in quoted)


def test_decimal_commas_are_read_and_said(write: Write) -> None:
    path = write("a.csv", columns(";", bleu=["0,93", "1,5", "-2", "1.234,5", "3e-2"]))
    said = ["a.csv: semicolons, decimal commas"]
    assert read(path) == ({"bleu": [0.93, 1.5, -2, 1234.5, 0.03]}, said)


def test_decimal_commas_may_stand_in_quotes_between_commas(write: Write) -> None:
    values, said = read(write("a.csv", columns(",", bleu=["0,93", "1,5", "2"])))
    assert (values, said) == ({"bleu": [0.93, 1.5, 2]}, ["a.csv: decimal commas"])
    rows = [["id", "fun", "bleu"], [1, 2, "0,5"], [2, 3, "0,25"]]
    values, said = read(write("a.xlsx", xlsx({"A": rows})))
    assert (values, said) == ({"bleu": [0.5, 0.25]}, ["a.xlsx: decimal commas"])


def test_thousands_are_no_decimals(write: Write) -> None:
    values, said = read(write("a.csv", columns("\t", words=["1,234.5", "12,345", "7"])))
    assert values == {"words": [1234.5, 12345, 7]}
    assert said == ["a.csv: tabs, thousands with commas"]


def test_what_could_be_decimals_or_thousands_is_not_guessed_at(write: Write) -> None:
    path = write("a.csv", columns(",", words=["1,234", "2,345"], bleu=["1", "2"]))
    values, said = read(path)
    assert values == {"bleu": [1, 2]}
    assert said == ["a.csv: column 'words' not read, its commas or points being unclear"]
    with pytest.raises(
        InputError, match=r"line 2, column 'words': '1,234' may have decimals or tho"
    ):
        read_table(path, gold=["words"])


def test_another_column_or_the_semicolon_tells_which_it_is(write: Write) -> None:
    cells = {"words": ["1,234", "2,345"], "bleu": ["0,5", "0,1"]}
    for delimiter in ("\t", ",", ";"):
        assert read(write("a.csv", columns(delimiter, **cells)))[0]["words"] == [1.234, 2.345]
    alone = write("b.csv", columns(";", words=["1,234", "2,345"]))
    assert read(alone)[0] == {"words": [1.234, 2.345]}


def test_points_of_thousands_beside_decimal_commas_are_doubted(write: Write) -> None:
    path = write("a.csv", columns(";", words=["1.234", "987", "2.345"], bleu=["0,5", "0,1", "1"]))
    values, said = read(path)
    assert values == {"bleu": [0.5, 0.1, 1]}
    assert "column 'words' not read" in said[0]


@pytest.mark.parametrize("cell", ["inf", "-inf", "#DIV/0!", "0,93", "1e999", "n.v.", "12 %"])
def test_one_bad_cell_is_named_with_column_line_and_value(write: Write, cell: str) -> None:
    path = write(
        "a.csv", columns(",", rouge=list("12345"), bleu=["0.1", "0.2", cell, "0.4", "0.5"])
    )
    with pytest.raises(InputError) as caught:
        read(path)
    assert f"a.csv, line 4, column 'bleu': {cell!r} is no " in caught.value.problem
    assert "number, where 4 cells of the column are" in caught.value.problem
    assert "leave it empty, or pass --skip-bad" in caught.value.remedy
    values, said = read(path, skip_bad=True)
    assert values["bleu"] == [0.1, 0.2, None, 0.4, 0.5] and values["rouge"] == [1, 2, 3, 4, 5]
    assert (
        len(said) == 1 and f"1 left out by --skip-bad: line 4, column 'bleu': {cell!r}" in said[0]
    )


def test_a_bad_cell_among_ratings_or_in_a_long_table_is_named_or_missing(write: Write) -> None:
    wide = write("a.csv", "id,fun,bleu\n1,1,1\n2,#REF!,2\n3,3,3\n4,4,4\n")
    with pytest.raises(InputError, match=r"line 3, column 'fun': '#REF!' is no number.*--skip-bad"):
        read(wide)
    form = FileForm(skip_bad=True)
    assert [s.value for s in read_table(wide, gold=["fun"], form=form).ratings] == [1, 3, 4]
    rows = "".join(f"{n},human:ann,{n}\n" for n in range(5))
    long = write("b.csv", f"id,scorer,value\n{rows}9,human:ann,inf\n")
    with pytest.raises(InputError, match=r"line 7, column 'value': 'inf' is no finite number"):
        read_table(long)
    assert len(read_table(long, form=form).ratings) == 5


def test_a_rating_column_with_a_bad_cell_is_not_taken_for_references(write: Write) -> None:
    path = write("a.csv", "id,human,bleu\n1,1,1\n2,#REF!,2\n3,3,3\n4,4,4\n")
    with pytest.raises(InputError, match=r"line 3, column 'human': '#REF!' is no number"):
        read_table(path)


def test_a_column_of_words_and_numbers_is_left_out_and_named(write: Write) -> None:
    path = write("a.csv", columns(",", age=["1", "2", "3", "old", "new"], bleu=list("12345")))
    values, said = read(path)
    assert values == {"bleu": [1, 2, 3, 4, 5]}
    words = "a.csv: line 5, column 'age': 'old' is no number, so that the column is not read"
    assert said == [words]
    quiet = write("b.csv", columns(",", who=["ann", "bob", "cy", "dan", "7"], bleu=list("12345")))
    assert read(quiet)[1] == []


def test_a_missing_cell_of_excel_is_missing(write: Write) -> None:
    assert read(write("a.csv", columns(",", bleu=["1", "#N/A", "3"])))[0] == {"bleu": [1, None, 3]}
