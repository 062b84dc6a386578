from __future__ import annotations

import numpy as np
import pytest

from fabula.core.dataset import Preference
from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.meta.ranking.preferences import choose_by_preferences, choose_by_values

NAN = np.nan
STORIES = [Story(f"{s}{i}", "Once.", system=s, item=i) for s in "abc" for i in "12"]


def test_values_choose_between_every_two_systems_of_an_item() -> None:
    found = choose_by_values(
        np.array([[3.0, 1.0, 1.0], [2.0, NAN, 5.0]]), ("a", "b", "c"), ("1", "2")
    )
    rows = zip(found.item, found.left, found.right, found.outcome, strict=True)
    assert [tuple(map(int, row)) for row in rows] == [
        (0, 0, 1, 1), (0, 0, 2, 1), (0, 1, 2, 0), (1, 0, 2, -1),
    ]  # fmt: skip


def test_values_that_differ_by_rounding_alone_tie() -> None:
    found = choose_by_values(np.array([[0.3, 0.1 + 0.2]]), ("a", "b"), ("1",))
    assert found.outcome.tolist() == [0]


def test_a_tie_is_half_a_win_for_either() -> None:
    found = choose_by_values(np.array([[1.0, 1.0], [2.0, 1.0]]), ("a", "b"), ("1", "2"))
    assert found.wins.tolist() == [[0, 1.5], [0.5, 0]]


def test_preferences_between_stories_are_choices_between_systems() -> None:
    told = [Preference("b1", "a1"), Preference("b2", "a2"), Preference("a1", "a2")]
    found = choose_by_preferences(told, STORIES)
    assert (found.systems, found.items) == (("b", "a"), ("1", "2"))
    assert found.wins.tolist() == [[0, 2], [0, 0]]


def test_preferences_that_say_nothing_of_systems_are_refused() -> None:
    with pytest.raises(InputError, match="no choice between two systems"):
        choose_by_preferences([Preference("a1", "a2")], STORIES)
    with pytest.raises(InputError, match="'z9', which is not a story here"):
        choose_by_preferences([Preference("z9", "a2")], STORIES)


def test_an_item_drawn_twice_counts_twice() -> None:
    found = choose_by_values(np.array([[1.0, 2.0], [2.0, 1.0]]), ("a", "b"), ("1", "2"))
    assert found.draw_items(np.array([1, 1, 0])).wins.tolist() == [[0, 2], [1, 0]]


def test_items_without_a_choice_draw_nothing() -> None:
    values = np.array([[NAN, 2.0], [2.0, 1.0], [NAN, NAN]])
    found = choose_by_values(values, ("a", "b"), ("1", "2", "3"))
    assert [len(found.draw_items(np.array([item]))) for item in range(3)] == [0, 1, 0]


def test_net_wins_are_means_by_pair_and_item() -> None:
    told = [Preference("a1", "b1"), Preference("a1", "b1"), Preference("b1", "a1")]
    net = choose_by_preferences([*told, Preference("c2", "a2")], STORIES).net_wins()
    # Pairs (a, b), (a, c), (b, c): a wins two of three, then loses to c on the other item.
    assert net[0, 0] == pytest.approx(1 / 3) and net[1, 1] == -1
    assert np.isnan(net[[0, 1, 2, 2], [1, 0, 0, 1]]).all()


def test_a_tied_preference_is_half_a_win_for_either() -> None:
    told = [Preference("a1", "b1"), Preference("a2", "b2", is_tie=True)]
    found = choose_by_preferences(told, STORIES)
    assert found.outcome.tolist() == [1, 0]
    assert found.wins.tolist() == [[0, 1.5], [0.5, 0]]
