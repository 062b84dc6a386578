"""Stories made into tasks, by unit."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest

from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.studio.campaigns.definition import Question
from fabula.studio.campaigns.tasks import name_item, plan_tasks
from fakes.open_campaign import make_campaign_definition, make_stories

BEST = (Question("best", "best", "Which is better?"),)
EXTREMES = (Question("ends", "best_worst", "Which is best, which worst?"),)


def test_every_story_is_a_task_and_any_run_of_them_holds_all_systems():
    tasks = plan_tasks(make_campaign_definition(raters=3), make_stories(20, 4))
    assert sorted(task.stories for task in tasks) == [(place,) for place in range(80)]
    assert {task.wanted for task in tasks} == {3}
    for start in range(0, 80, 4):
        assert len({task.systems for task in tasks[start : start + 4]}) == 4


def test_the_order_of_tasks_is_that_of_the_seed():
    orders = [
        [task.stories for task in plan_tasks(make_campaign_definition(seed=seed), make_stories(9))]
        for seed in (1, 1, 2)
    ]
    assert orders[0] == orders[1] != orders[2]


def test_overlap_gives_a_share_of_every_systems_tasks_to_all_raters_and_the_rest_to_one():
    tasks = plan_tasks(make_campaign_definition(raters=3, overlap=0.25), make_stories(20, 2))
    wanted = Counter((task.systems, task.wanted) for task in tasks)
    assert set(wanted.values()) == {5, 15}
    assert sum(task.wanted == 3 for task in tasks) == 10


def test_pairs_are_all_pairs_of_an_item():
    definition = make_campaign_definition(unit="pair", questions=BEST)
    tasks = plan_tasks(definition, make_stories(2, 4))
    pairs = [*combinations(range(4), 2), *combinations(range(4, 8), 2)]
    assert sorted(task.stories for task in tasks) == sorted(pairs)
    assert all(task.item in ("item 0", "item 1") and len(task.systems) == 2 for task in tasks)


def test_seven_stories_in_groups_of_three_meet_each_other_once():
    definition = make_campaign_definition(unit="group", size=3, questions=EXTREMES)
    tasks = plan_tasks(definition, make_stories(1, 7))
    assert len(tasks) == 7
    met = Counter(pair for task in tasks for pair in combinations(sorted(task.stories), 2))
    # A perfect difference set of seven: the Fano plane.
    assert len(met) == 21 and set(met.values()) == {1}


def test_a_group_with_room_for_all_stories_of_an_item_is_one_task():
    definition = make_campaign_definition(unit="group", size=4, questions=EXTREMES)
    assert [len(task.stories) for task in plan_tasks(definition, make_stories(3, 4))] == [4, 4, 4]


def test_stories_of_any_item_are_dealt_to_groups_each_once():
    definition = make_campaign_definition(unit="group", size=4, within="all")
    tasks = plan_tasks(definition, make_stories(5, 2))
    assert sorted(len(task.stories) for task in tasks) == [2, 4, 4]
    assert sorted(place for task in tasks for place in task.stories) == list(range(10))


def test_a_story_without_an_item_cannot_be_compared_with_those_of_its_item():
    stories = [*make_stories(1, 2), Story("lone", "Text.")]
    with pytest.raises(InputError, match="'lone' has no item"):
        plan_tasks(make_campaign_definition(unit="pair", questions=BEST), stories)


def test_a_planted_story_stands_alone_or_among_as_many_others_as_any():
    planted = [Story("planted-1", "bad bad bad")]
    alone = plan_tasks(make_campaign_definition(), make_stories(), planted)[-1]
    assert (alone.kind, alone.stories, alone.wanted) == ("planted", (6,), 0)
    definition = make_campaign_definition(unit="pair", questions=BEST)
    paired = plan_tasks(definition, make_stories(), planted)[-1]
    assert len(paired.stories) == 2 and paired.stories[-1] == 6


def test_a_long_prompt_is_called_by_its_beginning_and_its_digest():
    one, other = (name_item(Story("s", "t", prompt="p" * 900 + end)) for end in "xy")
    assert one and other and one != other and len(one) <= 500
