"""Drafts: who may open one where, and how it ends."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound
from fabula.studio.cards import add_card
from fabula.studio.drafts import (
    change_draft,
    discard_draft,
    list_drafts,
    open_draft,
    read_draft,
    view_draft,
)
from fabula.studio.edits import Edit
from fabula.studio.games import invite_member
from fabula.studio.publishing import publish_entry
from fabula.studio.scenes import add_character, add_scene, close_scene
from fabula.studio.tables import jobs, suggestions
from fabula.studio.versions import save_draft
from fakes.studio_people import put_person
from fakes.studio_writing import begin_draft, lay_table, put_machine, put_suggestion


@pytest.fixture
def table(studio):
    return lay_table(studio)


@pytest.fixture
def bob(studio, table):
    """A player of the game."""
    bob = put_person(studio, "bob")
    invite_member(studio, table.person, table.game_id, bob.id, "player")
    return bob


def prepared(studio):
    query = select(jobs.c.kind, jobs.c.key, jobs.c.machine_id).where(jobs.c.kind == "prepare")
    with studio.read() as db:
        return [tuple(row) for row in db.execute(query)]


def test_the_same_key_opens_the_same_draft_and_lets_the_machine_get_ready_once(studio, table):
    machine = put_machine(studio)
    draft = begin_draft(studio, table, format="establishment")
    assert begin_draft(studio, table) == draft
    assert (draft.text, draft.marks, draft.version, draft.state) == ("", (), 0, "open")
    assert prepared(studio) == [("prepare", draft.id, machine)]


def test_a_draft_is_opened_where_no_machine_is_free(studio, table):
    assert begin_draft(studio, table).state == "open"
    assert prepared(studio) == []


def test_a_player_writes_as_a_character_of_theirs(studio, table, bob):
    place = {"game_id": table.game_id, "scene_id": table.scene_id}
    with pytest.raises(InputError, match="a move needs a character"):
        open_draft(studio, bob, key="a", **place)
    maker = (studio, table.person, table.game_id)
    mine = add_character(*maker, key="m", name="Mira", player_id=bob.id)
    other = add_character(*maker, key="o", name="Oren")
    assert open_draft(studio, bob, key="a", **place).character_id == mine.id
    with pytest.raises(NotAllowed, match="Oren"):
        open_draft(studio, bob, key="b", **place, character_id=other.id)
    with pytest.raises(NotAllowed, match="a player writes no conclusion"):
        open_draft(studio, bob, key="b", **place, format="conclusion")
    assert open_draft(studio, table.person, key="b", **place, character_id=other.id)
    with pytest.raises(InputError, match="the narrator writes the addition"):
        begin_draft(studio, table, character_id=other.id)


def test_a_draft_needs_a_game_and_an_open_scene_of_it(studio, table):
    eve = put_person(studio, "eve")
    with pytest.raises(NotFound):
        open_draft(studio, eve, key="k", game_id=table.game_id, scene_id=table.scene_id)
    with pytest.raises(NotFound):
        begin_draft(studio, table, scene_id="0" * 32)
    with pytest.raises(InputError, match="there is no format 'ode'"):
        begin_draft(studio, table, format="ode")
    close_scene(studio, table.person, table.game_id, table.scene_id)
    with pytest.raises(Conflict, match="is complete"):
        begin_draft(studio, table)


def test_cards_are_those_of_the_game_and_may_be_changed(studio, table):
    for name in ("storm", "rope"):
        add_card(
            studio, table.person, table.game_id,
            key=name, namespace="obstacle" if name == "storm" else "thing", name=name.title(),
        )  # fmt: skip
    draft = begin_draft(studio, table, cards={"target": ["storm"], "played": []})
    assert draft.cards == {"target": ["storm"]}
    changed = change_draft(
        studio, table.person, draft.id, cards={"target": ["storm"], "played": ["rope"]}
    )
    assert changed.cards == {"target": ["storm"], "played": ["rope"]}
    for cards, message in (
        ({"target": ["storm", "rope"]}, "give at most 1"),
        ({"hand": ["rope"]}, "there is no use 'hand'"),
        ({"played": "rope"}, "no list of cards"),
        ({"played": ["sword"]}, "the game has no card 'sword'"),
    ):
        with pytest.raises(InputError, match=message):
            change_draft(studio, table.person, draft.id, cards=cards)
    assert read_draft(studio, table.person, draft.id) == changed


def test_a_draft_that_is_put_away_waits_for_nothing(studio, table):
    draft, kept = begin_draft(studio, table, "a"), begin_draft(studio, table, "b")
    waiting = put_suggestion(studio, draft, "", status="executing")
    written = put_suggestion(studio, draft, "Rain.")
    discarded = discard_draft(studio, table.person, draft.id)
    assert discarded.state == "discarded"
    assert discard_draft(studio, table.person, draft.id) == discarded
    assert [one.id for one in list_drafts(studio, table.person)] == [kept.id]
    assert len(list_drafts(studio, table.person, state=None)) == 2
    assert list_drafts(studio, table.person, game_id="0" * 32) == []
    with studio.read() as db:
        states = dict(db.execute(select(suggestions.c.id, suggestions.c.status)).all())
    assert states == {waiting: "cancelled", written: "done"}


def test_a_draft_is_seen_with_the_scenes_before_it_and_its_place_among_entries(studio, table):
    put_machine(studio)
    first = begin_draft(studio, table, "one")
    assert view_draft(studio, table.person, first.id).scenes[-1][1] == 0
    for key in ("one", "two"):
        draft = begin_draft(studio, table, key)
        edits = [Edit(0, 0, "Salt.")]
        save_draft(studio, table.person, draft.id, key=key, base_version=0, edits=edits)
        publish_entry(studio, table.person, draft.id, version=1)
    later = add_scene(studio, table.person, table.game_id, key="later")
    add_scene(studio, table.person, table.game_id, key="last")
    view = view_draft(studio, table.person, begin_draft(studio, table, "x", scene_id=later.id).id)
    assert [(scene.number, count) for scene, count in view.scenes] == [(1, 2), (2, 0)]
    assert (view.author, view.machine, view.seq_id) == (table.person.name, "lorem", None)
    assert view_draft(studio, table.person, first.id).seq_id == 1


def test_the_view_of_a_draft_is_not_for_others(studio, table, bob):
    draft = begin_draft(studio, table)
    assert view_draft(studio, table.person, draft.id).machine is None
    with pytest.raises(NotFound):
        view_draft(studio, bob, draft.id)
    dan = put_person(studio, "dan", "researcher")
    assert view_draft(studio, dan, draft.id).draft == draft
