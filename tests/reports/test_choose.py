from __future__ import annotations

import pytest

from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.reports._embedded import Budget, choose_stories
from fabula.reports.run_data import ReportData, read_report_data

EVERYTHING = Budget(10**9, float("inf"))


@pytest.fixture
def data(make_run) -> ReportData:
    stories = [
        Story(f"{system}{n}", f"Story {n} of {system}.", references=("Same.",), system=system)
        for system in "ab"
        for n in range(50)
    ]
    scores = [Score(story.id, "bleu", "", float(story.id[1:])) for story in stories]
    return read_report_data(make_run(stories, "bleu", table=ScoreTable(stories, scores)))


def names(data: ReportData, budget: Budget, seed: int = 0) -> list[str]:
    return [data.stories[place].id for place in choose_stories(data, budget, seed=seed)]


def test_a_large_budget_shows_all_in_their_order(data: ReportData) -> None:
    assert names(data, EVERYTHING) == [story.id for story in data.stories]


def test_best_worst_and_middle_stories_of_every_system_are_shown(data: ReportData) -> None:
    chosen = names(data, Budget(8, float("inf")))
    assert {"a49", "b49", "a0", "b0", "a24", "b24"} <= set(chosen)
    assert len(chosen) == len(set(chosen)) == 8


def test_the_rest_is_drawn_with_the_seed(data: ReportData) -> None:
    budget = Budget(20, float("inf"))
    assert names(data, budget, 1) == names(data, budget, 1) != names(data, budget, 2)


def test_texts_that_do_not_fit_are_left_out_and_shared_references_count_once(
    data: ReportData,
) -> None:
    one, reference = len("Story 0 of a."), len("Same.")
    assert len(names(data, Budget(10**9, 3 * one + reference))) == 3


def test_no_story_is_shown_where_none_is_wanted(data: ReportData) -> None:
    assert names(data, Budget(0, float("inf"))) == []
