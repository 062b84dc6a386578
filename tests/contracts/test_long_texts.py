"""100,000 characters: an answer in time, or a status that names the limit."""

from __future__ import annotations

import random

import pytest

from fabula.core.score import Status
from fakes.contract_specs import SPECS, check, full_story, metric_of
from fakes.factories import many_kinds_text, usual_text, within

LONG = 100_000
LIMIT_S = 5.0


def broken(text: str, words: int) -> str:
    """Break a text into lines of so many words."""
    parts = text.split()
    return "\n".join(" ".join(parts[i : i + words]) for i in range(0, len(parts), words))


def han_text(seed: int) -> str:
    rng = random.Random(seed)
    return "".join(chr(0x4E00 + rng.randrange(3_000)) for _ in range(LONG))


LONG_PAIRS = {
    "usual words": (usual_text(LONG, 1), usual_text(LONG, 2)),
    "usual words, short reference": (usual_text(LONG, 1), usual_text(500, 2)),
    "usual words, long reference": (usual_text(500, 1), usual_text(LONG, 2)),
    "nearly 100 million word pairs": (
        " ".join(usual_text(LONG, 1).split()[:10_400]),
        " ".join(usual_text(LONG, 2).split()[:9_600]),
    ),
    "many kinds of words": (many_kinds_text(LONG, 1), many_kinds_text(LONG, 2)),
    "many kinds in another order": (
        many_kinds_text(48_000, 1),
        " ".join(sorted(many_kinds_text(48_000, 1).split())),
    ),
    "lines of twelve words": (broken(usual_text(LONG, 1), 12), broken(usual_text(LONG, 2), 12)),
    "lines of a word": (broken(usual_text(LONG, 1), 1), broken(usual_text(LONG, 2), 1)),
    "one line, many lines": (usual_text(50_000, 1), broken(usual_text(LONG, 2), 12)),
    "chinese": (han_text(1), han_text(2)),
    "one long word": ("x" * LONG, "y" * LONG),
    "one word again and again": ("a " * (LONG // 2), "a " * (LONG // 2)),
    "quotes left open": ("'Tis a word, " * (LONG // 13), "'a." * (LONG // 3)),
    "dots": ("." * LONG, "." * LONG),
    "brackets": ("(" * LONG, "[" * LONG),
    "address without end": ("http://" + "a." * (LONG // 2), "a@" * (LONG // 2)),
}


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("kind", LONG_PAIRS)
def test_a_long_text_is_scored_in_time_or_said_to_be_too_long(spec, kind):
    metric = metric_of(spec)
    text, reference = LONG_PAIRS[kind]
    metric.score([full_story("warm\nup", "warm\nup")])
    with within(LIMIT_S):
        scores = metric.score([full_story(text, reference)])
    check(metric, scores)
    for score in scores:
        if score.status is Status.TOO_LONG:
            assert "limit" in score.note
            assert any(char.isdigit() for char in score.note)
