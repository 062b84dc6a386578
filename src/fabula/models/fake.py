"""A model for tests: deterministic, instant, and all that a model can be.

Vectors come of hashed pieces of words, so that words spelled alike are alike; likelihoods of a
hashed bigram table and of what the text has said before, so that repetition is likely. What it says
of a text depends on that text and the settings alone, and means nothing.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Annotated

import numpy as np

from fabula.core.errors import SettingError
from fabula.core.model import Answer, MeanGuess, Span, TokenCount, TokenLogs, TokenStates
from fabula.core.settings import AtLeast, check_settings
from fabula.models._fake_pictures import SeesPictures
from fabula.models.networks.causal import cut_at
from fabula.models.networks.tuning import Lesson, Tuning
from fabula.models.reading.tokens import truncate_texts
from fabula.models.reading.windows import assign_tokens, cut_overlapping, fit_prefix

if TYPE_CHECKING:
    from fabula.core.model import Array

TOKEN = re.compile(r"\w{1,6}|[^\w\s]")
BUCKETS = 128
MIX = 0.2
ROOM = 254
WORDS = (
    "the a and of to in was she he it said then they with her his had that old door night sea "
    "house light went came saw knew again river boy girl hand voice never home winter"
).split()


def load(
    *,
    width: Annotated[int, AtLeast(4)] = 16,
    layers: Annotated[int, AtLeast(1)] = 3,
    window: Annotated[int, AtLeast(8)] | None = None,
    seed: int = 0,
) -> FakeModel:
    """Make a model that needs no weights; `window` is how many tokens it reads at once."""
    return FakeModel(width, layers, window, seed)


@dataclass(frozen=True)
class FakeModel(SeesPictures):
    """All that a model can be, come of hashes."""

    width: Annotated[int, AtLeast(4)] = 16
    layers: Annotated[int, AtLeast(1)] = 3
    window: Annotated[int, AtLeast(8)] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse settings that will not do."""
        check_settings(self, "fake")

    @property
    def signature(self) -> str:
        """All settings: the values depend on nothing else."""
        return "fake," + ",".join(
            f"{setting.name}={getattr(self, setting.name)}" for setting in fields(self)
        )

    def tokens(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """Give the tokens of every text, none added."""
        return [split_tokens(text)[0] for text in texts]

    def count_unknown(self, texts: Sequence[str]) -> list[TokenCount]:
        """Count tokens; those of private use (U+E000 to U+F8FF) are unknown to it."""
        cut = [split_tokens(text)[0] for text in texts]
        return [TokenCount(len(tokens), sum(map(_is_private, tokens))) for tokens in cut]

    def truncate(self, texts: Sequence[str], count: int) -> list[str]:
        """Give the beginnings of texts that make so many tokens, added ones counted."""
        return truncate_texts(texts, [split_tokens(text)[1] for text in texts], count - 2)

    def states(self, texts: Sequence[str], layers: Sequence[int]) -> Iterator[TokenStates]:
        """Give the states of every text, a beginning and an end added."""
        if wrong := [layer for layer in layers if not 0 <= layer < self.layers]:
            raise SettingError(f"fake has no layer {wrong[0]}", f"take 0 to {self.layers - 1}")
        return (self._states_of(text, list(layers)) for text in texts)

    def vectors(self, texts: Sequence[str]) -> Array:
        """Give the mean of the last layer's states, of length one."""
        vectors = np.full((len(texts), self.width), np.nan)
        for row, text in enumerate(self.states(texts, [self.layers - 1])):
            if text.tokens:
                mean = text.states[0, 1:-1].mean(axis=0)
                vectors[row] = mean / np.linalg.norm(mean)
        return vectors

    def logs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[TokenLogs]:
        """Give the logs of every second text given the first."""
        return (self._logs_of(context, text) for context, text in pairs)

    def masked_logs(self, texts: Sequence[str]) -> Iterator[TokenLogs]:
        """Give logs and entropies of every token between its neighbours."""
        return (self._masked_logs_of(text) for text in texts)

    @property
    def room(self) -> int:
        """Tokens that are read at once."""
        return self.window or ROOM

    def fill(self, rows: Sequence[Sequence[str | None]]) -> list[tuple[str, ...]]:
        """Give a word for every gap, of those in its row and of a small vocabulary."""
        return [self._fill_row(row) for row in rows]

    def mean_guesses(
        self, texts: Sequence[str], weights: Sequence[Sequence[float]], *, temperature: float = 1.0
    ) -> Iterator[MeanGuess]:
        """Give the mean of the guesses at every token by the tokens' weights."""
        return (
            self._mean_guess_of(text, token_weights, temperature)
            for text, token_weights in zip(texts, weights, strict=True)
        )

    def tune_on(self, lessons: Sequence[Lesson], tuning: Tuning) -> FakeModel:
        """Give another fake, whose seed comes of the lessons and of how they are taught."""
        return replace(self, seed=_number(repr((tuple(lessons), tuning)), self.seed))

    def rows(self, words: Sequence[str]) -> Array:
        """Give a vector for every word; one without a letter is not known."""
        unknown = np.full(self.width, np.nan)
        lettered = [any(map(str.isalpha, word)) for word in words]
        vectors = [self._word(w) if ok else unknown for w, ok in zip(words, lettered, strict=True)]
        return np.array(vectors).reshape(len(words), self.width)

    def answers(self, pairs: Sequence[tuple[str, str]], *, apart: bool = False) -> Iterator[Answer]:
        """Answer with words of the text among those of the question; `apart` changes nothing."""
        for question, text in pairs:
            tokens, spans = split_tokens(text)
            yield answer_from(split_tokens(question)[0], text, tokens=tokens, spans=spans)

    def generate(
        self,
        prompts: Sequence[str],
        *,
        max_tokens: int = 128,
        temperature: float = 0.8,
        top_p: float = 0.95,
        stop: Sequence[str] = (),
        seed: int = 0,
    ) -> list[str]:
        """Give words of the prompt and of a small vocabulary, as many as there may be."""
        return [
            cut_at(self._write_after(prompt, max_tokens, temperature, seed), stop)
            for prompt in prompts
        ]

    def _states_of(self, text: str, layers: list[int]) -> TokenStates:
        tokens, spans = split_tokens(text)
        if not tokens:
            return TokenStates((), (), np.zeros((len(layers), 0, self.width)))
        words = np.array([self._word(token) for token in ("<s>", *tokens, "</s>")])
        size = self.window or len(words)
        places = cut_overlapping(len(words), size, size // 4)
        read = [self._mix_states(words[place.start : place.stop], layers) for place in places]
        parts = [
            states[:, part.start - place.start : part.stop - place.start]
            for states, place, part in zip(read, places, assign_tokens(places), strict=True)
        ]
        ends = (0, 0)
        return TokenStates(
            ("<s>", *tokens, "</s>"), (ends, *spans, ends), np.concatenate(parts, axis=1)
        )

    def _mix_states(self, words: Array, layers: list[int]) -> Array:
        """States by layer: each layer takes in a little of the neighbours' last one."""
        states = [words]
        for _ in range(max(layers, default=0)):
            last = np.pad(states[-1], ((1, 1), (0, 0)), mode="edge")
            states.append((1 - MIX) * last[1:-1] + MIX * (last[:-2] + last[2:]) / 2)
        return np.array([states[layer] for layer in layers])

    def _word(self, word: str) -> Array:
        return _word_vector(word.lower(), self.width, self.seed)

    @cached_property
    def _table(self) -> Array:
        """Probability of a bucket of words after another one: (before, after)."""
        raw = np.frombuffer(_hash("table", BUCKETS * BUCKETS, self.seed), dtype=np.uint8)
        weights = np.exp(raw.reshape(BUCKETS, BUCKETS) / 64)
        table: Array = weights / weights.sum(axis=1, keepdims=True)
        return table

    def _buckets(self, tokens: Sequence[str]) -> list[int]:
        return [_bucket(token.lower(), self.seed) for token in tokens]

    def _logs_of(self, context: str, text: str) -> TokenLogs:
        tokens, spans = split_tokens(text)
        buckets = self._buckets(tokens)
        before = self._buckets(split_tokens(context)[0])
        size = self.window or len(before) * 2 + len(buckets) + 2
        prefix = fit_prefix((0,), before, window=size, stride=max(size // 2, 1))
        guesses = [
            guess
            for stride in prefix.strides(len(buckets))
            for guess in self._guesses(
                [*prefix.ids, *buckets[stride.start : stride.stop]],
                len(prefix.ids) + stride.new - stride.start,
            )
        ]
        return _token_logs(tokens, spans, buckets, guesses)

    def _guesses(self, read: Sequence[int], new: int) -> Iterator[Array]:
        """Guess at each place from `new` on: the table, and what was read before."""
        seen = np.bincount(read[:new], minlength=BUCKETS).astype(float)
        for place in range(new, len(read)):
            yield (self._table[read[place - 1]] + seen / seen.sum()) / 2
            seen[read[place]] += 1

    def _masked_logs_of(self, text: str) -> TokenLogs:
        tokens, spans = split_tokens(text)
        buckets = self._buckets(tokens)
        guesses = guesses_by_window(self._table, buckets, self.window or max(len(buckets), 1))
        return _token_logs(tokens, spans, buckets, [row for block in guesses for row in block])

    def _mean_guess_of(self, text: str, weights: Sequence[float], temperature: float) -> MeanGuess:
        buckets = self._buckets(split_tokens(text)[0])
        guesses = guesses_by_window(self._table, buckets, self.window or max(len(buckets), 1))
        return MeanGuess(mean_guess(guesses, weights, temperature))

    def _fill_row(self, row: Sequence[str | None]) -> tuple[str, ...]:
        if len(row) > self.room:
            raise ValueError(f"a row of {len(row)} tokens: there is room for {self.room}")
        return fill_row(row, WORDS, self._table, lambda word: _bucket(word.lower(), self.seed))

    def _write_after(self, prompt: str, count: int, temperature: float, seed: int) -> str:
        chance = random.Random(_hash(f"{seed}|{prompt}", 16, self.seed))
        known = [*WORDS, *(token for token in split_tokens(prompt)[0] if token.isalpha())]
        spread = max(1, round(len(known) * min(temperature, 1.0)))
        return "".join(f" {known[chance.randrange(spread)]}" for _ in range(count))


def split_tokens(text: str) -> tuple[tuple[str, ...], tuple[Span, ...]]:
    """Pieces of words of at most six letters, and signs, with where they stand."""
    matches = list(TOKEN.finditer(text))
    return tuple(match.group() for match in matches), tuple(match.span() for match in matches)


def _is_private(token: str) -> bool:
    return "\ue000" <= token[0] <= "\uf8ff"


def _token_logs(
    tokens: tuple[str, ...], spans: tuple[Span, ...], buckets: list[int], guesses: list[Array]
) -> TokenLogs:
    table = np.array(guesses).reshape(len(guesses), BUCKETS)
    logs = np.log(table[np.arange(len(buckets)), buckets])
    return TokenLogs(tokens, spans, logs, -(table * np.log(table)).sum(axis=1))


def _hash(text: str, size: int, seed: int) -> bytes:
    # A text may hold half of a surrogate pair, which UTF-8 does not spell.
    return hashlib.shake_128(f"{seed}|{text}".encode(errors="surrogatepass")).digest(size)


@lru_cache(maxsize=65536)
def _bucket(word: str, seed: int) -> int:
    return _number(word, seed) % BUCKETS


def _number(text: str, seed: int) -> int:
    return int.from_bytes(_hash(text, 4, seed), "big")


@lru_cache(maxsize=65536)
def _word_vector(word: str, width: int, seed: int) -> Array:
    marked = f"<{word}>"
    grams = [marked[at : at + n] for n in (1, 2, 3) for at in range(len(marked) - n + 1)]
    parts = [np.frombuffer(_hash(gram, width, seed), dtype=np.uint8) for gram in grams]
    # Not quite the middle of a byte, so that no sum is 0 and every vector has a direction.
    vector: Array = np.sum(parts, axis=0) / 127.37 - len(parts)
    vector /= np.linalg.norm(vector)
    return vector


# Guesses that are held at once.
BLOCK = 4096


def guess_between(table: Array, read: Sequence[int], gaps: Array) -> Array:
    """Guess at each gap: what goes with both neighbours, and what else was read."""
    buckets = np.array([*read, 0])
    both = table[np.where(gaps > 0, buckets[gaps - 1], 0)]  # (gaps, buckets)
    inner = gaps + 1 < len(read)
    both[inner] *= table.T[buckets[gaps[inner] + 1]]
    others = np.bincount(buckets, minlength=len(table)) - np.eye(len(table))[buckets[gaps]]
    guesses: Array = both / both.sum(1, keepdims=True) + others / others.sum(1, keepdims=True)
    return guesses / 2


def guesses_by_window(table: Array, buckets: list[int], size: int) -> list[Array]:
    """Guesses at all tokens, each in the window where it is most central, in blocks."""
    places = cut_overlapping(len(buckets), size, size // 4)
    return [
        guess_between(
            table,
            buckets[place.start : place.stop],
            np.arange(start - place.start, min(start + BLOCK, part.stop) - place.start),
        )
        for place, part in zip(places, assign_tokens(places), strict=True)
        for start in range(part.start, part.stop, BLOCK)
    ]


def mean_guess(guesses: list[Array], weights: Sequence[float], temperature: float) -> Array:
    """Mean of guesses by weight, each sharpened or flattened by the temperature."""
    shares = iter(np.split(np.array(weights), np.cumsum([len(block) for block in guesses])))
    total = np.zeros(guesses[0].shape[1] if guesses else 1)
    for block in guesses:
        sharp = block ** (1 / temperature)
        total += next(shares) @ (sharp / sharp.sum(1, keepdims=True))
    whole = total.sum()
    return total / whole if whole else np.full_like(total, np.nan)


def fill_row(
    row: Sequence[str | None], known: Sequence[str], table: Array, bucket: Callable[[str], int]
) -> tuple[str, ...]:
    """Take for each gap the word that goes best with its neighbours, of those read and known."""
    gaps = [at for at, token in enumerate(row) if token is None]
    if not gaps:
        return ()
    words = list(dict.fromkeys([*(token for token in row if token is not None), *known]))
    numbers = np.array([bucket(word) for word in words])
    beside = [0 if token is None else bucket(token) for token in (None, *row, None)]
    best = [(table[beside[at]] * table[:, beside[at + 2]])[numbers].argmax() for at in gaps]
    return tuple(words[number] for number in best)


NEAR = 3
LONGEST = 4


def answer_from(
    question: Sequence[str], text: str, *, tokens: Sequence[str], spans: Sequence[Span]
) -> Answer:
    """Answer with the words whose neighbours the question knows best, the first of several."""
    known = {token.lower() for token in question}
    shared = [token.lower() in known for token in tokens]
    best, answer = 0.0, range(0)
    for run in _runs([token[0].isalnum() for token in tokens], shared):
        around = [
            *shared[max(run.start - NEAR, 0) : run.start],
            *shared[run.stop : run.stop + NEAR],
        ]
        if (sure := (1 + sum(around)) / (2 + 2 * NEAR)) > best:
            best, answer = sure, run
    if not answer:
        return Answer("", 0.0)
    return Answer(text[spans[answer[0]][0] : spans[answer[-1]][1]], best)


def _runs(words: Sequence[bool], shared: Sequence[bool]) -> list[range]:
    """Places of words next to each other that the question does not hold, a few at a time."""
    runs: list[range] = []
    for place, (word, known) in enumerate(zip(words, shared, strict=True)):
        if not word or known:
            continue
        if runs and runs[-1].stop == place and len(runs[-1]) < LONGEST:
            runs[-1] = range(runs[-1].start, place + 1)
        else:
            runs.append(range(place, place + 1))
    return runs
