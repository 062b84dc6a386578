from __future__ import annotations

import pytest

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound
from fabula.datasets.story_games.game import NAMESPACES
from fabula.studio.cards import add_card, change_card, delete_card, give_card, list_cards
from fabula.studio.games import create_game, invite_member
from fabula.studio.scenes import add_character
from fakes.studio_people import put_person


@pytest.fixture
def ann(studio):
    return put_person(studio, "ann")


@pytest.fixture
def bob(studio):
    return put_person(studio, "bob")


@pytest.fixture
def game_id(studio, ann, bob):
    game_id = create_game(studio, ann, key="g", title="Rain").id
    invite_member(studio, ann, game_id, bob.id, "player")
    return game_id


@pytest.fixture
def ida(studio, bob, game_id):
    return add_character(studio, bob, game_id, key="ida", name="Ida").id


def test_there_are_nine_kinds_and_their_polarity_is_told_by_the_kind(studio, ann, game_id):
    for kind in NAMESPACES:
        add_card(studio, ann, game_id, key=kind, namespace=kind, name=kind)
    found = {card.namespace: card.polarity for card in list_cards(studio, ann, game_id)}
    assert found == dict.fromkeys(NAMESPACES, 0) | {"strength": 1, "weakness": -1}
    assert [card.number for card in list_cards(studio, ann, game_id)] == list(range(1, 10))


def test_the_same_key_gives_the_same_card(studio, ann, game_id):
    first = add_card(studio, ann, game_id, key="c", namespace="place", name="A hut")
    assert add_card(studio, ann, game_id, key="c", namespace="goal", name="Other") == first


WRONG = (
    ({"namespace": "joker"}, "there is no kind of card 'joker'"),
    ({"name": ""}, "the name is empty"),
    ({"namespace": "place", "challenge_points": 2}, "a card of the kind place is no challenge"),
    ({"namespace": "goal", "success_stakes": "Dry."}, "a card of the kind goal is no challenge"),
    ({"challenge_points": 21}, "challenge_points is 21; take a whole number up to 20"),
    ({"stack_size": -1}, "stack_size is -1"),
    ({"character_id": "f" * 32}, "the game has no character"),
)


def test_what_a_card_cannot_be_is_said(studio, ann, game_id):
    for changes, message in WRONG:
        with pytest.raises((InputError, NotFound), match=message):
            values = {"key": "c", "namespace": "obstacle", "name": "A flood"} | changes
            add_card(studio, ann, game_id, **values)
    assert list_cards(studio, ann, game_id) == []


def test_a_player_makes_cards_of_their_own_character_only(studio, ann, bob, game_id, ida):
    card = add_card(
        studio, bob, game_id, key="c", namespace="strength", name="A ladle", character_id=ida
    )
    assert card.character_id == ida
    eve = put_person(studio, "eve")
    invite_member(studio, ann, game_id, eve.id, "player")
    for person, kind, holder in ((eve, "strength", ida), (bob, "place", ida), (bob, "goal", None)):
        with pytest.raises(NotAllowed):
            add_card(
                studio, person, game_id, key="d", namespace=kind, name="x", character_id=holder
            )
    with pytest.raises(NotAllowed):
        change_card(studio, eve, game_id, "c", name="Mine")
    with pytest.raises(NotAllowed):
        give_card(studio, eve, game_id, "c", ida)


def test_a_reader_makes_nothing(studio, ann, game_id):
    eve = put_person(studio, "eve")
    invite_member(studio, ann, game_id, eve.id, "reader")
    with pytest.raises(NotAllowed, match="a reader of this game may not do this"):
        add_card(studio, eve, game_id, key="d", namespace="goal", name="x")
    assert list_cards(studio, eve, game_id) == []


def test_a_card_is_changed_and_only_what_can_be(studio, ann, bob, game_id, ida):
    add_card(studio, bob, game_id, key="c", namespace="goal", name="Home", character_id=ida)
    assert change_card(studio, bob, game_id, "c", name="Away", stack_size=2).name == "Away"
    with pytest.raises(InputError, match="'namespace' of a card is not changed"):
        change_card(studio, bob, game_id, "c", namespace="place")
    with pytest.raises(NotFound, match="the game has no card nothing"):
        change_card(studio, ann, game_id, "nothing", name="x")


def test_a_deleted_card_is_out_of_the_game(studio, ann, game_id, ida):
    add_card(studio, ann, game_id, key="c", namespace="goal", name="Home", character_id=ida)
    deleted = delete_card(studio, ann, game_id, "c")
    assert deleted.is_deleted and deleted.character_id is None
    assert delete_card(studio, ann, game_id, "c") == deleted
    assert list_cards(studio, ann, game_id) == []
    for verb in (change_card, lambda *words: give_card(*words, ida)):
        with pytest.raises(Conflict, match="was deleted"):
            verb(studio, ann, game_id, "c")


def test_a_card_goes_from_hand_to_hand(studio, ann, bob, game_id, ida):
    oda = add_character(studio, ann, game_id, key="oda", name="Oda").id
    add_card(studio, ann, game_id, key="c", namespace="thing", name="A lamp", character_id=ida)
    assert give_card(studio, bob, game_id, "c", oda).character_id == oda
    with pytest.raises(NotAllowed, match="Oda is played by somebody else"):
        give_card(studio, bob, game_id, "c", ida)
    assert give_card(studio, ann, game_id, "c", None).character_id is None
    with pytest.raises(NotAllowed, match="only the narrator lays cards back"):
        give_card(studio, bob, game_id, "c", None)
