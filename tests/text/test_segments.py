"""What a co-author is shown of a game, in which order, and what is left out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fabula.core.errors import InputError
from fabula.text.context.segments import (
    context_from_json,
    context_to_json,
    prompt_context,
    storium_context,
)
from fakes.storium_games import FLOOD, LADLE, NARRATOR, card, entry, game

PLACE = card("p1", "place", description="A wheel in the dark.") | {"name": "The mill"}
BO = {"character_seq_id": 2, "name": "Bo", "description": "A shy carpenter."}
IDA = {"character_seq_id": 1, "name": "Ida", "description": "A brave cook."}


def by(character: int) -> dict[str, Any]:
    return {"role": f"character:{character}", "character_seq_id": character}


GAME = game(
    "g1",
    [entry(1, "The first night.", format="establishment", **NARRATOR), entry(2, "Ida sang.")],
    [
        entry(3, "Rain fell.", format="establishment", place_card=PLACE, **NARRATOR),
        entry(4, "Ida stirs.", target_challenge_card=FLOOD, cards_played_on_challenge=[LADLE]),
        entry(5, "Bo builds a dam.", **by(2)),
        entry(6, "The water rises.", format="addition", challenge_cards=[FLOOD], **NARRATOR),
    ],
    characters=[IDA, BO],
)
NAMED = FLOOD | {"name": "Flood"}
DRAFT = entry(
    7,
    "She took",
    target_challenge_card=NAMED,
    cards_played_on_challenge=[LADLE | {"name": "Ladle"}],
)


def show(context) -> list[tuple[str, str, str]]:
    return [(each.kind, each.title, each.text) for each in context.segments]


def test_the_segments_of_a_move_stand_in_order():
    context = storium_context(GAME, DRAFT, story="s1")
    assert show(context) == [
        ("character", "Ida", "A brave cook."),
        ("intro", "The mill", "A wheel in the dark.\nRain fell."),
        ("previous", "Ida", "Ida stirs."),
        ("previous", "Narrator", "The water rises."),
        ("challenge", "Flood", "The river rises!\nIf it goes well: Dry.\nIf it goes badly: Wet."),
        ("strength", "Ladle", "A long ladle"),
    ]
    assert context.text == "She took"
    assert (context.game, context.entry) == (GAME, DRAFT)


def test_the_papers_minimums_are_the_defaults():
    segments = storium_context(GAME, DRAFT, story="s1").segments
    asked = {each.kind: (each.minimum, each.priority) for each in segments}
    assert asked == {
        "intro": (50, 1), "character": (50, 2), "challenge": (30, 3), "strength": (20, 4),
        "previous": (100, 5),
    }  # fmt: skip
    turned = storium_context(GAME, DRAFT, story="s1", strongest="first").segments
    assert [each.priority for each in turned] == [7 - each.priority for each in segments]


def test_the_entry_right_before_is_part_of_the_history():
    by_ida = storium_context(GAME, entry(7, "", **by(1)), story="s1", history=2)
    assert [text for kind, _, text in show(by_ida) if kind == "previous"] == [
        "Ida stirs.", "Bo builds a dam.", "The water rises.",
    ]  # fmt: skip
    more = storium_context(GAME, entry(7, "", **by(1)), story="s1", history=3)
    assert more.segments == by_ida.segments
    bare = storium_context(GAME, entry(5, ""), story="s1", history=0)
    assert "previous" not in [each.kind for each in bare.segments]


def test_an_own_last_entry_is_shown_once():
    again = storium_context(GAME, entry(5, "", **by(1)), story="s1")
    assert [text for kind, _, text in show(again) if kind == "previous"] == ["Ida stirs."]


def test_the_history_goes_back_into_scenes_before():
    first = storium_context(GAME, entry(4, "", **by(2)), story="s1")
    assert ("previous", "Ida", "Ida sang.") in show(first)


def test_the_release_leaves_out_the_entry_right_before():
    released = storium_context(GAME, DRAFT, story="s1", history=1, compat=True)
    assert [text for kind, _, text in show(released) if kind == "previous"] == ["Bo builds a dam."]
    assert ("intro", "The mill", "A wheel in the dark.") in show(released)
    none = storium_context(GAME, DRAFT, story="s1", history=0, compat=True)
    assert "previous" not in [each.kind for each in none.segments]


def test_the_release_shows_the_cards_of_an_entry_instead_of_its_text():
    later = entry(6, "", **by(2))
    released = storium_context(GAME, later, story="s1", history=1, compat=True)
    previous = next(each for each in released.segments if each.kind == "previous")
    assert previous.text.startswith("The river rises!")
    assert "A long ladle" in previous.text


def test_what_is_missing_is_left_out():
    empty = storium_context({}, {"role": "narrator"}, story="s1")
    assert (empty.segments, empty.text) == ((), "")
    nameless = game("g2", [entry(1, None)], characters=[{"character_seq_id": 1}])
    assert storium_context(nameless, entry(2, None), story="s1").segments == ()


def test_a_draft_may_stand_in_a_scene_that_is_not_the_last():
    context = storium_context(GAME, entry(1, ""), story="s1", scene=0)
    assert ("intro", "", "The first night.") in show(context)
    assert [text for kind, _, text in show(context) if kind == "previous"] == ["Ida sang."]


def test_odd_json_shows_what_it_has():
    odd = {"scenes": [None, {"entries": "x"}, {"entries": [3, {"description": "Rain."}]}]}
    context = storium_context(odd, {"challenge_cards": [None], "character_seq_id": 4}, story="s1")
    assert show(context) == [("previous", "Narrator", "Rain.")]


def test_a_prompt_is_one_segment():
    context = prompt_context("A mill burns.", "It was", story="s1")
    assert (show(context), context.text) == ([("prompt", "", "A mill burns.")], "It was")
    assert prompt_context("  ", story="s1").segments == ()


def test_a_context_is_stored_and_read_again():
    for context in (storium_context(GAME, DRAFT, story="s1"), prompt_context("P", story="s2")):
        stored = json.loads(json.dumps(context_to_json(context)))
        assert context_from_json(stored) == context
        stored["later"] = stored["segments"][0]["newer"] = 1
        assert context_from_json(stored) == context


@pytest.mark.parametrize("value", [None, [], {}, {"story": 3}, {"story": "s", "segments": [1]}])
def test_what_is_no_context_is_refused(value):
    with pytest.raises(InputError, match="context"):
        context_from_json(value)
