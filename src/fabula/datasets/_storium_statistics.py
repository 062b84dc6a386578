"""What there is in games of STORIUM: counts, tokens by kind of text, cards and histograms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from fabula.datasets._storium_game import Card, Entry, Game

_TOKEN = re.compile(r"\w+|\W+")
_WORD = re.compile(r"\w+")


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


def words_of(game: Game) -> int:
    """Count the words of a game's entries."""
    return sum(count_words(entry.text) for entry in game.entries())


def statistics(games: Iterable[Game]) -> Statistics:
    """Add up what games hold, a game at a time."""
    counts: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    regular: Counter[str] = Counter()
    wild: Counter[str] = Counter()
    histograms: dict[str, Counter[int]] = {}
    for game in games:
        played = [card for entry in game.entries() for card in entry.played]
        counts.update(_counts(game, played))
        tokens.update(_tokens(game))
        regular.update(card.namespace for card in played if not card.wild)
        wild.update(card.namespace for card in played if card.wild)
        for name, sizes in _sizes(game).items():
            histograms.setdefault(name, Counter()).update(sizes)
    ordered = {name: dict(sorted(sizes.items())) for name, sizes in histograms.items()}
    return Statistics(counts, tokens, regular, wild, ordered)


def _counts(game: Game, played: list[Card]) -> dict[str, int]:
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


def _tokens(game: Game) -> Counter[str]:
    found: Counter[str] = Counter()
    for kind, text in _texts(game):
        if text:
            found[kind] += count_tokens(text)
    return found


def _texts(game: Game) -> Iterator[tuple[str, str]]:
    """Go through all texts with their kind."""
    for entry in game.entries():
        yield f"entry/{entry.format}", entry.text
    for description in game.characters:
        yield "character", description
    for card in _cards(game):
        yield f"card/{card.namespace}", card.description
        yield from (("stakes", text) for text in card.stakes)


def _cards(game: Game) -> dict[Card, None]:
    """Cards of a game, each once; one whose text was edited is another."""
    seen = dict.fromkeys(game.cards)
    for entry in game.entries():
        seen.update(dict.fromkeys((*entry.played, *entry.placed)))
    return seen


def _sizes(game: Game) -> dict[str, list[int]]:
    entries = list(game.entries())
    return {
        "scenes per game": [len(game.scenes)],
        "entries per scene": [len(scene.entries) for scene in game.scenes],
        "words per entry": [count_words(entry.text) for entry in entries if _has_text(entry)],
        "cards per entry": [len(entry.played) for entry in entries],
    }


def _has_text(entry: Entry) -> bool:
    return bool(entry.text.strip())
