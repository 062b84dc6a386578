"""S3: six measures of overlap with the reference, weighed by a regressor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

from fabula.core.card import Card
from fabula.core.model import TokenCount, WordVectors
from fabula.core.score import Missing, Reading, Status
from fabula.core.settings import Means
from fabula.core.story import Story
from fabula.metrics._soft_grams import Lexis, plain_words
from fabula.metrics._vectors import count_unknown_words
from fabula.metrics.model_metric import ModelMetric
from fabula.metrics.s3_regression.features import FEATURES_VERSION, s3_features
from fabula.metrics.s3_regression.regressor import Regressor, load_regressor


@dataclass(frozen=True)
class S3(ModelMetric):
    """What people would give a text, learned from its overlap with a reference.

    Overlap is in words, in pairs of words, in words that mean nearly the same, and in how the words
    are distributed (Peyrard, Botschen and Gurevych, 2017).
    """

    revision = 2
    card = Card(
        title="S3",
        family="embedding",
        direction="higher",
        needs=("reference",),
        assets=("glove_50d",),
        references="the reference with the best score counts",
        paper="Peyrard, Botschen and Gurevych (2017). Learning to score system summaries for "
        "better content selection evaluation. Workshop on New Frontiers in Summarization, 74–84.",
        formula="Σ αᵢ exp(−γ ‖x − xᵢ‖²) + b over the support vectors xᵢ, where x is: recall of "
        "words and of pairs of words (Snowball stems), the same by ROUGE-WE, and the "
        "Jensen–Shannon divergence of content words and of pairs with one, each scaled",
        compat="The same numbers: HANNA's columns come from regressors that cannot be had.",
        quirks=(
            "The original regressors, trained on the summaries of TAC 2008 and 2009, cannot be "
            "had. 'pyramid' and 'responsiveness' are imitations, fitted to HANNA's published "
            "columns on prompts 0 to 47 (480 machine stories, 3 human ones). On the other 48 "
            "prompts they correlate with the columns at .991 and .994 (machine stories).",
            "Never to be reported on what it was fitted on: a score of such a pair of text and "
            "reference says so in its note, and `metric.fitted_on(story)` tells.",
            "A regressor of one's own: `fabula train s3 ratings.csv --gold overall -o mine.json`"
            " (extra `train`), then s3(regressor='mine.json'). It holds numbers and digests, no "
            "text.",
            "A regressor knows one kind of word vectors; with others a note says so.",
            "Values are on the scale of the regressor's targets and have no bounds; a text beside "
            "itself has 1.38 ('pyramid') or 1.83 ('responsiveness'), as in HANNA's columns.",
            r"Words are cut by `\w+`; those with an apostrophe fall in two.",
        ),
        cannot_see="Quality apart from the reference: it sees overlap, and was made for summaries "
        "of news.",
        published={
            "hanna": {
                "S3-Pyramid": ("s3(compat=True)", ""),
                "S3-Responsiveness": ("s3(regressor='responsiveness', compat=True)", ""),
            }
        },
    )

    model: str = "embedded('glove_50d')"
    regressor: Annotated[
        str, Means("'pyramid', 'responsiveness' or a file that was fitted and saved")
    ] = "pyramid"

    def check(self) -> None:
        """Read the regressor: one that cannot be read is refused."""
        super().check()
        _ = self._regressor

    def traits(self) -> dict[str, str]:
        """The regressor's digest, the features' version, and the vectors."""
        own = {"regressor": self._regressor.digest, "features": str(FEATURES_VERSION)}
        return own | {"refs": "best"} | super().traits()

    @classmethod
    def with_regressor(cls, regressor: Regressor) -> S3:
        """Make a metric of a regressor that was not saved."""
        made = cls()
        made.__dict__["_regressor"] = regressor
        return made

    def fitted_on(self, story: Story) -> bool:
        """Whether the regressor was fitted on the story: such a score proves nothing."""
        return self._regressor.fitted_on(story)

    def count_unknown(self, texts: Sequence[str]) -> list[TokenCount]:
        """Count the words without a vector."""
        vectors = self.model_as(WordVectors)
        return [count_unknown_words(plain_words(text), vectors) for text in texts]

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Look all words up in one go, then measure story by story."""
        vectors = self.model_as(WordVectors)
        texts = [text for story in stories for text in (story.text, *story.references)]
        lexis = Lexis.of(texts, vectors)
        strange = "" if vectors.signature == self._regressor.vectors else _STRANGE
        return [self._note(story, self._compare_story(story, lexis), strange) for story in stories]

    @cached_property
    def _regressor(self) -> Regressor:
        return load_regressor(self.regressor)

    def _compare_story(self, story: Story, lexis: Lexis) -> Reading:
        references = story.nonblank_references
        return self.best(self._beside(story.text, text, lexis) for text in references)

    def _beside(self, text: str, reference: str, lexis: Lexis) -> Reading:
        if not plain_words(text):
            return self.missing(Status.UNDEFINED, "there is no word in the story")
        if len(plain_words(reference)) < 2:
            return self.missing(Status.UNDEFINED, "the reference has fewer than two words")
        try:
            threshold = self._regressor.threshold
            features = s3_features(text, reference, lexis=lexis, threshold=threshold)
        except Missing as missing:
            return self.missing(missing.status, missing.note)
        return Reading((float(self._regressor.predict(features)[0]),))

    def _note(self, story: Story, reading: Reading, strange: str) -> Reading:
        if reading.status is not Status.OK:
            return reading
        fitted = "the regressor was fitted on this story" if self.fitted_on(story) else ""
        return replace(reading, note="; ".join(filter(None, (fitted, strange))))


_STRANGE = "the regressor was fitted with other word vectors"
