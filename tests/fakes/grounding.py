"""A grounder that sees what a test says, and pictures that are but names."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

import numpy as np
import pytest

from fabula.core.model import Picture, Region
from fabula.learned.grounding.grounder import Sight
from fabula.text.nouns import Noun
from fakes.crafted_pictures import pillow


@dataclass
class ToldGrounder:
    """Sees in a picture, by its file name, regions that are like nouns: name → noun → similarities.

    A noun that no picture speaks of is not known.
    """

    told: Mapping[str, Mapping[str, Sequence[float]]]
    signature: str = "told"
    absence: str = ""
    notes: tuple[str, ...] = ()
    looks: list[tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=list)

    def look(self, pictures: Sequence[Picture], nouns: Sequence[str]) -> list[Sight]:
        self.looks.append((tuple(picture.name for picture in pictures), tuple(nouns)))
        return [self._look_at(picture, nouns) for picture in pictures]

    def _look_at(self, picture: Picture, nouns: Sequence[str]) -> Sight:
        rows = self.told[PurePath(picture.name).name]
        count = max((len(row) for row in rows.values()), default=0)
        table = np.full((count, len(nouns)), math.nan)
        for column, noun in enumerate(nouns):
            if noun in rows:
                table[:, column] = rows[noun]
        regions = tuple(Region((float(place), 0.0, 1.0, 1.0)) for place in range(count))
        return Sight(picture, regions, table, self.notes)


def name_picture(name: str) -> Picture:
    """A picture of one grey pixel."""
    return Picture(name, 1, 1, f"digest of {name}", np.full((1, 1, 3), 128, np.uint8))


NOUNS = ("dog", "cat", "sea", "tree", "wuwi")


def find_plain_nouns(text: str, *, compat: bool = False) -> tuple[Noun, ...]:
    """The words of a text that are among `NOUNS`, each once a sentence; with `compat` as written.

    It stands for the tagger where a test has none.
    """
    nouns: list[Noun] = []
    for number, sentence in enumerate(re.finditer(r"[^.]+", text)):
        seen: dict[str, Noun] = {}
        for word in re.finditer(r"\w+", sentence[0]):
            name = word[0] if compat else word[0].lower()
            if name.lower() in NOUNS:
                place = sentence.start() + word.start()
                seen.setdefault(name, Noun(name, number, place, place + len(name)))
        nouns += seen.values()
    return tuple(nouns)


@pytest.fixture
def plain_nouns(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let picture metrics do without the tagger."""
    from fabula.learned.grounding import metric

    monkeypatch.setattr(metric, "read_nouns", find_plain_nouns)
    monkeypatch.setattr(metric, "tagger_trait", lambda **_: "plain")
    metric.keep_nouns.cache_clear()
    yield
    metric.keep_nouns.cache_clear()


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, plain_nouns: None) -> ToldGrounder:
    """Let picture metrics ask a grounder that sees what it is `told`."""
    from fabula.learned.grounding import metric

    grounder = ToldGrounder({})
    monkeypatch.setattr(metric, "open_grounder", lambda *_, **__: grounder)
    return grounder


def save_picture(path: Path, colour: tuple[int, int, int] = (0, 0, 255)) -> str:
    """Write a small picture of one colour; give its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pillow().new("RGB", (8, 6), colour).save(path)
    return str(path)
