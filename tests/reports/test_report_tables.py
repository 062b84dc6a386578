from __future__ import annotations

import csv
from pathlib import Path

import pytest

from fabula.core.story import Story
from fabula.reports.report import status_rows, write_tables
from fabula.reports.run_data import ReportData, read_report_data
from fabula.reports.standings import compute_standings


@pytest.fixture
def data(make_run, two_systems) -> ReportData:
    empty = Story("empty", "", references=("x",), system="100 % {odd} & _new_", item="i9")
    return read_report_data(make_run([*two_systems, empty], "rouge(n=1)"))


@pytest.fixture
def tables(data: ReportData, tmp_path: Path) -> Path:
    write_tables(tmp_path / "tables", data, compute_standings(data, seed=0))
    return tmp_path / "tables"


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_table_is_there_as_csv_and_as_latex(tables: Path) -> None:
    names = {path.stem for path in tables.iterdir()}
    assert names == {"systems", "statuses", "signatures"}
    assert {path.suffix for path in tables.iterdir()} == {".csv", ".tex"}
    assert len(list(tables.iterdir())) == 6


def test_the_rows_of_the_main_table_hold_mean_and_interval(tables: Path) -> None:
    rows = read(tables / "systems.csv")
    [row] = [
        row
        for row in rows
        if (row["system"], row["scorer"], row["aspect"]) == ("copy", "rouge(n=1)", "recall")
    ]
    # The system copies the reference whole: recall is 1 for every story.
    assert [float(row[name]) for name in ("mean", "low", "high")] == [1.0, 1.0, 1.0]
    assert (row["scored"], row["left_out"], row["best"]) == ("4", "0", "1")


def test_a_missing_mean_is_an_empty_cell(tables: Path) -> None:
    rows = [row for row in read(tables / "systems.csv") if row["system"].startswith("100")]
    assert {(row["mean"], row["low"], row["scored"], row["left_out"]) for row in rows} == {
        ("", "", "0", "1")
    }


def test_what_latex_would_misread_is_escaped(tables: Path) -> None:
    text = (tables / "systems.tex").read_text(encoding="utf-8")
    assert r"100 \% \{odd\} \& \_new\_" in text
    assert r"\textbf{1.000}" in text and "–" not in text
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1


def test_statuses_name_scorer_count_and_the_first_note(data: ReportData, tables: Path) -> None:
    rows = {(row.scorer, row.status): (row.count, row.note) for row in status_rows(data)}
    assert rows["rouge(n=1)", "empty_text"] == (1, "the story has no text")
    assert read(tables / "statuses.csv")[0]["status"] == "empty_text"


def test_added_baselines_have_signatures_too(data: ReportData, tables: Path) -> None:
    signatures = {row["metric"]: row["signature"] for row in read(tables / "signatures.csv")}
    assert signatures["words"].startswith("words|") and "rouge(n=1)" in signatures
