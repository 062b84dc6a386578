"""USER: how much of what a machine suggested the author kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from fabula.core.card import Card
from fabula.core.metric import PairMetric, Value
from fabula.core.score import Missing, Status
from fabula.core.settings import Means
from fabula.metrics._words import stop_words, stop_words_digest
from fabula.text.diff import Block, count_equal_pairs, matching_blocks
from fabula.text.words import ascii_words, bare_words

_MOST_PAIRS = 10_000_000


@dataclass(frozen=True)
class User(PairMetric):
    """Share of a suggested text that lies in blocks an author published (Akoury et al., 2020).

    The story's text is what the machine wrote, its reference what the author made of it. A block
    counts if it holds at least one word that is not a stop word.
    """

    card = Card(
        title="USER: user story edit ratings",
        family="string",
        direction="higher",
        low=0.0,
        high=1.0,
        needs=("reference",),
        aspects=("recall", "f", "precision"),
        references="the reference with the best precision counts",
        paper="Akoury et al. (2020). STORIUM: A dataset and evaluation platform for "
        "machine-in-the-loop story generation. EMNLP, 6470–6484.",
        formula="precision = words in counting blocks / words of the text; recall = the same over "
        "the words of the reference; f = their harmonic mean. USER is the precision.",
        compat="ASCII words, and `autojunk` on as in the platform's code.",
        quirks=(
            "The paper's formula line has the published text in the denominator; its words and "
            "its code have the suggestion there, and so has this.",
            "With `autojunk`, where the reference has 200 words or more, those that make up over "
            "1 % of it cannot begin a block: long texts are then scored differently. The default "
            "leaves it off.",
            "stop_words='user' is a list of our own; the platform's is not ours to ship. Give a "
            "file to use another.",
        ),
        cannot_see="Why an author kept or dropped a text: accepting a suggestion whole may be "
        "praise or haste. Words that were moved are matched only once.",
    )

    autojunk: bool = False
    stop_words: Annotated[str, Means("'user', 'english', '' for none, or a file of words")] = "user"

    def check(self) -> None:
        """Read the stop words: a list that cannot be read is refused."""
        _ = self.left_out

    def traits(self) -> dict[str, str]:
        """Tokeniser, the stop words' digest, and how references are joined."""
        tok = "ascii" if self.compat else "unicode"
        junk = "yes" if self.autojunk or self.compat else "no"
        stop = stop_words_digest(self.left_out)
        return {"tok": tok, "autojunk": junk, "stop": stop, "refs": "best-precision"}

    def compare(self, text: str, reference: str) -> Value:
        """Recall, f and precision of a suggestion beside what was published."""
        words, published = self.words(text), self.words(reference)
        return self.share(words, published, self.kept_blocks(words, published))

    def share(self, words: list[str], published: list[str], blocks: list[Block]) -> Value:
        """Recall, f and precision of blocks that `kept_blocks` found in these words."""
        if not words or not published:
            which = "text" if not words else "reference"
            raise Missing(Status.UNDEFINED, f"there is no word in the {which}")
        kept = sum(block.size for block in blocks)
        recall, precision = kept / len(published), kept / len(words)
        f = 2 * precision * recall / (precision + recall) if kept else 0.0
        return recall, f, precision

    def words(self, text: str) -> list[str]:
        """Words as they are compared."""
        return ascii_words(text) if self.compat else bare_words(text)

    def kept_blocks(self, words: list[str], published: list[str]) -> list[Block]:
        """Blocks of a suggestion that count as kept, for display."""
        junk = self.autojunk or self.compat
        pairs = count_equal_pairs(words, published, autojunk=junk)
        if pairs > _MOST_PAIRS:
            note = f"{pairs:,} pairs of equal words are more than the limit of {_MOST_PAIRS:,}"
            raise Missing(Status.TOO_LONG, note)
        return [
            block
            for block in matching_blocks(words, published, autojunk=junk)
            if not self.left_out.issuperset(words[block.left : block.left + block.size])
        ]

    @cached_property
    def left_out(self) -> frozenset[str]:
        """The stop words: what a block may not consist of alone."""
        return stop_words(self.stop_words)
