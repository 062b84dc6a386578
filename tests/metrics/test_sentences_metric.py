from __future__ import annotations

import pytest

from fabula.core.score import Status
from fabula.metrics.sentences import Sentences
from fakes.factories import make_story, values_of


@pytest.mark.parametrize(
    ("text", "length", "count"),
    [
        ("One.", 1, 1),
        ("The cat sat. It ran!", 5 / 2, 2),
        ("Mr. Smith slept. He woke?", 5 / 2, 2),
        ("A title\n\nThe cat sat.", 5 / 2, 2),
        ("no end", 2, 1),
        ("Wait... what? Yes.", 3 / 2, 2),
        ("今日は雨。明日。", 6 / 2, 2),
    ],
)
def test_number_and_mean_length_by_hand(text, length, count):
    assert values_of(Sentences(), text) == pytest.approx((length, count))


def test_the_number_is_the_last_aspect():
    assert Sentences.card.aspects == ("length", "count")


def test_compat_parts_words_by_the_ascii_rule():
    assert values_of(Sentences(), "I don't. Go.") == (1.5, 2.0)
    assert values_of(Sentences(compat=True), "I don't. Go.") == (2.0, 2.0)


def test_a_story_without_words_is_undefined():
    scores = Sentences().score([make_story("... !")])
    assert {score.status for score in scores} == {Status.UNDEFINED}
    assert all(score.note for score in scores)
