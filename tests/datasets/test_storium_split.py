from __future__ import annotations

import random

import pytest

from fabula.core.errors import InputError, SettingError
from fabula.datasets.storium import split_games
from fabula.datasets.story_games.game import Game, read_game
from fakes.storium_games import long_game


def games(*words: int) -> list[Game]:
    return [read_game(long_game(f"g{n:03}", size), "g") for n, size in enumerate(words)]


def test_ten_equal_games_are_parted_eight_to_one_to_one() -> None:
    parts = split_games(games(*[50] * 10))
    assert {part: len(ids) for part, ids in parts.items()} == {
        "train": 8,
        "validation": 1,
        "test": 1,
    }
    assert parts["train"][0] == "g000"


def test_every_part_has_its_share_of_words_and_of_games() -> None:
    chance = random.Random(7)
    sizes = [chance.randint(1, 400) for _ in range(300)]
    parts = split_games(games(*sizes))
    for part, share in {"train": 0.8, "validation": 0.1, "test": 0.1}.items():
        words = sum(sizes[int(name[1:])] for name in parts[part])
        assert len(parts[part]) / 300 == pytest.approx(share, abs=0.02)
        assert words / sum(sizes) == pytest.approx(share, abs=0.02)


def test_the_order_in_which_games_come_does_not_matter() -> None:
    found = games(9, 30, 30, 4, 100, 30, 2)
    assert split_games(found) == split_games(found[::-1])


def test_all_games_are_somewhere_and_once() -> None:
    parts = split_games(games(5, 0, 0, 7), {"a": 1, "b": 1})
    assert sorted(name for ids in parts.values() for name in ids) == [
        "g000",
        "g001",
        "g002",
        "g003",
    ]


def test_what_cannot_be_parted_is_refused() -> None:
    with pytest.raises(InputError, match="two games share the id 'g000'"):
        split_games([*games(3), *games(3)])
    for shares in ({}, {"a": 0.0}, {"a": 2.0, "b": -1.0}):
        with pytest.raises(SettingError, match="shares must be positive"):
            split_games(games(3), shares)


def test_no_games_give_empty_parts() -> None:
    assert split_games([]) == {"train": (), "validation": (), "test": ()}
