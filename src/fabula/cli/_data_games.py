"""`fabula data games`: games made from stories, for co-authors that learn from games."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._completion import complete_sources
from fabula.cli._inputs import Command, story_layout
from fabula.cli._options import OVERWRITE, output_option, seed_option
from fabula.core.errors import InputError
from fabula.core.story import count_text

if TYPE_CHECKING:
    from fabula.core.story import Story
    from fabula.datasets.tables.stories import StoryLayout
    from fabula.learned.training.games import MadeGame

GAMES = "games.jsonl"


def _count_option(name: str, least: int, usual: int, words: str) -> Callable[[Command], Command]:
    return click.option(
        name, type=click.IntRange(least), metavar="N", default=usual, show_default=True, help=words
    )


@click.command("games", short_help="Make games of stories, for co-authors to learn from.")
@click.argument("source", metavar="[STORIES]", required=False, shell_complete=complete_sources)
@output_option(
    metavar="FOLDER",
    required=True,
    help=f"Folder for {GAMES}, one game a line; or a file whose name ends in .jsonl.",
)
@click.option(
    "--made-up",
    type=click.IntRange(1),
    metavar="N",
    help="Make up so many stories of a thing that goes from hand to hand, and read none.",
)
@click.option(
    "--unit",
    type=click.Choice(["sentence", "paragraph"]),
    default="sentence",
    show_default=True,
    help="What of a story is an entry.",
)
@_count_option("--sentences", 1, 1, "So many sentences are an entry.")
@_count_option("--entries", 2, 12, "A scene has at most so many entries; the narrator opens it.")
@_count_option("--fewest", 2, 3, "A story of fewer entries becomes no game.")
@_count_option("--players", 1, 4, "At most so many of those whom a story names take turns.")
@click.option(
    "--names",
    type=click.Choice(["capitals", "spacy"]),
    default="capitals",
    show_default=True,
    help="What tells names: words that the stories write with a capital, or spaCy's small model.",
)
@click.option(
    "--clean",
    "cleaned",
    is_flag=True,
    help="Take back the blanks of tokenisers, signatures, links and notes first.",
)
@click.option(
    "--most",
    type=click.IntRange(1),
    metavar="N",
    show_default="all",
    help="Draw so many of the stories.",
)
@seed_option()
@story_layout
@OVERWRITE
def games_command(
    source: str | None,
    *,
    output: Path,
    made_up: int | None,
    most: int | None,
    seed: int,
    layout: StoryLayout,
    overwrite: bool,
    **settings: Any,
) -> None:
    """Make games of stories, in STORIUM's export format.

    STORIES is a file, a folder or a data set. The parts of a story become entries: the narrator
    opens every scene, and those whom the story names take turns. The prompt is the challenge, other
    names are cards. The studio takes such games in, and `fabula train author --format storium`
    learns from them.
    """
    from fabula.core.files import note_written, refuse_foreign, write_lines
    from fabula.learned.training.games import GameSettings, make_games

    if (source is None) == (made_up is None):
        raise click.UsageError("Name stories, or how many to make up with --made-up.")
    chosen = GameSettings(**settings)
    file = output if output.suffix == ".jsonl" else output / GAMES
    inputs = [Path(source)] if source and Path(source).exists() else []
    refuse_foreign(file.parent, [file.name], inputs=inputs, overwrite=overwrite)
    counts: Counter[str] = Counter()
    with _open(source, layout, made_up or 0, seed) as stories:
        made = make_games(stories, chosen, seed=seed, most=most)
        write_lines(file, _write_games(made, counts, source or "made up"))
    note_written(file.parent, [file.name])
    _tell(counts)
    echo(file)


@contextmanager
def _open(
    source: str | None, layout: StoryLayout, made_up: int, seed: int
) -> Iterator[Iterable[Story]]:
    """Open stories, or make them up."""
    from fabula.datasets.tables.stories import open_stories
    from fabula.learned.training.made_up import tell_stories

    if source is None:
        yield tell_stories(made_up, seed=seed)
        return
    with open_stories(source, layout) as opened:
        yield opened


def _write_games(made: Iterable[MadeGame], counts: Counter[str], source: str) -> Iterator[str]:
    """Write games as lines, and count what there is in them and what is left out."""
    for each in made:
        counts["stories"] += 1
        if each.game is None:
            counts[f"left out: {each.left_out}"] += 1
            continue
        entries = [entry for scene in each.game["scenes"] for entry in scene["entries"]]
        counts["games"] += 1
        counts["entries"] += len(entries)
        counts["moves"] += sum(entry["format"] == "move" for entry in entries)
        yield json.dumps(each.game, ensure_ascii=False) + "\n"
    if not counts["games"]:
        reasons = "; ".join(key for key in counts if key.startswith("left out")) or "it is empty"
        raise InputError(
            f"{source}: no story becomes a game ({reasons})",
            "see --fewest, --unit and --names, or name the text's column with -c text=NAME",
        )


def _tell(counts: Counter[str]) -> None:
    """Say what was made of how many stories, and what became of the others."""
    made = count_text(counts["games"], "game")
    stories = count_text(counts["stories"], "story", "stories")
    entries = count_text(counts["entries"], "entry", "entries")
    echo(f"{made} of {stories}: {entries}, {counts['moves']:,} of them by characters", err=True)
    for reason, count in sorted(counts.items()):
        if reason.startswith("left out: "):
            echo(f"left out: {count:,} {reason.removeprefix('left out: ')}", err=True)
