"""BARTScore: how likely the story is to a model that has read the reference, and its like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fabula.core.card import Card
from fabula.metrics.model_metric.seq2seq import Seq2SeqScore


@dataclass(frozen=True)
class Bartscore(Seq2SeqScore):
    """Mean log probability that BART gives the target, token by token, given the source."""

    card = Card(
        title="BARTScore",
        family="model",
        direction="higher",
        high=0.0,
        uses=("prompt", "reference"),
        references="the mean over them, as in the original; several='max' takes the best",
        paper="Yuan, Neubig and Liu (2021). BARTScore: Evaluating Generated Text as Text "
        "Generation. NeurIPS 34.",
        formula="Σ log p(tₖ | t₁ … tₖ₋₁, source) / tokens of the target, the signs at its "
        "beginning and end counted; source and target by `use`: HS (reference → story, "
        "precision), SH (story → reference, recall), PS (prompt → story), SP (story → prompt)",
        compat="Source and target are cut at 1,024 tokens, as the original cuts them.",
        quirks=(
            "The weights (1.6 GB) come from the hub at first use; without them every story says "
            "how to get them. t5score is the same score with a small model of the asset store.",
            "HS and SH need a reference, PS and SP a prompt.",
            "Texts of more than 1,024 tokens are read whole, by windows: a token's probability is "
            "the mean over the windows of the source. Up to there, values are the original's.",
            "Which checkpoint HANNA used is not recorded; bart-large-cnn is the original's "
            "default. Its ParaBank variant is had by naming a folder with those weights.",
            "HANNA's human stories beside themselves have about −1.2 and not 0: to copy is "
            "likely, never certain.",
        ),
        cannot_see="Quality apart from likelihood: dull and repetitive targets are likely ones. "
        "A mean per token hides length.",
        published={
            "hanna": {
                f"BARTScore-{use}": (f"bartscore(use='{use}', compat=True)", "")
                for use in ("SH", "HS", "PS", "SP")
            }
        },
    )
    most_tokens: ClassVar[int | None] = 1024

    model: str = "huggingface('facebook/bart-large-cnn', window=1024)"
