from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from fabula.core.score import Score
from fabula.meta.raters.agreement import agree
from fabula.meta.raters.ratings import Ratings, ratings_of
from fabula.meta.raters.reliability import Reliability, find_reliability
from fakes.ratings import table_of

SAID = {"a": "112233112231", "b": "132232121131", "c": "122313312211", "d": "321321321212"}


def ratings_by(said: dict[str, str]) -> Ratings:
    scores = [
        Score(f"s{i}", f"human:{rater}", "", float(value))
        for rater, values in said.items()
        for i, value in enumerate(values)
        if value != " "
    ]
    [ratings] = ratings_of(scores)
    return ratings


def find(said: dict[str, str], **options: int) -> Reliability:
    found = find_reliability(ratings_by(said), **options)
    assert found is not None
    return found


def test_two_steps_are_those_of_crowd_kit() -> None:
    # crowd-kit 1.4.2, DawidSkene(n_iter=2, tol=-9): priors_, the diagonals of errors_, probas_.
    found = find(SAID, most_steps=2)
    assert found.prior == pytest.approx([0.3985239446, 0.3157954723, 0.2856805831], abs=1e-9)
    expected = [
        [0.8348326542, 0.833747469, 0.6841481389],
        [0.5650460745, 0.3697452744, 0.4124868558],
        [0.6662393602, 0.8505832324, 0.5176442666],
        [0.0330178649, 0.3749495765, 0.2583082357],
    ]
    for rater, diagonal in enumerate(expected):
        assert np.diagonal(found.confusion[rater]) == pytest.approx(diagonal, abs=1e-9)
    assert found.truth[3] == pytest.approx([0.0906647318, 0.2866364434, 0.6226988248], abs=1e-9)
    assert found.truth[11] == pytest.approx([0.932415809, 0.0418943707, 0.0256898203], abs=1e-9)


def test_the_likelihood_never_falls() -> None:
    steps = [find(SAID, most_steps=n).likelihood for n in range(1, 20)]
    assert all(later >= earlier - 1e-12 for earlier, later in pairwise(steps))
    assert find(SAID).is_settled


def test_one_step_by_hand() -> None:
    """Two stories, both raters say 1 and 2: shares are certain, nothing is left to learn."""
    found = find({"a": "12", "b": "12"}, most_steps=1)
    assert found.prior == pytest.approx([0.5, 0.5])
    assert found.confusion[0] == pytest.approx(np.eye(2), abs=1e-9)
    assert found.likelihood == pytest.approx(np.log(0.5))
    assert found.likely.tolist() == [1, 2]


def simulate(rates: list[float], stories: int, seed: int) -> tuple[dict[str, str], list[int]]:
    """Raters who say the truth of two with these chances."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 3, size=stories)
    said = {
        chr(97 + i): "".join(str(t if rng.random() < rate else 3 - t) for t in truth)
        for i, rate in enumerate(rates)
    }
    return said, truth.tolist()


def test_known_accuracies_come_out_and_who_is_upside_down_is_told_from_chance() -> None:
    rates = [0.9, 0.8, 0.7, 0.5, 0.1]
    said, truth = simulate(rates, 2000, 3)
    found = find(said)
    assert found.accuracy == pytest.approx(rates, abs=0.04)
    assert found.informedness == pytest.approx([0.8, 0.6, 0.4, 0.0, -0.8], abs=0.08)
    right = np.mean(found.likely == np.array(truth))
    assert right > 0.94  # the best rater alone has .9


def test_one_answer_to_everything_has_no_reliability_however_often_it_is_right() -> None:
    said, _ = simulate([0.9, 0.85, 0.8], 500, 1)
    found = find(said | {"z": "1" * 500})
    assert found.accuracy[3] == pytest.approx(0.5, abs=0.05)
    assert found.informedness[3] == pytest.approx(0, abs=1e-6)


def test_missing_answers_are_left_out_not_filled_in() -> None:
    whole = find({"a": "1122", "b": "1122", "c": "1221"})
    gappy = find({"a": "1122", "b": "1122", "c": "1 21"})
    assert gappy.truth.shape == whole.truth.shape and gappy.likely.tolist() == [1, 1, 2, 2]


@pytest.mark.parametrize("said", [{"a": "1111", "b": "1111"}, {"a": "1212"}])
def test_one_category_or_one_rater_tells_nothing(said: dict[str, str]) -> None:
    assert find_reliability(ratings_by(said)) is None


def test_agree_gives_it_for_categories_alone() -> None:
    matrix = np.array([[1, 1, 2], [2, 2, 2], [1, 1, 1], [2, 2, 1], [1, 1, 2], [2, 2, 2.0]])
    nominal = agree(table_of(matrix), level="nominal", resamples=20)
    assert [round(line.reliability, 3) for line in nominal.raters[:2]] == [1, 1]
    ordinal = agree(table_of(matrix), resamples=20)
    assert all(np.isnan(line.reliability) for line in ordinal.raters)
