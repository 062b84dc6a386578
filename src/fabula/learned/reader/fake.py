"""A reader for tests: instant, without weights; its numbers come of digests and mean nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fabula.core.model import TokenCount
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.reader.config import CRITERIA, Head, Pin, ReaderConfig, Scale, Surface, Term
from fabula.models.reading.state_cache import text_key
from fabula.models.reading.windows import cut_evenly
from fabula.text.features import FEATURE_NAMES, FEATURES_VERSION

if TYPE_CHECKING:
    from fabula.core.model import Array

    Outputs = Mapping[str, Array]

FAKE = "fake"
_WINDOW = 254
_SINGLE = ("preference", "preference_n", "coherence", "union", "manplts", "order", "writers")
_POINTS = tuple(point / 25 - 2 for point in range(101))


@dataclass(frozen=True)
class FakeNetwork:
    """Outputs of heads between −2 and 2, by the digest of what is read; words are tokens."""

    heads: Mapping[str, Head]
    pair_room: int = 120

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Count the words of every text."""
        return [len(text.split()) for text in texts]

    def count_unknown(self, texts: Sequence[str]) -> list[TokenCount]:
        """Count words; those that begin with a sign of private use are unknown to it."""
        return [
            TokenCount(len(words), sum("\ue000" <= word[0] <= "\uf8ff" for word in words))
            for words in map(str.split, texts)
        ]

    def window_outputs(self, texts: Sequence[str]) -> Iterator[Outputs]:
        """Give for every text what each head says of its windows: (windows, outputs)."""
        for text, length in zip(texts, self.lengths(texts), strict=True):
            key, count = text_key(text), len(cut_evenly(length, _WINDOW))
            yield {name: self._rows(name, key, count) for name in self.heads}

    def pair_outputs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[Outputs]:
        """Give for every pair what each head says of it: (outputs,)."""
        for pair in pairs:
            key = text_key(*pair)
            yield {name: self._rows(name, key, 1)[0] for name in self.heads}

    def _rows(self, name: str, key: bytes, count: int) -> Array:
        width = len(self.heads[name].outputs)
        digests = [
            hashlib.blake2b(key, person=name.encode()[:16], salt=bytes([at % 256]))
            for at in range(count)
        ]
        rows = [np.frombuffer(digest.digest()[: 4 * width], dtype="<u4") for digest in digests]
        outputs: Array = np.array(rows).reshape(count, width) / 2**30 - 2  # (windows, outputs)
        return outputs


def fake_config() -> ReaderConfig:
    """Describe a reader that has every scale that a metric asks for."""
    heads = {name: Head((name,)) for name in _SINGLE}
    heads |= {"criteria": Head(CRITERIA), "aspects": Head(ASPECTS), "confidence": Head(ASPECTS)}
    scales = {
        name: Scale((Term(name),), _surface(), percentiles=_POINTS, error=0.2)
        for name in _SINGLE[:2]
    }
    rating = Scale((Term("writers"),), link="clipped", shift=5.0, low=1.0, high=10.0)
    scales["writers"] = replace(rating, percentiles=_POINTS, error=0.2)
    scales["coherence"] = Scale((Term("coherence"),))
    scales |= {name: Scale((Term(name),), link="logistic") for name in ("union", "manplts")}
    for head, names in (("criteria", CRITERIA), ("aspects", ASPECTS), ("confidence", ASPECTS)):
        for at, name in enumerate(names):
            terms = (Term(head, at),)
            plain = head == "confidence"
            scales[f"{head}.{name}"] = (
                Scale(terms) if plain else Scale(terms, link="clipped", shift=3.0)
            )
    return ReaderConfig("fake", Pin("fake", ""), _WINDOW, heads, scales)


def _surface() -> Surface:
    count = len(FEATURE_NAMES)
    return Surface(FEATURES_VERSION, (0.0,) * count, (1.0,) * count, (0.01,) * count)
