"""A study file with `kind = "storium"`: where trainings left their figures, and what is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from fabula.core.errors import SettingError
from fabula.datasets.storium import find_games
from fabula.replication.analyses import Analyses, AnalysesStudy
from fabula.replication.storium.experiment import (
    Experiment,
    RatedMachines,
    compare_effects,
    compare_perplexity,
    compare_ratings,
    gather_trainings,
    show_printed,
)
from fabula.replication.storium.trainings import VariantTrainings, refuse_other_trainings

# The folder of those that are made for a report, beside its page.
TRAININGS = "trainings"
# Every analysis by the name that a study file calls it, with its title.
ANALYSES: Analyses = {
    "trainings": ("What was trained", gather_trainings),
    "perplexity": ("Perplexity of held-out entries", compare_perplexity),
    "effects": ("What each choice is worth", compare_effects),
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
    trainings: VariantTrainings = field(default_factory=VariantTrainings)
    ratings: RatedMachines = field(default_factory=RatedMachines)


def open_experiment(
    study: StoriumStudy,
    file: Path,
    *,
    data: Path | None = None,
    games: Path | None = None,
    output: Path | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> Experiment:
    """Give what the study is run on.

    `data` stands in for the figures that the file names. With `games` the variants that are not
    there yet are trained: below `data`, else below the report's folder. What is there by another
    recipe, or of other games, is refused.
    """
    paths = (data,) if data else tuple(file.parent / name for name in study.figures)
    if games:
        games = find_games(games)
        if (into := data or (output and output / TRAININGS)) is None:
            raise SettingError(
                "there is no folder for trainings", "name one with --data, or the report's with -o"
            )
        refuse_other_trainings(study.trainings, [games], into)
        paths = tuple(dict.fromkeys((into, *paths)))
    return Experiment(
        paths, study.part, study.seed, study.resamples, file.parent, report,
        (games,) if games else (),
    )  # fmt: skip
