from __future__ import annotations

import numpy as np
import pytest

from fabula.learned.topics.analysis import (
    count_transitions,
    list_targets,
    normalise_transitions,
    weigh_worlds,
)
from fabula.learned.topics.passages import Passage


def speak(*said: tuple[str, str, int], world: str = "w") -> tuple[list[Passage], np.ndarray]:
    """Passages of (story, role, topic)."""
    passages = [Passage(str(n), "", story, world, role) for n, (story, role, _) in enumerate(said)]
    return passages, np.array([topic for *_, topic in said])


def test_a_topic_follows_the_last_one_of_the_same_role_in_the_same_game():
    passages, topics = speak(
        ("g", "narrator", 0),
        ("g", "ida", 1),
        ("g", "narrator", 2),
        ("g", "ida", 1),
        ("h", "ida", 0),
    )
    counts = count_transitions(passages, topics, 3)
    assert counts.tolist() == [[0, 0, 1], [0, 1, 0], [0, 0, 0]]


def test_a_topic_left_out_is_as_if_nobody_had_said_it():
    passages, topics = speak(("g", "ida", 0), ("g", "ida", 1), ("g", "ida", 2))
    assert count_transitions(passages, topics, 3, left_out={1})[0].tolist() == [0, 0, 1]


def test_challenges_never_follow_and_worlds_are_counted_apart():
    passages, topics = speak(("g", "challenge", 0), ("g", "challenge", 1))
    assert count_transitions(passages, topics, 2).sum() == 0
    passages, topics = speak(("g", "ida", 0), ("g", "ida", 1), world="Delta")
    assert count_transitions(passages, topics, 2, world="Delta").sum() == 1
    assert count_transitions(passages, topics, 2, world="Vell").sum() == 0


def test_shares_are_of_what_follows_the_source_and_nan_where_nothing_does():
    shares = normalise_transitions(np.array([[1, 3], [0, 0]]))
    assert shares[0].tolist() == [0.25, 0.75]
    assert np.isnan(shares[1]).all()


def test_the_three_commonest_targets_are_listed_without_the_topic_itself():
    counts = np.zeros((5, 5), dtype=int)
    counts[0] = [9, 1, 4, 3, 3]
    counts[1] = [2, 8, 0, 0, 0]
    targets = [(row.source, row.target, row.count) for row in list_targets(counts)]
    assert targets == [(0, 2, 4), (0, 3, 3), (0, 4, 3), (1, 0, 2)]
    assert list_targets(counts)[0].share == pytest.approx(4 / 20)


def test_importance_is_the_share_in_the_world_by_that_in_all():
    vell = [Passage(f"v{n}", "", f"v{n}", "Vell") for n in range(6)]
    delta = [Passage(f"d{n}", "", f"d{n}", "Delta") for n in range(4)]
    # Topic 0 has half of Vell and nothing of Delta, 3 of 10 in all.
    topics = np.array([0, 0, 0, 1, 1, 1, 1, 1, 1, 1])
    rows = weigh_worlds([*vell, *delta], topics, resamples=200)
    found = {(row.world, row.topic): row for row in rows}
    assert found["Vell", 0].importance.value == pytest.approx(0.5 / 0.3, rel=1e-3)
    assert found["Delta", 0].importance.value == 0
    assert (found["Vell", 0].share, found["Vell", 0].passages) == (0.5, 3)
    assert [row.topic for row in rows if row.world == "Vell"] == [0, 1]
    low, high = found["Vell", 0].importance.interval
    assert low < found["Vell", 0].importance.value <= high
    assert found["Vell", 0].importance.n == 6


def test_rare_topics_and_those_left_out_have_no_importance():
    passages = [Passage(str(n), "", str(n), "w") for n in range(300)]
    topics = np.array([0, 0] + [1] * 100 + [2] * 198)
    assert {row.topic for row in weigh_worlds(passages, topics, resamples=5)} == {1, 2}
    kept = weigh_worlds(passages, topics, left_out={2}, resamples=5)
    assert {row.topic for row in kept} == {1}
