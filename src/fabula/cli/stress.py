"""`fabula stress`: perturb stories, score them again, and see which metrics notice."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._completion import (
    complete_perturbations,
    complete_sources,
    complete_specs,
)
from fabula.cli._inputs import story_layout
from fabula.cli._options import (
    CACHE,
    JOBS,
    NO_CACHE,
    PAPER_FORMAT,
    QUIET,
    alpha_option,
    output_option,
    resamples_option,
    seed_option,
)

if TYPE_CHECKING:
    from fabula.core.story import Story
    from fabula.datasets.tables.stories import StoryLayout
    from fabula.scoring.stress import StressResult


@dataclass(frozen=True)
class _Settings:
    """How stories are perturbed, scored and tested."""

    perturbations: tuple[str, ...]
    share: float | None
    seed: int
    alpha: float
    resamples: int | None
    jobs: int
    cache: Path | None
    no_cache: bool


def _gather_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give the command its settings as one value."""

    @functools.wraps(command)
    def gather(**options: Any) -> None:
        settings = _Settings(**{field.name: options.pop(field.name) for field in fields(_Settings)})
        command(settings=settings, **options)

    return gather


@click.command("stress")
@click.argument("source", shell_complete=complete_sources)
@click.option(
    "-m",
    "--metrics",
    multiple=True,
    metavar="SPECS",
    shell_complete=complete_specs,
    show_default="strings",
    help="Metrics or sets of metrics, separated by commas.",
)
@click.option(
    "-p",
    "--perturbations",
    multiple=True,
    metavar="NAMES",
    shell_complete=complete_perturbations,
    show_default="all",
    help="Ways to break stories, separated by commas.",
)
@click.option(
    "--share",
    type=float,
    metavar="X",
    show_default="each its own",
    help="How much of each story is changed, from 0 to 1.",
)
@seed_option()
@click.option(
    "--stories",
    type=click.IntRange(2),
    metavar="N",
    show_default="all",
    help="Draw so many of the stories by chance.",
)
@output_option(
    metavar="FOLDER", help="Write the broken stories and how scores moved into this folder."
)
@click.option("--overwrite", is_flag=True, help="Write over an earlier stress test in the folder.")
@story_layout
@PAPER_FORMAT
@resamples_option(default=None, show_default="as many as the table needs")
@alpha_option(type=float)
@JOBS
@CACHE
@NO_CACHE
@QUIET
@_gather_settings
def command(
    source: str,
    metrics: tuple[str, ...],
    *,
    layout: StoryLayout,
    settings: _Settings,
    stories: int | None,
    output: Path | None,
    overwrite: bool,
    form: str,
    quiet: bool,
) -> None:
    """Perturb stories and see which metrics notice.

    SOURCE is what `fabula score` takes: a file, a folder, a data set's name (try `examples`)
    or - for stdin. Every perturbation breaks something that a good metric should mind (the order
    of the sentences, who did what, the ending), or, as a control, something that it should not
    (blanks, quotation marks). Most telling is a metric that prefers the broken text.

    SPECS are metrics such as `rouge(n=2)` or sets: baselines, strings, checks, learned, hanna, all.
    """
    from fabula.datasets.tables.stories import open_stories
    from fabula.reports.stress import render_stress
    from fabula.scoring.stress import refuse_written, write_stress

    with open_stories(source, layout) as file:
        if output:
            refuse_written(output, file.inputs(), overwrite=overwrite)
        drawn = _draw(list(file), stories, settings.seed)
    result = _stress(drawn, metrics or ("strings",), settings, quiet=quiet)
    echo(render_stress(form, result))
    if output:
        write_stress(result, output, overwrite=overwrite)
        if not quiet:
            echo(f"perturbed stories and their moves are in {output}", err=True)


def _stress(
    stories: list[Story], metrics: tuple[str, ...], settings: _Settings, *, quiet: bool
) -> StressResult:
    from fabula.cli import show_progress
    from fabula.scoring.stress import stress

    return stress(
        stories,
        metrics,
        perturbations=settings.perturbations or None,
        share=settings.share,
        seed=settings.seed,
        alpha=settings.alpha,
        resamples=settings.resamples,
        jobs=settings.jobs,
        cache=not settings.no_cache and (settings.cache or True),
        progress=show_progress("steps", quiet=quiet),
    )


def _draw(stories: list[Story], count: int | None, seed: int) -> list[Story]:
    """Draw so many stories, in their order; all where there are no more."""
    if count is None or count >= len(stories):
        return stories
    places = sorted(random.Random(seed).sample(range(len(stories)), count))
    return [stories[place] for place in places]
