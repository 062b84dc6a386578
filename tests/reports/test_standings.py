from __future__ import annotations

import math

import numpy as np
import pytest

from fabula.core.score import Score
from fabula.core.story import Story
from fabula.meta.resampling import Estimates
from fabula.reports.run_data import ReportColumn, read_report_data
from fabula.reports.standings import Standings, StreamedScores, compute_standings
from fabula.scoring.evaluate import evaluate


def standings(direction: str, *ends: tuple[float, float, float]) -> Standings:
    low, mean, high = (np.array([[end[n]] for end in ends]) for n in range(3))
    counts = np.ones(mean.shape, dtype=np.int64)
    names = [f"system {n}" for n in range(len(ends))]
    column = ReportColumn("toy", "", direction)  # type: ignore[arg-type]
    estimates = Estimates(mean, low, high, counts, counts * 0)
    return Standings(names, [column], estimates, counts * 0, True)


@pytest.mark.parametrize(
    ("direction", "ends", "best"),
    [
        ("higher", [(1, 2, 3), (4, 5, 6)], 1),
        ("lower", [(1, 2, 3), (4, 5, 6)], 0),
        ("higher", [(1, 2, 4.5), (4, 5, 6)], None),
        ("higher", [(1, 2, 3), (4, 5, 6), (0, 3, 7)], None),
        ("descriptive", [(1, 2, 3), (4, 5, 6)], None),
        ("higher", [(1, 2, 3)], None),
        ("higher", [(1, 2, 3), (math.nan, math.nan, math.nan)], None),
        ("higher", [(1, 2, 3), (4, 5, 6), (math.nan, math.nan, math.nan)], 1),
        ("higher", [(1, 2, 3), (math.nan, 5, math.nan)], None),
    ],
)
def test_the_best_is_one_whose_interval_is_better_than_every_other(direction, ends, best) -> None:
    assert standings(direction, *ends).best == [best]


def test_the_better_is_the_stronger_whichever_the_direction() -> None:
    ends = [(0.9, 1, 1.1), (1.9, 2, 2.1), (2.9, 3, 3.1)]
    assert standings("higher", *ends).strengths == [[0.0, 0.5, 1.0]]
    assert standings("lower", *ends).strengths == [[1.0, 0.5, 0.0]]
    assert standings("descriptive", *ends).strengths == [[None] * 3]


def test_differences_smaller_than_an_interval_stay_pale() -> None:
    [found] = standings("higher", (0, 2.0, 4), (0, 2.4, 4)).strengths
    assert found == [0.0, pytest.approx(0.1)]


def test_systems_that_are_alike_have_no_colour() -> None:
    assert standings("higher", (1, 1, 1), (1, 1, 1)).strengths == [[0.0, 0.0]]


def test_numbers_have_the_decimals_their_column_deserves() -> None:
    assert standings("higher", (0, 241.63, 0)).number(241.63, 0) == "241.6"
    assert standings("higher", (0, 0.25, 0)).number(0.25, 0) == "0.2500"
    assert standings("higher", (0, 0.25, 0)).number(math.nan, 0) == "–"


def test_a_run_says_what_was_resampled_and_counts_what_was_left_out(make_run, two_systems) -> None:
    found = compute_standings(read_report_data(make_run(two_systems, "words")), seed=0)
    assert found.by_item and found.systems == ["copy", "loop"]
    assert (found.estimates.n == 4).all() and (found.left_out == 0).all()


def test_scores_held_while_they_come_give_the_standings_of_the_report(
    make_run, two_systems
) -> None:
    data = read_report_data(make_run(two_systems, "rouge", "words"))
    whole = compute_standings(data, seed=0)
    streamed = StreamedScores()
    for story in two_systems:
        for score in evaluate([story], ["rouge", "words"]):
            streamed.add(story, score)
    found = streamed.standings({"rouge": "higher", "words": "descriptive"})
    wanted = {cell for cell in whole.best_cells if cell[0] in ("rouge", "words")}
    assert found.best_cells == wanted and wanted


def test_too_many_scores_are_let_go() -> None:
    streamed = StreamedScores(most=2)
    for number in range(4):
        assert streamed.complete is (number < 3)
        streamed.add(Story(f"s{number}", "x"), Score(f"s{number}", "words", "", 1.0))
    assert not streamed.complete
