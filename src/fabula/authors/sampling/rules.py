"""Which token comes next: logits changed by rules, cut to the likely ones, and one drawn.

Akoury et al. (2020) draw at temperature .9 from the 40 likeliest tokens or a nucleus of .9
(Holtzman et al., 2020) with a repetition penalty of 1.2 (Keskar et al., 2019), and make the end
less likely the longer the text is wanted. `compat` has their rules as released.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.author import Decoding, Wanted
from fabula.core.errors import SettingError
from fabula.core.settings import AtLeast, Between, check_settings

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

# Tokens that a unit takes in English prose, roughly.
_TOKENS_PER = {"chars": 0.25, "words": 1.3, "tokens": 1.4, "sentences": 22.0}
# What is wanted where nobody says: 250 words, as STORIUM asks for.
_USUAL_WORDS = 250


@dataclass(frozen=True)
class _CheckedDecoding:
    temperature: Annotated[float, AtLeast(0)]
    top_k: Annotated[int, AtLeast(0)]
    top_p: Annotated[float, Between(0, 1)]
    penalty: Annotated[float, AtLeast(0.01)]
    max_sentences: Annotated[int, AtLeast(0)]


@dataclass(frozen=True)
class Vocabulary:
    """Tokens that end a text, tokens that are never drawn, and how many there are.

    A model may have more logits than its tokeniser has tokens: the others stand for nothing.
    """

    ends: tuple[int, ...]
    barred: tuple[int, ...]
    size: int


def check_decoding(decoding: Decoding) -> None:
    """Refuse settings by which nothing can be drawn."""
    values = {name: getattr(decoding, name) for name in _CheckedDecoding.__dataclass_fields__}
    check_settings(_CheckedDecoding(**values), "decoding")
    if decoding.top_p == 0:
        raise SettingError("decoding: top_p=0 leaves no token", "take 1 for all of them")


def estimate_tokens(wanted: Wanted, remaining: int | None) -> int:
    """Tokens that the units still to be written will take, at least one."""
    if remaining is None:
        return math.ceil(_USUAL_WORDS * _TOKENS_PER["words"])
    return max(math.ceil(remaining * _TOKENS_PER[wanted.unit]), 1)


def adjust_logits(
    logits: Floats,
    decoding: Decoding,
    vocabulary: Vocabulary,
    *,
    written: Sequence[int],
    context: int,
    wanted: int,
) -> Floats:
    """Change logits by what was written: repetitions, the end, and what is never drawn.

    A token that was written before has its logit divided by the penalty where it is positive and
    multiplied where it is negative, so that it is always less likely; `compat` divides both. The
    odds of the end are those of the model times the share of the wanted tokens that is written, so
    that a text is never empty; `compat` multiplies the logit of the end, from the second token on,
    by the number of different tokens written over those of context and wanted text together.
    `compat` gives tokens that are not to be drawn a logit of 0.
    """
    logits = logits.copy()
    before = np.unique(np.asarray(written, dtype=np.int64))
    ends, barred = list(vocabulary.ends), list(vocabulary.barred)
    if decoding.compat:
        logits[before] /= decoding.penalty
        if written:
            logits[ends] *= len(before) / (context + wanted)
        logits[barred] = 0.0
    else:
        repeated = logits[before]
        by = np.where(repeated > 0, 1 / decoding.penalty, decoding.penalty)
        logits[before] = repeated * by
        share = min(len(written) / wanted, 1.0)
        logits[ends] += math.log(share) if share else -math.inf
        logits[barred] = -math.inf
    logits[vocabulary.size :] = -math.inf
    return logits


def choose_candidates(logits: Floats, decoding: Decoding) -> tuple[Ids, Floats]:
    """Give the tokens that may be drawn, by number, and their probabilities.

    First the `top_k` likeliest (0: all), then the fewest of them that have a share of `top_p`; of
    equals the one with the lower number. A temperature of 0 leaves the likeliest alone.
    """
    count = 1 if decoding.temperature == 0 else decoding.top_k or len(logits)
    if count < len(logits):
        # All that may be among them, ties included, before anything is sorted.
        least = np.partition(logits, -count)[-count]
        numbers = np.flatnonzero(logits >= least)
    else:
        numbers = np.arange(len(logits))
    ranked = numbers[np.argsort(-logits[numbers], kind="stable")][:count]
    best = logits[ranked[0]]
    if not math.isfinite(best):
        raise ArithmeticError("the model's answer holds no number for any token")
    scaled = np.exp((logits[ranked] - best) / (decoding.temperature or 1.0))
    shares = scaled / scaled.sum()
    # The token that reaches the share belongs to the nucleus. Sums may end just below 1.
    size = int(np.searchsorted(shares.cumsum(), decoding.top_p - 1e-12)) + 1
    ranked, shares = ranked[:size], shares[:size]
    order = np.argsort(ranked)
    return ranked[order], shares[order] / shares.sum()


def draw_token(numbers: Ids, shares: Floats, chance: float) -> int:
    """Give the token in whose part of the unit interval a number falls.

    Parts lie in the order of the tokens' numbers, so that a last digit of a logit moves their ends
    a little, and never makes two parts change places.
    """
    place = int(np.searchsorted(shares.cumsum(), chance * shares.sum(), side="right"))
    # Rounding may leave the last end just below the number that was drawn.
    return int(numbers[min(place, int(np.flatnonzero(shares)[-1]))])


def open_chance(seed: int, ids: Sequence[int]) -> np.random.Generator:
    """Give the generator of one request: of its seed and of what the model is shown, no more."""
    shown = np.asarray(ids, dtype="<i8").tobytes()
    digest = hashlib.blake2b(f"{seed}|".encode() + shown, digest_size=16).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))


def read_vocabulary(tokenizer: Any, ends: Sequence[int]) -> Vocabulary:
    """Find the tokens that end texts, and the signs of a tokeniser that stand for no text."""
    known = getattr(tokenizer, "added_tokens_decoder", {})
    signs = {int(number) for number, token in known.items() if getattr(token, "special", False)}
    signs |= {int(number) for number in tokenizer.all_special_ids}
    ending = {int(number) for number in ends}
    if tokenizer.eos_token_id is not None:
        ending.add(int(tokenizer.eos_token_id))
    return Vocabulary(tuple(sorted(ending)), tuple(sorted(signs - ending)), len(tokenizer))
