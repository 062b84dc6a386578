from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound
from fabula.studio.games import create_game, invite_member, list_games, next_seq_id
from fabula.studio.scenes import (
    add_character,
    add_scene,
    change_character,
    change_scene,
    close_scene,
    list_entries,
    need_open_scene,
    read_game,
)
from fabula.studio.storium_json import import_game
from fabula.studio.tables import entries
from fakes.storium_games import SMALL
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


def test_scenes_are_numbered_and_the_same_key_gives_the_same_scene(studio, ann, bob, game_id):
    first = add_scene(studio, ann, game_id, key="a", title="Dawn")
    assert (first.number, first.title, first.is_complete) == (1, "Dawn", False)
    assert add_scene(studio, ann, game_id, key="b").number == 2
    assert add_scene(studio, ann, game_id, key="a", title="Dusk") == first
    with pytest.raises(NotAllowed, match="a player of this game may not do this"):
        add_scene(studio, bob, game_id, key="c")


def test_a_scene_is_closed_and_opened_again(studio, ann, game_id):
    scene = add_scene(studio, ann, game_id, key="a")
    assert close_scene(studio, ann, game_id, scene.id).is_complete
    with studio.read() as db, pytest.raises(Conflict, match="scene 1 is complete"):
        need_open_scene(db, game_id, scene.id)
    opened = change_scene(studio, ann, game_id, scene.id, title="Noon", is_complete=False)
    assert (opened.title, opened.is_complete) == ("Noon", False)


def test_a_scene_of_another_game_is_not_there(studio, ann, game_id):
    other = create_game(studio, ann, key="o", title="Other").id
    scene = add_scene(studio, ann, other, key="a")
    with pytest.raises(NotFound, match="the game has no scene"):
        close_scene(studio, ann, game_id, scene.id)


def test_a_players_character_is_their_own(studio, ann, bob, game_id):
    ida = add_character(studio, bob, game_id, key="c", name="Ida", description="A cook.")
    assert (ida.seq_id, ida.player_id) == (1, bob.id)
    assert add_character(studio, bob, game_id, key="c", name="Oda") == ida
    with pytest.raises(NotAllowed, match="characters of their own"):
        add_character(studio, bob, game_id, key="d", name="Oda", player_id=ann.id)
    assert change_character(studio, bob, game_id, ida.id, name="Ada").name == "Ada"
    with pytest.raises(NotAllowed):
        change_character(studio, bob, game_id, ida.id, player_id=None)


def test_a_narrator_says_who_plays_whom(studio, ann, bob, game_id):
    npc = add_character(studio, ann, game_id, key="c", name="The miller")
    assert npc.player_id is None
    with pytest.raises(NotAllowed, match="The miller is played by somebody else"):
        change_character(studio, bob, game_id, npc.id, description="Mine.")
    assert change_character(studio, ann, game_id, npc.id, player_id=bob.id).player_id == bob.id
    with pytest.raises(NotFound, match="does not play in this game; invite them first"):
        change_character(studio, ann, game_id, npc.id, player_id=put_person(studio, "eve").id)
    with pytest.raises(InputError, match="the name is empty"):
        add_character(studio, ann, game_id, key="d", name=" ")


def test_a_whole_game_is_read_in_its_order(studio, ann):
    game_id = import_game(studio, ann, SMALL)
    view = read_game(studio, ann, game_id)
    told, total = list_entries(studio, ann, game_id)
    assert ([entry.seq_id for entry in told], total) == ([1, 2, 3, 4], 4)
    assert [scene.is_complete for scene in view.scenes] == [False, True]
    uses = [[(card.use, card.card_id) for card in entry.cards] for entry in told]
    ladle = ("played", "c2")
    assert uses == [[("challenge", "c1")], [ladle, ("played", "c3")], [], [ladle]]
    assert [card.card_id for card in view.cards] == ["c2", "c1", "c3"]
    assert told[1].character_id == view.characters[0].id


def test_many_at_once_get_numbers_of_their_own_and_one_thing_a_key(studio, ann, game_id):
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda n: add_scene(studio, ann, game_id, key=f"k{n % 6}"), range(24)))
        games = list(
            pool.map(lambda _: create_game(studio, ann, key="same", title="Same").id, range(8))
        )
    assert sorted({scene.number for scene in made}) == [1, 2, 3, 4, 5, 6]
    assert len(read_game(studio, ann, game_id).scenes) == 6
    assert len(set(games)) == 1 and len(list_games(studio, ann)) == 2


def test_entries_published_at_once_are_numbered_one_after_the_other(studio, ann, game_id):
    scene = add_scene(studio, ann, game_id, key="s")

    def publish(_):
        with studio.write() as db:
            place = {"game_id": game_id, "scene_id": scene.id, "format": "move"}
            db.execute(entries.insert().values(seq_id=next_seq_id(db, game_id), **place))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(publish, range(16)))
    numbers = [entry.seq_id for entry in list_entries(studio, ann, game_id)[0]]
    assert numbers == list(range(1, 17))


def put_entries(studio, game_id, scene_id, numbers):
    place = {"game_id": game_id, "scene_id": scene_id, "format": "move"}
    with studio.write() as db:
        db.execute(entries.insert(), [{**place, "seq_id": n, "text": f"No. {n}"} for n in numbers])


def test_entries_come_in_pages_of_a_game_or_a_scene(studio, ann, bob, game_id):
    first, second = (add_scene(studio, ann, game_id, key=key).id for key in "ab")
    put_entries(studio, game_id, first, range(1, 8))
    put_entries(studio, game_id, second, range(8, 11))

    def numbers(**wanted):
        told, total = list_entries(studio, bob, game_id, **wanted)
        return [entry.seq_id for entry in told], total

    assert numbers(limit=3) == ([1, 2, 3], 10)
    assert numbers(offset=8, limit=3) == ([9, 10], 10)
    assert numbers(scene_id=second) == ([8, 9, 10], 3)
    assert numbers(scene_id=first, limit=2, newest_first=True) == ([7, 6], 7)
    assert numbers(offset=50) == ([], 10)
    other = create_game(studio, ann, key="other", title="Other").id
    # A scene of another game is not there, however many entries it has.
    assert list_entries(studio, ann, other, scene_id=first) == ([], 0)
    with pytest.raises(NotFound, match="there is no game"):
        list_entries(studio, put_person(studio, "eve"), game_id)
