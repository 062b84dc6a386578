"""RoViST: a story of pictures by its grounding, its coherence and its freedom from repetition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Annotated, Literal

from fabula.core.card import Batch, Card
from fabula.core.metric import BatchMetric, BatchStatistics
from fabula.core.score import Reading, Status
from fabula.core.settings import Means
from fabula.core.story import Story
from fabula.learned.grounding.metric import PictureMetric
from fabula.learned.reader.metric import Weights
from fabula.learned.rovist_c import RovistC
from fabula.learned.rovist_nr import RovistNr
from fabula.learned.rovist_vg import RovistVg
from fabula.text.grounding import Pooling

PARTS = ("grounding", "coherence", "non_redundancy")


@dataclass(frozen=True)
class Rovist(PictureMetric, BatchMetric):
    """RoViST's three values of a story of pictures, and one of all (Wang et al., 2022)."""

    card = Card(
        title="RoViST: grounding, coherence, non-redundancy",
        label="RoViST",
        family="learned",
        direction="higher",
        needs=("images",),
        aspects=(*PARTS, "overall"),
        assets=(*RovistVg.card.assets, *RovistC.card.assets, *RovistNr.card.assets),
        paper="Wang, Han and Poon (2022). RoViST: Learning robust metrics for visual "
        "storytelling. Findings of NAACL, 2691–2702.",
        formula="grounding, coherence and non_redundancy are those of `rovist_vg` (log-sum-exp, "
        "as in the paper), `rovist_c` and `rovist_nr`; overall their sum. With overall='balanced' "
        "grounding is that of pooling='chance', all three lie from 0 to 1, and overall is their "
        "mean",
        compat="The rules of the released code for nouns, weights and repetition: see "
        "`rovist_vg` and `rovist_nr`.",
        quirks=(
            "The paper's sum is mostly grounding: this part has no bounds and grows with the "
            "number of nouns, while the other two lie between 0 and 1. Whoever compares stories of "
            "different lengths takes pooling='lme' or overall='balanced'.",
            "Balanced, each part says the same with the same number: 1 is all that can be had, and "
            "for grounding and coherence .5 is chance (a noun seen no better than others, "
            "sentences in any order). So a grounder with other similarities weighs as much. "
            "Non-redundancy is nearly 1 for most stories and counts where one repeats itself.",
            "A story of one sentence has grounding and non-redundancy, but no coherence and no "
            "overall.",
        ),
        cannot_see="What its parts cannot see, and which of them matters to whom: see each alone.",
    )

    idf: Annotated[str, Means("'examples', 'run', 'off', or the path of a table of nouns")] = (
        "examples"
    )
    pooling: Annotated[Pooling, Means("how nouns make one number in the sum")] = "lse"
    overall: Annotated[Literal["sum", "balanced"], Means("the paper's sum, or a mean")] = "sum"
    weights: Weights = "order"

    def check(self) -> None:
        """Refuse names that name nothing, as the parts do."""
        if self.overall == "balanced" and self.pooling != "lse":
            problem = f"overall='balanced' pools no matches, and pooling={self.pooling!r} is given"
            raise self.setting_error(problem, "leave one of them out")
        _ = self.parts

    @cached_property
    def parts(self) -> tuple[RovistVg, RovistC, RovistNr]:
        """The metrics that it adds up, with its settings."""
        names = {field.name for field in fields(RovistVg)} & {field.name for field in fields(self)}
        shared = {name: getattr(self, name) for name in names}
        if self.overall == "balanced":
            shared["pooling"] = "chance"
        coherence = RovistC(weights=self.weights)
        return RovistVg(**shared), coherence, RovistNr(compat=self.compat)

    @property
    def batch(self) -> Batch | None:
        """That of the grounding: the whole run with idf='run', else none."""
        return self.parts[0].batch

    def traits(self) -> dict[str, str]:
        """What each part depends on, and its revision."""
        traits: dict[str, str] = {}
        for part in self.parts:
            traits |= part.traits() | {part.name: f"r{part.revision}"}
        return traits

    @cached_property
    def absence(self) -> str:
        """Say all that its parts lack."""
        return "; ".join(dict.fromkeys(filter(None, (part.absence for part in self.parts))))

    def empty_statistics(self) -> BatchStatistics:
        """Those of the grounding."""
        return self.parts[0].empty_statistics()

    def compute(self, stories: Sequence[Story]) -> Sequence[Reading]:
        """Read stories; with idf='run' those given are the whole run."""
        if self.batch:
            return super().compute(stories)
        return self._join_parts(stories, self.parts[0].read(stories))

    def compute_in(
        self, stories: Sequence[Story], statistics: BatchStatistics
    ) -> Sequence[Reading]:
        """Read stories, knowing in how many of the run each noun occurs."""
        return self._join_parts(stories, self.parts[0].read_in(stories, {"": statistics}))

    def _join_parts(self, stories: Sequence[Story], grounding: Sequence[Reading]) -> list[Reading]:
        _, coherence, non_redundancy = self.parts
        by_part = (grounding, coherence.read(stories), non_redundancy.read(stories))
        return [self._join(readings) for readings in zip(*by_part, strict=True)]

    def _join(self, readings: Sequence[Reading]) -> Reading:
        """One reading of three; what a part lacks to be read at all, the story lacks."""
        for reading in readings:
            if reading.status not in (Status.OK, Status.UNDEFINED):
                return self.missing(reading.status, reading.note)
        values = [reading.values[0] for reading in readings]
        overall = math.fsum(values) if not any(map(math.isnan, values)) else math.nan
        if self.overall == "balanced":
            overall /= len(values)
        notes = [
            f"{part}: {reading.note}"
            for part, reading in zip(PARTS, readings, strict=True)
            if reading.note
        ]
        coverages = [reading.coverage for reading in readings if reading.status is Status.OK]
        if not coverages:
            return self.missing(Status.UNDEFINED, "; ".join(notes))
        return Reading((*values, overall), coverage=min(coverages), note="; ".join(notes))
