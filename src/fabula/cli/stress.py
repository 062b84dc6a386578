"""`fabula stress`: perturb stories, score them again, and see which metrics notice."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli._inputs import story_layout
from fabula.cli._output import paper_format_option

if TYPE_CHECKING:
    from fabula.core.story import Story
    from fabula.datasets.tables.stories import StoryLayout
    from fabula.scoring.stress import StressResult


@click.command("stress")
@click.argument("source")
@click.option("-m", "--metrics", multiple=True, metavar="SPECS", help="Specs or sets, by commas.")
@click.option("-p", "--perturbations", multiple=True, metavar="NAMES", help="Only these.")
@click.option("--share", type=float, help="How much of each story to touch; else each its own.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--stories", type=click.IntRange(2), metavar="N", help="Draw so many of the stories.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder for what was done.")
@click.option("--overwrite", is_flag=True, help="Write over such files in the folder.")
@story_layout
@paper_format_option
@click.option("--resamples", type=click.IntRange(1), help="Else as many as the table needs.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of the tests.")
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, show_default=True)
@click.option("--cache", type=click.Path(path_type=Path), help="Cache file, if not the usual one.")
@click.option("--no-cache", is_flag=True, help="Neither look up nor keep scores.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no words on stderr.")
def command(source: str, metrics: tuple[str, ...], layout: StoryLayout, **options: Any) -> None:
    """Perturb stories and see which metrics notice.

    SOURCE is what `fabula score` takes: a file, a folder, a data set's name (try `examples`)
    or - for stdin. Every perturbation breaks something that a good metric should mind (the order
    of the sentences, who did what, the ending), or, as a control, something that it should not
    (blanks, quotation marks). Most telling is a metric that prefers the broken text.
    """
    from fabula.datasets.tables.stories import open_stories
    from fabula.reports.stress import render_stress
    from fabula.scoring.stress import refuse_written, write_stress

    folder: Path | None = options["output"]
    if folder and not options["overwrite"]:
        refuse_written(folder)
    with open_stories(source, layout) as file:
        stories = _drawn(list(file), options["stories"], options["seed"])
    result = _stress(stories, metrics or ("strings",), options)
    click.echo(render_stress(options["form"], result))
    if folder:
        write_stress(result, folder, overwrite=options["overwrite"])
        if not options["quiet"]:
            click.echo(f"perturbed stories and their moves are in {folder}", err=True)


def _stress(
    stories: list[Story], metrics: tuple[str, ...], options: dict[str, Any]
) -> StressResult:
    from fabula.cli._output import StderrProgress
    from fabula.scoring.stress import stress

    return stress(
        stories,
        metrics,
        perturbations=options["perturbations"] or None,
        share=options["share"],
        seed=options["seed"],
        alpha=options["alpha"],
        resamples=options["resamples"],
        jobs=options["jobs"],
        cache=False if options["no_cache"] else options["cache"] or True,
        progress=None if options["quiet"] else StderrProgress("steps"),
    )


def _drawn(stories: list[Story], count: int | None, seed: int) -> list[Story]:
    """Draw so many stories, in their order; all where there are no more."""
    if count is None or count >= len(stories):
        return stories
    places = sorted(random.Random(seed).sample(range(len(stories)), count))
    return [stories[place] for place in places]
