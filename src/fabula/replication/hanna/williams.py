"""Williams tests that HANNA prints or speaks of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from fabula.meta.arrays import Values
from fabula.meta.levels import correlation_table
from fabula.meta.significance.williams import williams, williams_matrix
from fabula.replication.hanna.printed import ASPECTS, LEVELS, metric_name
from fabula.reports.published import PrintedValue

if TYPE_CHECKING:
    from fabula.replication.hanna.replicate import Paper

_EXAMPLES = "Williams tests: the notebooks' examples"
_TOP_3 = "Williams tests: the three strongest"
_CHRF = "Williams tests: chrF and BERTScore against BLEU and ROUGE"


def williams_values(paper: Paper) -> Iterator[PrintedValue]:
    """Give the tests of the notebooks and of the paper's two claims."""
    tables = {level: williams_tables(paper, level) for level in LEVELS}
    yield from _examples(paper, tables["system"])
    for key, pairs in paper.printed.values["williams"]["top3_pearson_pvalues"].items():
        level, code = key.split("_")
        for pair, p in pairs.items():
            stronger, weaker = pair.split(" > ")
            ours = tables[level][code][paper.metric(stronger), paper.metric(weaker)]
            what = f"{level}, {ASPECTS[code]}: {metric_name(stronger)}, {metric_name(weaker)}"
            yield PrintedValue(_TOP_3, what, p, float(ours), 5.1e-5)
    for key, (_, p) in paper.printed.values["williams"][
        "story_chrF_BERTScore_vs_BLEU_ROUGE"
    ].items():
        code, pair = key.split(": ")
        one, other = (paper.metric(header) for header in pair.split(" vs "))
        table = tables["story"][code]
        ours = table[one, other] if not np.isnan(table[one, other]) else table[other, one]
        yield PrintedValue(_CHRF, f"{ASPECTS[code]}: {pair}", p, float(ours), 5.1e-6)


def williams_tables(paper: Paper, level: str) -> dict[str, Values]:
    """Give p of "the row's metric beats the column's" by Pearson's r, criterion by criterion."""
    metrics, gold = paper.grids
    between = correlation_table(
        metrics, metrics, level="item" if level == "story" else "system", coefficient="pearson"
    )
    with_gold = paper.correlations(level, "pearson")
    items, systems = gold.layout.shape
    n = items if level == "story" else systems
    return {code: williams_matrix(with_gold[:, paper.aspect(code)], between, n) for code in ASPECTS}


def _examples(paper: Paper, tables: dict[str, Values]) -> Iterator[PrintedValue]:
    """Give the formula's example, and two of the notebooks from the data themselves."""
    values = paper.printed.values["williams"]
    found = williams(0.65, 0.55, 0.3, 50)
    for name, ours in (("t", found.t), ("p", found.p)):
        printed = values["readme(.65,.55,.3,50)"][name]
        yield PrintedValue(_EXAMPLES, f"r .65, .55, .3, n 50: {name}", printed, float(ours), 1e-9)
    for what in values:
        if what.startswith("system "):
            _, code, pair = what.split(" ", 2)
            one, other = (paper.metric(f"{name} §") for name in pair.split(" vs "))
            p = float(np.nanmin([tables[code][one, other], tables[code][other, one]]))
            yield PrintedValue(_EXAMPLES, f"{what}: p", values[what]["p"], p, 1e-9)
