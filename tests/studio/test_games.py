from __future__ import annotations

import pytest
from sqlalchemy import select

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound
from fabula.studio.games import (
    archive_game,
    change_game,
    create_game,
    exclude_game,
    invite_member,
    list_games,
    list_members,
    lock_game,
    need_member,
    next_seq_id,
    remove_member,
)
from fabula.studio.scenes import add_character, add_scene, read_game
from fabula.studio.tables import audit, entries
from fakes.studio_people import put_person


@pytest.fixture
def ann(studio):
    return put_person(studio, "ann")


@pytest.fixture
def bob(studio):
    return put_person(studio, "bob")


@pytest.fixture
def game(studio, ann):
    return create_game(studio, ann, key="k", title="The salt road", world="Dunes")


def test_who_begins_a_game_is_its_narrator(studio, ann, game):
    assert (game.title, game.world, game.part, game.owner_id) == (
        "The salt road", "Dunes", "narrator", ann.id,
    )  # fmt: skip
    assert list_games(studio, ann) == [game]


def test_the_same_key_gives_the_same_game(studio, ann, bob, game):
    assert create_game(studio, ann, key="k", title="Another") == game
    assert create_game(studio, bob, key="k", title="Another").id != game.id


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"title": " "}, "the title is empty"),
        ({"title": "x" * 301}, "the title has 301 characters; 300 are the most"),
        ({"description": "a\0b"}, "the description holds a sign that cannot be kept"),
        ({"key": ""}, "the key is empty"),
        ({"key": "k" * 65}, "the key has 65 characters"),
    ],
)
def test_what_a_game_cannot_be_called_is_said(studio, ann, changes, message):
    with pytest.raises(InputError, match=message):
        create_game(studio, ann, **{"key": "k", "title": "T"} | changes)
    assert list_games(studio, ann) == []


def test_an_annotator_begins_no_game(studio):
    with pytest.raises(NotAllowed, match="ask for the role author"):
        create_game(studio, put_person(studio, "eve", "annotator"), key="k", title="T")


def test_to_others_a_game_is_not_there_but_researchers_read_all(studio, bob, game):
    researcher = put_person(studio, "rea", "researcher")
    with studio.read() as db:
        with pytest.raises(NotFound, match="there is no game"):
            need_member(db, bob, game.id)
        assert need_member(db, researcher, game.id) == "reader"
        with pytest.raises(NotAllowed, match="a reader of this game may not do this"):
            need_member(db, researcher, game.id, "narrator")
        with pytest.raises(NotFound):
            need_member(db, researcher, "f" * 32)
    assert list_games(studio, bob) == []
    assert [found.id for found in list_games(studio, researcher)] == [game.id]


def test_an_invited_person_has_the_part_and_can_get_another(studio, ann, bob, game):
    assert invite_member(studio, ann, game.id, bob.id, "reader").part == "reader"
    invite_member(studio, ann, game.id, bob.id, "player")
    with studio.read() as db:
        parts = {member.name: member.part for member in list_members(db, bob, game.id)}
    assert parts == {"ann": "narrator", "bob": "player"}
    with pytest.raises(NotAllowed):
        invite_member(studio, bob, game.id, ann.id, "reader")
    with pytest.raises(Conflict, match="who owns a game stays its narrator"):
        invite_member(studio, ann, game.id, ann.id, "player")
    with pytest.raises(NotFound, match="there is nobody"):
        invite_member(studio, ann, game.id, "f" * 32, "player")
    with pytest.raises(InputError, match="there is no part 'bard'"):
        invite_member(studio, ann, game.id, bob.id, "bard")


def test_who_leaves_leaves_the_characters_behind(studio, ann, bob, game):
    invite_member(studio, ann, game.id, bob.id, "player")
    assert add_character(studio, bob, game.id, key="c", name="Ida").player_id == bob.id
    remove_member(studio, bob, game.id, bob.id)
    assert [one.player_id for one in read_game(studio, ann, game.id).characters] == [None]
    assert list_games(studio, bob) == []
    with pytest.raises(Conflict, match="cannot leave"):
        remove_member(studio, ann, game.id, ann.id)


def test_a_narrator_changes_a_game_and_says_that_its_story_is_told(studio, ann, bob, game):
    changed = change_game(studio, ann, game.id, title="Salt", is_complete=True)
    assert changed.title == "Salt" and changed.completed_at is not None
    again = change_game(studio, ann, game.id, is_complete=True)
    assert again.completed_at == changed.completed_at
    assert change_game(studio, ann, game.id, is_complete=False).completed_at is None
    with pytest.raises(NotFound):
        change_game(studio, bob, game.id, title="Mine")


def test_an_archived_game_is_only_read(studio, ann, game):
    archive_game(studio, ann, game.id)
    assert list_games(studio, ann) == []
    assert [found.id for found in list_games(studio, ann, archived=True)] == [game.id]
    with pytest.raises(Conflict, match="the game is archived"):
        add_scene(studio, ann, game.id, key="s")
    assert read_game(studio, ann, game.id).scenes == ()
    archive_game(studio, ann, game.id, back=True)
    assert add_scene(studio, ann, game.id, key="s").number == 1


def test_only_a_researcher_leaves_a_game_out_of_statistics(studio, ann, game):
    with pytest.raises(NotAllowed):
        exclude_game(studio, ann, game.id)
    researcher = put_person(studio, "rea", "researcher")
    assert exclude_game(studio, researcher, game.id).is_excluded
    assert not exclude_game(studio, researcher, game.id, is_excluded=False).is_excluded


def test_entries_are_numbered_on_from_the_last(studio, ann, game):
    scene = add_scene(studio, ann, game.id, key="s")
    with studio.write() as db:
        assert next_seq_id(db, game.id) == 1
        row = {"game_id": game.id, "scene_id": scene.id, "seq_id": 7, "format": "move"}
        db.execute(entries.insert().values(**row))
        assert next_seq_id(db, game.id) == 8
        with pytest.raises(NotFound):
            next_seq_id(db, "f" * 32)


def test_taking_a_game_says_that_it_changed(studio, ann, game):
    with studio.write() as db:
        lock_game(db, ann, game.id)
    assert list_games(studio, ann)[0].changed_at > game.changed_at


def test_what_concerns_others_is_in_the_audit_log(studio, ann, bob, game):
    invite_member(studio, ann, game.id, bob.id, "player")
    remove_member(studio, ann, game.id, bob.id)
    archive_game(studio, ann, game.id)
    with studio.read() as db:
        rows = db.execute(select(audit).where(audit.c.object == game.id).order_by(audit.c.id)).all()
    assert [row.action for row in rows] == [
        "create_game", "invite_member", "remove_member", "archive_game",
    ]  # fmt: skip
    assert {row.person_id for row in rows} == {ann.id}
    assert rows[1].detail == {"person_id": bob.id, "part": "player"}
