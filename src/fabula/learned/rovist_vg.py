"""RoViST-VG: does a story speak of what its pictures show?"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, cast

from fabula.core.card import Batch, Card
from fabula.core.errors import InputError
from fabula.core.metric import BatchMetric, BatchStatistics
from fabula.core.score import Missing, Reading, Status
from fabula.core.settings import Means
from fabula.core.story import Story, count_text
from fabula.learned.grounding.chance import rate_story
from fabula.learned.grounding.grounder import GroundedStory
from fabula.learned.grounding.metric import (
    ASSETS,
    PictureMetric,
    describe_sights,
    keep_nouns,
    list_few,
    read_pictures,
)
from fabula.learned.grounding.nouns import EXAMPLES
from fabula.learned.grounding.story import OFF, RUN, Weigh, ground_story, list_found, weigh_by
from fabula.text.grounding import NounCounts, Pooling, pool, scale

ORIGINAL: Pooling = "lse"
CHANCE: Literal["chance"] = "chance"


@dataclass
class RunNouns:
    """In how many stories of a run each noun occurs."""

    compat: bool
    counts: NounCounts = field(default_factory=NounCounts)

    def add(self, story: Story) -> None:
        """Count a story by its nouns; one that cannot be read has none to count."""
        try:
            nouns = keep_nouns(story.text, self.compat)
        except Missing:
            return
        self.counts.add(noun.text for noun in nouns)

    def merge(self, other: RunNouns) -> None:
        """Take in the stories that another has counted."""
        self.counts.merge(other.counts)


@dataclass(frozen=True)
class RovistVg(PictureMetric, BatchMetric):
    """How well the nouns of a story are seen in its pictures (Wang et al., 2022)."""

    card = Card(
        title="RoViST-VG: visual grounding",
        family="learned",
        direction="higher",
        needs=("images",),
        aspects=("", "original"),
        assets=ASSETS,
        paper="Wang, Han and Poon (2022). RoViST: Learning robust metrics for visual "
        "storytelling. Findings of NAACL, 2691–2702.",
        formula="of each noun i the best similarity mᵢ over all regions of all pictures and its "
        "weight wᵢ = log(N / (1 + df)): log of the mean of exp(wᵢ mᵢ); original: log of the sum, "
        "which is the paper's. With scaled=True either is 2 / (1 + e^(−S/2)) − 1",
        compat="The released code's rules: nouns as they are written, each word by itself, and "
        "weights below 0 for those of nearly every story. Its score is `original`.",
        quirks=(
            "The original grows by log n with the number of nouns, found or not; the first value "
            "does not, and is what to compare stories of different lengths by. `pooling` changes "
            "the first: 'lse' (then it stands alone), 'mean' or 'sum'.",
            "pooling='chance' is the weighted mean of the share of 200 usual nouns, chosen "
            "blindly, that match the same pictures worse than a noun of the story: from 0 to 1, .5 "
            "is chance, and the one value that compares between grounders.",
            "idf='examples' weighs nouns by a table that ships (stories of WordNet's examples), "
            "idf='run' by the stories scored together, as the paper does: then a value depends on "
            "the other stories. A path names a table of one's own; 'off' weighs all alike.",
            "A noun that the grounder does not know does not count; the coverage is the share of "
            "those that do, and the note names the others. The release takes one vector for all.",
            "Names of people, places and groups that VIST masks ([male]) are nouns: male.",
            "A picture that cannot be read leaves its story without a value, and the note names "
            "the file; the value of the pictures that are left would be another.",
            "Other values of two grounders, or of two numbers of regions, do not compare.",
        ),
        cannot_see="What no noun names: deeds, feelings, the order of pictures. Whether a noun is "
        "what the picture is about, and whether two nouns mean one region. Drawings are unlike the "
        "photographs that detector and encoder have learned from.",
    )

    idf: Annotated[str, Means("'examples', 'run', 'off', or the path of a table of nouns")] = (
        "examples"
    )
    pooling: Annotated[
        Literal["lme", "lse", "mean", "sum", "chance"], Means("how nouns make one number")
    ] = "lme"
    scaled: Annotated[bool, Means("values between −1 and 1")] = False

    def check(self) -> None:
        """Refuse names that name nothing."""
        super().check()
        if not self.idf.strip() or not self.idf.isprintable():
            problem = f"idf={self.idf!r} names no table"
            raise self.setting_error(problem, "say 'examples', 'run', 'off' or the path of one")
        if self.scaled and self.pooling == CHANCE:
            problem = "pooling='chance' is a share already, and scaled is given"
            raise self.setting_error(problem, "leave one of them out")

    @property
    def batch(self) -> Batch | None:
        """The whole run where its stories say how much a noun weighs, else none."""
        return "run" if self.idf == RUN else None

    @property
    def aspects(self) -> tuple[str, ...]:
        """The value and beside it the paper's, unless they are the same."""
        return ("",) if self.pooling == ORIGINAL else self.card.aspects

    def traits(self) -> dict[str, str]:
        """Who looks, who says what a noun is, and what table weighs it."""
        if self.idf in (RUN, OFF):
            return super().traits()
        table = EXAMPLES if self.idf == "examples" else Path(self.idf)
        return super().traits() | {"idf": _digest_table(table)}

    def empty_statistics(self) -> BatchStatistics:
        """Count in how many stories each noun occurs."""
        return RunNouns(self.compat)

    def compute(self, stories: Sequence[Story]) -> Sequence[Reading]:
        """Read stories; with idf='run' those given are the whole run."""
        if self.batch:
            return super().compute(stories)
        weigh = weigh_by(self.idf, compat=self.compat)
        return [self._read(story, weigh) for story in stories]

    def compute_in(
        self, stories: Sequence[Story], statistics: BatchStatistics
    ) -> Sequence[Reading]:
        """Read stories, knowing in how many of the run each noun occurs."""
        counts = cast(RunNouns, statistics).counts
        weigh = weigh_by(RUN, counts, compat=self.compat)
        return [self._read(story, weigh) for story in stories]

    def ground(self, story: Story, weigh: Weigh | None = None) -> GroundedStory:
        """Look for the nouns of a story in its pictures; Missing says why that cannot be done."""
        nouns, pictures = self.find_nouns(story.text), read_pictures(story)
        if weigh is None:
            weigh = weigh_by(OFF if self.idf == RUN else self.idf, compat=self.compat)
        return ground_story(nouns, pictures, self.looker, weigh)

    def make_reading(self, grounded: GroundedStory) -> Reading:
        """Make a reading of what was seen: the value, the original, and what speaks against it."""
        found = list_found(grounded)
        unknown = dict.fromkeys(noun.noun.text for noun in grounded.nouns if math.isnan(noun.match))
        if not found:
            what = count_text(len(unknown), "noun")
            note = f"the grounder knows none of {what}: {list_few(list(unknown))}"
            return self.missing(Status.UNDEFINED, note)
        if not any(noun.weight for noun in found):
            note = "no noun is rare among so few stories: score more, or take idf='examples'"
            return self.missing(Status.UNDEFINED, note)
        weighted = [noun.weight * noun.match for noun in found]
        return Reading(
            tuple(self._pool(grounded, weighted, aspect) for aspect in self.aspects),
            coverage=len(found) / len(grounded.nouns),
            note="; ".join(describe_sights(grounded.sights)),
        )

    def _pool(self, grounded: GroundedStory, weighted: list[float], aspect: str) -> float:
        how = ORIGINAL if aspect else self.pooling
        if how == "chance":
            return rate_story(grounded, self.looker)
        value = pool(weighted, how)
        return scale(value) if self.scaled else value

    def _read(self, story: Story, weigh: Weigh) -> Reading:
        try:
            return self.make_reading(self.ground(story, weigh))
        except Missing as missing:
            return self.missing(missing.status, missing.note)


def _digest_table(path: Path) -> str:
    """Name a table by its file and what it holds."""
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    except OSError as error:
        problem = f"{path} cannot be read ({error.strerror or error})"
        raise InputError(problem, "give a table of nouns") from None
    return f"{path.name}@{digest}"
