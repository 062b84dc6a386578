"""Games made from stories: who speaks when, by which cards, and that nothing is told early."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from fabula.core.errors import SettingError
from fabula.core.story import Story
from fabula.datasets import load_dataset
from fabula.datasets.story_games.game import read_game
from fabula.learned.training.cast import CastFinder
from fabula.learned.training.games import GameSettings, MadeGame, make_game, make_games
from fabula.text.context.segments import storium_context

FERRY = Story(
    "ferry",
    "Mira waited for the ferry. A man called Oskar sat down beside Mira. The rain came in from "
    "Halden. Mira gave Oskar her umbrella. Then Oskar opened it in Halden.",
    "Two people wait for the same ferry.",
)
ALONE = Story(
    "alone",
    "I bought a clock. It stood still. At night I heard it tick. It ran backwards. I gave it away.",
)


def make(story: Story, **settings: Any) -> dict[str, Any]:
    made = make_game(story, CastFinder([story]), GameSettings(**settings))
    assert made.game is not None, made.left_out
    return made.game


def entries_of(game: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry for scene in game["scenes"] for entry in scene["entries"]]


def test_sentences_are_entries_and_those_who_are_named_take_turns() -> None:
    game = make(FERRY)
    roles = [entry["role"] for entry in entries_of(game)]
    assert [entry["format"] for entry in entries_of(game)] == ["establishment", *["move"] * 4]
    assert roles[0] == "narrator"
    assert roles[1:3] == roles[3:] and {*roles[1:3]} == {"character:1", "character:2"}
    assert [character["name"] for character in game["characters"]] == ["Mira", "Oskar"]
    assert " ".join(entry["description"] for entry in entries_of(game)) == FERRY.text


def test_who_has_no_company_takes_turns_with_the_narrator() -> None:
    game = make(ALONE)
    assert [entry["role"] for entry in entries_of(game)] == [
        "narrator", "character:1", "narrator", "character:1", "narrator",
    ]  # fmt: skip
    assert [entry["format"] for entry in entries_of(game)] == [
        "establishment", "move", "addition", "move", "conclusion",
    ]  # fmt: skip
    assert [character["name"] for character in game["characters"]] == ["I"]
    assert game["cards"] == []


def test_the_prompt_is_the_challenge_and_names_are_cards() -> None:
    game = make(FERRY)
    opening, first, second, third, last = entries_of(game)
    assert [card["name"] for card in opening["challenge_cards"]] == [FERRY.prompt]
    assert first["target_challenge_card"]["namespace"] == "obstacle"
    assert [card["namespace"] for card in game["cards"]] == ["person", "person", "place"]
    assert [card["name"] for card in second["cards_played_on_challenge"]] == ["Halden"]
    # Whoever writes of Mira and Oskar plays the other one.
    (played,) = third["cards_played_on_challenge"]
    own = {"character:1": "Mira", "character:2": "Oskar"}[third["role"]]
    assert {own, played["name"]} == {"Mira", "Oskar"}
    assert "Halden" in [card["name"] for card in last["cards_played_on_challenge"]]


def test_a_long_prompt_gives_a_card_a_short_name_and_stands_in_it_whole() -> None:
    prompt = (
        "Two people who have never met before wait for the very same ferry in the very same rain."
    )
    (card,) = entries_of(make(replace(FERRY, prompt=prompt)))[0]["challenge_cards"]
    assert card["name"] == "Two people who have never met before wait for the very same …"
    assert card["description"] == prompt
    no_prompt = make(replace(FERRY, prompt=None))
    assert entries_of(no_prompt)[0]["challenge_cards"] == []
    assert entries_of(no_prompt)[1]["target_challenge_card"] is None


@pytest.mark.parametrize("size", [2, 5, 12])
def test_nothing_is_shown_of_an_entry_that_is_still_to_be_written(size: int) -> None:
    told = ["Mira saw {} in Halden.", "So Oskar told Mira of {}.", "Then Mira lost {} to Oskar."]
    text = " ".join(told[number % 3].format(f"door{number}") for number in range(1, 25))
    game = make(Story("doors", text, "Doors."), entries=size)
    moves = [entry for entry in entries_of(game) if entry["format"] == "move"]
    shown_before = 0
    for entry in moves:
        context = storium_context(game, entry, story="doors", history=3)
        shown = " ".join(segment.text for segment in context.segments)
        doors = [int(number) for number in re.findall(r"door(\d+)", shown)]
        assert max(doors) < int(entry["seq_id"])
        shown_before += len(doors)
    assert len(moves) == 24 - len(game["scenes"]) and shown_before > len(moves)


def test_a_card_says_what_was_told_of_it_last() -> None:
    (halden,) = [
        card
        for card in entries_of(make(FERRY))[4]["cards_played_on_challenge"]
        if card["name"] == "Halden"
    ]
    assert halden["description"] == "The rain came in from Halden."
    (early,) = entries_of(make(FERRY))[2]["cards_played_on_challenge"]
    assert early["description"] == ""
    assert [each["description"] for each in make(FERRY)["characters"]] == [
        "Mira waited for the ferry.", "",
    ]  # fmt: skip


def test_scenes_are_opened_by_the_narrator_at_the_place_that_is_named() -> None:
    game = make(FERRY, entries=2, fewest=5)
    assert [len(scene["entries"]) for scene in game["scenes"]] == [2, 2, 1]
    openings = [scene["entries"][0] for scene in game["scenes"]]
    assert {entry["role"] for entry in openings} == {"narrator"}
    assert [(entry["place_card"] or {}).get("name") for entry in openings] == [
        None, "Halden", "Halden",
    ]  # fmt: skip
    assert [entry["seq_id"] for entry in entries_of(game)] == ["1", "2", "3", "4", "5"]


def test_entries_are_paragraphs_or_several_sentences() -> None:
    story = Story("p", "Mira came. She saw Mira.\n\n  The rain fell.\nThen Mira left. The end.  ")
    texts = [entry["description"] for entry in entries_of(make(story, unit="paragraph"))]
    assert texts == ["Mira came. She saw Mira.", "The rain fell.", "Then Mira left. The end."]
    pairs = [entry["description"] for entry in entries_of(make(FERRY, sentences=2))]
    assert len(pairs) == 3 and pairs[2] == "Then Oskar opened it in Halden."


def test_games_have_the_export_format_and_the_seed_alone_says_who_begins() -> None:
    stories = load_dataset("examples").stories

    def make_all(seed: int) -> list[MadeGame]:
        return list(make_games(stories, seed=seed))

    first = make_all(1)
    assert json.dumps([vars(each) for each in first]) == json.dumps(
        [vars(each) for each in make_all(1)]
    )
    made = [each.game for each in first if each.game]
    assert made != [each.game for each in make_all(2) if each.game]
    assert len(made) == 41
    assert {read_game(game, "here").id for game in made} <= {story.id for story in stories}
    assert len(list(make_games(stories, most=7))) == 7


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "of fewer than 3 entries"),
        ("Mira came. Mira left.", "of fewer than 3 entries"),
        ("the sun rose. the sun sank. The moon rose. It was late.", "without a name"),
        ("mira came . she saw tom . tom left .", "in small letters"),
        ("Mira came. She saw Mira. \0 Mira left.", "signs"),
        ("Mira came. She saw Mira. \ud83d Mira left.", "signs"),
    ],
    ids=["empty", "short", "nameless", "small", "nul", "half"],
)
def test_what_becomes_no_game_says_why(text: str, why: str) -> None:
    (made,) = make_games([Story("s", text)])
    assert made.game is None and why in made.left_out


def test_of_near_duplicates_only_the_first_becomes_a_game() -> None:
    twin = replace(FERRY, id="twin", text=FERRY.text.replace("umbrella", "hat"))
    first, second = make_games([FERRY, twin])
    assert first.game and not second.game and "near duplicate" in second.left_out


@pytest.mark.parametrize(
    "wrong",
    [{"unit": "verse"}, {"fewest": 1}, {"players": 0}, {"unit": "paragraph", "sentences": 2}],
    ids=["unit", "fewest", "players", "both"],
)
def test_settings_that_make_no_games_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingError):
        GameSettings(**wrong)
