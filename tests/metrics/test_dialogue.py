from __future__ import annotations

import pytest

from fabula.core.score import Status
from fabula.metrics.dialogue import Dialogue
from fakes.factories import make_story, value_of, within


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("No one spoke.", 0.0),
        ('"Go now," she said.', 2 / 4),
        ("“Go now,” she said. “Please!”", 3 / 5),
        ("«Va», dit-elle.", 1 / 3),
        ("「はい」と", 2 / 3),
        ("'Go,' she said.", 1 / 3),
        ("It's the dogs' house.", 0.0),
        ('"All of it."', 1.0),
        # Left open: the speech ends with its paragraph.
        ('"Go on\nHe left.', 2 / 4),
    ],
)
def test_a_share_by_hand(text, share):
    assert value_of(Dialogue(), text) == pytest.approx(share)


def test_compat_parts_words_by_the_ascii_rule():
    assert value_of(Dialogue(), '"I don\'t," he said.') == pytest.approx(2 / 4)
    assert value_of(Dialogue(compat=True), '"I don\'t," he said.') == pytest.approx(3 / 5)


def test_a_story_without_words_is_undefined():
    [score] = Dialogue().score([make_story('"..."')])
    assert score.status is Status.UNDEFINED
    assert score.note


@pytest.mark.parametrize("part", ["'Tis a word, ", '"Go, ', "“Go, ", "‘Go, "])
def test_quotes_that_are_never_closed_are_read_in_time(part):
    text = (part * 100_000)[:100_000]
    with within(5.0):
        assert 0.0 <= value_of(Dialogue(), text) <= 1.0
