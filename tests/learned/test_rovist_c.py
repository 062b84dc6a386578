"""RoViST-C: means over neighbours, by hand from a reader whose logits are told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from fabula.core.model import TokenCount
from fabula.core.score import Status
from fabula.learned.reader import metric as learned_metric
from fabula.learned.reader.config import Head, Pin, ReaderConfig
from fabula.learned.reader.inference import Reader
from fabula.learned.rovist_c import RovistC, Transition
from fakes.factories import make_story

RAIN = "It rained. She took a coat. She took a coat. She left."


@dataclass
class Told:
    """A source that says 0 of a pair, or 2 where the second sentence holds 'left'."""

    asked: list[tuple[str, str]] = field(default_factory=list)
    pair_room: int = 2

    def lengths(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def count_unknown(self, texts: Sequence[str]) -> list[TokenCount]:
        return [TokenCount(length, 0) for length in self.lengths(texts)]

    def pair_outputs(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, np.ndarray]]:
        self.asked += pairs
        return [{"order": np.array([2.0 if "left" in second else 0.0])} for _, second in pairs]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    source = Told()
    config = ReaderConfig("order", Pin("story_encoder", ""), 254, {"order": Head(("order",))}, {})
    reader = Reader(config, "told", source)  # type: ignore[arg-type]
    monkeypatch.setattr(learned_metric, "load_reader", lambda name, **_: reader)
    return source


def test_the_mean_probability_counts_identical_neighbours_as_zero(told: Told) -> None:
    [score] = RovistC().score([make_story(RAIN)])
    # 1 / (1 + e^0) = 0.5; identical: 0; 1 / (1 + e^−2) = 0.880797
    assert score.value == pytest.approx((0.5 + 0 + 0.8807970780) / 3)
    assert told.asked == [("It rained.", "She took a coat."), ("She took a coat.", "She left.")]


def test_the_mean_logit_counts_identical_neighbours_as_odds_of_1_to_99(told: Told) -> None:
    [score] = RovistC(by="logit").score([make_story(RAIN)])
    assert score.value == pytest.approx((0 + math.log(1 / 99) + 2) / 3)


def test_sentences_that_are_cut_lower_the_coverage(told: Told) -> None:
    [score] = RovistC().score([make_story(RAIN)])
    # Sentences of 2, 4, 4 and 2 words, of which two each are read.
    assert score.coverage == pytest.approx(8 / 12)


def test_one_sentence_has_no_value(told: Told) -> None:
    [score] = RovistC().score([make_story("It rained all day")])
    assert math.isnan(score.value)
    assert score.status is Status.UNDEFINED
    assert score.note == "one sentence has no neighbour"


def test_stories_are_told_apart_when_they_are_asked_about_together(told: Told) -> None:
    stories = [make_story(RAIN), make_story("One."), make_story("He came. He left.")]
    values = [score.value for score in RovistC().score(stories)]
    assert values[0] == pytest.approx(0.4602656927)
    assert math.isnan(values[1])
    assert values[2] == pytest.approx(0.8807970780)


def test_transitions_are_the_pairs_with_their_probabilities(told: Told) -> None:
    found = RovistC().transitions(make_story(RAIN))
    assert found[:2] == [
        Transition("It rained.", "She took a coat.", 0.5, ((0, 10), (11, 27))),
        Transition("She took a coat.", "She took a coat.", 0.0, ((11, 27), (28, 44))),
    ]
    assert found[2].probability == pytest.approx(0.8807970780)
    assert RovistC().transitions(make_story("One.")) == []


def test_transitions_have_their_places_in_the_story_as_it_is_set(told: Told) -> None:
    text = (
        "# Rain\n\nIt *rained* .\n\nShe took a coat, for it was cold on the way to the quay where "
    )
    text += "he lived\nwith two dogs.  He did n't wait.\n\nEdit: thanks for reading!"
    spans = [place for found in RovistC().transitions(make_story(text)) for place in found.places]
    assert [text[slice(*span)] for span in spans[::2]] == [
        "It *rained* .",
        "She took a coat, for it was cold on the way to the quay where he lived\nwith two dogs.",
    ]
    assert text[slice(*spans[-1])] == "He did n't wait."


def test_with_the_story_as_context_a_sentence_follows_as_much_of_it_as_fits(told: Told) -> None:
    told.pair_room = 6
    RovistC(context="story").score([make_story(RAIN)])
    # Two words, four, four, two: the first sentence goes when the third has come.
    assert told.asked == [
        ("It rained.", "She took a coat."),
        ("She took a coat.", "She left."),
    ]
    told.asked.clear()
    told.pair_room = 100
    [score] = RovistC(context="story").score([make_story(RAIN + " It ended.")])
    # The first pair was asked about before.
    assert told.asked == [
        ("It rained. She took a coat. She took a coat.", "She left."),
        ("It rained. She took a coat. She took a coat. She left.", "It ended."),
    ]
    # Identical neighbours stay as they are: 0.5, 0, 0.880797, 0.5.
    assert score.value == pytest.approx((0.5 + 0 + 0.8807970780 + 0.5) / 4)
