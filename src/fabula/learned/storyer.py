"""StoryER: how much readers would prefer a story."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.learned.reader.metric import EitherWeights, StandingMetric

_USUAL, _NEGATIVES = "reader", "coherence"


@dataclass(frozen=True)
class Storyer(StandingMetric):
    """How much readers would prefer a story, and where it stands among people's stories.

    Trained on pairs of stories of which one had more votes than the other, as StoryER is (Chen et
    al., 2022); with `negatives`, also on stories made incoherent on purpose.
    """

    revision = 3
    card = Card(
        title="StoryER: preference",
        family="learned",
        direction="higher",
        aspects=("", "percentile"),
        assets=("story_encoder", _USUAL, _NEGATIVES),
        paper="Chen, Vo, Takamura, Miyao and Nakayama (2022). StoryER: Automatic story evaluation "
        "via ranking, rating and reasoning. EMNLP, 1739–1753.",
        formula="weighted sum of standardised heads (mean over the windows), that for votes "
        "first, and of a linear reading of its surface features; percentile: share of human "
        "stories below that value, 0 to 100",
        compat="The same numbers: the weights of the release cannot be had.",
        quirks=(
            "The paper's model is a Longformer encoder-decoder; this one is a small BERT that "
            "reads a story by windows.",
            "Only the story is read, not the prompt, as in the paper.",
            "Votes also reward what is no part of a story: posts were cleaned of signatures, "
            "links and notes before the training, and the surface and what HANNA's and MANS's "
            "raters liked have shares in the value (.4 and .25), because what is learned from "
            "votes holds less well with other readers: with HANNA's engagement it agrees at .40, "
            "without the raters' share at .31, the number of different words at .43.",
            "The value has no unit: compare the values of one pair of weights, or percentiles.",
            "Systems are best compared by how often each wins on a shared prompt.",
            "Measured on StoryER's 1,000 cleaned pairs of 118 prompts, by readers that had not "
            "seen the prompt, mean of three seeds: the story with more votes is preferred in .689 "
            "[.645, .731] of them, by the number of different words in .596. Where the lengths "
            "differ by less than 15 %: .673 [.616, .729] of 252; where the shorter story was "
            "preferred: .528 [.467, .599] of 419. The paper's model: .739 of its own 22,887 pairs.",
            "The encoder had read 574 of those 648 stories before, without their votes.",
            "With negatives=True .561 [.512, .617] of the pairs (the paper's .704), and .953 "
            "[.942, .964] of the less liked stories are preferred to the same ones spoiled.",
            "weights='permissive' have seen none of these stories: .596 [.546, .653].",
        ),
        cannot_see="Whether a story fits its prompt, and whether what it says is true. It learned "
        "from English stories of one forum: texts of another kind are scored, and the note says "
        "that they are unfamiliar.",
    )

    small = _USUAL

    weights: EitherWeights = _USUAL
    negatives: bool = False

    @property
    def source(self) -> str:
        """With negatives, ours are a head of the weights that know corruptions."""
        named = super().source
        return _NEGATIVES if self.negatives and named == _USUAL else named

    @property
    def scales(self) -> tuple[str, ...]:
        """The preference, or the one that knows negatives."""
        return ("preference_n" if self.negatives else "preference",)
