from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from fabula.core.dataset import ScorerCard
from fabula.replication.hanna import Printed
from fabula.replication.hanna.paper import ASPECTS, Paper
from fabula.replication.hanna.replicate import MISPRINTS
from fabula.reports.study_view import PrintedValue
from fakes.grids import make_dataset, scipy_value

# What the paper's tables and figures hold: rows × columns.
COUNTS = {
    "Table 3: ICC(1)": 6,
    "Table 4: means": 11 * 7,
    "Table 4: intervals": 11 * 6,
    "Tables 5 and 8: story level": 3 * 6 * 5,
    "Tables 5 and 9: system level": 3 * 6 * 5,
    "Table 6: story level": 5,
    "Table 6: system level, average ranks": 5,
    "Table 6: both levels, average ranks": 5,
    "Figures 1 and 2: criteria": 2 * 3 * 15,
    "All correlations": 2 * 3 * 72 * 6,
    "Later revision: pooled": 3,
    "Figures 7 and 26: F1 as published": 72 * 6,
    "Figure 7 with every metric turned": 72,
    "Figure 8: top k": 2 * 6 * 8 * 7,
    "Williams tests: the notebooks' examples": 4,
    "Williams tests: the three strongest": 2 * 6 * 3,
    "Williams tests: chrF and BERTScore against BLEU and ROUGE": 300,
}


def test_every_number_of_every_table_is_there(replicated: list[PrintedValue]) -> None:
    assert dict(Counter(one.table for one in replicated)) == COUNTS
    assert len(replicated) == sum(COUNTS.values()) > 4000
    assert len({(one.table, one.what) for one in replicated}) == len(replicated)


def test_the_file_s_own_counts_are_the_same(printed: Printed) -> None:
    correlations = printed.values["correlations_signed"]
    assert COUNTS["All correlations"] == sum(
        len(row) for table in correlations.values() for row in table.values()
    )
    chrf = printed.values["williams"]["story_chrF_BERTScore_vs_BLEU_ROUGE"]
    assert COUNTS["Williams tests: chrF and BERTScore against BLEU and ROUGE"] == len(chrf)


def test_all_hold_but_two_misprints(replicated: list[PrintedValue]) -> None:
    wrong = {(one.table, one.what, one.printed): one for one in replicated if not one.holds}
    assert set(wrong) == {
        ("Tables 5 and 8: story level", "surprise, kendall, Novelty-1", 23.11),
        ("Tables 5 and 9: system level", "complexity, kendall, Novelty-1", 67.42),
    }
    assert sorted(one.ours for one in wrong.values()) == [21.52, 71.91]
    assert all(one.note.startswith("a misprint") for one in wrong.values())
    assert not any(one.note for one in replicated if one.holds)


def test_a_misprint_is_what_the_released_correlations_do_not_say(printed: Printed) -> None:
    for (level, coefficient, code, name), value in MISPRINTS.items():
        table = printed.values["correlations_signed"][f"{level}_{coefficient}"]
        [released] = [row[code] for header, row in table.items() if header.startswith(f"{name} ")]
        assert abs(100 * abs(released) - value) > 1


def test_figures_that_rest_on_chance_are_off_by_less_than_a_point_on_average(
    replicated: list[PrintedValue],
) -> None:
    for table in ("Figures 7 and 26: F1 as published", "Figure 7 with every metric turned"):
        off = [abs(one.ours - one.printed) for one in replicated if one.table == table]
        assert np.mean(off) < 1


RNG = np.random.default_rng(0)
GOLD = {aspect: RNG.integers(1, 6, (5, 4)).astype(float) for aspect in ASPECTS.values()}
SCORES = {name: RNG.normal(size=(5, 4)) for name in ("BLEU", "chrF", "words", "judge:x")}
FAMILIES = {"BLEU": "string", "chrF": "embedding", "words": "baseline", "judge:x": "judge"}


@pytest.fixture
def paper() -> Paper:
    """A made-up paper with two metrics, a baseline and a judge."""
    cards = {name: ScorerCard(family, "lower") for name, family in FAMILIES.items()}
    dataset = make_dataset(SCORES, GOLD, cards=cards, reference_systems=("a",))
    return Paper(dataset, Printed({"tables": {}}))


def test_a_paper_has_machine_systems_and_published_metrics_with_their_signs(paper: Paper) -> None:
    metrics, gold = paper.grids
    assert [column.label for column in metrics.columns] == ["BLEU", "chrF"]
    assert metrics.layout.systems == gold.layout.systems == ("b", "c", "d")
    assert np.array_equal(metrics.values[1], SCORES["chrF"][:, 1:])


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_a_paper_s_correlations_go_by_printed_names(paper: Paper, coefficient: str) -> None:
    x, y = SCORES["chrF"][:, 1:], GOLD["empathy"][:, 1:]
    values = {
        "story": np.nanmean([scipy_value(*row, coefficient) for row in zip(x, y, strict=True)]),
        "system": scipy_value(x.mean(0), y.mean(0), coefficient),
        "pooled": scipy_value(x.ravel(), y.ravel(), coefficient),
    }
    for level, value in values.items():
        table = paper.correlations(level, coefficient)
        assert paper.at(table, "chrF Ξ§", "EM") == pytest.approx(value)
        assert paper.correlations(level, coefficient) is table
