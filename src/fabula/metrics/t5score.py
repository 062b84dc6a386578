"""T5 score: BARTScore's rule with a small T5 that needs no hub."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.metrics.model_metric.seq2seq import Seq2SeqScore


@dataclass(frozen=True)
class T5score(Seq2SeqScore):
    """Mean log probability that a small T5 gives the target, token by token, given the source."""

    revision = 2
    card = Card(
        title="T5 score",
        family="model",
        direction="higher",
        high=0.0,
        uses=("prompt", "reference"),
        assets=("t5_titles",),
        references="the mean over them; several='max' takes the best",
        paper="The rule is BARTScore's: Yuan, Neubig and Liu (2021), NeurIPS 34. The model is "
        "flan-t5-small (Chung et al., 2022) tuned to give titles.",
        formula="Σ log p(tₖ | t₁ … tₖ₋₁, source) / tokens of the target, the sign at its end "
        "counted; source and target by `use`: HS (reference → story), SH (story → reference), "
        "PS (prompt → story), SP (story → prompt)",
        quirks=(
            "It is not BARTScore: the model is flan-t5-small, 80 million parameters, tuned to "
            "give titles, its weights in 8 bits.",
            "With HANNA's BARTScore columns it correlates, on 96 machine stories of prompts 0 to "
            "47 and 96 of the others (Pearson, Spearman): HS .78, .75 and .78, .73; SH .66, .46 "
            "and .42, .47; PS .79, .73 and .83, .74; SP .55, .39 and .59, .55.",
            "A story of HANNA takes one busy core about 0.8 s for HS or SH, 0.2 s for PS or SP.",
            "HS and SH need a reference, PS and SP a prompt.",
            "8-bit weights: a layer's numbers are rounded by the largest of them, so that logs "
            "move when text is added, even after the token: on 16 stories with 500 characters "
            "more, a token's by .25 in the median, the mean of a story's by .02, at most .17.",
            "Texts of more than 512 tokens are read whole, by windows: a token's probability is "
            "the mean over the windows of the source.",
        ),
        cannot_see="Quality apart from likelihood: dull and repetitive targets are likely ones. "
        "A mean per token hides length.",
    )

    model: str = "embedded('t5_titles')"
