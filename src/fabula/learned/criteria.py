"""HANNA's six criteria, as its raters would rate a story."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fabula.core.card import Card
from fabula.core.errors import UserError
from fabula.core.score import Reading, Score, Status
from fabula.core.story import Story
from fabula.learned.reader.config import CRITERIA
from fabula.learned.reader.inference import Reader
from fabula.learned.reader.metric import EitherWeights, ScaleMetric
from fabula.learned.reader.relation import ENCODER
from fabula.models import path_of

if TYPE_CHECKING:
    from fabula.core.model import Array

RELEVANCE = "criteria.relevance"
UNREAD = "these weights do not read the prompt"
_PLACE = CRITERIA.index("relevance")


@dataclass(frozen=True)
class Criteria(ScaleMetric):
    """Ratings from 1 to 5 on HANNA's six criteria, learned from its raters (Chhun et al., 2022)."""

    revision = 4
    card = Card(
        title="HANNA's six criteria, learned",
        label="Criteria",
        family="learned",
        direction="higher",
        low=1.0,
        high=5.0,
        uses=("prompt",),
        aspects=CRITERIA,
        assets=("minilm", "permissive"),
        paper="Criteria and ratings: Chhun, Colombo, Suchanek and Clavel (2022). Of human criteria "
        "and automatic metrics: A benchmark of the evaluation of story generation. COLING, "
        "5794–5836. The model is ours.",
        formula="a head's output for each criterion, with a little of those for machine "
        "stories as wholes, mean over the windows, and its surface features, moved to the raters' "
        "scale and bounded by 1 and 5; relevance is for the most part how many of the prompt's "
        "words the story takes up, by stems, rare ones counting more, and the largest cosine of "
        "MiniLM's vectors of the prompt and of a part of the story",
        quirks=(
            "Relevance is missing where a story has no prompt. Where it has one, MiniLM, which no "
            "training changed, reads prompt and story once more: criteria take twice the time "
            "(.42 instead of .20 s of one core for 500 words). Of a prompt 254 tokens are read; "
            "tags such as [WP] are not. Weights whose scale has no relation do not read it, and "
            "`doubts()` says so.",
            "With the right prompt relevance is above that with another's for 88 of 100 human "
            "stories on prompts that nobody learned from. The longer a story, the more of its "
            "parts may be near a prompt, and the more of its words it may hold.",
            "How a story is set does not count: line breaks, titles, notes, Markdown and the style "
            "of quotation marks are taken out before it is read. HANNA's stories hold no line "
            "break, and with breaks every criterion moved by .2 to .5 points.",
            "HANNA rates stories of machines and of people together; most of what the six values "
            "share is how well a story is written at all.",
            "On stories of HANNA itself the values are those of a model that has seen them.",
            "Measured on HANNA's 1,056 stories by readers that had not seen the prompt, one seed, "
            "Spearman: complexity .652, relevance .606, engagement .510, coherence .482, surprise "
            ".456, empathy .446; the number of different words alone: .573, .267, .428, .377, "
            ".395, .316, and SUPERT has .395 with relevance. weights='large' have .671, .609, "
            ".553, .532, .480, .511.",
            "Coherence is higher for .71 [.51, .85] of 24 stories of a forum than for the same "
            "with their sentences shuffled, with weights='large' for .88 [.69, .96] (python "
            "benchmarks/notices.py DATA --stories 24 --metrics criteria "
            "\"criteria(weights='large')\").",
            "weights='reader' do as well on HANNA and do not read the prompt.",
        ),
        cannot_see="Whether a story misses the point of a prompt whose words and subject it takes "
        "up, or does what it forbids. The other five ratings come of one vector of the story, so "
        "that they may lean on one impression of it. A moving type-token ratio is a strong rival: "
        "compare with it.",
    )

    small = "reader"

    weights: EitherWeights = "permissive"

    @property
    def scales(self) -> tuple[str, ...]:
        """One scale a criterion."""
        return tuple(f"criteria.{name}" for name in CRITERIA)

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Give the six values; relevance only where there is something to be relevant to."""
        return [
            reading
            if reading.status is not Status.OK or not (why := self._miss_relevance(story, reading))
            else _drop_relevance(reading, why)
            for story, reading in zip(stories, super().compute(stories), strict=True)
        ]

    def give_rows(self, reader: Reader, stories: Sequence[Story]) -> Array:
        """Give what a reader says of every story, with its prompt where that can be read."""
        prompts = None if self._absence else [story.prompt for story in stories]
        return reader.values(self.scales, [story.text for story in stories], prompts)

    def traits(self) -> dict[str, str]:
        """Give the signature of the readers, and whether prompts can be read where they matter."""
        if not self.at_hand or not self._reads_prompts:
            return super().traits()
        return {**super().traits(), "prompts": "missing" if self._absence else ENCODER}

    def doubts(self) -> dict[str, str]:
        """Say of relevance, too, where the weights give the same number whatever the prompt."""
        doubts = super().doubts()
        if not self._reads_prompts:
            doubts["relevance"] = UNREAD
        return doubts

    def scores_of(self, story: Story, reading: Reading) -> list[Score]:
        """Write a reading as scores, and why relevance is missing where it alone is."""
        scores = super().scores_of(story, reading)
        if reading.status is not Status.OK or scores[_PLACE].status is Status.OK:
            return scores
        reasons = {
            Status.MISSING_PROMPT: "give the story a prompt",
            Status.UNDEFINED: "the prompt holds no word",
        }
        note = reasons.get(scores[_PLACE].status) or self._absence
        return [*scores[:_PLACE], replace(scores[_PLACE], note=note), *scores[_PLACE + 1 :]]

    @property
    def _reads_prompts(self) -> bool:
        known = [reader.config.scales.get(RELEVANCE) for reader in self.readers.values()]
        return any(scale.relation for scale in known if scale)

    @property
    def _absence(self) -> str:
        """Why prompts cannot be read here, where weights would read them."""
        if not self._reads_prompts:
            return ""
        try:
            path_of(ENCODER)
        except UserError as error:
            return str(error)
        return ""

    def _miss_relevance(self, story: Story, reading: Reading) -> Status | None:
        """Say why a reading has no relevance; None where it has."""
        if not (story.prompt and story.prompt.strip()):
            return Status.MISSING_PROMPT
        if not math.isnan(reading.values[_PLACE]):
            return None
        return Status.MISSING_MODEL if self._absence else Status.UNDEFINED


def _drop_relevance(reading: Reading, why: Status) -> Reading:
    """Give a reading without relevance."""
    values, statuses = list(reading.values), [Status.OK] * len(CRITERIA)
    values[_PLACE], statuses[_PLACE] = math.nan, why
    return replace(reading, values=tuple(values), statuses=tuple(statuses))
