"""Writers: how professional writers would score a piece of prose."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.learned.reader.metric import EitherWeights, StandingMetric


@dataclass(frozen=True)
class Writers(StandingMetric):
    """How professional writers would score the prose, and where that stands among people's stories.

    `storyer` and `criteria` speak for readers; this one learned from people who write for a
    living. The two may part, up to the sign: neither is the quality of a story.
    """

    card = Card(
        title="Writers: the prose as professionals score it",
        label="Writers",
        family="learned",
        direction="higher",
        aspects=("", "percentile"),
        assets=("minilm", "permissive"),
        paper="Scores: Chakrabarty, Laban and Wu (2025). Can AI writing be salvaged? Mitigating "
        "idiosyncrasies and improving human-AI alignment in the writing process through edits. "
        "CHI. The model is ours.",
        formula="a head's output, mean over the story's windows, moved to the writers' scale and "
        "bounded by 1 and 10; percentile: share of human stories below that value, 0 to 100",
        quirks=(
            "The writers scored paragraphs of 100 to 300 words, most of them by a language model, "
            "before and after an edit: it is the sentences that they judged, not a plot.",
            "The release names neither writer nor model, so that no figure is by writers left out.",
            "By default there is no percentile: the human stories of those weights are HANNA's 96, "
            "and nearly all prose stands above them. With weights='large' percentiles are among "
            "StoryER's stories, as those of storyer: hold readers and writers against each other "
            "with these.",
            "Measured, Spearman with the writers' scores of 2,036 paragraphs, by heads that had "
            "not seen the paragraph nor its edit, one seed: .284 [.240, .328], where nothing that "
            "can be counted tells anything; of a paragraph and its edit it finds the better in "
            ".791 [.764, .817] (`fabula verify`). weights='large' .356.",
            "It learned from sound prose alone, of which smooth sentences were marked down: "
            "mistyped words, and words out of order within their sentences, raise it (for all of "
            "24 stories). Ask it only about prose that `coherence` does not mark down.",
            "Where the weights have no head for it, the value is missing and the note says so.",
        ),
        cannot_see="Whether anything happens, whether a story holds together, and whether readers "
        "would enjoy it: those who vote for stories often prefer what writers mark down.",
    )

    small = "permissive"

    weights: EitherWeights = "permissive"

    @property
    def scales(self) -> tuple[str, ...]:
        """The one scale."""
        return ("writers",)

    @property
    def absence(self) -> str:
        """Why there is no value: weights that cannot be had, or that no writer has taught."""
        lack = super().absence or self.find_lack()
        return lack and f"{lack}; name weights with a scale `writers`" if self.at_hand else lack
