"""How a story relates to its prompt: words that it takes up, and what the two are about.

No training changes what is read here, so that one reading serves every reader: `relate` gives two
numbers of a prompt and a story, `Relation` is how they count for a value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, pairwise
from threading import RLock
from typing import TYPE_CHECKING, Literal

import numpy as np

from fabula.core.errors import SettingError
from fabula.models import load_model
from fabula.models.networks.encoder import load_pooled_bert
from fabula.models.reading.state_cache import LruCache, VectorCache, text_key, vector_key
from fabula.models.reading.windows import cut_evenly
from fabula.text.layout import lay_out
from fabula.text.stem import stem
from fabula.text.words import bare_words

if TYPE_CHECKING:
    from fabula.core.model import Array
    from fabula.models.networks.encoder import PooledBert

ReaderDtype = Literal["fp32", "int8"]
ENCODER = "minilm"
RELATION_NAMES = ("overlap", "similarity")
# Goes up whenever `relate` gives other numbers for the same texts.
RELATION_VERSION = 1
WINDOW = 254  # tokens of a story that are compared at once, and of a prompt that are read
_CACHED_TEXTS = 4096
_TEXTS_AT_ONCE = 64
_TAGS = re.compile(r"(?:\[[^\[\]]{1,24}\]\s*)+")
# BERT's vocabulary lists words by how often they are written, behind signs and single letters.
_FIRST_WORD = 1996
_USUAL = 100  # so many of the most frequent words count little

_lock = RLock()
_opened: dict[str, Relater] = {}


@dataclass(frozen=True)
class Relation:
    """How overlap and similarity of prompt and story count for a value: standardised, added."""

    version: int
    means: tuple[float, ...]
    deviations: tuple[float, ...]
    weights: tuple[float, ...] = (1.0, 1.0)
    weight: float = 1.0
    mean: float = 0.0
    deviation: float = 1.0

    def parts(self, relations: Array) -> Array:
        """Give what rows of `relate` add to raw values: (texts, 2) → (texts,)."""
        scaled = (relations - np.array(self.means)) / np.array(self.deviations)
        added: Array = scaled @ np.array(self.weights)
        parts: Array = self.weight * (added - self.mean) / self.deviation
        return parts


def fit_relation(relations: Sequence[Array], weight: float) -> Relation:
    """Standardise the rows of several corpora as they will count; rows with NaN say nothing."""
    rows = np.concatenate(relations).astype(np.float64)
    rows = rows[~np.isnan(rows).any(axis=1)]
    if not len(rows):
        raise ValueError("no story that relevance is fitted to has a prompt")
    means, deviations = rows.mean(0), np.maximum(rows.std(0), 1e-9)
    bare = Relation(RELATION_VERSION, tuple(means.tolist()), tuple(deviations.tolist()))
    deviation = float(bare.parts(rows).std()) or 1.0
    return Relation(
        RELATION_VERSION, bare.means, bare.deviations, weight=weight, deviation=deviation
    )


def relate(
    prompts: Sequence[str | None], texts: Sequence[str], *, dtype: ReaderDtype = "fp32"
) -> Array:
    """Give overlap and similarity of every story and its prompt: (texts, 2).

    Overlap is the share of the prompt's words that the story has, by their stems; the rarer a word,
    the more it counts. Similarity is the cosine of what MiniLM makes of the prompt and of the part
    of the story that is nearest to it. Where there is no prompt, or no word, both are NaN.
    """
    return open_relater(dtype).relate(prompts, texts)


def open_relater(dtype: ReaderDtype = "fp32") -> Relater:
    """Give what reads prompts and stories; a UserError says how to get what it needs."""
    from fabula.models.networks.encoder import Encoder

    with _lock:
        if dtype not in _opened:
            model = load_model(f"embedded({ENCODER!r}, dtype={dtype!r})")
            if not isinstance(model, Encoder):
                raise SettingError(f"{ENCODER!r} is no encoder", "name one such as 'minilm'")
            pooled = load_pooled_bert(ENCODER, dtype=dtype)
            _opened[dtype] = Relater(pooled, model.signature, model.cache.vectors)
        return _opened[dtype]


@dataclass(frozen=True, eq=False)
class Relater:
    """Relates stories to prompts; what the encoder makes of a text is kept, on disk too."""

    encoder: PooledBert = field(repr=False)
    signature: str
    vectors: VectorCache = field(repr=False)
    _stems: LruCache[frozenset[str]] = field(
        default_factory=lambda: LruCache(_CACHED_TEXTS), repr=False
    )

    def relate(self, prompts: Sequence[str | None], texts: Sequence[str]) -> Array:
        """Give overlap and similarity of every story and its prompt: (texts, 2)."""
        asked = [clean_prompt(prompt or "") for prompt in prompts]
        pairs = [(ask, text) for ask, text in zip(asked, texts, strict=True) if ask]
        rows = np.full((len(texts), len(RELATION_NAMES)), np.nan)
        if not pairs:
            return rows
        stems = self._find_stems([text for _, text in pairs])
        stories = self._embed([text for _, text in pairs], "story")
        wanted = self._embed([ask for ask, _ in pairs], "prompt")
        related = [
            (self._overlap(ask, of_story), _similarity(of_prompt, windows))
            for (ask, _), of_story, of_prompt, windows in zip(
                pairs, stems, wanted, stories, strict=True
            )
        ]
        rows[[bool(ask) for ask in asked]] = related
        rows[np.isnan(rows).any(axis=1)] = np.nan
        return rows

    def _overlap(self, prompt: str, stems: frozenset[str]) -> float:
        weights = self._weigh_words(prompt)
        if not weights or not stems:
            return math.nan
        return math.fsum(weight for word, weight in weights.items() if word in stems) / math.fsum(
            weights.values()
        )

    def _weigh_words(self, prompt: str) -> Mapping[str, float]:
        """Give the stems of a prompt, and how much each counts: log(1 + rank / 100)."""
        weights: dict[str, float] = {}
        for word in dict.fromkeys(bare_words(prompt)):
            rank = max(max(self.encoder.ids(word), default=0) - _FIRST_WORD, 0) + 1
            root = _stem(word)
            weights[root] = max(weights.get(root, 0.0), math.log1p(rank / _USUAL))
        return weights

    def _find_stems(self, texts: Sequence[str]) -> list[frozenset[str]]:
        def make(places: list[int]) -> list[frozenset[str]]:
            plain = [lay_out(texts[place], "plain") for place in places]
            return [frozenset(map(_stem, bare_words(text))) for text in plain]

        return self._stems.get([text_key(text) for text in texts], make)

    def _embed(self, texts: Sequence[str], kind: str) -> list[Array]:
        """Give a vector of length 1 for every window of a story, or for a prompt's first one."""
        keys = [vector_key(self.signature, f"{kind} of {WINDOW}", text) for text in texts]
        known = self.vectors.get(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        names = list(missing)
        for start in range(0, len(names), _TEXTS_AT_ONCE):
            some = names[start : start + _TEXTS_AT_ONCE]
            made = self._pool([missing[name] for name in some], kind)
            known |= self.vectors.put(dict(zip(some, made, strict=True)))
        return [known[key] for key in keys]

    def _pool(self, texts: Sequence[str], kind: str) -> list[Array]:
        cut = [self._cut(text, kind) for text in texts]
        pooled = self.encoder.pool([window for windows in cut for window in windows])
        means = pooled[:, self.encoder.width // 2 :].numpy()
        vectors: Array = means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12)
        ends = accumulate(map(len, cut), initial=0)
        return [vectors[start:stop] for start, stop in pairwise(ends)]

    def _cut(self, text: str, kind: str) -> list[list[int]]:
        if kind == "prompt":
            ids = self.encoder.ids(text)[:WINDOW]
            return [ids] if ids else []
        ids = self.encoder.ids(lay_out(text, "plain"))
        return [ids[window.start : window.stop] for window in cut_evenly(len(ids), WINDOW)]


def clean_prompt(prompt: str) -> str:
    """Give a prompt in one line, without the tags that a forum puts before it."""
    # In one line: of a prompt the first line is no title.
    plain = lay_out(" ".join(prompt.split()), "plain")
    tags = _TAGS.match(plain)
    bare = plain[tags.end() :].strip() if tags else plain
    return bare if any(map(str.isalnum, bare)) else plain.strip()


def _similarity(prompt: Array, windows: Array) -> float:
    if not len(prompt) or not len(windows):
        return math.nan
    return float((windows @ prompt[0]).max())


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    return stem(word, "nltk")
