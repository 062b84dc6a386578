from __future__ import annotations

import pytest

from fabula.datasets.story_games.game import read_game
from fabula.datasets.story_games.statistics import count_tokens, count_words, statistics
from fakes.storium_games import SMALL, card, entry, game, long_game


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
        "completed games": 0,
        "games without cards": 0,
        "scenes": 2,
        "entries": 4,
        "entries with text": 3,
        "users": 1,
        "tokens": 37,
        # A blank, a full stop, an exclamation mark, and 18 words ("The" is not "the").
        "unique tokens": 21,
        "characters": 1,
        "characters played": 1,
        "cards on the table": 4,
        "location cards": 0,
        "challenge cards": 1,
        "cards for pickup": 0,
        "cards played on challenges": 3,
        "wild cards played": 1,
        "regular cards played": 2,
        "cards created or edited": 0,
        "cards on the table created or edited": 0,
    }
    assert found.regular == {"strength": 2} and found.wild == {"weakness": 1}


def test_a_card_that_a_wild_one_was_exchanged_for_is_wild() -> None:
    new = card("c9", "strength", via_wild_exchanged_for="new")
    found = statistics([read_game(game("g", [entry(1, "", cards_played_on_challenge=[new])]), "g")])
    assert found.wild == {"strength": 1} and not found.regular


def test_cards_of_users_are_those_they_made_or_changed() -> None:
    cards = [
        card("made", author_user_pid="u"),
        card("world", author_user_pid="w", world_card_id="w1"),
        card("changed", author_user_pid="w", world_card_id="w2", is_edited=True),
        card("nobody's"),
    ]
    turn = entry(1, "", challenge_cards=[cards[0], cards[1]], place_card=cards[2])
    found = statistics([read_game(game("g", [turn, turn | {"seq_id": 2}], cards=cards), "g")])
    assert found.counts["cards created or edited"] == 2
    assert found.counts["cards on the table created or edited"] == 4


def test_users_and_tokens_of_several_games_are_told_apart_once() -> None:
    both = [game("g1", [entry(1, "a b")], characters=[]), game("g2", [entry(1, "a c")])]
    both[1]["characters"] = []
    found = statistics(read_game(one, "g") for one in both)
    assert (found.counts["users"], found.counts["tokens"]) == (1, 6)
    assert found.counts["unique tokens"] == 4


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
        "entries per game": {1: 1, 4: 1},
        "tokens per game": {14: 1, 37: 1},
        "users per game": {1: 2},
        "characters per game": {1: 2},
        "entries per scene": {1: 2, 3: 1},
        "words per entry": {2: 2, 4: 2},
        "cards per entry": {0: 3, 1: 1, 2: 1},
    }


def test_statistics_of_games_add_up() -> None:
    one = statistics([read_game(SMALL, "g1")])
    three = statistics(read_game(SMALL, "g1") for _ in range(3))
    same = {"users", "unique tokens"}
    assert three.counts == {
        name: count if name in same else 3 * count for name, count in one.counts.items()
    }
    assert three.tokens == {name: 3 * count for name, count in one.tokens.items()}


def test_an_empty_game_has_no_tokens() -> None:
    found = statistics([read_game(game("g", characters=[]), "g")])
    assert found.tokens == {} and found.counts["entries"] == 0
    assert statistics([]).counts == {}
