from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fabula import Story, UserError, evaluate
from fabula.core.dataset import Dataset
from fabula.core.errors import UnknownName
from fabula.core.metric import Metric
from fabula.core.score import Score
from fabula.core.table import ScoreTable
from fabula.scoring.catalogue import METRICS
from fabula.scoring.evaluate import BASELINES, add_baselines
from fakes.grids import make_dataset

Toy = Callable[..., Metric]


def rows(*args: object, **options: object) -> list[str]:
    return [repr(row) for row in evaluate(*args, **options).rows()]


def test_a_table_holds_the_stories_and_every_score(stories: list[Story]) -> None:
    table = evaluate(iter(stories), ["words", "rouge(n=2), bleu"])
    assert table.stories == stories
    assert table.scorers == ["words", "rouge(n=2)", "bleu"]
    # ROUGE gives precision, recall and F: by hand, 1 + 3 + 1 scores a story.
    assert len(table) == 70 * 5


def test_two_jobs_give_the_same_table_in_the_same_order(stories: list[Story]) -> None:
    wanted = "strings"
    assert rows(stories, wanted, jobs=2) == rows(stories, wanted)


def test_a_cache_may_be_named(stories: list[Story], toy: Toy, tmp_path: Path, home: Path) -> None:
    metric, cache = toy("counted"), tmp_path / "mine.sqlite"
    first = rows(stories, metric, cache=cache)
    assert rows(stories, metric, cache=str(cache)) == first
    assert len(metric.asked) == 69
    assert not home.exists()


def test_the_usual_cache_is_used_when_asked_for_and_only_then(
    stories: list[Story], toy: Toy, home: Path
) -> None:
    evaluate(stories, toy("counted"))
    assert not home.exists()
    evaluate(stories, toy("counted"), cache=True)
    assert list((home / "cache").glob("*.sqlite"))


@pytest.mark.parametrize("jobs", [0, -1])
def test_no_jobs_will_not_do(jobs: int) -> None:
    with pytest.raises(UserError, match=f"jobs={jobs}"):
        evaluate([Story("a", "b")], "words", jobs=jobs)


def test_doubled_ids_no_stories_and_no_metrics_are_errors() -> None:
    with pytest.raises(UserError, match="'a'"):
        evaluate([Story("a", "b"), Story("a", "c")], "words")
    with pytest.raises(UserError, match="no stories"):
        evaluate([], "words")
    with pytest.raises(UserError, match="no metric"):
        evaluate([Story("a", "b")], [])


def test_an_unknown_metric_suggests_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'rouge'"):
        evaluate([Story("a", "b")], "ruoge")


def test_a_bug_names_the_story(toy: Toy) -> None:
    with pytest.raises(UserError) as caught:
        evaluate([Story("culprit", "a bug")], toy("buggy"), strict=True)
    assert "culprit" in str(caught.value)


def told(*texts: str, **rest: object) -> Dataset:
    """A data set of stories with these texts, rated and scored by nobody."""
    stories = tuple(Story(str(place), text) for place, text in enumerate(texts))
    return replace(make_dataset({}, {"": [[1.0]]}), stories=stories, ratings=ScoreTable(), **rest)


def test_baselines_are_metrics_that_call_themselves_so() -> None:
    assert {METRICS.build(name).card.family for name in BASELINES} == {"baseline"}


def test_texts_are_scored_by_every_baseline() -> None:
    found = add_baselines(told("One two two.", "Three words here, or five."))
    assert found.scores.scorers == list(BASELINES)
    assert [one.value for one in found.scores.of("words")] == [3, 5]
    assert next(iter(found.scores.of("unique_words"))).value == 2
    assert {found.scorers[name].family for name in BASELINES} == {"baseline"}


def test_scores_and_cards_that_were_there_stay() -> None:
    dataset = make_dataset({"mine": [[1.0, 2.0]]}, {"": [[1.0, 2.0]]})
    found = add_baselines(dataset)
    assert found.scores.scorers == ["mine", *BASELINES]
    assert len(found.scores) == 2 + 2 * len(BASELINES)
    assert len(dataset.scores) == 2 and dataset.scorers == {}


def test_a_baseline_that_is_there_is_not_computed_again() -> None:
    dataset = told("One two.")
    mine = ScoreTable(dataset.stories, [Score("0", "words", value=77.0)])
    found = add_baselines(replace(dataset, scores=mine))
    assert [one.value for one in found.scores.of("words")] == [77.0]
    assert set(found.scores.scorers) == set(BASELINES)


def test_nothing_is_added_twice() -> None:
    once = add_baselines(told("One two."))
    assert add_baselines(once) is once


def test_stories_without_texts_have_no_baselines() -> None:
    dataset = told("", "")
    assert add_baselines(dataset) is dataset


def test_only_stories_with_texts_are_scored() -> None:
    found = add_baselines(told("One two.", ""))
    assert [one.story for one in found.scores.of("words")] == ["0"]
    assert not any(math.isnan(one.value) for one in found.scores)


@pytest.mark.parametrize("name", BASELINES)
def test_baselines_point_where_their_cards_say(name: str) -> None:
    found = add_baselines(told("One two."))
    assert found.scorers[name].direction == METRICS.build(name).card.direction
