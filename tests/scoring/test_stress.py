from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from fabula import Story, UserError, evaluate
from fabula.core.card import Card
from fabula.core.metric import BatchMetric, Metric, StoryMetric
from fabula.core.score import Missing, Reading, Status
from fabula.scoring.stress import StressResult, stress, write_stress
from fabula.scoring.stress_moves import Move
from fabula.text.words import words

# Story k has k sentences of three words, so that counts are known by arithmetic.
SENTENCES = [f"So word{k} ends." for k in range(20)]
STORIES = [
    Story(f"s{k}", " ".join(SENTENCES[:k]), system="ab"[k % 2], item=str(k // 2))
    for k in range(2, 12)
]


def card(direction: str) -> Card:
    return Card(title="Toy", family="baseline", direction=direction, paper="None.", formula="none")


@dataclass(frozen=True)
class Count(StoryMetric):
    """Number of words: more is better."""

    card = card("higher")

    def value(self, story: Story) -> float:
        return float(len(words(story.text)))


@dataclass(frozen=True)
class Fewer(Count):
    """The same number, but fewer is better."""

    name = "fewer"
    card = card("lower")


@dataclass(frozen=True)
class Plain(Count):
    """The same number without a better way."""

    name = "plain"
    card = card("descriptive")


@dataclass(frozen=True)
class Letters(StoryMetric):
    """Length of the text, which blanks change; none for a text that says nothing of the end."""

    name = "letters"
    card = card("higher")

    def value(self, story: Story) -> float:
        if "word1 " not in story.text:
            raise Missing(Status.UNDEFINED, "no second sentence")
        return float(len(story.text))


class _Total:
    def __init__(self) -> None:
        self.words = 0

    def add(self, story: Story) -> None:
        self.words += len(words(story.text))


@dataclass(frozen=True)
class Part(BatchMetric):
    """A story's words as a share of all words of its system."""

    name = "part"
    card = Card(
        title="Part", family="baseline", direction="higher", paper="None.", formula="none",
        batch="system",
    )  # fmt: skip

    def empty_statistics(self) -> _Total:
        return _Total()

    def compute_in(self, stories: Sequence[Story], gathered: _Total) -> list[Reading]:
        return [Reading((len(words(story.text)) / gathered.words,)) for story in stories]


def only(result: StressResult) -> Move:
    [move] = result.moves
    return move


def test_a_move_is_known_by_arithmetic() -> None:
    # The last fifth of k sentences, at least one, goes: 1 of 2 … 7, 2 of 8 … 11; 3 words each.
    lost = [3 * max(1, round(0.2 * k)) for k in range(2, 12)]
    assert lost == [3, 3, 3, 3, 3, 3, 6, 6, 6, 6]
    move = only(stress(STORIES, Count(), perturbations="drop_ending"))
    assert (move.stories, move.left_out, move.not_applicable) == (10, 0, 0)
    assert (move.mean_before, move.mean_after, move.move.value) == (19.5, 15.3, -4.2)
    # Original words are 6, 9 … 33: their variance is 9 · 110 / 12 = 82.5.
    assert move.standardised == pytest.approx(-4.2 / math.sqrt(82.5))
    # Six times 3 and four times 6 have the variance (6 · 1.2² + 4 · 1.8²) / 9 = 2.4.
    assert move.effect == pytest.approx(-4.2 / math.sqrt(2.4))
    assert move.worse.value == 1.0
    # Of all 2**10 signs only two are as far from 0; one test needs no correction.
    assert move.p == move.adjusted_p == 2 / 1024
    assert -6 <= move.move.low < -4.2 < move.move.high <= -3
    assert move.verdict == "notices"


@pytest.mark.parametrize(
    ("metric", "perturbation", "verdict"),
    [
        (Count(), "drop_ending", "notices"),
        (Fewer(), "drop_ending", "prefers the broken text"),
        (Plain(), "drop_ending", "moves down"),
        (Count(), "repeat", "prefers the broken text"),
        (Fewer(), "repeat", "notices"),
        (Plain(), "repeat", "moves up"),
        (Count(), "shuffle", "does not notice"),
        (Plain(), "shuffle", "does not move"),
        (Count(), "spacing", "not moved"),
        (Letters(), "spacing", "moved by spacing alone"),
        (Count(), "quotes", "too few stories"),
    ],
)
def test_the_verdict_goes_by_the_direction(metric: Metric, perturbation: str, verdict: str) -> None:
    move = only(stress(STORIES, metric, perturbations=perturbation))
    assert move.verdict == verdict
    assert move.alarming == (verdict.startswith(("prefers", "moved by")))


def test_what_cannot_be_perturbed_is_not_applicable_and_never_unmoved() -> None:
    stories = [*STORIES, Story("one", "Only one sentence."), Story("none", "")]
    move = only(stress(stories, Count(), perturbations="shuffle"))
    assert (move.stories, move.not_applicable) == (10, 2)
    [move] = stress(stories, Count(), perturbations=["swap_names"]).moves
    assert (move.stories, move.not_applicable, move.verdict) == (0, 12, "too few stories")
    assert math.isnan(move.p) and move.row()["p"] is None


def test_a_value_that_is_missing_before_or_after_is_left_out() -> None:
    # The story of two sentences loses its second one and has no value then.
    move = only(stress(STORIES, Letters(), perturbations="drop_ending"))
    assert (move.stories, move.left_out, move.not_applicable) == (9, 1, 0)


def test_the_p_values_of_the_whole_table_are_corrected_together() -> None:
    result = stress(STORIES, [Count(), Fewer()], perturbations="drop_ending, shuffle")
    assert result.tests == 4
    # Holm: the two smallest of four, 2 / 1024 each, are multiplied by 4.
    assert [one.adjusted_p for one in result.moves] == [8 / 1024, 1.0, 8 / 1024, 1.0]


def test_a_batch_metric_scores_the_perturbed_stories_as_a_batch_of_their_own() -> None:
    result = stress(STORIES, [Part(), Count()], perturbations="repeat", share=1)
    [part] = [one for one in result.moves if one.scorer == "part"]
    # All stories double, and so does their batch: every share stays.
    assert part.move.value == 0.0 and part.stories == 10
    alone = {score.story: score.value for score in evaluate(STORIES, Part())}
    assert {key: result.values["part", ""][key] for key in alone} == alone


def test_a_metric_that_does_not_spread_has_no_standardised_move() -> None:
    stories = [Story(str(k), "So one ends. Then it rained.") for k in range(12)]
    move = only(stress(stories, Count(), perturbations="drop_ending"))
    assert math.isnan(move.standardised) and move.move.value == -3 and move.verdict == "notices"


def test_the_same_seed_gives_the_same_whatever_the_order() -> None:
    first = stress(STORIES, Letters(), perturbations="typos,shuffle", seed=3)
    again = stress(STORIES[::-1], Letters(), perturbations="typos,shuffle", seed=3)
    assert dict(first.copies.of["typos"]) == dict(again.copies.of["typos"])
    other = stress(STORIES, Letters(), perturbations="typos,shuffle", seed=4)
    assert dict(first.copies.of["typos"]) != dict(other.copies.of["typos"])


def test_ids_that_look_like_those_of_copies_do_no_harm() -> None:
    stories = [Story("a", SENTENCES[0]), Story("a~repeat", SENTENCES[1]), Story("b", SENTENCES[2])]
    result = stress(stories, Count(), perturbations="repeat")
    assert [one.id for one in result.copies.all()] == ["a~~repeat", "a~repeat~~repeat", "b~~repeat"]


def test_workers_and_the_cache_change_nothing(home: Path) -> None:
    settings = {"perturbations": "repeat,typos"}
    alone = stress(STORIES, "words, self_bleu", **settings)
    shared = stress(STORIES, "words, self_bleu", **settings, jobs=2, cache=True)
    again = stress(STORIES, "words, self_bleu", **settings, cache=True)
    assert alone.rows() == shared.rows() == again.rows()
    assert list((home / "cache").glob("*.sqlite"))


def test_the_progress_is_that_of_the_whole() -> None:
    class Heard:
        def __init__(self) -> None:
            self.started: list[int] = []
            self.steps = self.ends = 0

        def start(self, total: int) -> None:
            self.started.append(total)

        def advance(self, steps: int) -> None:
            self.steps += steps

        def finish(self) -> None:
            self.ends += 1

    heard = Heard()
    stress(STORIES, [Count(), Part()], perturbations="repeat,swap_names", progress=heard)
    # Alone: 10 stories and 10 copies. In batches: three of 10. Then four cells of the table.
    assert heard.started == [20 + 30, 4] and heard.steps == 54 and heard.ends == 2


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"alpha": 2.0}, "alpha=2.0"),
        ({"share": 0.0}, "share=0.0"),
        ({"resamples": -1}, "resamples=-1"),
        ({"seed": -1}, "seed=-1"),
        ({"perturbations": "nothing"}, "no perturbation is called 'nothing'"),
    ],
)
def test_settings_that_will_not_do_are_refused(settings: dict[str, object], words: str) -> None:
    with pytest.raises(UserError, match=words):
        stress(STORIES, Count(), **settings)


def test_one_story_is_too_few() -> None:
    with pytest.raises(UserError, match="too few"):
        stress(STORIES[:1], Count())


def test_the_folder_shows_what_was_done(tmp_path: Path) -> None:
    result = stress(STORIES, [Count(), Letters()], perturbations="drop_ending,quotes")
    write_stress(result, tmp_path / "out")
    lines = (tmp_path / "out" / "stories.jsonl").read_text(encoding="utf-8").splitlines()
    stories = [json.loads(line) for line in lines]
    assert [one["perturbation"] for one in stories] == ["", "drop_ending"] * 10
    assert stories[1]["original"] == "s2" and stories[1]["text"] == SENTENCES[0]
    with (tmp_path / "out" / "moves.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 20
    assert rows[0]["change"] == "-3.0" and rows[1]["after"] == rows[1]["change"] == ""
    with pytest.raises(UserError, match="--overwrite"):
        write_stress(result, tmp_path / "out")
    write_stress(result, tmp_path / "out", overwrite=True)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "moves.csv", "stories.jsonl",
    ]  # fmt: skip
