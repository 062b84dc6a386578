"""MANPLTS: the probability that a story's plot is plausible."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.learned.reader.metric import ScaleMetric, Weights


@dataclass(frozen=True)
class Manplts(ScaleMetric):
    """Probability that a story is plausible, not of a manipulated plot (Ghazarian et al., 2021)."""

    revision = 3
    card = Card(
        title="MANPLTS: plausibility",
        family="learned",
        direction="higher",
        low=0.0,
        high=1.0,
        assets=("story_encoder", "coherence"),
        paper="Ghazarian, Liu, Akash S M, Weischedel, Galstyan and Peng (2021). Plot-guided "
        "adversarial example construction for evaluating open-domain story generation. NAACL-HLT, "
        "4334–4344.",
        formula="logistic function of a head's output, mean over the story's windows: p(plausible)",
        compat="The same numbers: the weights of the release cannot be had.",
        quirks=(
            "The paper has a RoBERTa for ROCStories and a Longformer for WritingPrompts; this is "
            "one small BERT for both.",
            "Measured on 300 machine stories that it did not learn from (coherence_roc300): "
            "Spearman .320 [.218, .418] with people; the paper's RoBERTa .558.",
            "Its layers learned from people's ratings as well, but not from these.",
            "weights='plausible' (MPNet, 109 M weights; needs the asset mpnet) has learned from no "
            "rating: .391 there.",
            "It learned from the release's short stories (5,888 items), whose negatives a model "
            "told anew from manipulated plots; of long ones it knows UNION's corruptions alone.",
        ),
        cannot_see="Implausibility that takes knowledge of the world. Telling manipulated "
        "stories from others is another task than rating machine stories.",
    )

    weights: Weights = "coherence"

    @property
    def scales(self) -> tuple[str, ...]:
        """The one scale."""
        return ("manplts",)
