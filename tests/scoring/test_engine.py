from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fabula.core.errors import InputError, UserError
from fabula.core.metric import Metric
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.scoring.cache import ScoreCache, open_cache
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.engine import Engine
from fabula.scoring.evaluate import evaluate
from fabula.scoring.survey import survey

Toy = Callable[..., Metric]


def plain(scores: list[Score]) -> list[tuple[object, ...]]:
    """Scores that can be compared: NaN is not equal to itself."""
    return [
        (one.story, one.scorer, one.aspect, "nan" if math.isnan(one.value) else one.value.hex(),
         one.status, one.coverage, one.note)
        for one in scores
    ]  # fmt: skip


def scored(
    stories: Sequence[Story], metrics: Sequence[Metric], *, cache: Path | None = None, jobs: int = 1
) -> list[tuple[object, ...]]:
    with open_cache(cache) as store:
        engine = Engine(metrics, survey(stories, metrics), cache=store, jobs=jobs)
        return plain([score for _, score in engine.run(stories)])


@pytest.fixture
def asked(toy: Toy, tmp_path: Path) -> Callable[..., list[str]]:
    """Scores stories with the counted metric and one cache; gives those it was asked to read."""

    def ask(stories: Sequence[Story], **settings: int) -> list[str]:
        metric = toy("counted", **settings)
        metric.asked.clear()
        scored(stories, [metric], cache=tmp_path / "kept.sqlite")
        return list(metric.asked)

    return ask


def test_scores_come_story_by_story_then_metric_by_metric(stories: list[Story], toy: Toy) -> None:
    metrics = [toy("counted"), toy("counted", plus=1)]
    rows = scored(stories, metrics)
    assert [row[:2] for row in rows] == [(one.id, m.spec) for one in stories for m in metrics]


def test_two_jobs_give_what_one_gives_in_the_same_order(stories: list[Story], toy: Toy) -> None:
    metrics = [*choose_metrics("strings"), toy("spread"), toy("counted")]
    assert scored(stories, metrics, jobs=2) == scored(stories, metrics)


def test_a_chunked_run_gives_what_the_metric_gives_directly(stories: list[Story], toy: Toy) -> None:
    for metric in [toy("spread"), *choose_metrics("rouge,bleu,words")]:
        assert scored(stories, [metric]) == plain(metric.score(stories))


def test_a_batch_metric_is_the_same_from_the_cache(
    stories: list[Story], toy: Toy, tmp_path: Path
) -> None:
    direct = plain(toy("spread").score(stories))
    for jobs in (1, 2, 1):
        cache = tmp_path / "kept.sqlite"
        assert scored(stories, [toy("spread")], cache=cache, jobs=jobs) == direct


def test_what_is_known_is_not_asked_again(stories: list[Story], toy: Toy, tmp_path: Path) -> None:
    metric, cache = toy("counted"), tmp_path / "kept.sqlite"
    first = scored(stories, [metric], cache=cache)
    assert len(metric.asked) == 69
    assert scored(stories, [metric], cache=cache) == first == scored(stories, [metric])
    assert len(metric.asked) == 2 * 69


def test_only_what_is_new_is_asked(asked: Callable[..., list[str]], stories: list[Story]) -> None:
    asked(stories[:40])
    assert asked(stories) == [one.id for one in stories[40:]]


def test_the_key_does_not_depend_on_the_names_of_a_story(asked: Callable[..., list[str]]) -> None:
    story = Story("a", "text", references=("r",), system="s", item="i")
    assert asked([story]) == ["a"]
    assert asked([replace(story, id="b")]) == []
    assert asked([replace(story, system="t", item="j", prompt="not read by this metric")]) == []


@pytest.mark.parametrize("change", [{"text": "other"}, {"references": ("s",)}, {"references": ()}])
def test_the_key_depends_on_what_is_read(
    asked: Callable[..., list[str]], change: dict[str, object]
) -> None:
    story = Story("a", "text", references=("r",))
    asked([story])
    assert asked([replace(story, **change)]) == ["a"]


def test_the_key_depends_on_the_settings_and_the_revision(
    asked: Callable[..., list[str]], toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = Story("a", "text")
    assert asked([story]) == asked([story], plus=1) == ["a"]
    monkeypatch.setattr(type(toy("counted")), "revision", 2)
    assert asked([story]) == ["a"]


def test_missing_values_that_last_are_kept_and_others_are_asked_again(
    asked: Callable[..., list[str]],
) -> None:
    names = ("undefined", "missing_model", "failed")
    stories = [Story(name, name) for name in names]
    assert asked(stories) == list(names)
    assert asked(stories) == ["missing_model", "failed"]


def test_a_changed_batch_changes_the_key_of_its_stories(toy: Toy, tmp_path: Path) -> None:
    cache, metric = tmp_path / "kept.sqlite", toy("spread")
    batch = [Story("1", "a"), Story("2", "abc"), Story("3", "xy", system="other")]
    scored(batch, [metric], cache=cache)
    longer = [*batch, Story("4", "abcdefghi")]
    assert scored(longer, [metric], cache=cache) == plain(metric.score(longer))
    with ScoreCache(cache) as store:
        assert len(store) == 3 + 3  # The other system's story has its old key.


def test_the_order_of_a_batch_does_not_change_its_keys(toy: Toy, tmp_path: Path) -> None:
    cache, metric = tmp_path / "kept.sqlite", toy("spread")
    batch = [Story("1", "a"), Story("2", "abc"), Story("3", "abcde")]
    scored(batch, [metric], cache=cache)
    scored(batch[::-1], [metric], cache=cache)
    with ScoreCache(cache) as store:
        assert len(store) == 3


class Shifting:
    """A source that says other things each time."""

    def __init__(self, *passes: list[Story]) -> None:
        self.passes = iter(passes)

    def __iter__(self) -> Iterator[Story]:
        return iter(next(self.passes))


@pytest.mark.parametrize(
    "later",
    [
        [Story("1", "a"), Story("2", "other")],
        [Story("1", "a")],
        [Story("1", "a"), Story("2", "b"), Story("3", "c")],
        [Story("1", "a"), Story("2", "b", system="new")],
    ],
    ids=["text", "fewer", "more", "system"],
)
@pytest.mark.parametrize("name", ["counted", "spread"])
def test_stories_that_change_between_the_passes_are_an_input_error(
    later: list[Story], name: str, toy: Toy
) -> None:
    source = Shifting([Story("1", "a"), Story("2", "b")], later)
    metrics = [toy(name)]
    engine = Engine(metrics, survey(source, metrics))
    with pytest.raises(InputError, match="changed"):
        list(engine.run(source))


def test_what_was_read_before_a_strict_run_ends_is_kept(toy: Toy, tmp_path: Path) -> None:
    stories = [Story(str(n), f"text {n}") for n in range(64)] + [Story("culprit", "a bug")]
    with pytest.raises(UserError, match="buggy failed on story 'culprit'"):
        evaluate(stories, toy("buggy"), cache=tmp_path / "kept.sqlite", strict=True)
    with ScoreCache(tmp_path / "kept.sqlite") as store:
        assert len(store) == 64


class Told:
    def __init__(self) -> None:
        self.words: list[object] = []

    def start(self, total: int) -> None:
        self.words.append(("start", total))

    def advance(self, steps: int) -> None:
        self.words.append(steps)

    def finish(self) -> None:
        self.words.append("finish")


@pytest.mark.parametrize("jobs", [1, 2])
def test_progress_is_told_the_total_and_every_step(
    stories: list[Story], toy: Toy, jobs: int
) -> None:
    told, metrics = Told(), [toy("counted"), toy("spread")]
    engine = Engine(metrics, survey(stories, metrics), jobs=jobs, progress=told)
    list(engine.run(stories))
    assert told.words[0] == ("start", 140) and told.words[-1] == "finish"
    assert sum(told.words[1:-1]) == 140
