"""Opinions of suggestions that nobody has asked for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from fabula.meta.arrays import Values
from fabula.studio.quality import Opinions

_LETTERS = "abcdefghijklmnop"


def make_opinions(
    values: Values,
    *,
    machines: Sequence[str] | None = None,
    games: Sequence[str] | None = None,
    moments: Sequence[datetime] | None = None,
) -> Opinions:
    """Qualities a, b, … of suggestions, each in a game of its own unless told otherwise."""
    count = len(values)
    return Opinions(
        tuple(f"s{place}" for place in range(count)),
        tuple(machines or ["m"] * count),
        (None,) * count,
        tuple(games or [f"g{place}" for place in range(count)]),
        tuple(moments or [datetime(2024, 1, 1, tzinfo=UTC)] * count),
        tuple(_LETTERS[: values.shape[1]]),
        values,
    )
