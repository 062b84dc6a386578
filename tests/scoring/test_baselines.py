from __future__ import annotations

import math
from dataclasses import replace

import pytest

from fabula.core.dataset import Dataset
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.scoring.baselines import BASELINES, with_baselines
from fabula.scoring.catalogue import METRICS
from grids import make_dataset


def told(*texts: str, **rest: object) -> Dataset:
    """A data set of stories with these texts, rated and scored by nobody."""
    stories = tuple(Story(str(place), text) for place, text in enumerate(texts))
    return replace(make_dataset({}, {"": [[1.0]]}), stories=stories, ratings=ScoreTable(), **rest)


def test_baselines_are_metrics_that_call_themselves_so() -> None:
    assert {METRICS.build(name).card.family for name in BASELINES} == {"baseline"}


def test_texts_are_scored_by_every_baseline() -> None:
    found = with_baselines(told("One two two.", "Three words here, or five."))
    assert found.scores.scorers == list(BASELINES)
    assert [one.value for one in found.scores.of("words")] == [3, 5]
    assert next(iter(found.scores.of("unique_words"))).value == 2
    assert {found.scorers[name].family for name in BASELINES} == {"baseline"}


def test_scores_and_cards_that_were_there_stay() -> None:
    dataset = make_dataset({"mine": [[1.0, 2.0]]}, {"": [[1.0, 2.0]]})
    found = with_baselines(dataset)
    assert found.scores.scorers == ["mine", *BASELINES]
    assert len(found.scores) == 2 + 2 * len(BASELINES)
    assert len(dataset.scores) == 2 and dataset.scorers == {}


def test_a_baseline_that_is_there_is_not_computed_again() -> None:
    dataset = told("One two.")
    mine = ScoreTable(dataset.stories, [Score("0", "words", value=77.0)])
    found = with_baselines(replace(dataset, scores=mine))
    assert [one.value for one in found.scores.of("words")] == [77.0]
    assert set(found.scores.scorers) == set(BASELINES)


def test_nothing_is_added_twice() -> None:
    once = with_baselines(told("One two."))
    assert with_baselines(once) is once


def test_stories_without_texts_have_no_baselines() -> None:
    dataset = told("", "")
    assert with_baselines(dataset) is dataset


def test_only_stories_with_texts_are_scored() -> None:
    found = with_baselines(told("One two.", ""))
    assert [one.story for one in found.scores.of("words")] == ["0"]
    assert not any(math.isnan(one.value) for one in found.scores)


@pytest.mark.parametrize("name", BASELINES)
def test_baselines_point_where_their_cards_say(name: str) -> None:
    found = with_baselines(told("One two."))
    assert found.scorers[name].direction == METRICS.build(name).card.direction
