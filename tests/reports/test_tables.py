from __future__ import annotations

import csv
import io
import json

import pytest

from fabula.reports.pages import html_table, markdown_table
from fabula.reports.tables import (
    Cell,
    Table,
    latex_table,
    records_csv,
    render,
    table_csv,
    text_table,
)
from fabula.text.escapes import terminal_text

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


def make_grid(systems: int, metrics: int = 2, name: str = "system-number-{:02}") -> Table:
    heads = [name.format(number) for number in range(systems)]
    rows = [
        [f"metric{row}", "↑", *(Cell(0.5, f"0.{row}{column:03}") for column in range(systems))]
        for row in range(metrics)
    ]
    return Table(["metric", "", *heads], rows, lead=2, across="system")


@pytest.mark.parametrize("systems", [2, 12, 40])
@pytest.mark.parametrize("metrics", [1, 35])
@pytest.mark.parametrize("columns", [40, 80, 200])
def test_however_many_systems_there_are_all_names_and_numbers_are_shown(
    monkeypatch: pytest.MonkeyPatch, systems: int, metrics: int, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    table = make_grid(systems, metrics)
    shown = text_table(table)
    assert max(map(len, shown.splitlines())) <= columns and "…" not in shown
    words = set(shown.split())
    assert {f"system-number-{number:02}" for number in range(systems)} <= words
    assert {text for row in table.texts for text in row[2:]} <= words


def test_a_wide_grid_is_turned_where_that_takes_fewer_lines() -> None:
    lines = text_table(make_grid(40, metrics=3)).splitlines()
    assert lines[1].split() == ["system", "metric0", "↑", "metric1", "↑", "metric2", "↑"]
    assert lines[3].split() == ["system-number-00", "0.0000", "0.1000", "0.2000"]
    assert len(lines) == 43


def test_a_table_that_fits_stays_as_it_is() -> None:
    lines = text_table(make_grid(3)).splitlines()
    assert lines[1].split()[0] == "metric" and len(lines) == 5


@pytest.mark.parametrize("name", ["a" * 60 + "{}", "日本語" * 20 + "{}", "🦊" * 30 + "{}"])
def test_long_and_wide_names_are_folded_and_not_cut(name: str) -> None:
    from rich.cells import cell_len

    shown = text_table(make_grid(6, metrics=2, name=name))
    assert max(map(cell_len, shown.splitlines())) <= 80 and "…" not in shown
    letter = name[0]
    assert shown.count(letter) >= 6 * name.count(letter)


def test_tables_that_are_no_grid_come_in_parts_that_name_their_rows() -> None:
    heads = [f"column_of_words_{number}" for number in range(9)]
    table = Table(("metric", *heads), [("bleu", *range(9)), ("chrf", *range(9))])
    shown = text_table(table)
    assert shown.count("bleu") == shown.count("chrf") > 1
    assert all(shown.count(head) == 1 for head in heads)


def test_a_name_with_a_newline_starts_no_line_in_any_form() -> None:
    name = "a\n\\input{/etc/passwd}\x1b[31m"
    table = Table(("system", name), [(name, 1.0), ("[x]", 2.0)], name, [name], comments=[name])
    latex = latex_table(table).splitlines()
    assert not [line for line in latex if line.startswith("\\input")]
    assert [line[0] for line in latex[:3]] == ["%"] * 3
    assert r"{}[x] & 2 \\" in latex
    assert len(markdown_table(table).splitlines()) == 4
    shown = text_table(table)
    assert "\x1b" not in shown and r"a\n\input" in shown


def test_cells_that_look_like_formulas_are_words_in_csv() -> None:
    rows = list(csv.reader(io.StringIO(table_csv(Table(("=a", "b"), [("@x", -1.5), ("-2", 3)])))))
    assert rows == [["'=a", "b"], ["'@x", "-1.5"], ["-2", "3"]]


def test_colours_of_ours_reach_a_terminal_and_those_of_a_name_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    table = Table(("system", "mean"), [("\x1b[5mblink", Cell(0.5, tone="good"))])
    shown = render("table", [], [table], {})
    assert "\x1b[1;32m" in shown and r"\x1b[5mblink" in shown and "\x1b[5m" not in shown
    assert terminal_text(shown) == shown


def test_numbers_of_a_column_share_their_decimals_and_none_is_lost() -> None:
    table = Table(
        ("a", "b", "c", "d"),
        [("x", 0.5, 2.0, 1e-9), ("y", 0.25, 3.0, 0.5), ("z", 0.123456, float("nan"), 1.0)],
    )
    columns = list(zip(*table.texts, strict=True))
    assert columns[1:3] == [("0.5000", "0.2500", "0.1235"), ("2", "3", "–")]
    assert columns[3][0] == "1e−09"
    assert r"y & 0.2500 & 3 & 0.5 \\" in latex_table(table)
