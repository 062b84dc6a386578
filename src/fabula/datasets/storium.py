"""STORIUM: games of collaborative storytelling, read from their exports."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.errors import InputError, SettingError
from fabula.core.story import Story
from fabula.datasets.releases.reading import Placed, gather_stories, read_object
from fabula.datasets.story_games.game import Card, Entry, Game, read_game
from fabula.datasets.tables.rows import detect_format, read_rows
from fabula.datasets.tables.text_file import TextFile

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
SHARES = {"train": 8.0, "validation": 1.0, "test": 1.0}
_TOKEN = re.compile(r"\w+|\W+")
_WORD = re.compile(r"\w+")


def load(path: Path | None = None) -> Dataset:
    """Load the entries that have a text."""
    return Dataset("storium", CARD, gather_stories(_read_stories(path)))


def games(path: Path | None = None) -> Iterator[Game]:
    """Go through the games of a folder of exports, or of one file, a game at a time."""
    return (game for _, game in _read_games(path))


def _read_games(path: Path | None) -> Iterator[Placed[Game]]:
    seen: dict[str, str] = {}
    for file in _find_files(path):
        for where, value in _read_values(file):
            game = read_game(value, where)
            if game.id in seen:
                raise InputError(
                    f"{where}: game {game.id!r} again, after {seen[game.id]}", "keep one"
                )
            seen[game.id] = where
            yield where, game


def _find_files(path: Path | None) -> list[TextFile]:
    if path is not None and path.is_file():
        return [TextFile(path, path.name)]
    paths = [
        file
        for file in (sorted(path.rglob("*.json*")) if path else ())
        if file.name.removesuffix(".gz").endswith((".json", ".jsonl"))
    ]
    if not paths:
        raise InputError(
            f"{path or 'no folder given'}: no exported games (.json or .jsonl, plain or .gz)",
            "pass their folder with --path",
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
    if not shares or min(shares.values()) <= 0:
        raise SettingError("shares must be positive", "write such as train 8, test 1")
    words = _count_words(games)
    all_words = sum(words.values()) or 1
    filled = dict.fromkeys(shares, 0.0)
    parts: dict[str, list[str]] = {part: [] for part in shares}
    for name in sorted(words, key=lambda name: (-words[name], name)):
        part = min(filled, key=lambda part: round(filled[part], 12))
        filled[part] += (words[name] / all_words + 1 / len(words)) / shares[part]
        parts[part].append(name)
    return {part: tuple(names) for part, names in parts.items()}


def _count_words(games: Iterable[Game]) -> dict[str, int]:
    """Words of each game, by id."""
    words: dict[str, int] = {}
    for game in games:
        if game.id in words:
            raise InputError(f"two games share the id {game.id!r}", "keep one of the two")
        words[game.id] = sum(count_words(entry.text) for entry in game.entries())
    return words


@dataclass(frozen=True)
class Statistics:
    """Sums over games.

    `tokens` are maximal runs of word or of non-word characters, by kind of text:
    `entry/<format>`, `card/<namespace>` (descriptions), `stakes` of challenges, and `character`
    (descriptions). A card's texts count once a game, however often it is played. `regular` and
    `wild` count cards played, by namespace. Histograms say how many have so many: `scenes per
    game`, `entries per scene`, `words per entry` (runs of word characters, entries with text) and
    `cards per entry` (played).
    """

    counts: Mapping[str, int] = field(default_factory=Counter)
    tokens: Mapping[str, int] = field(default_factory=Counter)
    regular: Mapping[str, int] = field(default_factory=Counter)
    wild: Mapping[str, int] = field(default_factory=Counter)
    histograms: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


def count_tokens(text: str) -> int:
    """Count the maximal runs of word or of non-word characters."""
    return sum(1 for _ in _TOKEN.finditer(text))


def count_words(text: str) -> int:
    """Count the maximal runs of word characters."""
    return sum(1 for _ in _WORD.finditer(text))


def statistics(games: Iterable[Game]) -> Statistics:
    """Add up what games hold, a game at a time."""
    counts: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    regular: Counter[str] = Counter()
    wild: Counter[str] = Counter()
    histograms: dict[str, Counter[int]] = {}
    for game in games:
        played = [card for entry in game.entries() for card in entry.played]
        counts.update(_count_parts(game, played))
        tokens.update(_count_tokens(game))
        regular.update(card.namespace for card in played if not card.wild)
        wild.update(card.namespace for card in played if card.wild)
        for name, sizes in _list_sizes(game).items():
            histograms.setdefault(name, Counter()).update(sizes)
    ordered = {name: dict(sorted(sizes.items())) for name, sizes in histograms.items()}
    return Statistics(counts, tokens, regular, wild, ordered)


def _count_parts(game: Game, played: list[Card]) -> dict[str, int]:
    entries = list(game.entries())
    return {
        "games": 1,
        "characters": len(game.characters),
        "scenes": len(game.scenes),
        "entries": len(entries),
        "entries with text": sum(_has_text(entry) for entry in entries),
        "cards played": len(played),
        "wild cards played": sum(card.wild for card in played),
    }


def _count_tokens(game: Game) -> Counter[str]:
    tokens: Counter[str] = Counter()
    for kind, text in _list_texts(game):
        if text:
            tokens[kind] += count_tokens(text)
    return tokens


def _list_texts(game: Game) -> Iterator[tuple[str, str]]:
    """Go through all texts with their kind."""
    for entry in game.entries():
        yield f"entry/{entry.format}", entry.text
    for description in game.characters:
        yield "character", description
    for card in _list_cards(game):
        yield f"card/{card.namespace}", card.description
        yield from (("stakes", text) for text in card.stakes)


def _list_cards(game: Game) -> dict[Card, None]:
    """Cards of a game, each once; one whose text was edited is another."""
    seen = dict.fromkeys(game.cards)
    for entry in game.entries():
        seen.update(dict.fromkeys((*entry.played, *entry.placed)))
    return seen


def _list_sizes(game: Game) -> dict[str, list[int]]:
    entries = list(game.entries())
    return {
        "scenes per game": [len(game.scenes)],
        "entries per scene": [len(scene.entries) for scene in game.scenes],
        "words per entry": [count_words(entry.text) for entry in entries if _has_text(entry)],
        "cards per entry": [len(entry.played) for entry in entries],
    }


def _has_text(entry: Entry) -> bool:
    return bool(entry.text.strip())
