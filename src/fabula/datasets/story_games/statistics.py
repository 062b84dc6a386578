"""What games hold, added up a game at a time: parts, tokens, cards, and how they spread."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from fabula.datasets.story_games.game import Card, Entry, Game

_TOKEN = re.compile(r"\w+|\W+")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Statistics:
    """Sums over games.

    `tokens` are maximal runs of word or of non-word characters, by kind of text:
    `entry/<format>`, `card/<namespace>` (descriptions), `stakes` of challenges, and `character`
    (descriptions). A card's text counts once a game, however often it is on the table; one that
    was edited is another. `regular` and `wild` count cards played on challenges, by namespace; a
    card that a wild one was exchanged for is wild. `words` are those of each game's entries, by
    the game's id. Histograms say how many have so many.
    """

    counts: Mapping[str, int] = field(default_factory=Counter)
    tokens: Mapping[str, int] = field(default_factory=Counter)
    regular: Mapping[str, int] = field(default_factory=Counter)
    wild: Mapping[str, int] = field(default_factory=Counter)
    words: Mapping[str, int] = field(default_factory=dict)
    histograms: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


def list_tokens(text: str) -> list[str]:
    """List the maximal runs of word or of non-word characters."""
    return _TOKEN.findall(text)


def count_tokens(text: str) -> int:
    """Count the maximal runs of word or of non-word characters."""
    return sum(1 for _ in _TOKEN.finditer(text))


def count_words(text: str) -> int:
    """Count the maximal runs of word characters."""
    return sum(1 for _ in _WORD.finditer(text))


def count_game_words(game: Game) -> int:
    """Count the words of all entries of a game."""
    return sum(count_words(entry.text) for entry in game.entries())


def statistics(games: Iterable[Game]) -> Statistics:
    """Add up what games hold, a game at a time.

    Of what is told apart over all games (users, tokens that differ) every one is kept in memory.
    """
    counts: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    regular: Counter[str] = Counter()
    wild: Counter[str] = Counter()
    words: dict[str, int] = {}
    histograms: dict[str, Counter[int]] = {}
    users: set[str] = set()
    vocabulary: set[str] = set()
    for game in games:
        played = [card for entry in game.entries() for card in entry.played]
        regular.update(card.namespace for card in played if not card.wild)
        wild.update(card.namespace for card in played if card.wild)
        game_tokens: Counter[str] = Counter()
        for kind, text in _list_texts(game):
            runs = list_tokens(text)
            game_tokens[kind] += len(runs)
            vocabulary.update(runs)
        tokens.update(+game_tokens)
        users.update(entry.user for entry in game.entries())
        words[game.id] = count_game_words(game)
        counts.update(_count_parts(game, played))
        for name, sizes in _list_sizes(game, game_tokens.total()).items():
            histograms.setdefault(name, Counter()).update(sizes)
    if words:
        counts.update({"users": len(users), "tokens": tokens.total()})
        counts["unique tokens"] = len(vocabulary)
    ordered = {name: dict(sorted(sizes.items())) for name, sizes in histograms.items()}
    return Statistics(counts, tokens, regular, wild, words, ordered)


def _count_parts(game: Game, played: list[Card]) -> dict[str, int]:
    entries = list(game.entries())
    laid = [card for entry in entries for card in entry.laid]
    cards = {card.id for card in (*game.cards, *laid) if card.own}
    return {
        "games": 1,
        "completed games": int(game.completed),
        "games without cards": int(not laid),
        "scenes": len(game.scenes),
        "entries": len(entries),
        "entries with text": sum(_has_text(entry) for entry in entries),
        "characters": len(game.characters),
        "characters played": len({entry.role for entry in entries} - {"narrator"}),
        "cards on the table": len(laid),
        "location cards": sum(len(entry.place) for entry in entries),
        "challenge cards": sum(len(entry.challenges) for entry in entries),
        "cards for pickup": sum(len(entry.pickup) for entry in entries),
        "cards played on challenges": len(played),
        "wild cards played": sum(card.wild for card in played),
        "regular cards played": sum(not card.wild for card in played),
        "cards created or edited": len(cards),
        "cards on the table created or edited": sum(card.own for card in laid),
    }


def _list_texts(game: Game) -> Iterator[tuple[str, str]]:
    """Go through all texts with their kind; a text of a card comes once."""
    for entry in game.entries():
        yield f"entry/{entry.format}", entry.text
    for description in game.characters:
        yield "character", description
    seen: dict[tuple[str, str, str], None] = {}
    for card in (*game.cards, *(card for entry in game.entries() for card in entry.laid)):
        seen[card.id, f"card/{card.namespace}", card.description] = None
        seen.update({(card.id, "stakes", text): None for text in card.stakes})
    yield from ((kind, text) for _, kind, text in seen)


def _list_sizes(game: Game, tokens: int) -> dict[str, list[int]]:
    entries = list(game.entries())
    return {
        "scenes per game": [len(game.scenes)],
        "entries per game": [len(entries)],
        "tokens per game": [tokens],
        "users per game": [len({entry.user for entry in entries})],
        "characters per game": [len(game.characters)],
        "entries per scene": [len(scene.entries) for scene in game.scenes],
        "words per entry": [count_words(entry.text) for entry in entries if _has_text(entry)],
        "cards per entry": [len(entry.played) for entry in entries],
    }


def _has_text(entry: Entry) -> bool:
    return bool(entry.text.strip())
