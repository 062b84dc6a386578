"""RoViST-NR: how little the sentences of a story repeat one another and themselves."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from fabula.core.card import Card
from fabula.core.errors import PackageMissing
from fabula.core.metric import StoryMetric
from fabula.core.score import Missing, Status
from fabula.core.settings import AtLeast
from fabula.core.story import Story
from fabula.models import AssetError, path_of
from fabula.text.sentences import split_sentences
from fabula.text.words import tokens

_MOST_SENTENCES = 2_000


@dataclass(frozen=True)
class RovistNr(StoryMetric):
    """One minus the mean overlap of sentences and of blocks within a sentence (RoViST, 2022)."""

    card = Card(
        title="RoViST-NR: non-redundancy",
        family="string",
        direction="higher",
        high=1.0,
        assets=("punkt_tab",),
        paper="Wang, Han and Poon (2022). RoViST: Learning robust metrics for visual "
        "storytelling. Findings of NAACL, 2691–2702.",
        formula="1 − (inter + intra) / 2; inter: mean Jaccard overlap of all pairs of sentences; "
        "intra: that of neighbouring blocks of `block` words, over all sentences",
        compat="The released code: NLTK's sentences and tokens (needs the asset `punkt_tab` and "
        "the `nlp` extra); overlap counts all pairs of equal tokens over the size of the joint "
        "set, so it can exceed 1 and the value can be negative; the last token of every sentence "
        "is dropped, whatever it is; one sentence has no value.",
        quirks=(
            "By default the overlap is that of sets, as in the paper, and lies between 0 and 1; "
            "the last token of a sentence is dropped if it is a punctuation mark.",
            "By default a story of one sentence repeats no other: inter is 0.",
            "Case counts: The and the are two words.",
        ),
        cannot_see="Repetition in other words, and whether a repetition is meant.",
    )

    block: Annotated[int, AtLeast(1)] = 4

    def traits(self) -> dict[str, str]:
        """Tokeniser and kind of overlap."""
        return {"tok": "nltk", "overlap": "pairs"} if self.compat else {"tok": "unicode-marks"}

    def value(self, story: Story) -> float:
        """One minus the mean of both overlaps."""
        parts = _nltk_parts(story.text) if self.compat else _own_parts(story.text)
        if len(parts) > _MOST_SENTENCES:
            note = f"{len(parts):,} sentences are more than the limit of {_MOST_SENTENCES:,}"
            raise Missing(Status.TOO_LONG, note)
        if not parts or (self.compat and len(parts) < 2):
            raise Missing(Status.UNDEFINED, "there are too few sentences with a word")
        inter = _mean_of_all_pairs(parts, self.compat)
        blocks = [self._blocks(part) for part in parts]
        intra = [_overlap(*pair, self.compat) for part in blocks for pair in pairwise(part)]
        return 1 - (inter + (sum(intra) / len(intra) if intra else 0.0)) / 2

    def _blocks(self, part: list[str]) -> list[list[str]]:
        """Blocks of a sentence; the last may be shorter."""
        return [part[start : start + self.block] for start in range(0, len(part), self.block)]


def _mean_of_all_pairs(parts: list[list[str]], compat: bool) -> float:
    """Mean overlap of every part with every other; 0 where there is but one.

    Parts are rows of a matrix of counts, so that one product counts for all pairs at once.
    """
    if len(parts) < 2:
        return 0.0
    numbers: dict[str, int] = {}
    rows = [row for row, part in enumerate(parts) for _ in part]
    columns = [numbers.setdefault(token, len(numbers)) for part in parts for token in part]
    counts = np.zeros((len(parts), len(numbers)), dtype=np.float32)
    np.add.at(counts, (rows, columns), 1)
    there = (counts > 0).astype(np.float32)
    common = there @ there.T  # (parts, parts); small whole numbers, exact
    sizes = np.diagonal(common)
    joint = sizes[:, None] + sizes[None, :] - common
    shared = counts @ counts.T if compat else common
    one, other = np.triu_indices(len(parts), 1)
    joint, shared = joint[one, other].astype(float), shared[one, other].astype(float)
    return float(np.divide(shared, joint, out=np.zeros(len(one)), where=joint > 0).mean())


def _overlap(left: list[str], right: list[str], compat: bool) -> float:
    """Shared tokens over the size of the joint set.

    Each kind counts once or, under compat, every pair of equal tokens.
    """
    counts, others = Counter(left), Counter(right)
    common = counts.keys() & others.keys()
    shared = sum(counts[token] * others[token] for token in common) if compat else len(common)
    return shared / (len(counts) + len(others) - len(common))


def _own_parts(text: str) -> list[list[str]]:
    """Tokens of each sentence, without the mark at its end; sentences without a word drop out."""
    parts = [tokens(sentence) for sentence in split_sentences(text)]
    cut = [part[:-1] if part and not part[-1][0].isalnum() else part for part in parts]
    return [part for part in cut if any(token[0].isalnum() for token in part)]


def _nltk_parts(text: str) -> list[list[str]]:
    """Tokens of each sentence by NLTK, without the last."""
    nltk = _nltk()
    return [nltk.word_tokenize(sentence)[:-1] for sentence in nltk.sent_tokenize(text)]


@lru_cache(maxsize=1)
def _nltk() -> Any:
    try:
        import nltk

        folder = str(path_of("punkt_tab"))
    except ImportError:
        raise Missing(Status.MISSING_MODEL, str(PackageMissing("NLTK", "nlp"))) from None
    except AssetError as error:
        raise Missing(Status.MISSING_MODEL, str(error)) from None
    if folder not in nltk.data.path:
        nltk.data.path.insert(0, folder)
    return nltk
