from __future__ import annotations

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound
from fabula.datasets.storium_samples import read_exports
from fabula.datasets.story_games.game import FORMATS, NAMESPACES
from fabula.datasets.story_games.game import read_game as check_export
from fabula.studio.cards import add_card, change_card, delete_card, list_cards
from fabula.studio.games import change_game, create_game
from fabula.studio.scenes import (
    add_character,
    add_scene,
    change_character,
    list_entries,
    read_game,
)
from fabula.studio.storium_json import (
    download_game,
    entry_json,
    export_game,
    import_game,
    import_samples,
)
from fakes.storium_games import SMALL, card, entry, game
from fakes.studio_people import put_person


@pytest.fixture
def ann(studio):
    return put_person(studio, "ann")


def export(studio, game_id):
    with studio.read() as db:
        return json.loads(json.dumps(export_game(db, game_id)))


def test_a_game_goes_out_as_it_came_in(studio, ann):
    assert export(studio, import_game(studio, ann, SMALL)) == SMALL


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
NUMBERS = st.integers() | st.floats(-1e15, 1e15)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
UNKNOWN = st.dictionaries(TEXTS.map("x_{}".format), VALUES, max_size=2)
MAYBE_TEXT = st.none() | TEXTS
IDS = st.sampled_from(["c1", "c2", "c3", 4, "4"])
SIZES = st.none() | st.integers(0, 9)
IMAGES = st.none() | st.fixed_dictionaries(
    {"url": MAYBE_TEXT, "alt_text": MAYBE_TEXT}, optional={"attribution_text": MAYBE_TEXT}
)


def objects(needed, optional):
    """Objects with all needed keys, some optional ones, and some that nobody knows."""
    known = st.fixed_dictionaries(needed, optional=optional)
    return st.builds(lambda first, second: first | second, UNKNOWN, known)


CARDS = objects(
    {
        "card_id": IDS,
        "namespace": st.sampled_from(NAMESPACES),
        "pretty_namespace": TEXTS,
        "polarity": st.sampled_from([-1, 0, 1]),
        "is_deleted": st.booleans(),
        "is_wild": st.booleans(),
        "stack_size": SIZES,
    },
    {
        "name": MAYBE_TEXT,
        "image": IMAGES,
        "description": MAYBE_TEXT,
        "author_user_pid": MAYBE_TEXT,
        "author_character_seq_id": st.none() | st.integers(1, 3),
        "via_wild_exchanged_for": st.sampled_from([None, "new", "existing"]),
        "is_edited": st.none() | st.booleans(),
        "redacted": st.none() | st.booleans(),
        "challenge_points": SIZES,
        "challenge_points_polarities": st.none() | st.lists(st.integers(-1, 1), max_size=2),
        "success_stakes": MAYBE_TEXT,
        "failure_stakes": MAYBE_TEXT,
        "suggested_stack_size": SIZES,
    },
)
AUTOTEXTS = objects(
    {
        "type": st.sampled_from(["pickupCard", "giveCard", "newSubplot", "discardCard"]),
        "automatic": st.booleans(),
        "text": TEXTS,
    },
    {"card": st.none() | CARDS, "to_character_seq_id": st.none() | TEXTS},
)
HANDS = st.just("unchanged") | st.lists(
    st.fixed_dictionaries({"card_id": IDS, "stack_size": st.integers(1, 3)}), max_size=2
)
TIMES = st.sampled_from(
    [
        "2020-1-31 7:05:00 UTC",
        "2020-01-31T07:05:00.123Z",
        "1999-12-31 23:59:59",
        "2020-2-29T0:0:0+01:00",
    ]
)
ENTRIES = objects(
    {
        "user_pid": st.sampled_from(["u1", "u2", 3]),
        "format": st.sampled_from(FORMATS),
        "pretty_format": TEXTS,
        "role": st.sampled_from(["narrator", "character:1", "character:2", "character:77"]),
        "created_at": TIMES,
        "hand_context": st.fixed_dictionaries({"pre": HANDS, "post": HANDS}),
        "challenge_cards": st.lists(CARDS, max_size=2),
        "cards_played_on_challenge": st.lists(CARDS, max_size=2),
        "cards_for_pickup": st.lists(CARDS, max_size=1),
        "autotexts": st.lists(AUTOTEXTS, max_size=1),
        "author_is_narrator_when_published": st.booleans(),
    },
    {
        "description": MAYBE_TEXT,
        "character_seq_id": st.none() | TEXTS,
        "image": IMAGES,
        "target_challenge_card": st.none() | CARDS,
        "challenge_completion_polarity": st.sampled_from([None, -1, 0, 1]),
        "place_card": st.none() | CARDS,
        "revisions_requested": st.none() | st.booleans(),
        "revision_request_reason": MAYBE_TEXT,
        "redacted": st.none() | st.booleans(),
    },
)
SEQ_IDS = st.integers(0, 50) | st.sampled_from(["a", "7", 2**40])


def number(turns, seq_ids):
    return [turn | {"seq_id": seq_id} for turn, seq_id in zip(turns, seq_ids, strict=False)]


TURNS = st.builds(
    number, st.lists(ENTRIES, max_size=3), st.lists(SEQ_IDS, unique_by=str, min_size=3, max_size=3)
)
SCENES = objects(
    {"entries": TURNS},
    {"act_number": SIZES, "title": MAYBE_TEXT, "is_complete": st.none() | st.booleans()},
)
GAMES = objects(
    {
        "game_pid": TEXTS.filter(bool),
        "characters": st.lists(
            objects(
                {"character_seq_id": st.sampled_from([1, "2", 3])},
                {"name": MAYBE_TEXT, "description": MAYBE_TEXT, "user_pid": MAYBE_TEXT},
            ),
            unique_by=lambda one: str(one["character_seq_id"]),
            max_size=2,
        ),
        "scenes": st.lists(SCENES, max_size=3),
    },
    {
        "exported_at": MAYBE_TEXT,
        "cards": st.none() | st.lists(CARDS, max_size=3),
        "name": MAYBE_TEXT,
        "description": MAYBE_TEXT,
        "world": VALUES,
        "completed_at": st.none() | TIMES,
    },
)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(value=GAMES)
def test_any_game_goes_out_equal_and_so_does_what_is_exported_of_it(studio, value):
    first, second = put_person(studio, None), put_person(studio, None)
    written = export(studio, import_game(studio, first, copy.deepcopy(value)))
    assert written == value
    assert export(studio, import_game(studio, second, written)) == value


def test_a_game_made_here_has_every_key_and_can_be_read(studio, ann):
    made = create_game(studio, ann, key="k", title="The salt road", world="Dunes")
    add_character(studio, ann, made.id, key="c", name="Ida", description="A cook.")
    add_card(studio, ann, made.id, key="flood", namespace="obstacle", name="The flood")
    add_scene(studio, ann, made.id, key="s", title="Rain")
    written = export(studio, made.id)
    read = check_export(written, "export")
    assert (read.id, read.characters, len(read.scenes)) == (made.id, ("A cook.",), 1)
    assert [one.id for one in read.cards] == ["flood"]
    other = put_person(studio, "bob")
    assert export(studio, import_game(studio, other, written)) == written


def test_only_what_was_changed_is_written_anew(studio, ann):
    odd = game(
        "g", [entry(1, "One.", x_mood="calm")], cards=[card("c1", x_art=[1], description=None)]
    )
    odd["characters"][0]["x_age"] = 40
    game_id = import_game(studio, ann, odd)
    (held,) = read_game(studio, ann, game_id).characters
    change_character(studio, ann, game_id, held.id, name="Ada")
    change_card(studio, ann, game_id, "c1", description="Wet.")
    change_game(studio, ann, game_id, title="Renamed")
    wanted = copy.deepcopy(odd)
    wanted["name"] = "Renamed"
    wanted["characters"][0]["name"] = "Ada"
    wanted["cards"][0] |= {"description": "Wet.", "is_edited": True}
    written = export(studio, game_id)
    assert written.pop("exported_at") != wanted.pop("exported_at")
    assert written == wanted
    delete_card(studio, ann, game_id, "c1")
    assert export(studio, game_id)["cards"][0]["is_deleted"] is True


def test_cards_made_since_stand_behind_those_that_came(studio, ann):
    game_id = import_game(studio, ann, SMALL)
    add_card(studio, ann, game_id, key="new", namespace="place", name="A hut")
    assert [one["card_id"] for one in export(studio, game_id)["cards"]] == ["c2", "new"]


def test_the_same_game_again_is_the_same_and_another_with_its_name_is_refused(studio, ann):
    game_id = import_game(studio, ann, SMALL)
    assert import_game(studio, ann, copy.deepcopy(SMALL)) == game_id
    with pytest.raises(Conflict, match="you have another game with game_pid 'g1'"):
        import_game(studio, ann, SMALL | {"name": "Other"})
    bob = put_person(studio, "bob")
    assert import_game(studio, bob, SMALL) != game_id
    with pytest.raises(NotFound):
        download_game(studio, bob, game_id)
    assert download_game(studio, ann, game_id) == SMALL


def test_an_annotator_brings_no_games(studio):
    with pytest.raises(NotAllowed):
        import_game(studio, put_person(studio, "eve", "annotator"), SMALL)


def test_what_is_wrong_is_named_and_nothing_is_taken_in(studio, ann):
    late = entry(2, "Two.", created_at="2020-13-31 7:05:00 UTC")
    twice = [{"character_seq_id": 1}, {"character_seq_id": "1"}]
    wrong = {
        "scene 1, entry 2: key 'format'": game("g", [entry(1, ""), entry(2, "", format="song")]),
        "entry 2, created_at: '2020-13-31": game("g", [entry(1, "One."), late]),
        "character 2: character_seq_id 1 again": game("g", characters=twice),
        "key 'character_seq_id' is no number": game("g", characters=[{"character_seq_id": "x"}]),
        "x_note holds a sign that cannot be kept": game("g", x_note="a\0b"),
        "x_size: nan is no number": game("g", x_size=float("nan")),
        "nested deeper than 50": game("g", x_deep=json.loads("[" * 60 + "]" * 60)),
        "a list, not an object": [],
    }  # fmt: skip
    for message, value in wrong.items():
        with pytest.raises(InputError, match=message):
            import_game(studio, ann, value)
    assert import_game(studio, ann, game("g"))


def test_cards_lie_in_the_hands_that_held_them_last(studio, ann):
    stack = [{"card_id": "c2", "stack_size": 1}]
    turn = entry(1, "One.", hand_context={"pre": [], "post": stack})
    later = entry(2, "Two.", hand_context={"pre": "unchanged", "post": "unchanged"})
    game_id = import_game(studio, ann, game("g", [turn, later], cards=[card("c1"), card("c2")]))
    (ida,) = read_game(studio, ann, game_id).characters
    assert [one.card_id for one in list_cards(studio, ann, game_id, character_id=ida.id)] == ["c2"]


def test_an_entry_can_be_had_by_itself(studio, ann):
    game_id = import_game(studio, ann, SMALL)
    told, _ = list_entries(studio, ann, game_id, limit=3)
    with studio.read() as db:
        for turn, raw in zip(told, SMALL["scenes"][0]["entries"], strict=True):
            assert entry_json(db, entry_id=turn.id) == raw
        with pytest.raises(NotFound):
            entry_json(db, draft_id="f" * 32)


def test_the_sample_games_come_in_and_go_out_as_they_are(studio, ann):
    ids = import_samples(studio, ann)
    assert import_samples(studio, ann) == ids
    assert [export(studio, game_id) for game_id in ids] == list(read_exports())
    played = [one.player_id for one in read_game(studio, ann, ids[0]).characters]
    assert played == [None, None, None]
