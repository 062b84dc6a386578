"""STORIUM: games of collaborative storytelling, read from their exports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.datasets._fields import file_object
from fabula.datasets._gather import Placed, unique_stories
from fabula.datasets._lines import TextFile
from fabula.datasets._release import file_rows
from fabula.datasets._rows import format_of
from fabula.datasets._storium_game import Game, read_game
from fabula.datasets._storium_split import split_games
from fabula.datasets._storium_statistics import Statistics, statistics

__all__ = ["CARD", "Game", "Statistics", "games", "load", "split_games", "statistics"]

CARD = DatasetCard(
    title="STORIUM",
    about="Games in which a narrator and players tell a story in turns, by cards. Every entry with "
    "text is a story here: its id is `game/scene/entry`, its item the scene, its system the role "
    "(`narrator` or `character:<number>`). `games` reads whole games one at a time, `statistics` "
    "counts what they hold, and `split_games` parts them. The corpus has 5,743 games, 25,092 "
    "scenes, 448,264 entries and 232,596 cards played; it is not counted here, since one reads "
    "one's own export.",
    licence="for research on request to STORIUM; not to be passed on",
    citation="Akoury, Wang, Whiting, Hood, Peng and Iyyer (2020). STORIUM: A dataset and "
    "evaluation platform for machine-in-the-loop story generation. EMNLP, 6470–6484.",
    source="STORIUM, export format 0.9.2",
    files={
        "*.json": "one game a file, anywhere below the folder",
        "*.jsonl": "or one game a line",
    },
    quirks=(
        "Entries without text (cards refreshed, say) are no stories; `statistics` counts them.",
        "Scenes count from 1 as they stand in the file.",
    ),
)


def load(path: Path | None = None) -> Dataset:
    """Load the entries that have a text."""
    return Dataset("storium", CARD, unique_stories(_stories(path)))


def games(path: Path | None = None) -> Iterator[Game]:
    """Go through the games of a folder of exports, or of one file, a game at a time."""
    return (game for _, game in _games(path))


def _games(path: Path | None) -> Iterator[Placed[Game]]:
    seen: dict[str, str] = {}
    for file in _files(path):
        for where, value in _values(file):
            game = read_game(value, where)
            if game.id in seen:
                raise InputError(
                    f"{where}: game {game.id!r} again, after {seen[game.id]}", "keep one"
                )
            seen[game.id] = where
            yield where, game


def _files(path: Path | None) -> list[TextFile]:
    if path is not None and path.is_file():
        return [TextFile(path, path.name)]
    found = [
        one
        for one in (sorted(path.rglob("*.json*")) if path else ())
        if one.name.removesuffix(".gz").endswith((".json", ".jsonl"))
    ]
    if not found:
        raise InputError(
            f"{path or 'no folder given'}: no exported games (.json or .jsonl, plain or .gz)",
            "pass their folder with --path",
        )
    return [TextFile(one, str(one.relative_to(path or one))) for one in found]


def _values(file: TextFile) -> Iterator[Placed[object]]:
    return (
        file_rows(file)
        if format_of(file.path) == "jsonl"
        else iter([(file.label, file_object(file))])
    )


def _stories(path: Path | None) -> Iterator[Placed[Story]]:
    for where, game in _games(path):
        for scene in game.scenes:
            item = f"{game.id}/{scene.number}"
            for entry in scene.entries:
                if entry.text.strip():
                    story = Story(f"{item}/{entry.id}", entry.text, system=entry.role, item=item)
                    yield where, story
