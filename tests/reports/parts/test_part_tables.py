"""Tables of a study report: their numbers are those of the data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.stats

from fabula.meta.study import Study
from fabula.reports.parts import find_part
from fabula.reports.study_blocks import TableBlock, Words, blocks_of
from fabula.reports.study_view import View
from fakes.grids import make_dataset, scipy_value
from fakes.word_stories import CARDS, tales, view_of


@pytest.fixture(scope="module")
def view() -> View:
    asked = {"item": "i2", "systems": ["c", "a"], "metrics": ["good", "nosuch"], "note": "Look."}
    return view_of(tales(), options={"example": asked})


def tables(view: View, part: str) -> dict[str, TableBlock]:
    section = find_part(part)(view)
    return {one.name: one for one in blocks_of([section]) if isinstance(one, TableBlock)}


def plain(table: TableBlock) -> list[list[Any]]:
    return [[cell.value for cell in row] for row in table.table.cells]


def test_systems_stand_by_their_mean_rating_with_t_intervals(view: View) -> None:
    table = tables(view, "systems")["systems"]
    assert table.columns[:3] == ("system", "plot", "style")
    ratings: dict[str, list[float]] = {}
    for one in view.dataset.ratings:
        if one.aspect == "style":
            ratings.setdefault(one.story[-1], []).append(one.value)
    rows = {row[0].value: row[2] for row in table.table.cells}
    for system, values in ratings.items():
        mean, error = np.mean(values), scipy.stats.sem(values)
        reach = scipy.stats.t.ppf(0.975, len(values) - 1) * error  # scipy 1.17.1
        assert rows[system].value == pytest.approx(mean)
        assert rows[system].text == f"{mean:.2f} ± {reach:.2f}"
    averages = [row[-1] for row in plain(table)]
    assert averages == sorted(averages, reverse=True)
    best = max(cell.value for cell in rows.values())
    assert [cell.value for cell in rows.values() if cell.tone == "good"] == [best]


def test_classes_count_metrics_by_family_and_by_what_they_read(view: View) -> None:
    rows = plain(tables(view, "classes")["classes"])
    assert [row[:4] for row in rows] == [
        ["string", "references", 1, 0],
        ["embedding", "references", 1, 1],
        ["model", "prompt", 1, 0],
        ["baseline", "the story alone", 4, 0],
    ]
    assert rows[3][4] == "words, unique_words, word_length, mattr"


def test_an_example_shows_ratings_and_scores_in_the_order_asked_for(view: View) -> None:
    found = tables(view, "example")
    ratings = plain(found["example_ratings"])
    assert [row[:2] for row in ratings] == [[s, str(r)] for s in "ca" for r in range(3)]
    given = {(one.story, one.scorer, one.aspect): one.value for one in view.dataset.ratings}
    assert ratings[4][2:] == [given["2-a", "human:1", aspect] for aspect in ("plot", "style")]
    scores = found["example_scores"]
    assert scores.columns == ("metric", "c", "a")
    goal = {one.story: one.value for one in view.dataset.scores if one.scorer == "good"}
    assert plain(scores) == [["good", goal["2-c"], goal["2-a"]], ["nosuch", None, None]]
    words = [one for one in find_part("example")(view).blocks if isinstance(one, Words)]
    assert words[-1].paragraphs == ["Look."]


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_the_strongest_are_metrics_proper_by_size_alone(view: View, coefficient: str) -> None:
    found = tables(view, "strongest")[f"strongest_system_{coefficient}"]
    rows = [row for row in plain(found) if row[0] == "style"]
    gold = view.gold.values[1].mean(0)
    values = {
        column.label: 100 * abs(scipy_value(table.mean(0), gold, coefficient))
        for column, table in zip(view.raw.columns, view.raw.values, strict=True)
    }
    assert {row[2]: row[3] for row in rows} == pytest.approx(values)
    assert [row[1] for row in rows] == [1, 2, 3] and set(values) == set(CARDS)
    sizes = [row[3] for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    assert all(row[4] is None and row[5] is None for row in rows)


def test_the_ranking_has_borda_s_points() -> None:
    # In each of three columns (Pearson, Spearman, Kendall) half is the weakest and has 0 points;
    # good and bad, which is as strong but for its sign, share 1 and 2.
    gold = np.array([[1.0, 2.0, 3.0]] * 2)
    half = np.array([[1.0, 3.0, 2.0]] * 2)
    dataset = make_dataset({"good": gold, "half": half, "bad": -gold}, {"": gold})
    view = view_of(dataset, study=Study(levels=("system",), resamples=5), baselines=False)
    rows = plain(tables(view, "ranking")["ranking_system"])
    assert {row[1]: row[3] for row in rows} == {"good": 4.5, "bad": 4.5, "half": 0}
    assert rows[-1][1] == "half" and rows[-1][5] == pytest.approx((1 / 2 + 1 / 2 + 1 / 3) / 3)


def test_raters_who_agree_have_coefficients_with_intervals(view: View) -> None:
    table = tables(view, "raters")["raters"]
    assert table.columns == ("coefficient", "plot", "style")
    rows = {row[0].value: row[1:] for row in table.table.cells}
    matrix = np.array(
        [
            [one.value for one in view.dataset.ratings
             if one.aspect == "plot" and one.scorer == f"human:{rater}"]
            for rater in range(3)
        ]
    ).T  # fmt: skip
    # ICC(1,1) from the mean squares between stories and within, by hand.
    between = 3 * matrix.mean(1).var(ddof=1)
    within = matrix.var(axis=1, ddof=1).mean()
    icc = (between - within) / (between + 2 * within)
    assert rows["ICC(1,1)"][0].value == pytest.approx(icc)
    assert rows["ICC(1,1)"][0].text.startswith(f"{icc:.2f} [")


def test_clusters_go_from_the_strongest_metric_down(view: View) -> None:
    found = tables(view, "significance")
    assert set(found) == {"clusters_plot", "clusters_style"}
    rows = plain(found["clusters_plot"])
    assert {row[2] for row in rows} == {column.label for column in view.metrics.columns}
    values = [row[3] for row in rows if not math.isnan(row[3])]
    assert values == sorted(values, reverse=True)
    assert [row[0] for row in rows] == sorted(row[0] for row in rows) and rows[0][1] == 0
    assert {rows[0][2], rows[1][2]} == {"good", "distance"}
