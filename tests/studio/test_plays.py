from __future__ import annotations

import pytest

from fabula.core.errors import Conflict, InputError, NotAllowed
from fabula.datasets.story_games.game import read_game as check_export
from fabula.studio.cards import add_card, find_card, give_card, list_cards
from fabula.studio.games import create_game, invite_member, next_seq_id
from fabula.studio.hands import choose_subplot, exchange_wild, refresh_cards
from fabula.studio.plays import Challenge, lay_cards, list_challenges, plan_turn
from fabula.studio.scenes import add_character, add_scene, close_scene, list_entries
from fabula.studio.storium_json import export_game
from fabula.studio.tables import entries, new_id
from fakes.studio_people import put_person


class Table:
    """A game of a narrator and a player, whose Ida stands before a flood of two points."""

    def __init__(self, studio):
        self.studio = studio
        self.ann, self.bob = put_person(studio, "ann"), put_person(studio, "bob")
        self.game_id = create_game(studio, self.ann, key="g", title="Rain").id
        invite_member(studio, self.ann, self.game_id, self.bob.id, "player")
        self.scene_id = add_scene(studio, self.ann, self.game_id, key="s").id
        self.ida = add_character(studio, self.bob, self.game_id, key="i", name="Ida").id
        self.add(self.ann, "flood", "obstacle", challenge_points=2, success_stakes="Dry.")
        self.add(self.bob, "ladle", "strength", character_id=self.ida, stack_size=2)
        self.add(self.bob, "fear", "weakness", character_id=self.ida, stack_size=1)

    def add(self, person, key, namespace, **other):
        return add_card(
            self.studio, person, self.game_id, key=key, namespace=namespace, name=key, **other
        )

    def write(self, person, format, *, as_ida=False, **cards):
        """Publish an entry as a draft would be."""
        place = {"game_id": self.game_id, "scene_id": self.scene_id, "format": format}
        place["character_id"] = self.ida if as_ida else None
        with self.studio.write() as db:
            turn = plan_turn(db, person, cards=cards, **place)
            entry = {"id": new_id(), "seq_id": next_seq_id(db, self.game_id), "text": "Text."}
            entry |= {"polarity": turn.polarity, "extra": turn.extra, "author_id": person.id}
            db.execute(entries.insert().values(**place, **entry))
            lay_cards(db, entry["id"], self.game_id, turn)
        return turn

    def challenges(self):
        return list_challenges(self.studio, self.bob, self.game_id, self.scene_id)


@pytest.fixture
def table(studio):
    return Table(studio)


def test_a_challenge_is_complete_with_its_last_point_and_has_the_sign_of_the_sum(table):
    table.write(table.ann, "establishment", challenge=["flood"])
    assert table.challenges() == [Challenge("flood", "flood", 2)]
    first = table.write(table.bob, "move", as_ida=True, target=["flood"], played=["ladle"])
    assert first.polarity is None
    second = table.write(table.bob, "move", as_ida=True, target=["flood"], played=["fear"])
    assert second.polarity == 0
    (challenge,) = table.challenges()
    assert (challenge.polarities, challenge.points_left, challenge.outcome) == ((1, -1), 0, 0)
    with pytest.raises(Conflict, match="'flood' takes 0 more cards"):
        table.write(table.bob, "move", as_ida=True, target=["flood"], played=["ladle"])


@pytest.mark.parametrize(
    ("played", "outcome"), [(["ladle", "ladle"], 1), (["fear", "ladle"], 0), (["ladle"], None)]
)
def test_the_outcome_is_told_by_the_cards(table, played, outcome):
    table.write(table.ann, "establishment", challenge=["flood"])
    turn = table.write(table.bob, "move", as_ida=True, target=["flood"], played=played)
    assert turn.polarity == outcome


def test_played_cards_leave_the_hand_and_come_back_with_a_refresh(table):
    table.write(table.ann, "establishment", challenge=["flood"])
    turn = table.write(table.bob, "move", as_ida=True, target=["flood"], played=["fear"])
    both = [{"card_id": "ladle", "stack_size": 2}, {"card_id": "fear", "stack_size": 1}]
    assert turn.extra["hand"] == {"pre": both, "post": both[:1]}
    with pytest.raises(Conflict, match="0 of the card 'fear' are left"):
        table.write(table.bob, "move", as_ida=True, target=["flood"], played=["fear"])
    place = (table.studio, table.bob, table.game_id, table.scene_id, table.ida)
    entry = refresh_cards(*place, key="r")
    assert entry.format == "refresh" and refresh_cards(*place, key="r") == entry
    with table.studio.read() as db:
        assert find_card(db, table.game_id, "fear").stack_size == 1
        written = export_game(db, table.game_id)["scenes"][0]["entries"][-1]
    assert written["hand_context"] == {"pre": both[:1], "post": both}
    assert [one["type"] for one in written["autotexts"]] == ["refreshCards"]


def test_a_character_has_one_subplot_at_a_time(table):
    place = (table.studio, table.bob, table.game_id, table.scene_id, table.ida)
    entry = choose_subplot(*place, key="debt", name="An old debt")
    assert choose_subplot(*place, key="debt", name="An old debt") == entry
    with pytest.raises(Conflict, match="Ida has the subplot 'An old debt'"):
        choose_subplot(*place, key="love", name="A new love")
    assert [card.stack_size for card in list_cards(*place[:3], character_id=table.ida)] == [2, 1, 3]


def test_a_wild_card_is_exchanged_before_it_is_played(table):
    table.write(table.ann, "establishment", challenge=["flood"])
    table.add(table.ann, "wild", "strength", is_wild=True, character_id=table.ida)
    with pytest.raises(Conflict, match="'wild' is a wild card"):
        table.write(table.bob, "move", as_ida=True, target=["flood"], played=["wild"])
    asked = (table.studio, table.bob, table.game_id, "wild")
    card = exchange_wild(*asked, key="oar", name="A borrowed oar")
    assert exchange_wild(*asked, key="oar", name="A borrowed oar") == card
    with pytest.raises(Conflict, match="no wild card in a hand"):
        exchange_wild(*asked, key="sail", name="A sail")
    turn = table.write(table.bob, "move", as_ida=True, target=["flood"], played=["oar"])
    assert turn.laid[1][1]["via_wild_exchanged_for"] == "new"


FORBIDDEN = (
        ("bob", "establishment", False, {}, NotAllowed, "establishment is the narrator's"),
        ("bob", "move", False, {}, InputError, "needs a character"),
        ("bob", "move", True, {"challenge": ["flood"]}, InputError, "none lies as challenge"),
        ("bob", "move", True, {"played": ["ladle"]}, InputError, "go together"),
        ("bob", "move", True, {"target": ["a", "b"]}, InputError, "2 for target"),
        ("bob", "move", True, {"hat": ["ladle"]}, InputError, "there is no use 'hat'"),
        (
            "bob", "move", True, {"target": ["flood"], "played": ["ladle"]}, InputError,
            "is no challenge of this scene",
        ),
        ("ann", "addition", False, {"place": ["flood"]}, InputError, "'flood' is no place"),
        ("ann", "addition", False, {"challenge": ["ladle"]}, InputError, "'ladle' is no challenge"),
        ("ann", "addition", False, {"pickup": ["nothing"]}, InputError, "has no card 'nothing'"),
        ("ann", "move", True, {"target": ["flood"]}, InputError, "go together"),
)  # fmt: skip


def test_what_the_rules_forbid_is_said(table):
    for who, format, as_ida, cards, error, message in FORBIDDEN:
        with pytest.raises(error, match=message):
            table.write(getattr(table, who), format, as_ida=as_ida, **cards)
    assert list_entries(table.studio, table.ann, table.game_id) == ([], 0)


def test_nothing_is_written_in_a_scene_that_is_complete(table):
    close_scene(table.studio, table.ann, table.game_id, table.scene_id)
    with pytest.raises(Conflict, match="scene 1 is complete"):
        table.write(table.ann, "addition")


def test_cards_for_pickup_can_be_taken_and_no_others(table):
    table.add(table.ann, "key", "thing")
    with pytest.raises(NotAllowed, match="not there for pickup"):
        give_card(table.studio, table.bob, table.game_id, "key", table.ida)
    table.write(table.ann, "establishment", pickup=["key"])
    taken = give_card(table.studio, table.bob, table.game_id, "key", table.ida)
    assert taken.character_id == table.ida


def test_a_game_that_was_played_here_passes_the_check_of_exports(table):
    table.add(table.ann, "hut", "place")
    table.write(table.ann, "establishment", challenge=["flood"], place=["hut"])
    table.write(table.bob, "move", as_ida=True, target=["flood"], played=["ladle", "ladle"])
    with table.studio.read() as db:
        written = export_game(db, table.game_id)
    game = check_export(written, "export")
    assert [len(entry.played) for entry in game.entries()] == [0, 2]
    move = written["scenes"][0]["entries"][1]
    assert move["target_challenge_card"]["challenge_points_polarities"] == [1, 1]
    assert (move["challenge_completion_polarity"], move["role"]) == (1, "character:1")
