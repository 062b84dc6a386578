"""`fabula train author`: a co-author that writes as your stories do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from fabula.cli import echo
from fabula.cli._inputs import column_option
from fabula.cli._options import file_type
from fabula.cli._train_options import DEVICE, RECIPE, RESUME, SEED
from fabula.cli._train_storium import FORMAT, STORIUM_HELP, STORIUM_OPTIONS, storium_command
from fabula.core.errors import SettingError
from fabula.core.story import count_text

AUTHOR_HELP = f"""Adapt a language model to stories: a co-author.

Stories come with their prompts (a table, a data set) or without (plain texts). The folder holds the
whole model, which huggingface('FOLDER') reads wherever a model is named: as a co-author, or as
perplexity(model='FOLDER'). With a rank (the recipe's, or --rank) only a small difference is learned
(LoRA) and lies in FOLDER/adapter as well; with --rank 0 all weights learn. With --plan it learns to
write a line of plot words before the story, and plan_and_write('FOLDER') writes so.

The recipe that is built in is recipes/author.toml.

{STORIUM_HELP}"""
AUTHOR_OPTIONS = (
    click.option(
        "--data",
        "sources",
        type=click.Path(),
        multiple=True,
        metavar="SOURCE",
        envvar="FABULA_DATA",
        help="Stories to learn from: a table with texts and prompts, a text, a folder of texts, a "
        "data set by its name; may be repeated. A folder that holds the recipe's data sets gives "
        "those.",
    ),
    FORMAT,
    column_option("Column of a table that plays a role: text=tale; may be repeated.", "text"),
    RECIPE,
    click.option(
        "--model",
        metavar="MODEL",
        show_default="the recipe's",
        help="Causal model to begin with: embedded('smollm2'), a name of the hub, a folder.",
    ),
    click.option(
        "--rank",
        type=click.IntRange(0),
        metavar="N",
        show_default="the recipe's",
        help="Rank of the difference that is learned; 0: all weights learn.",
    ),
    click.option(
        "--rate",
        type=click.FloatRange(0, min_open=True),
        metavar="X",
        show_default="the recipe's",
        help="Learning rate at its peak.",
    ),
    click.option(
        "--epochs",
        type=click.FloatRange(0, min_open=True),
        metavar="X",
        show_default="the recipe's",
        help="How often every story is learned from.",
    ),
    click.option(
        "--tag",
        metavar="TEXT",
        show_default="the recipe's",
        help="Line between a prompt and its story; '' for none.",
    ),
    click.option(
        "--loss",
        type=click.Choice(["story", "all"]),
        show_default="the recipe's",
        help="Learn from the story's tokens alone, or from all of prompt and story.",
    ),
    click.option(
        "--on",
        type=click.Choice(["all", "liked", "disliked"]),
        show_default="the recipe's",
        help="Of sources with pairs (storyer), learn from the stories that readers liked better, "
        "or less.",
    ),
    click.option(
        "--plan/--no-plan",
        default=None,
        show_default="the recipe's",
        help="Learn to plan as well: a line of plot words before every story (Plan-and-Write).",
    ),
    click.option(
        "--prepared",
        type=file_type,
        metavar="FILE",
        help="Examples made ready (.npz): read if the file is there, else written.",
    ),
    *STORIUM_OPTIONS,
    SEED,
    DEVICE,
    RESUME,
)


def author_command(form: str, **options: Any) -> None:
    """Adapt a language model to stories, or to games with all that is shown of them."""
    if form == "storium":
        return storium_command(**options)
    for name in ("packing", "history", "window", "segments", "only"):
        if options.pop(name) is not None:
            option = {"window": "budget"}.get(name, name)
            raise SettingError(f"--{option} is for --format storium", "say that, or leave it out")
    return _train_on_stories(**options)


def _train_on_stories(
    sources: Sequence[str],
    columns: Mapping[str, str],
    out: Path,
    recipe: Path | None,
    prepared: Path | None,
    device: str,
    resume: bool,
    report: Callable[[str], None],
    **changes: Any,
) -> None:
    """Adapt a language model to stories; say what held-out stories showed before and after."""
    from fabula.learned.training.author import AuthorRecipe, train_author
    from fabula.learned.training.author_data import prepare_author
    from fabula.learned.training.folder import TrainingFolder
    from fabula.learned.training.recipe import find_recipe, read_recipe

    chosen = read_recipe(AuthorRecipe, recipe or find_recipe("author"), **changes)
    TrainingFolder(out, resume=resume).check()
    data = prepare_author(chosen, sources, columns=columns, prepared=prepared)
    for name, counts in data.counts.items():
        report(f"{name}: " + ", ".join(f"{count:,} {fate}" for fate, count in counts.items()))
    chosen = data.settle(chosen)
    record = train_author(chosen, data, out=out, device=device, resume=resume, report=report)
    _say_measured(record, report)
    echo(f"{'plan_and_write' if chosen.plan else 'huggingface'}({str(out)!r})")


def _say_measured(record: Mapping[str, Any], report: Callable[[str], None]) -> None:
    before, after = record["before"], record["best"]
    if not after:
        report("nothing was measured: no story was held out")
        return
    report(f"perplexity of held-out stories (at step {after['step']:,}):")
    rows = [("all", before, after)] if len(after["held_out"]) > 1 else []
    rows += [(name, before["held_out"][name], part) for name, part in after["held_out"].items()]
    width = max(len(name) for name, _, _ in rows)
    for name, was, now in rows:
        said = f"{was['perplexity']:.2f} before, {now['perplexity']:.2f} after"
        held_out = count_text(now["stories"], "story", "stories")
        report(f"  {name.ljust(width)}  {said}, n = {held_out}")
