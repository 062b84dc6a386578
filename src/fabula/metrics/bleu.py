"""BLEU of a single story, by sacrebleu."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from fabula.core.card import Card
from fabula.core.metric import StoryMetric
from fabula.core.score import Missing, Status
from fabula.core.story import Story
from fabula.text.words import caption_words


@dataclass(frozen=True)
class Bleu(StoryMetric):
    """Precision of a story's n-grams up to `order`, with a penalty for being short.

    Sentence BLEU as sacrebleu gives it: exponential smoothing, orders the story is too short for
    left out (Papineni et al., 2002; Post, 2018).
    """

    card = Card(
        title="BLEU",
        family="string",
        direction="higher",
        low=0.0,
        high=100.0,
        needs=("reference",),
        references="matches are clipped against all references together; the length nearest to "
        "the story's counts for the penalty",
        paper="Papineni et al. (2002). BLEU: a method for automatic evaluation of machine "
        "translation. ACL, 311–318. Post (2018). A call for clarity in reporting BLEU scores. "
        "WMT, 186–191.",
        formula="100 · min(1, exp(1 − r/c)) · (p₁ · … · p_order)^(1/order)",
        compat="HANNA's column: the default settings give it already.",
        quirks=(
            (
                "The k-th order without a match counts as 1 / (2^k · its n-grams): no story is 0 "
                "for lack of a four-gram alone."
            ),
            "The mean over stories is not corpus BLEU.",
            "tokenize='captions' is that of the captioning toolkit, which RoViST's baselines use: "
            "contractions parted, lower case, no punctuation.",
            "tokenize='13a' leaves Chinese and Japanese whole; take 'zh' or 'char' there.",
        ),
        cannot_see="Quality: human stories on one prompt share few four-grams. On HANNA most "
        "machine stories lie below 2 of 100.",
        published={"hanna": {"BLEU": ("bleu(compat=True)", "")}},
    )

    order: Literal[1, 2, 3, 4] = 4
    tokenize: Literal["13a", "intl", "zh", "char", "none", "captions"] = "13a"
    lowercase: bool = False

    def traits(self) -> dict[str, str]:
        """Settings of sacrebleu and its version."""
        import sacrebleu

        case = "lc" if self.lowercase else "mixed"
        return {
            "case": case,
            "eff": "yes",
            "tok": self.tokenize,
            "smooth": "exp",
            "refs": "all",
            "sacrebleu": sacrebleu.__version__,
        }

    def value(self, story: Story) -> float:
        """Sentence BLEU against all references."""
        texts = [story.text, *story.nonblank_references]
        if self.tokenize == "captions":
            texts = [" ".join(caption_words(text)) for text in texts]
        bleu = self._scorer.sentence_score(texts[0], texts[1:])
        if not bleu.sys_len or not bleu.ref_len:
            which = "story" if not bleu.sys_len else "reference"
            raise Missing(Status.UNDEFINED, f"the {which} has no tokens for {self.tokenize!r}")
        return float(min(bleu.score, 100.0))

    @cached_property
    def _scorer(self) -> Any:
        from sacrebleu import BLEU

        return BLEU(
            max_ngram_order=self.order,
            tokenize="none" if self.tokenize == "captions" else self.tokenize,
            lowercase=self.lowercase,
            effective_order=True,
        )
