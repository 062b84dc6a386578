from __future__ import annotations

import math
import pickle
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import pytest

from fabula.core.card import Card
from fabula.core.metric import Metric, PairMetric, StoryMetric
from fabula.core.score import Missing, Reading, Status
from fakes.factories import make_story


def card(**rest) -> Card:
    return Card(title="Toy", family="string", direction="higher", paper="-", formula="-", **rest)


@dataclass(frozen=True)
class Size(StoryMetric):
    card = card(needs=("reference",))
    name: ClassVar[str] = "size"

    n: int = 1

    @cached_property
    def loaded(self):
        return lambda: None

    def value(self, story):
        self.loaded()
        if story.text == "nan":
            return math.nan
        if story.text == "no":
            raise Missing("too_long", "more than the limit of 0")
        if story.text == "bug":
            raise ZeroDivisionError
        return len(story.text) * self.n


@dataclass(frozen=True)
class Sides(PairMetric):
    card = card(needs=("reference",), aspects=("text", "reference"))

    def compare(self, text, reference):
        if reference == "none":
            raise Missing("undefined", "no reference")
        return float(len(text)), float(len(reference))


@dataclass(frozen=True)
class Low(PairMetric):
    card = Card(title="-", family="string", direction="lower", paper="-", formula="-")

    def compare(self, text, reference):
        return float(len(reference))


def only(metric: Metric, story):
    [score] = metric.score([story])
    return score


def test_a_score_carries_story_and_spec():
    score = only(Size(2), make_story("four", "r", id="x"))
    assert (score.story, score.scorer, score.value, score.ok) == ("x", "size(n=2)", 8.0, True)


@pytest.mark.parametrize(
    ("story", "status"),
    [
        (make_story("", "r"), Status.EMPTY_TEXT),
        (make_story(" \n\t\u3000", "r"), Status.EMPTY_TEXT),
        (make_story("x"), Status.MISSING_REFERENCE),
        (make_story("x", "", "  "), Status.MISSING_REFERENCE),
        (make_story("no", "r"), Status.TOO_LONG),
        (make_story("nan", "r"), Status.UNDEFINED),
    ],
)
def test_what_cannot_be_scored_says_why(story, status):
    score = only(Size(), story)
    assert score.status is status
    assert math.isnan(score.value)


def test_a_bug_is_raised_with_the_story_it_met():
    with pytest.raises(ZeroDivisionError) as caught:
        Size().score([make_story("bug", "r", id="x7")])
    assert caught.value.__notes__ == ["while size read story 'x7'"]


def test_stories_that_cannot_be_read_do_not_shift_the_others():
    stories = [make_story(text, "r", id=f"{i}") for i, text in enumerate(["a", "", "ccc", " "])]
    assert [score.story for score in Size().score(stories)] == ["0", "1", "2", "3"]
    assert [score.ok for score in Size().score(stories)] == [True, False, True, False]
    assert Size().score(stories)[2].value == 3.0


def test_of_several_references_the_best_last_aspect_counts():
    scores = Sides().score([make_story("ab", "x", "xxx", "xx", "none", " ")])
    assert [(score.aspect, score.value) for score in scores] == [("text", 2.0), ("reference", 3.0)]


def test_where_lower_is_better_the_lowest_reference_counts():
    assert only(Low(), make_story("ab", "xx", "x", "xxx")).value == 1.0


def test_references_that_all_fail_give_the_reason():
    scores = Sides().score([make_story("ab", "none", "none")])
    assert [(score.status, score.note) for score in scores] == [("undefined", "no reference")] * 2


def test_a_metric_that_loses_a_reading_is_a_bug():
    class Lossy(Metric):
        card = card()

        def compute(self, stories):
            return []

    with pytest.raises(TypeError, match="gave 0 readings for 1 stories"):
        Lossy().score([make_story()])


def test_a_metric_travels_with_its_settings_and_not_with_what_it_loaded():
    metric = Size(3)
    metric.score([make_story("four", "r")])
    assert "loaded" in vars(metric)
    again = pickle.loads(pickle.dumps(metric))
    assert again == metric
    assert "loaded" not in vars(again)


def test_the_signature_names_spec_revision_and_version():
    from fabula import __version__

    assert Size(2).signature() == f"size(n=2)|rev:1|fabula:{__version__}"
    assert Size(2).signature(short=True) == f"size(n=2)|r1|v{__version__}"


def test_a_reading_may_be_partial_and_say_so():
    class Partial(StoryMetric):
        card = card()

        def value(self, story):
            return Reading((0.5,), coverage=0.25, note="first part")

    score = only(Partial(), make_story())
    assert (score.value, score.coverage, score.note) == (0.5, 0.25, "first part")
