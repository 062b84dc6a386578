from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from fabula.core.dataset import ScorerCard
from fabula.replication.hanna import Printed
from fabula.replication.hanna.paper import ASPECTS, Paper
from fabula.replication.hanna.replicate import williams_tables, williams_values
from fabula.reports.study_view import PrintedValue
from fakes.grids import make_dataset

RNG = np.random.default_rng(4)
GOLD = {aspect: RNG.normal(size=(9, 6)) for aspect in ASPECTS.values()}
GOOD = GOLD["relevance"] + RNG.normal(size=(9, 6)) / 2
SCORES = {"BLEU": GOOD, "chrF": GOOD + 3 * RNG.normal(size=(9, 6)), "DepthScore": -GOOD}


def by_formula(r12: float, r13: float, r23: float, n: int) -> float:
    """One-sided p that the first of two metrics correlates better (Williams, 1959)."""
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    under = 2 * k * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    return float(scipy.stats.t.sf((r12 - r13) * np.sqrt((n - 1) * (1 + r23) / under), n - 3))


def made_up(values: dict) -> Paper:
    cards = {name: ScorerCard("string", "higher") for name in SCORES}
    dataset = make_dataset(SCORES, GOLD, cards=cards)
    return Paper(dataset, Printed({"tables": {}, "williams": values}))


def test_tables_have_p_that_the_row_beats_the_column() -> None:
    tables = williams_tables(made_up({}), "system")
    assert set(tables) == set(ASPECTS)
    gold, one, other = (x.mean(0) for x in (GOLD["relevance"], SCORES["BLEU"], SCORES["chrF"]))
    rs = [np.corrcoef(a, b)[0, 1] for a, b in ((one, gold), (other, gold), (one, other))]
    signs = np.sign(rs[:2])
    p = by_formula(abs(rs[0]), abs(rs[1]), rs[2] * signs[0] * signs[1], 6)
    stronger = (0, 1) if abs(rs[0]) > abs(rs[1]) else (1, 0)
    found = tables["RE"][stronger]
    assert found == pytest.approx(min(p, 1 - p))


def test_by_item_n_is_the_number_of_items() -> None:
    def mean_r(x: np.ndarray, y: np.ndarray) -> float:
        return float(np.mean([np.corrcoef(*row)[0, 1] for row in zip(x, y, strict=True)]))

    gold = GOLD["relevance"]
    rs = [mean_r(SCORES["BLEU"], gold), mean_r(SCORES["chrF"], gold)]
    rs.append(mean_r(SCORES["BLEU"], SCORES["chrF"]))
    assert rs[0] > rs[1] > 0
    found = williams_tables(made_up({}), "story")["RE"][0, 1]
    assert found == pytest.approx(by_formula(*rs, n=9))


def test_values_are_found_by_their_printed_names() -> None:
    paper = made_up(
        {
            "readme(.65,.55,.3,50)": {"t": 0.8160781865467162, "p": 0.2092994},
            "system RE BLEU vs chrF": {"p": 0.5},
            "top3_pearson_pvalues": {"story_RE": {"BLEU Ξ§ > chrF Ξ§": 0.25}},
            "story_chrF_BERTScore_vs_BLEU_ROUGE": {"RE: chrF Ξ§ vs BLEU Ξ§": [0, 0.75]},
        }
    )
    found = {(one.table, one.what): one for one in williams_values(paper)}
    assert len(found) == 5 and {one.printed for one in found.values()} >= {0.5, 0.25, 0.75}
    story = williams_tables(paper, "story")["RE"][0, 1]
    top = found["Williams tests: the three strongest", "story, relevance: BLEU, chrF"]
    against = "Williams tests: chrF and BERTScore against BLEU and ROUGE"
    assert top.ours == story == found[against, "relevance: chrF Ξ§ vs BLEU Ξ§"].ours
    example = "Williams tests: the notebooks' examples"
    # By the formula above, with scipy 1.17.1.
    t = found[example, "r .65, .55, .3, n 50: t"]
    assert t.holds and found[example, "r .65, .55, .3, n 50: p"].ours == pytest.approx(
        by_formula(0.65, 0.55, 0.3, 50)
    )


def test_the_paper_s_claim_on_the_three_strongest_holds(replicated: list[PrintedValue]) -> None:
    top = [one for one in replicated if one.table.endswith("the three strongest")]
    assert len(top) == 36 and all(one.holds for one in top)
