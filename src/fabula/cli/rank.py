"""`fabula rank`: metrics by their agreement with people, or systems by what people said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import click

from fabula.cli._inputs import dataset_arguments
from fabula.cli._output import paper_format_option
from fabula.core.errors import SettingError

if TYPE_CHECKING:
    from fabula.cli._output import StderrProgress
    from fabula.core.dataset import Dataset
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
    help="Metrics: borda (default), kemeny, mean. Systems: mean (default) and the others.",
)
@click.option("-m", "--metrics", multiple=True, metavar="PATTERN", help="Only these: 'ROUGE-*'.")
@click.option("-x", "--without", multiple=True, metavar="PATTERN", help="All but these.")
@click.option("-a", "--aspect", multiple=True, metavar="NAME", help="Only these aspects.")
@click.option(
    "--level",
    type=click.Choice(["item", "system", "pooled", "both"]),
    default="both",
    show_default=True,
    help="Where metrics have to agree with people; both is item and system.",
)
@click.option("--top", type=click.IntRange(1), metavar="N", help="Print only the best N.")
@click.option("--no-baselines", is_flag=True, help="Leave the trivial baselines out.")
@click.option(
    "--over",
    type=click.Choice(["items", "ratings"]),
    default="items",
    show_default=True,
    help="What the intervals of the systems' means are over.",
)
@click.option("--resamples", type=click.IntRange(1), default=1000, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--alpha", type=click.FloatRange(0, 1, True, True), default=0.05, show_default=True)
@paper_format_option
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
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
    from fabula.cli._output import StderrProgress
    from fabula.meta.ranking.systems import Resampling
    from fabula.reports.ranking import render_metric_ranking, render_system_ranking

    rule = _rule(by, of_systems=systems)
    dataset = source.load()
    progress = None if quiet else StderrProgress("resamples" if systems else "baseline scores")
    if systems:
        how = Resampling(resamples, seed, alpha)
        ranked = _rank_systems(dataset, rule, aspect, over=over, how=how, progress=progress)
        click.echo(render_system_ranking(form, ranked, dataset.name, how=how, top=top))
    else:
        dataset = dataset if no_baselines else _add_baselines(dataset, progress)
        ranking = _rank_metrics(dataset, rule, metrics, without, aspects=aspect, level=level)
        click.echo(render_metric_ranking(form, ranking, dataset.name, top=top))


def _rule(by: str | None, *, of_systems: bool) -> str:
    """Give the rule asked for, if it is one for what is ranked."""
    known, what = (_OF_SYSTEMS, "systems") if of_systems else (_OF_METRICS, "metrics")
    rule = by or known[0]
    if rule not in known:
        remedy = f"known: {', '.join(known)}" + ("" if of_systems else "; or add --systems")
        raise SettingError(f"{what} are not ranked by {rule}", remedy)
    return rule


def _add_baselines(dataset: Dataset, progress: StderrProgress | None) -> Dataset:
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
    progress: StderrProgress | None,
) -> SystemRanking:
    from fabula.meta.ranking.systems import SystemRule, rank_systems

    by = cast(SystemRule, rule)
    return rank_systems(dataset, by=by, aspects=aspects, over=over, how=how, progress=progress)
