"""`fabula train author --format storium`: a co-author that knows what its context is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.core.errors import SettingError
from fabula.core.story import count_text

if TYPE_CHECKING:
    from fabula.learned.training.author_games import GamesData

STORIUM_HELP = """With --format storium the sources are games as STORIUM exports them (fabula
data games makes some of stories): every entry of a character is learned after what is shown of its
game, and the model is told of each token whether it is a name, a card, an entry before. The folder
is read by the co-author storium('FOLDER'). The recipe that is built in is recipes/storium.toml.
"""
FORMAT = click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["stories", "storium"]),
    default="stories",
    show_default=True,
    help="What is learned from: stories with their prompts, or games with all that is shown.",
)
STORIUM_OPTIONS = (
    click.option(
        "--packing",
        type=click.Choice(["cassowary", "greedy", "none"]),
        show_default="the recipe's",
        help="How a game's context is fitted into the budget (storium).",
    ),
    click.option(
        "--history",
        type=click.IntRange(0),
        metavar="N",
        show_default="the recipe's",
        help="How many of the entries before are shown (storium).",
    ),
    click.option(
        "--budget",
        "window",
        type=click.IntRange(64),
        metavar="N",
        show_default="the recipe's",
        help="Tokens that a context and its entry have together (storium).",
    ),
    click.option(
        "--segments",
        type=click.Choice(["own", "tokens"]),
        show_default="the recipe's",
        help="Where the embeddings of what tokens are lie: a table of their own, or that of the "
        "tokens as released (storium).",
    ),
    click.option(
        "--only",
        type=click.Choice(["examples", "figures"]),
        help="Make the file of --prepared and end, or train and leave figures but no weights "
        "(storium).",
    ),
)
# Settings of stories that games have not.
_FOREIGN = {"columns": "column", "rank": "rank", "tag": "tag", "on": "on", "plan": "plan"}


def storium_command(
    sources: Sequence[str],
    out: Path | None,
    recipe: Path | None,
    prepared: Path | None,
    device: str,
    resume: bool,
    only: str | None,
    report: Callable[[str], None],
    **changes: Any,
) -> None:
    """Train a model with segments on games; say the perplexity of those held out."""
    from fabula.learned.training.author_games import prepare_games
    from fabula.learned.training.author_segments import StoriumRecipe, train_storium
    from fabula.learned.training.folder import TrainingFolder
    from fabula.learned.training.recipe import find_recipe, read_recipe

    for name, option in _FOREIGN.items():
        if changes.pop(name, None):
            raise SettingError(f"--{option} is not for --format storium", "leave it out")
    chosen = read_recipe(StoriumRecipe, recipe or find_recipe("storium"), **changes)
    if only == "examples" and prepared is None:
        raise SettingError("--only examples makes the file of --prepared", "name it")
    if out is not None and only != "examples":
        TrainingFolder(out, resume=resume).check()
    data = prepare_games(chosen, sources, prepared=prepared)
    _say_data(data, report)
    if only == "examples" or out is None:
        return echo(prepared)
    record = train_storium(
        data.settle(chosen),
        data,
        out=out,
        device=device,
        resume=resume,
        figures_only=only == "figures",
        report=report,
    )
    _say_perplexity(record, report)
    return echo(out if only == "figures" else f"storium({str(out)!r})")


def _say_data(data: GamesData, report: Callable[[str], None]) -> None:
    """Say how many games and entries there are, and how much is shown before an entry."""
    report(", ".join(f"{count:,} {name}" for name, count in data.counts.items() if count))
    shown, own = data.average_lengths()
    report(
        f"on average {shown:,.0f} tokens of the game are shown before the {own:,.0f} of an entry"
    )


def _say_perplexity(record: Mapping[str, Any], report: Callable[[str], None]) -> None:
    """Say what held-out games showed, before and after, with intervals over games."""
    if not record["perplexity"]:
        return report("nothing was measured: too few games to hold any out")
    report(f"perplexity of held-out entries (at step {record['step']:,}):")
    for part, now in record["perplexity"].items():
        was = record["perplexity_before"][part]["value"]
        reach = "" if now["low"] is None else f" [{now['low']:.2f}, {now['high']:.2f}]"
        counts = f"{count_text(now['entries'], 'entry', 'entries')} of "
        counts += count_text(now["games"], "game")
        report(f"  {part.ljust(10)}  {was:.2f} before, {now['value']:.2f}{reach} after, {counts}")
    return None
