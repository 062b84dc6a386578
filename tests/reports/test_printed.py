from __future__ import annotations

import csv
import io
import json

import pytest

from fabula.reports._printed import (
    Printed,
    Toned,
    csv_text,
    latex_table,
    printed_table,
    render_rows,
)

TABLE = Printed(
    ("metric", "a_b"),
    (("bleu [x] ↑", Toned(".50", "good")), ("lööp ↓", "−.25"), (Toned("none", "quiet"), "–")),
    title="Title [of] it",
    words=("First words.", "Last words."),
)
ROWS = [{"metric": "ü", "value": 0.5}, {"metric": "a,b", "value": None}]


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")


def test_a_table_has_its_title_above_and_its_words_below() -> None:
    lines = printed_table(TABLE).splitlines()
    assert lines[0] == "Title [of] it"
    assert lines[-2:] == ["First words.", "Last words."]
    assert all(line == line.rstrip() for line in lines)


def test_words_stand_left_and_numbers_right() -> None:
    lines = printed_table(TABLE).splitlines()
    [bleu] = [line for line in lines if "bleu [x] ↑" in line]
    [loop] = [line for line in lines if "lööp ↓" in line]
    assert bleu.index("bleu") == loop.index("lööp")
    assert bleu.endswith(" .50") and loop.endswith("−.25") and len(bleu) == len(loop)


def test_no_number_is_cut_off_on_a_narrow_screen() -> None:
    cells = [f".{number}1 [.10 .90]" for number in range(1, 5)]
    table = Printed(("metric", *"abcd"), (("a very long name of a metric indeed", *cells),))
    shown = printed_table(table)
    assert all(cell in shown for cell in cells) and "…" not in shown


def test_latex_escapes_and_marks_the_best() -> None:
    lines = latex_table(TABLE).splitlines()
    assert lines[:3] == ["% Title [of] it", "% First words.", "% Last words."]
    assert lines[3] == r"\begin{tabular}{lr}"
    assert r"metric & a\_b \\" in lines
    assert r"bleu [x] $\uparrow$ & \textbf{.50} \\" in lines
    assert r"lööp $\downarrow$ & $-$.25 \\" in lines
    assert r"none & -- \\" in lines


def test_csv_leaves_a_cell_empty_where_there_is_no_value() -> None:
    assert list(csv.reader(io.StringIO(csv_text(ROWS)))) == [
        ["metric", "value"],
        ["ü", "0.5"],
        ["a,b", ""],
    ]
    assert csv_text([]) == ""


def test_rows_come_in_every_form() -> None:
    whole = json.loads(render_rows("json", ROWS, [TABLE], {"seed": 1}))
    assert whole == {"seed": 1, "rows": ROWS}
    assert [json.loads(line) for line in render_rows("jsonl", ROWS, [], {}).splitlines()] == ROWS
    assert render_rows("csv", ROWS, [], {}) == csv_text(ROWS)
    two = render_rows("table", ROWS, [TABLE, TABLE], {})
    assert two.count("Title [of] it") == 2 and "Last words.\n\nTitle" in two
    assert render_rows("latex", ROWS, [TABLE], {}) == latex_table(TABLE)


def test_half_a_character_is_written_as_an_escape() -> None:
    broken = [{"metric": "\ud800"}]
    assert render_rows("csv", broken, [], {}).endswith("\\ud800")
    assert json.loads(render_rows("jsonl", broken, [], {})) == broken[0]
