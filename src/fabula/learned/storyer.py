"""StoryER: how much readers would prefer a story."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.learned.reader.metric import EitherWeights, StandingMetric

_USUAL, _NEGATIVES = "preference", "coherence"


@dataclass(frozen=True)
class Storyer(StandingMetric):
    """How much readers would prefer a story, and where it stands among people's stories.

    Trained on pairs of stories of which one had more votes than the other, as StoryER is (Chen et
    al., 2022); with `negatives`, also on stories made incoherent on purpose.
    """

    revision = 4
    card = Card(
        title="StoryER: preference",
        family="learned",
        direction="higher",
        aspects=("", "percentile"),
        assets=("story_encoder", _USUAL, _NEGATIVES),
        paper="Chen, Vo, Takamura, Miyao and Nakayama (2022). StoryER: Automatic story evaluation "
        "via ranking, rating and reasoning. EMNLP, 1739–1753.",
        formula="linear in the mean states of the story encoder over the story's windows and in "
        "its surface features, fitted to what the large weights say of stories whose items they "
        "had not learned from; percentile: share of human stories below that value, 0 to 100",
        compat="The same numbers: the weights of the release cannot be had.",
        quirks=(
            "The paper's model is a Longformer encoder-decoder; this one is a small BERT that "
            "reads a story by windows.",
            "Only the story is read, not the prompt, as in the paper.",
            "Votes also reward what is no part of a story: posts were cleaned of signatures, "
            "links and notes before the training. What is learned from one forum's votes holds "
            "less well with other readers: the large weights, who teach these, learned from the "
            "choices of six corpora of readers, raters and writers, all counting alike.",
            "The value has no unit: compare the values of one pair of weights, or percentiles.",
            "Systems are best compared by how often each wins on a shared prompt.",
            "Measured on choices between two texts whose items neither they nor their teacher had "
            "learned from: StoryER's votes .681 (different words .596), HANNA's engagement .717 "
            "(.691), MANS's long stories .600 (word length .511), school narratives .733 and .732 "
            "(.604 and .666), CoAuthor's suggestions .530 (.540). The teacher has .686, .720, "
            ".626, .732, .728 and .543 (weights='large', which need smollm2).",
            "With a corpus left out of teacher and pupil both, a pupil gains .017 [.003, .031] on "
            "the best trivial baseline, mean of the six (its teacher .036): expect so much of "
            "readers that nobody learned from.",
            "weights='reader' learned from StoryER's pairs first of all, as the paper's model: "
            ".689 [.645, .731] of the 1,000 cleaned pairs, prompts unseen, mean of three seeds; "
            "the paper's model .739 of its own 22,887. With HANNA's engagement they agree at "
            ".40, where the number of different words has .43: take them for forum stories alone.",
            "The encoder had read 574 of StoryER's 648 stories before, without their votes.",
            "With negatives=True .561 [.512, .617] of the pairs (the paper's .704), and .953 "
            "[.942, .964] of the less liked stories are preferred to the same ones spoiled.",
            "weights='permissive' have seen none of these stories: .636 [.588, .695].",
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
