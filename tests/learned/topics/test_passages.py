from __future__ import annotations

import json

import pytest

from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.datasets.storium_samples import FOLDER
from fabula.learned.topics.passages import Passage, read_games, split_stories
from fakes.storium_games import FLOOD, NARRATOR, entry, game

STORIES = [
    Story("a", "It rained. We left.\n\nNobody came.", system="m1", item="1", prompt="Rain"),
    Story("b", "  ", system="m2"),
]


def test_stories_are_taken_whole_or_by_paragraph_or_sentence():
    assert [passage.text for passage in split_stories(STORIES)] == [STORIES[0].text]
    by_paragraph = split_stories(STORIES, unit="paragraph")
    assert [passage.text for passage in by_paragraph] == ["It rained. We left.", "Nobody came."]
    by_sentence = split_stories(STORIES, unit="sentence", world="prompt")
    assert by_sentence[2] == Passage("a/3", "Nobody came.", "a", "Rain")


def test_a_games_entries_come_in_order_with_their_role_and_then_its_challenges(tmp_path):
    flood = FLOOD | {"name": "Flood"}
    played = game(
        "g1",
        [
            entry(1, "Rain fell.", challenge_cards=[flood], **NARRATOR),
            entry(2, "Ida stirs.", challenge_cards=[flood]),
            entry(3, None),
        ],
        world={"name": "Delta"},
    )
    path = tmp_path / "g1.json"
    path.write_text(json.dumps(played), encoding="utf-8")
    assert read_games(path) == [
        Passage("g1/1/1", "Rain fell.", "g1", "Delta", "narrator"),
        Passage("g1/1/2", "Ida stirs.", "g1", "Delta", "character:1"),
        Passage("g1/challenge/c1", "Flood. The river rises! Dry. Wet.", "g1", "Delta", "challenge"),
    ]


def test_a_game_without_a_world_and_a_world_of_any_form_are_read(tmp_path):
    for number, world in enumerate([None, "Delta", {"world_id": 3}, 7]):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(game(f"g{number}", [entry(1, "Hi.")], world=world)))
    assert [passage.world for passage in read_games(tmp_path)] == ["", "Delta", "", ""]


def test_the_sample_games_have_three_worlds():
    passages = read_games(FOLDER)
    assert len({passage.world for passage in passages}) == 3
    assert sum(passage.role != "challenge" for passage in passages) == 84


def test_games_without_a_text_are_refused(tmp_path):
    path = tmp_path / "g.json"
    path.write_text(json.dumps(game("g", [entry(1, None)])), encoding="utf-8")
    with pytest.raises(InputError, match="no game has an entry with text"):
        read_games(path)
