from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from fabula.core.errors import InputError, UnknownName
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.meta.compare import count_shared_items, pair_systems

Versus = Callable[..., ScoreTable]
NAN = math.nan


@pytest.mark.parametrize(
    ("direction", "expected"), [("higher", [-1, 2]), ("lower", [1, -2]), ("descriptive", [-1, 2])]
)
def test_positive_differences_favour_a(versus: Versus, direction: str, expected: list) -> None:
    [pairs] = pair_systems(versus([1, 4], [2, 2]), "a", "b", directions={"toy": direction})
    assert pairs.differences.tolist() == expected


def test_a_scorer_without_a_direction_is_descriptive(versus: Versus) -> None:
    [pairs] = pair_systems(versus([1, 4], [2, 2]), "a", "b", directions={})
    assert pairs.direction == "descriptive"


def test_items_without_both_values_are_left_out_and_counted(versus: Versus) -> None:
    table = versus([1, NAN, 3, 4, 5], [2, 2, NAN, 4])
    [pairs] = pair_systems(table, "a", "b", directions={})
    assert (pairs.a.tolist(), pairs.b.tolist()) == ([1, 4], [2, 4])
    assert pairs.left_out == 3


def test_other_systems_are_not_looked_at(versus: Versus) -> None:
    twice = [Story(f"c{i}", "Once.", system="c", item="0") for i in range(2)]
    other = ScoreTable(twice, [Score(story.id, "toy", value=1.0) for story in twice])
    [pairs] = pair_systems(versus([1, 2], [3, 4]) + other, "a", "b", directions={})
    assert len(pairs.a) == 2 and pairs.left_out == 0


def test_two_stories_of_a_system_for_one_item_cannot_be_paired(versus: Versus) -> None:
    again = Story("again", "Once.", system="a", item="0")
    table = versus([1, 2], [3, 4]) + ScoreTable([again], [Score("again", "toy", value=1.0)])
    with pytest.raises(InputError, match="item '0' and system 'a'"):
        list(pair_systems(table, "a", "b", directions={}))


def test_aspects_are_compared_apart(versus: Versus) -> None:
    table = versus([1, 2], [3, 4])
    more = [Score(story.id, "toy", "f", 7.0) for story in table.stories]
    first, second = pair_systems(
        ScoreTable(table.stories, [*table, *more]), "a", "b", directions={}
    )
    assert (first.aspect, second.aspect) == ("", "f")
    assert np.all(second.differences == 0)


def test_a_system_with_itself_has_no_differences(versus: Versus) -> None:
    [pairs] = pair_systems(versus([1, 2], [3, 4]), "a", "a", directions={})
    assert pairs.differences.tolist() == [0, 0]


def test_shared_items_are_counted(versus: Versus) -> None:
    assert count_shared_items(versus([1, 2, 3], [1, 2]), "a", "b") == 2


def test_too_few_shared_items_name_the_systems_known(versus: Versus) -> None:
    with pytest.raises(InputError, match=r"share 1 item, .* systems known: a, b"):
        count_shared_items(versus([1, 2, 3], [1]), "a", "b")


def test_an_unknown_system_names_the_nearest(versus: Versus) -> None:
    stories = [Story(name, "Once.", system=name, item="1") for name in ("human", "loop")]
    with pytest.raises(UnknownName, match="no system is called 'loup' here; did you mean 'loop'"):
        count_shared_items(ScoreTable(stories), "human", "loup")
