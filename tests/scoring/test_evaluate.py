from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fabula import Story, UserError, evaluate
from fabula.core.errors import UnknownName
from fabula.core.metric import Metric

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
    with pytest.raises(ZeroDivisionError) as caught:
        evaluate([Story("culprit", "a bug")], toy("buggy"))
    assert "culprit" in caught.value.__notes__[0]
