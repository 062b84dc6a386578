"""Parting games into training, validation and test sets of like shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fabula.core.errors import InputError, SettingError
from fabula.datasets._storium_game import Game
from fabula.datasets._storium_statistics import words_of

SHARES = {"train": 8.0, "validation": 1.0, "test": 1.0}


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
    words = _words(games)
    all_words = sum(words.values()) or 1
    filled = dict.fromkeys(shares, 0.0)
    parts: dict[str, list[str]] = {part: [] for part in shares}
    for name in sorted(words, key=lambda name: (-words[name], name)):
        part = min(filled, key=lambda part: round(filled[part], 12))
        filled[part] += (words[name] / all_words + 1 / len(words)) / shares[part]
        parts[part].append(name)
    return {part: tuple(names) for part, names in parts.items()}


def _words(games: Iterable[Game]) -> dict[str, int]:
    """Words of each game, by id."""
    words: dict[str, int] = {}
    for game in games:
        if game.id in words:
            raise InputError(f"two games share the id {game.id!r}", "keep one of the two")
        words[game.id] = words_of(game)
    return words
