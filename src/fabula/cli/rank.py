"""`fabula rank`: metrics by their agreement with people, or systems by what people said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import click

from fabula.cli import echo
from fabula.cli._inputs import dataset_arguments
from fabula.cli._options import PAPER_FORMAT, QUIET, alpha_option, resamples_option, seed_option
from fabula.core.errors import SettingError

if TYPE_CHECKING:
    from fabula.core.dataset import Dataset
    from fabula.core.protocols import Progress
    from fabula.meta.grid import Grid
    from fabula.meta.levels import Level
    from fabula.meta.ranking.metrics import MetricRanking
    from fabula.meta.ranking.systems import Resampling, SystemRanking
    from fabula.scoring.sources import DatasetSource

_OF_METRICS = ("borda", "kemeny", "mean")
_OF_SYSTEMS = ("mean", "win_rate", "bradley_terry", "elo")
_RULES = tuple(dict.fromkeys(_OF_METRICS + _OF_SYSTEMS))


@click.command("rank")
@dataset_arguments
@click.option("--systems", is_flag=True, help="Rank the systems instead of the metrics.")
@click.option(
    "--by",
    type=click.Choice(_RULES),
    show_default="borda, of systems mean",
    help="Rule that makes one ranking: borda, kemeny or mean of metrics; mean, win_rate, "
    "bradley_terry or elo of systems.",
)
@click.option(
    "-m",
    "--metrics",
    multiple=True,
    metavar="PATTERN",
    help="Only metrics of this name, such as 'ROUGE-*'; may be repeated.",
)
@click.option(
    "-x",
    "--without",
    multiple=True,
    metavar="PATTERN",
    help="Leave metrics of this name out; may be repeated.",
)
@click.option(
    "-a",
    "--aspect",
    multiple=True,
    metavar="NAME",
    help="Only this aspect of the ratings; may be repeated.",
)
@click.option(
    "--level",
    type=click.Choice(["item", "system", "pooled", "both"]),
    default="both",
    show_default=True,
    help="Rank metrics by agreement over the systems of an item, over the means of systems, over "
    "all stories, or over items and systems both.",
)
@click.option(
    "--top", type=click.IntRange(1), metavar="N", help="Print the best N of the ranking only."
)
@click.option(
    "--no-baselines",
    is_flag=True,
    help="Leave the trivial baselines (length, word variety, …) out.",
)
@click.option(
    "--over",
    type=click.Choice(["items", "ratings"]),
    default="items",
    show_default=True,
    help="With --systems: intervals for other items, or for other ratings of these.",
)
@resamples_option()
@seed_option()
@alpha_option()
@PAPER_FORMAT
@QUIET
def command(
    *,
    source: DatasetSource,
    systems: bool,
    by: str | None,
    metrics: tuple[str, ...],
    without: tuple[str, ...],
    aspect: tuple[str, ...],
    level: str,
    top: int | None,
    no_baselines: bool,
    over: Any,
    resamples: int,
    seed: int,
    alpha: float,
    form: str,
    quiet: bool,
) -> None:
    """Rank metrics by how far they agree with people.

    SOURCE is a data set's name, a table of your own with ratings and scores, or a run folder.
    With --systems, the systems are ranked by the ratings, with intervals, and those that cannot
    be told apart form a cluster.
    """
    from fabula.cli import show_progress
    from fabula.meta.ranking.systems import Resampling
    from fabula.reports.ranking import render_metric_ranking, render_system_ranking

    rule = _rule(by, of_systems=systems)
    dataset = source.load()
    progress = show_progress("resamples" if systems else "baseline scores", quiet=quiet)
    if systems:
        how = Resampling(resamples, seed, alpha)
        ranked = _rank_systems(dataset, rule, aspect, over=over, how=how, progress=progress)
        echo(render_system_ranking(form, ranked, dataset.name, how=how, top=top))
    else:
        dataset = dataset if no_baselines else _add_baselines(dataset, progress)
        ranking = _rank_metrics(dataset, rule, metrics, without, aspects=aspect, level=level)
        echo(render_metric_ranking(form, ranking, dataset.name, top=top))


def _rule(by: str | None, *, of_systems: bool) -> str:
    """Give the rule asked for, if it is one for what is ranked."""
    known, what = (_OF_SYSTEMS, "systems") if of_systems else (_OF_METRICS, "metrics")
    rule = by or known[0]
    if rule not in known:
        remedy = f"known: {', '.join(known)}" + ("" if of_systems else "; or add --systems")
        raise SettingError(f"{what} are not ranked by {rule}", remedy)
    return rule


def _add_baselines(dataset: Dataset, progress: Progress | None) -> Dataset:
    from fabula.scoring.evaluate import add_baselines

    return add_baselines(dataset, progress)


def _rank_metrics(
    dataset: Dataset,
    rule: str,
    metrics: tuple[str, ...],
    without: tuple[str, ...],
    *,
    aspects: tuple[str, ...],
    level: str,
) -> MetricRanking:
    from fabula.meta.ranking.metrics import MetricRule, rank_metrics
    from fabula.meta.study import Study

    scores, gold = Study(scorers=metrics, aspects=aspects).grids(dataset)
    scores = _without(scores, without)
    levels = _levels(level, len(scores.layout.systems))
    by = cast(MetricRule, rule)
    return rank_metrics(scores, gold, by=by, levels=levels, cards=dataset.scorers)


def _without(metrics: Grid, patterns: Sequence[str]) -> Grid:
    """Drop the columns whose scorer or label a pattern names."""
    from fnmatch import fnmatchcase

    dropped = {
        column
        for column in metrics.columns
        for pattern in patterns
        if fnmatchcase(column.scorer, pattern) or fnmatchcase(column.label, pattern)
    }
    return metrics.select([column for column in metrics.columns if column not in dropped])


def _levels(wanted: str, systems: int) -> tuple[Level, ...]:
    if systems < 2 and wanted != "pooled":
        raise SettingError(
            "there are no two systems, so that metrics agree with people only over all stories",
            "pass --level pooled",
        )
    both: tuple[Level, ...] = ("item", "system")
    return both if wanted == "both" else (cast("Level", wanted),)


def _rank_systems(
    dataset: Dataset,
    rule: str,
    aspects: tuple[str, ...],
    *,
    over: Any,
    how: Resampling,
    progress: Progress | None,
) -> SystemRanking:
    from fabula.meta.ranking.systems import SystemRule, rank_systems

    by = cast(SystemRule, rule)
    return rank_systems(dataset, by=by, aspects=aspects, over=over, how=how, progress=progress)
