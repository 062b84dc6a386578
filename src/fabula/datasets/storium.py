"""STORIUM: games of collaborative storytelling, read from their exports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.errors import InputError, SettingError
from fabula.core.story import Story
from fabula.datasets.releases.reading import Placed, gather_stories, read_object
from fabula.datasets.story_games.game import Game, read_game
from fabula.datasets.story_games.statistics import count_game_words
from fabula.datasets.story_games.studio_export import find_games_table, read_exported_games
from fabula.datasets.tables.rows import detect_format, read_rows
from fabula.datasets.tables.stories import is_there
from fabula.datasets.tables.text_file import TextFile

CARD = DatasetCard(
    title="STORIUM",
    about="Games in which a narrator and players tell a story in turns, by cards. Every entry with "
    "text is a story here: its id is `game/scene/entry`, its item the scene, its system the role "
    "(`narrator` or `character:<number>`). `games` reads whole games one at a time and "
    "`split_games` parts them; `fabula data statistics storium` counts what they hold, with the "
    "paper's figures beside. `storium_samples` are three games of ours in the same form, and "
    "`fabula data games` makes games of any stories. The corpus has 5,743 games, 25,092 scenes, "
    "448,264 entries and 232,596 cards played; it is not counted here, since one reads one's own "
    "export.",
    licence="for research on request to STORIUM; not to be passed on",
    citation="Akoury, Wang, Whiting, Hood, Peng and Iyyer (2020). STORIUM: A dataset and "
    "evaluation platform for machine-in-the-loop story generation. EMNLP, 6470–6484.",
    source="STORIUM, export format 0.9.2",
    files={
        "*.json": "one game a file, anywhere below the folder",
        "*.jsonl": "or one game a line",
    },
    quirks=(
        "Entries without text (cards refreshed, say) are no stories; the statistics count them.",
        "Scenes count from 1 as they stand in the file.",
    ),
)
SHARES = {"train": 8.0, "validation": 1.0, "test": 1.0}


def load(path: Path | None = None) -> Dataset:
    """Load the entries that have a text."""
    return Dataset("storium", CARD, gather_stories(_read_stories(path)))


def find_games(name: str | Path) -> Path:
    """Give where exported games lie: a data set by its name (`storium` as `fabula data add` was
    told, `storium_samples`), a file, or a folder of them."""
    from fabula.datasets import find_place
    from fabula.datasets.storium_samples import FOLDER

    own = FOLDER if str(name) == "storium_samples" else None
    path = own or find_place(str(name)) or Path(name)
    if not is_there(path):
        raise InputError(
            f"{name}: no such file, folder or data set of games",
            "name exported games, or storium_samples; fabula data games makes games of stories",
        )
    return path


def games(path: Path | None = None) -> Iterator[Game]:
    """Go through the games of a folder of exports, or of one file, a game at a time."""
    return (game for _, game in _read_games(path))


def _read_games(path: Path | None) -> Iterator[Placed[Game]]:
    seen: dict[str, str] = {}
    for where, value in read_exports(path):
        game = read_game(value, where)
        if game.id in seen:
            raise InputError(f"{where}: game {game.id!r} again, after {seen[game.id]}", "keep one")
        seen[game.id] = where
        yield where, game


def read_exports(path: Path | None) -> Iterator[Placed[object]]:
    """Go through the games of a folder or file as they were exported, each with where it stands.

    Of a folder that `fabula studio export` wrote, those of its table of games.
    """
    if path is not None and (table := find_games_table(path)):
        return iter(read_exported_games(table))
    return (placed for file in _find_files(path) for placed in _read_values(file))


def _find_files(path: Path | None) -> list[TextFile]:
    if path is not None and path.is_file():
        return [TextFile(path, path.name)]
    paths = [
        file
        for file in (sorted(path.rglob("*.json*")) if path else ())
        if file.name.removesuffix(".gz").endswith((".json", ".jsonl"))
        and not file.name.startswith(".")
    ]
    if not paths:
        raise InputError(
            f"{path or 'no folder given'}: no exported games (.json or .jsonl, plain or .gz)",
            "name the folder that holds them, or a file of them"
            if path
            else "pass their folder with --path, or keep it with fabula data add",
        )
    return [TextFile(file, str(file.relative_to(path or file))) for file in paths]


def _read_values(file: TextFile) -> Iterator[Placed[object]]:
    return (
        read_rows(file)
        if detect_format(file.path) == "jsonl"
        else iter([(file.label, read_object(file))])
    )


def _read_stories(path: Path | None) -> Iterator[Placed[Story]]:
    for where, game in _read_games(path):
        for scene in game.scenes:
            item = f"{game.id}/{scene.number}"
            for entry in scene.entries:
                if entry.text.strip():
                    story = Story(f"{item}/{entry.id}", entry.text, system=entry.role, item=item)
                    yield where, story


def split_games(
    games: Iterable[Game], shares: Mapping[str, float] = SHARES
) -> dict[str, tuple[str, ...]]:
    """Part games so that every part has its share of both words and games.

    Greedy and without chance: the longest game first (equally long ones by id), each to the part
    that is furthest below its share: the one that has least of what it should, words and games
    taken together. Of parts that have equally little, the first. Gives the ids by part.
    """
    words: dict[str, int] = {}
    for game in games:
        if game.id in words:
            raise InputError(f"two games share the id {game.id!r}", "keep one of the two")
        words[game.id] = count_game_words(game)
    return split_words(words, shares)


def split_words(
    words: Mapping[str, int], shares: Mapping[str, float] = SHARES
) -> dict[str, tuple[str, ...]]:
    """Part games of so many words, as `split_games` does."""
    if not shares or min(shares.values()) <= 0:
        raise SettingError("shares must be positive", "write such as train 8, test 1")
    all_words = sum(words.values()) or 1
    filled = dict.fromkeys(shares, 0.0)
    parts: dict[str, list[str]] = {part: [] for part in shares}
    for name in sorted(words, key=lambda name: (-words[name], name)):
        part = min(filled, key=lambda part: round(filled[part], 12))
        filled[part] += (words[name] / all_words + 1 / len(words)) / shares[part]
        parts[part].append(name)
    return {part: tuple(names) for part, names in parts.items()}
