from __future__ import annotations

from pathlib import Path

import pytest

from fabula.replication.checks import hanna
from fabula.reports.study_view import PrintedValue

EQUAL = PrintedValue("Table 4: means", "a", 3.5, 3.5, 1e-9)
OFF = PrintedValue("Table 4: means", "b", 3.5, 3.75, 1e-9)
MISPRINT = PrintedValue("Table 4: means", "c", 3.5, 4.5, 1e-9, "a misprint")


@pytest.mark.parametrize("folders", [(), ("data/hanna",), ("reference",)])
def test_without_data_or_printed_values_nothing_is_checked(
    tmp_path: Path, folders: tuple[str, ...]
) -> None:
    for folder in folders:
        (tmp_path / folder).mkdir(parents=True)
    for data in (None, tmp_path):
        [found] = hanna.check_hanna_paper(data)
        assert found.outcome == "not checked here" and "needs hanna and" in found.found


def test_a_number_that_is_off_falls_short() -> None:
    found = hanna._check_table("Table 4: means", [EQUAL, OFF])
    assert found.outcome == "short"
    assert found.found.startswith("1 of 2 ") and found.found.endswith("largest difference 0.25")


def test_a_misprint_is_told_and_does_not_count_against_us() -> None:
    found = hanna._check_table("Table 4: means", [EQUAL, MISPRINT])
    assert found.outcome == "verified" and "c: printed 3.5, a misprint" in found.found


def test_figures_of_chance_must_also_be_right_on_average() -> None:
    table = "Figures 7 and 26: F1 as published"
    near, far = (PrintedValue(table, "x", 50.0, 50.0 + off, 6.0) for off in (1.0, 5.0))
    assert hanna._check_table(table, [near, near]).outcome == "verified"
    found = hanna._check_table(table, [far, far])
    assert found.outcome == "short" and found.wanted == "within 6, 2 on average"
    other = "Figure 7 with every metric turned"
    assert hanna._check_table(other, [far, far]).outcome == "short"


def test_hanna_s_paper_is_verified_table_by_table(shared: Path) -> None:
    found = list(hanna.check_hanna_paper(shared))
    assert len(found) == 17 and {one.outcome for one in found} == {"verified"}
    by_table = {one.claim: one.found for one in found}
    assert by_table["All correlations"].startswith("2,592 of 2,592 ")
    assert by_table["Tables 5 and 8: story level"].startswith("89 of 90 ")
