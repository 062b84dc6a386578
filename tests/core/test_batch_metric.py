from __future__ import annotations

import pickle
from dataclasses import dataclass, field

import pytest

from fabula.core.card import Card
from fabula.core.metric import BatchMetric
from fabula.core.score import Reading, Status
from fabula.scoring.evaluate import evaluate
from fakes.factories import make_story


@dataclass
class Lengths:
    found: list[int] = field(default_factory=list)

    def add(self, story):
        self.found.append(len(story.text))


def card(batch) -> Card:
    return Card(
        title="Share", family="string", direction="higher", paper="-", formula="-", batch=batch
    )


@dataclass(frozen=True)
class Share(BatchMetric):
    """Length of a story as a share of all lengths of its system."""

    card = card("system")

    def empty_statistics(self):
        return Lengths()

    def compute_in(self, stories, gathered):
        return [Reading((len(story.text) / sum(gathered.found),)) for story in stories]


@dataclass(frozen=True)
class RunShare(Share):
    card = card("run")


STORIES = [
    make_story("x", id="a1", system="A"),
    make_story("xx", id="b1", system="B"),
    make_story("xxx", id="a2", system="A"),
    make_story("  ", id="a3", system="A"),
    make_story("xxxx", id="n1"),
]


def by_story(scores) -> dict[str, float]:
    return {score.story: score.value for score in scores if score.ok}


def test_a_story_is_read_among_those_of_its_system():
    assert by_story(Share().score(STORIES)) == {"a1": 0.25, "a2": 0.75, "b1": 1.0, "n1": 1.0}


def test_a_story_is_read_among_all_of_the_run():
    assert by_story(RunShare().score(STORIES)) == {"a1": 0.1, "a2": 0.3, "b1": 0.2, "n1": 0.4}


@pytest.mark.parametrize("metric", [Share(), RunShare()])
def test_the_order_of_the_stories_does_not_matter(metric):
    assert by_story(metric.score(STORIES[::-1])) == by_story(metric.score(STORIES))


def test_scores_come_in_the_order_of_the_stories():
    assert [score.story for score in Share().score(STORIES)] == [story.id for story in STORIES]


def test_a_story_that_cannot_be_read_is_no_part_of_the_batch():
    gathered = Share().gather(STORIES)
    assert gathered["A"] == Lengths([1, 3])
    assert Share().score(STORIES)[3].status is Status.EMPTY_TEXT


def test_a_batch_of_nothing_readable_breaks_nothing():
    [score] = Share().score([make_story("", system="C")])
    assert score.status is Status.EMPTY_TEXT


def test_stories_may_be_read_in_pieces_once_the_batches_are_gathered():
    batches = pickle.loads(pickle.dumps(Share().gather(STORIES)))
    pieces = [Share().read_in([story], batches)[0] for story in STORIES]
    assert str(pieces) == str(Share().read(STORIES))


def test_the_engine_gathers_before_it_reads():
    many = [make_story("x" * (i % 7 + 1), id=f"{i}", system="AB"[i % 2]) for i in range(100)]
    assert by_story(evaluate(many, Share())) == by_story(Share().score(many))
