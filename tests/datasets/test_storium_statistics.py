from __future__ import annotations

import pytest

from fabula.datasets.storium import count_tokens, count_words, statistics
from fabula.datasets.story_games.game import read_game
from fakes.storium_games import SMALL, game, long_game


@pytest.mark.parametrize(
    ("text", "tokens", "words"),
    [("", 0, 0), ("Rain fell.", 4, 2), ("“Ja – nein”", 5, 2), ("a_b 3", 3, 2), ("…", 1, 0)],
)
def test_tokens_are_runs_of_word_or_of_other_characters(text: str, tokens: int, words: int) -> None:
    assert (count_tokens(text), count_words(text)) == (tokens, words)


def test_counts_of_a_small_game() -> None:
    found = statistics([read_game(SMALL, "g1")])
    assert found.counts == {
        "games": 1,
        "characters": 1,
        "scenes": 2,
        "entries": 4,
        "entries with text": 3,
        "cards played": 3,
        "wild cards played": 1,
    }
    assert found.regular == {"strength": 2} and found.wild == {"weakness": 1}


def test_tokens_go_by_kind_of_text_and_a_card_counts_once() -> None:
    # "Rain| |fell|." 4; "Ida| |stirs| |the| |flood|." 8; "It| |ends|." 4; "A| |brave| |cook|." 6;
    # "The| |river| |rises|!" 6; "Dry|." and "Wet|." 4; "A| |long| |ladle" 5, played twice.
    assert statistics([read_game(SMALL, "g1")]).tokens == {
        "entry/establishment": 4,
        "entry/move": 8,
        "entry/conclusion": 4,
        "character": 6,
        "card/obstacle": 6,
        "card/strength": 5,
        "stakes": 4,
    }


def test_histograms_say_how_many_have_so_many() -> None:
    both = [read_game(SMALL, "g1"), read_game(long_game("g2", 4), "g2")]
    assert statistics(both).histograms == {
        "scenes per game": {1: 1, 2: 1},
        "entries per scene": {1: 2, 3: 1},
        "words per entry": {2: 2, 4: 2},
        "cards per entry": {0: 3, 1: 1, 2: 1},
    }


def test_statistics_of_games_add_up() -> None:
    one = statistics([read_game(SMALL, "g1")])
    three = statistics(read_game(SMALL, "g1") for _ in range(3))
    assert three.counts == {name: 3 * count for name, count in one.counts.items()}
    assert three.tokens == {name: 3 * count for name, count in one.tokens.items()}


def test_an_empty_game_has_no_tokens() -> None:
    found = statistics([read_game(game("g", characters=[]), "g")])
    assert found.tokens == {} and found.counts["entries"] == 0
    assert statistics([]).counts == {}
