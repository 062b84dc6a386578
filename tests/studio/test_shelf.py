from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from fabula.core.errors import NotAllowed, NotFound
from fabula.studio.drafts import list_drafts
from fabula.studio.edits import Edit
from fabula.studio.games import archive_game, create_game, invite_by_name, invite_member
from fabula.studio.scenes import add_scene, read_game
from fabula.studio.shelf import list_unfinished, open_example, search_games, start_story
from fabula.studio.storium_json import import_game
from fabula.studio.tables import entries
from fabula.studio.versions import save_draft
from fakes.storium_games import SMALL
from fakes.studio_people import put_person


@pytest.fixture
def ann(studio):
    return put_person(studio, "ann")


def titles(studio, person, **wanted):
    listings, total = search_games(studio, person, **wanted)
    return [listing.game.title for listing in listings], total


def test_games_are_found_by_words_of_their_title_world_or_description(studio, ann):
    create_game(studio, ann, key="a", title="Rain on Tin", world="Mars")
    create_game(studio, ann, key="b", title="ÄRGER", description="100% rain")
    create_game(studio, ann, key="c", title="Salt")
    assert titles(studio, ann, search="RAIN") == (["ÄRGER", "Rain on Tin"], 2)
    assert titles(studio, ann, search="mars tin") == (["Rain on Tin"], 1)
    assert titles(studio, ann, search="ÄRGER") == (["ÄRGER"], 1)
    # What a database takes for a wild card is looked for as it stands.
    assert titles(studio, ann, search="0%") == (["ÄRGER"], 1)
    assert titles(studio, ann, search="_") == ([], 0)


def test_games_come_in_pages_with_what_was_told_in_them(studio, ann):
    for number in range(5):
        create_game(studio, ann, key=f"k{number}", title=f"Game {number}")
    small = import_game(studio, ann, SMALL)
    listings, total = search_games(studio, ann, limit=2)
    assert (total, listings[0].game.id) == (6, small)
    assert listings[0].entries == 4 and listings[0].last_entry_at is not None
    assert (listings[1].entries, listings[1].last_entry_at) == (0, None)
    assert titles(studio, ann, offset=4, limit=2) == (["Game 1", "Game 0"], 6)


def test_the_last_entry_is_the_one_with_the_highest_number(studio, ann):
    game_id = create_game(studio, ann, key="g", title="Rain").id
    scene_id = add_scene(studio, ann, game_id, key="s").id
    place = {"game_id": game_id, "scene_id": scene_id, "format": "move", "text": "x"}
    with studio.write() as db:
        for number in (1, 2, 3):
            db.execute(entries.insert().values(seq_id=number, **place))
        moments = [row.published_at for row in db.execute(entries.select())]
    [listing], _ = search_games(studio, ann)
    assert (listing.entries, listing.last_entry_at) == (3, max(moments))


def test_a_part_and_the_archive_are_looked_for_on_their_own(studio, ann):
    bob, dan = put_person(studio, "bob"), put_person(studio, "dan", "researcher")
    first = create_game(studio, ann, key="a", title="Mine").id
    create_game(studio, bob, key="b", title="His")
    invite_member(studio, ann, first, bob.id, "player")
    archive_game(studio, ann, create_game(studio, ann, key="c", title="Old").id)
    assert titles(studio, ann) == (["Mine"], 1)
    assert titles(studio, ann, is_archived=True) == (["Old"], 1)
    assert titles(studio, bob, part="player") == (["Mine"], 1)
    assert titles(studio, bob, part="narrator") == (["His"], 1)
    assert sorted(titles(studio, dan)[0]) == ["His", "Mine"]


def test_drafts_to_go_on_with_tell_where_they_are_and_how_long(studio, ann):
    first = start_story(studio, ann, key="a", title="One")
    second = start_story(studio, ann, key="b", title="Two")
    edit = Edit(0, 0, "It rained on\nthe tin roof.")
    save_draft(studio, ann, first.id, key="1", base_version=0, edits=[edit])
    found, total = list_unfinished(studio, ann)
    assert [draft.id for draft in found] == [first.id, second.id] and total == 2
    saved = found[0]
    assert (saved.game_title, saved.scene_number, saved.scene_title) == ("One", 1, "Beginning")
    assert (saved.words, saved.opening) == (6, "It rained on the tin roof.")
    assert list_unfinished(studio, ann, offset=1)[0] == found[1:]
    assert list_unfinished(studio, ann, game_id=second.game_id) == (found[1:], 1)


def test_a_story_is_started_once_whoever_clicks_twice(studio, ann):
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: start_story(studio, ann, key="k").id, range(4)))
    assert len(set(made)) == 1
    [draft] = list_drafts(studio, ann)
    assert (draft.format, draft.character_id) == ("establishment", None)
    view = read_game(studio, ann, draft.game_id)
    assert (view.game.title, len(view.scenes), len(view.characters)) == ("Untitled story", 1, 1)
    assert view.characters[0].player_id == ann.id
    with pytest.raises(NotAllowed):
        start_story(studio, put_person(studio, "dan", "researcher"), key="k")


def test_the_example_that_opens_can_be_written_in(studio, ann):
    game_id = open_example(studio, ann)
    assert open_example(studio, ann) == game_id
    view = read_game(studio, ann, game_id)
    assert not view.scenes[-1].is_complete and titles(studio, ann)[1] == 3
    archive_game(studio, ann, game_id)
    assert open_example(studio, ann) != game_id


def test_somebody_is_invited_by_the_name_they_sign_in_with(studio, ann):
    bob = put_person(studio, "bob")
    game_id = create_game(studio, ann, key="g", title="Rain").id
    assert invite_by_name(studio, ann, game_id, " Bob ", "player").person_id == bob.id
    with pytest.raises(NotFound, match="there is nobody called 'zoe'"):
        invite_by_name(studio, ann, game_id, "zoe", "player")
    # Who may not invite learns nothing about names.
    with pytest.raises(NotAllowed):
        invite_by_name(studio, bob, game_id, "zoe", "player")
