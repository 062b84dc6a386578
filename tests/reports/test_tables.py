from __future__ import annotations

import csv
import io
import json

import pytest

from fabula.reports.tables import (
    Cell,
    Table,
    html_table,
    latex_table,
    markdown_table,
    records_csv,
    render,
    table_csv,
    text_table,
)

TABLE = Table(
    ("metric", "a_b"),
    (
        ("bleu [x] ↑", Cell(0.5, ".50", "good")),
        ("lööp ↓", Cell(-0.25, "−.25")),
        (Cell("none", tone="quiet"), None),
    ),
    title="Title [of] it",
    notes=("First words.", "Last words."),
)
ROWS = [{"metric": "ü", "value": 0.5}, {"metric": "a,b", "value": None}]


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")


def test_a_table_has_its_title_above_and_its_words_below() -> None:
    lines = text_table(TABLE).splitlines()
    assert lines[0] == "Title [of] it"
    assert lines[-2:] == ["First words.", "Last words."]
    assert all(line == line.rstrip() for line in lines)


def test_words_stand_left_and_numbers_right() -> None:
    lines = text_table(TABLE).splitlines()
    [bleu] = [line for line in lines if "bleu [x] ↑" in line]
    [loop] = [line for line in lines if "lööp ↓" in line]
    assert bleu.index("bleu") == loop.index("lööp")
    assert bleu.endswith(" .50") and loop.endswith("−.25") and len(bleu) == len(loop)


def test_no_number_is_cut_off_on_a_narrow_screen() -> None:
    cells = [Cell(0.1, f".{number}1 [.10 .90]") for number in range(1, 5)]
    table = Table(("metric", *"abcd"), (("a very long name of a metric indeed", *cells),))
    shown = text_table(table)
    assert all(str(cell.text) in shown for cell in cells) and "…" not in shown


def test_latex_escapes_and_marks_the_best() -> None:
    lines = latex_table(TABLE).splitlines()
    assert lines[:3] == ["% Title [of] it", "% First words.", "% Last words."]
    assert lines[3] == r"\begin{tabular}{lr}"
    assert r"metric & a\_b \\" in lines
    assert r"bleu [x] $\uparrow$ & \textbf{.50} \\" in lines
    assert r"lööp $\downarrow$ & $-$.25 \\" in lines
    assert r"none & -- \\" in lines


def test_csv_leaves_a_cell_empty_where_there_is_no_value() -> None:
    assert list(csv.reader(io.StringIO(records_csv(ROWS)))) == [
        ["metric", "value"],
        ["ü", "0.5"],
        ["a,b", ""],
    ]
    assert records_csv([]) == ""


def test_rows_come_in_every_form() -> None:
    whole = json.loads(render("json", ROWS, [TABLE], {"seed": 1}))
    assert whole == {"seed": 1, "rows": ROWS}
    assert [json.loads(line) for line in render("jsonl", ROWS, [], {}).splitlines()] == ROWS
    assert render("csv", ROWS, [], {}) == records_csv(ROWS)
    two = render("table", ROWS, [TABLE, TABLE], {})
    assert two.count("Title [of] it") == 2 and "Last words.\n\nTitle" in two
    assert render("latex", ROWS, [TABLE], {}) == latex_table(TABLE)


def test_half_a_character_is_written_as_an_escape() -> None:
    broken = [{"metric": "\ud800"}]
    assert render("csv", broken, [], {}).endswith("\\ud800")
    assert json.loads(render("jsonl", broken, [], {})) == broken[0]


def test_values_go_to_csv_and_texts_to_markdown_and_pages() -> None:
    assert table_csv(TABLE).splitlines() == [
        "metric,a_b",
        "bleu [x] ↑,0.5",
        "lööp ↓,-0.25",
        "none,",
    ]
    assert markdown_table(TABLE).splitlines()[:3] == [
        "| metric | a_b |",
        "|---|---:|",
        "| bleu [x] ↑ | .50 |",
    ]
    page = html_table(TABLE)
    assert '<td class="num tone-good" data-value="0.5">.50</td>' in page
    assert '<th scope="row" class="system">lööp ↓</th>' in page
