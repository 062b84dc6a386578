"""UNION: the probability that a story was written by a person and not spoiled."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.learned.reader.metric import ScaleMetric, Weights


@dataclass(frozen=True)
class Union(ScaleMetric):
    """Probability that a story is human-written and not spoiled on purpose (Guan & Huang, 2020)."""

    revision = 3
    card = Card(
        title="UNION: an unreferenced metric",
        family="learned",
        direction="higher",
        low=0.0,
        high=1.0,
        assets=("story_encoder", "coherence"),
        paper="Guan and Huang (2020). UNION: An unreferenced metric for evaluating open-ended "
        "story generation. EMNLP, 9157–9166.",
        formula="logistic function of a head's output, mean over the story's windows: p(human "
        "rather than spoiled)",
        compat="The same numbers: the weights of the release cannot be had.",
        quirks=(
            "The negatives are human stories with repeated, replaced, reordered or negated parts, "
            "as in the paper.",
            "The release cuts a story at 200 tokens; here all of it is read, by windows.",
            "The paper's second task, mending the spoiled text, is left out.",
            "Measured on 300 machine stories that it did not learn from (coherence_roc300): "
            "Spearman .254 [.147, .364] with people, our coherence .310.",
            "Its layers learned from people's ratings as well, UNION's 400 among them.",
            "weights='plausible' (MPNet, 109 M weights; needs the asset mpnet) has learned from no "
            "rating: .350 there, and .468 with UNION's 400 (the paper's BERT: .460).",
        ),
        cannot_see="Faults unlike the four it learned from. Telling spoiled stories from others "
        "is another task than rating machine stories, and agrees with people far less than its "
        "own accuracy suggests.",
    )

    weights: Weights = "coherence"

    @property
    def scales(self) -> tuple[str, ...]:
        """The one scale."""
        return ("union",)
