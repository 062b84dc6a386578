"""Every number that HANNA prints, computed again from its ratings and scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fabula.core.dataset import Dataset
from fabula.meta.arrays import Values
from fabula.meta.grid import Grid
from fabula.meta.levels import correlate_top_k
from fabula.meta.ranking.aggregation import borda
from fabula.meta.ranking.labels import label_f1
from fabula.meta.ranking.means import AVERAGE, system_means
from fabula.meta.raters.icc import Icc, one_way, two_way
from fabula.meta.raters.ratings import ratings_of
from fabula.meta.significance.williams import williams, williams_matrix
from fabula.replication.hanna.paper import (
    ASPECTS,
    COEFFICIENTS,
    LEVELS,
    Paper,
    Printed,
    metric_name,
)
from fabula.reports.study_view import PrintedValue

# What the paper prints in Tables 8 and 9 and its own data do not give.
MISPRINTS = {
    ("story", "kendall", "SU", "Novelty-1"): 23.11,
    ("system", "kendall", "CX", "Novelty-1"): 67.42,
}
_FIRST = 5
_SLOTS = 3
_SEEDS = 6
_DIGITS = 1e-6
_EXAMPLES = "Williams tests: the notebooks' examples"
_TOP_3 = "Williams tests: the three strongest"
_CHRF = "Williams tests: chrF and BERTScore against BLEU and ROUGE"


def replicate(dataset: Dataset, printed: Printed) -> Iterator[PrintedValue]:
    """Give every printed number beside ours, table by table."""
    paper = Paper(dataset, printed)
    for table in (
        _icc, _table_4, _strongest, _table_6, _criteria, _compute_released, _compute_pooled, _f1,
        _top_k, williams_values,
    ):  # fmt: skip
        yield from table(paper)


def _icc(paper: Paper) -> Iterator[PrintedValue]:
    by_aspect = ratings_of(paper.dataset.ratings)
    ours = {ratings.aspect: one_way(ratings.packed)[0] for ratings in by_aspect}
    for code, aspect in ASPECTS.items():
        printed = paper.printed.tables["tab3_icc2k"][code]["ICC1"]
        yield PrintedValue("Table 3: ICC(1)", aspect, printed, ours[aspect].value, _DIGITS)
    for code, icc in align_table_3(paper.dataset).items():
        _, printed, _ = paper.printed.tables["tab3_paper_and_notebook"]["notebook_icc2k"][code]
        yield PrintedValue("Table 3: ICC(2,k)", ASPECTS[code], printed, icc.value, 5e-4)


def align_table_3(dataset: Dataset) -> dict[str, Icc]:
    """Give ICC(2,k) by criterion with the three busiest raters in fixed columns.

    Nothing where it is not known who rated: ratings in the order they came would give another.
    """
    if not dataset.card.raters_known:
        return {}
    codes = {aspect: code for code, aspect in ASPECTS.items()}
    return {
        codes[ratings.aspect]: two_way(ratings.align(ratings.list_busiest(_SLOTS)))[2]
        for ratings in ratings_of(dataset.ratings)
    }


def _table_4(paper: Paper) -> Iterator[PrintedValue]:
    means = system_means(paper.dataset.ratings, average=True)
    for system, row in paper.printed.tables["tab4"].items():
        for code, aspect in [*ASPECTS.items(), ("Average", AVERAGE)]:
            mean, what = means[system, aspect], f"{system}, {aspect}"
            printed, ours = round(row[code], 2), round(mean.value, 2)
            yield PrintedValue("Table 4: means", what, printed, ours, 1e-9)
            if (reach := row.get(f"{code}_ci95_288ratings")) is not None:
                ours = mean.high - mean.value
                yield PrintedValue("Table 4: intervals", what, reach, ours, 5.1e-5)


def _strongest(paper: Paper) -> Iterator[PrintedValue]:
    for level, number in (("story", 8), ("system", 9)):
        for coefficient in COEFFICIENTS:
            listed = paper.printed.tables["top_metrics"][f"{level}_{coefficient}"]
            table = 100 * np.abs(paper.correlations(level, coefficient))
            for code in ASPECTS:
                for header, value in _as_printed(listed[code], level, coefficient, code):
                    what = f"{ASPECTS[code]}, {coefficient}, {metric_name(header)}"
                    ours = round(paper.at(table, header, code), 2)
                    key = (level, coefficient, code, metric_name(header))
                    note = "a misprint: the paper's own data give ours" if key in MISPRINTS else ""
                    yield PrintedValue(
                        f"Tables 5 and {number}: {level} level", what, value, ours, 0.0051, note
                    )


def _as_printed(
    listed: list[list[Any]], level: str, coefficient: str, code: str
) -> list[tuple[str, float]]:
    """Give the five strongest as the paper lists them, its misprints among them."""
    values = {metric_name(header): (header, value) for header, value in listed}
    for (at, by, of, name), misprint in MISPRINTS.items():
        if (at, by, of) == (level, coefficient, code):
            values[name] = (values.get(name, (f"{name} ¤§", 0.0))[0], misprint)
    return sorted(values.values(), key=lambda pair: -pair[1])[:_FIRST]


def _table_6(paper: Paper) -> Iterator[PrintedValue]:
    columns = {
        level: np.hstack([np.abs(paper.correlations(level, name)) for name in COEFFICIENTS])
        for level in LEVELS
    }
    tables = paper.printed.tables
    average = tables["tab6_tie_conventions"][
        "average ranks (values rounded to 10 decimals, rank-1)"
    ]
    stories, systems = borda(columns["story"]), borda(columns["system"])
    wanted = [
        ("Table 6: story level", tables["tab6_paper"]["story"], stories),
        ("Table 6: system level, average ranks", average["system"], systems),
        ("Table 6: both levels, average ranks", average["global"], stories + systems),
    ]
    for table, listed, points in wanted:
        for header, value in listed:
            ours = float(points[paper.metric(header)])
            yield PrintedValue(table, metric_name(header), value, ours, 1e-9)


def _criteria(paper: Paper) -> Iterator[PrintedValue]:
    gold = paper.grids[1]
    for level in LEVELS:
        for coefficient in COEFFICIENTS:
            table = paper.correlate(gold, gold, level, coefficient)
            printed = paper.printed.values["criteria_corr"][f"{level}_{coefficient}"]
            for pair, value in printed.items():
                if pair == "mean_offdiag":
                    continue
                first, second = pair.split("-")
                ours = float(table[paper.aspect(first), paper.aspect(second)])
                what = f"{level}, {coefficient}, {ASPECTS[first]} and {ASPECTS[second]}"
                yield PrintedValue("Figures 1 and 2: criteria", what, value, ours, _DIGITS)


def _compute_released(paper: Paper) -> Iterator[PrintedValue]:
    for key, table in paper.printed.values["correlations_signed"].items():
        level, coefficient = key.split("_")
        correlations = paper.correlations(level, coefficient)
        for header, row in table.items():
            for code, value in row.items():
                what = f"{level}, {coefficient}, {metric_name(header)}, {ASPECTS[code]}"
                ours = paper.at(correlations, header, code)
                yield PrintedValue("All correlations", what, value, ours, _DIGITS)


def _compute_pooled(paper: Paper) -> Iterator[PrintedValue]:
    printed = paper.printed.values["tacl_overall_example"]["BLEU-Relevance"]
    for coefficient, value in printed.items():
        ours = paper.at(paper.correlations("pooled", coefficient), "BLEU Ξ§", "RE")
        what = f"BLEU, relevance, {coefficient}"
        yield PrintedValue("Later revision: pooled", what, value, ours, _DIGITS)


def _f1(paper: Paper) -> Iterator[PrintedValue]:
    metrics, gold = paper.grids
    as_published = 100 * mean_f1(metrics, gold)
    for header, row in paper.printed.tables["fig7_26_f1_seed_mean"].items():
        for code in ASPECTS:
            what = f"{metric_name(header)}, {ASPECTS[code]}"
            printed, ours = 100 * row[code], paper.at(as_published, header, code)
            yield PrintedValue("Figures 7 and 26: F1 as published", what, printed, ours, 6.0)
    # A metric that mostly correlates negatively over systems is a distance: it is turned.
    signs = np.sign(paper.correlations("system", "pearson").mean(axis=1))
    turned = Grid(metrics.layout, metrics.columns, metrics.values * signs[:, None, None])
    means = 100 * mean_f1(turned, gold).mean(axis=1)
    for header, value in paper.printed.tables["fig7_26_f1_oriented"].items():
        ours = float(means[paper.metric(header)])
        what = f"{metric_name(header)}, mean of the criteria"
        yield PrintedValue("Figure 7 with every metric turned", what, 100 * value, ours, 6.0)


def mean_f1(metrics: Grid, gold: Grid) -> Values:
    """F1 of the labels, averaged over seeds: one alone differs by up to 8 points."""
    tables = [label_f1(metrics, gold, lower=(), seed=seed) for seed in range(_SEEDS)]
    mean: Values = np.mean(tables, axis=0)
    return mean


def _top_k(paper: Paper) -> Iterator[PrintedValue]:
    for coefficient, by_aspect in paper.printed.tables["fig8_topk"].items():
        sizes = range(4, 11)
        curves = np.abs(correlate_top_k(*paper.grids, sizes=sizes, coefficient=coefficient))
        for code, rows in by_aspect.items():
            for header, values in rows.items():
                for place, size in enumerate(sizes):
                    what = f"{coefficient}, {metric_name(header)}, {ASPECTS[code]}, k = {size}"
                    ours = float(curves[paper.metric(header), paper.aspect(code), place])
                    yield PrintedValue("Figure 8: top k", what, values[str(size)], ours, 5.1e-5)


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
    against = paper.printed.values["williams"]["story_chrF_BERTScore_vs_BLEU_ROUGE"]
    for key, (_, p) in against.items():
        code, pair = key.split(": ")
        row, column = (paper.metric(header) for header in pair.split(" vs "))
        table = tables["story"][code]
        # Only the stronger of the two has a p: which of them that is, the paper does not say.
        ours = table[row, column] if not np.isnan(table[row, column]) else table[column, row]
        yield PrintedValue(_CHRF, f"{ASPECTS[code]}: {pair}", p, float(ours), 5.1e-6)


def williams_tables(paper: Paper, level: str) -> dict[str, Values]:
    """Give p of "the row's metric beats the column's" by Pearson's r, criterion by criterion."""
    metrics, gold = paper.grids
    between = paper.correlate(metrics, metrics, level, "pearson")
    with_gold = paper.correlations(level, "pearson")
    items, systems = gold.layout.shape
    n = items if level == "story" else systems
    return {code: williams_matrix(with_gold[:, paper.aspect(code)], between, n) for code in ASPECTS}


def _examples(paper: Paper, tables: dict[str, Values]) -> Iterator[PrintedValue]:
    """Give the formula's example, and two of the notebooks from the data themselves."""
    values = paper.printed.values["williams"]
    test = williams(0.65, 0.55, 0.3, 50)
    for name, ours in (("t", test.t), ("p", test.p)):
        printed = values["readme(.65,.55,.3,50)"][name]
        yield PrintedValue(_EXAMPLES, f"r .65, .55, .3, n 50: {name}", printed, float(ours), 1e-9)
    for what in values:
        if what.startswith("system "):
            _, code, pair = what.split(" ", 2)
            row, column = (paper.metric(f"{name} §") for name in pair.split(" vs "))
            p = float(np.nanmin([tables[code][row, column], tables[code][column, row]]))
            yield PrintedValue(_EXAMPLES, f"{what}: p", values[what]["p"], p, 1e-9)
