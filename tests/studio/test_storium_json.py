from __future__ import annotations

import json

import pytest

from fabula.datasets.story_games import game as checker
from fabula.studio.cards import add_card
from fabula.studio.games import create_game
from fabula.studio.scenes import add_character, add_scene
from fabula.studio.storium_json import export_game, import_game
from fakes.storium_games import SMALL
from fakes.studio_people import put_person


@pytest.fixture
def ann(studio):
    return put_person(studio, "ann")


def export(studio, game_id):
    with studio.read() as db:
        return json.loads(json.dumps(export_game(db, game_id)))


def test_a_game_goes_out_as_it_came_in(studio, ann):
    assert export(studio, import_game(studio, ann, SMALL)) == SMALL


def test_a_game_made_here_has_every_key_and_can_be_read(studio, ann):
    made = create_game(studio, ann, key="k", title="The salt road", world="Dunes")
    add_character(studio, ann, made.id, key="c", name="Ida", description="A cook.")
    add_card(studio, ann, made.id, key="flood", namespace="obstacle", name="The flood")
    add_scene(studio, ann, made.id, key="s", title="Rain")
    written = export(studio, made.id)
    read = checker.read_game(written, "export")
    assert (read.id, read.characters, len(read.scenes)) == (made.id, ("A cook.",), 1)
    other = put_person(studio, "bob")
    assert export(studio, import_game(studio, other, written)) == written
