"""A study file with `kind = "storium"`: where trainings left their figures, and what is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from fabula.replication.analyses import Analyses, AnalysesStudy
from fabula.replication.storium.experiment import (
    Experiment,
    RatedMachines,
    compare_effects,
    compare_perplexity,
    compare_ratings,
    show_printed,
)

# Every analysis by the name that a study file calls it, with its title.
ANALYSES: Analyses = {
    "perplexity": ("Perplexity of held-out entries", compare_perplexity),
    "effects": ("Packing, history, and both", compare_effects),
    "ratings": ("What people said of each", compare_ratings),
    "printed": ("What the paper prints", show_printed),
}


@dataclass(frozen=True)
class StoriumStudy(AnalysesStudy):
    """What a study file declares. `figures` are files, or folders of trainings, as seen from the
    file; `part` is which of the held-out games count: `test`, or `validation`."""

    KNOWN: ClassVar[Analyses] = ANALYSES

    kind: str = "storium"
    analyses: tuple[str, ...] = tuple(ANALYSES)
    figures: tuple[str, ...] = ()
    part: str = "test"
    ratings: RatedMachines = field(default_factory=RatedMachines)


def open_experiment(
    study: StoriumStudy, file: Path, data: Path | None, report: Callable[[str], None]
) -> Experiment:
    """Give what the study is run on; `data` stands in for the figures that the file names."""
    named = tuple(file.parent / name for name in study.figures)
    paths = (data,) if data else named
    return Experiment(paths, study.part, study.seed, study.resamples, file.parent, report)
