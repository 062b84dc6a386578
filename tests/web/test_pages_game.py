"""Pages of a game: who is shown what, in what order, and what may be done."""

from __future__ import annotations

import re
import time

import pytest

from fabula.studio.cards import add_card
from fabula.studio.edits import Edit
from fabula.studio.games import archive_game, create_game, invite_member
from fabula.studio.publishing import publish_entry
from fabula.studio.scenes import add_character, add_scene, close_scene
from fabula.studio.storium_json import import_game
from fabula.studio.tables import entries
from fabula.studio.versions import save_draft
from fakes.factories import find_slowness
from fakes.storium_games import SMALL

PAGES = ("", "/characters", "/cards", "/settings", "/story.txt", "/story.md", "/story.html")


@pytest.fixture
def ann(world):
    return world.people["ann"]


@pytest.fixture
def home(world):
    return f"/games/{world.ids['game_id']}"


def put_entries(studio, game_id, scene_id, numbers):
    place = {"game_id": game_id, "scene_id": scene_id, "format": "addition"}
    with studio.write() as db:
        rows = [{**place, "seq_id": n, "text": f"Told as no. {n}."} for n in numbers]
        db.execute(entries.insert(), rows)


def read_numbers(page):
    return [int(number) for number in re.findall(r"Told as no\. (\d+)\.", page.text)]


@pytest.mark.parametrize("under", PAGES)
def test_a_game_is_there_for_its_members_and_researchers(as_reader, client, home, under):
    assert as_reader("ann").get(home + under).status_code == 200
    assert as_reader("dan").get(home + under).status_code == 200
    assert as_reader("ben").get(home + under).status_code == 404
    sent = client.get(home + under, headers={"Accept": "text/html"}, follow_redirects=False)
    assert sent.headers["location"].startswith("/sign-in?next=/games/")


@pytest.mark.parametrize("under", PAGES[:4])
def test_who_only_reads_is_offered_nothing_to_change(as_reader, home, under):
    page = as_reader("dan").get(home + under).text
    offered = re.findall(r'data-api="(\w+)', page)
    # Whether a game counts in statistics is the one thing that is a researcher's.
    assert offered == (["PATCH"] if under == "/settings" else [])


def test_an_archived_game_is_only_read(as_reader, studio, ann, world, home):
    archive_game(studio, ann, world.ids["game_id"])
    page = as_reader("ann").get(home).text
    assert "This game is archived" in page and "Take it back" in page
    assert re.findall(r'data-api="([^"]+)"', page) == [f"PATCH games/{world.ids['game_id']}"]


def test_a_long_scene_is_read_in_pages_and_writers_come_to_its_end(as_reader, studio, ann, world):
    game_id = create_game(studio, ann, key="l", title="Long").id
    scenes = [add_scene(studio, ann, game_id, key=key, title=key).id for key in ("one", "two")]
    close_scene(studio, ann, game_id, scenes[0])
    put_entries(studio, game_id, scenes[0], range(1, 61))
    put_entries(studio, game_id, scenes[1], range(61, 181))
    writer, reader = as_reader("ann"), as_reader("dan")
    home = f"/games/{game_id}"
    assert read_numbers(writer.get(home)) == list(range(161, 181))
    assert read_numbers(reader.get(home)) == list(range(1, 51))
    page = reader.get(f"{home}?scene=1&page=2")
    assert read_numbers(page) == list(range(51, 61))
    # Reading goes on across scenes, and comes back to the end of the one before.
    assert f'rel="next" href="{home}?scene=2"' in page.text
    assert f'rel="prev" href="{home}?scene=1&amp;page=2"' in reader.get(f"{home}?scene=2").text
    # A scene that is complete leads to the one that is open, and opens no other.
    done = writer.get(f"{home}?scene=1&page=2").text
    assert f'goes on in <a href="{home}">two</a>' in done and "Open the scene" not in done
    assert reader.get(f"{home}?scene=3").status_code == 404
    assert reader.get(f"{home}?scene=1&page=3").status_code == 404


def test_marks_and_films_are_for_who_may_see_the_draft(as_reader, studio, ann, world, home):
    ids = world.ids
    machine = Edit(24, 24, " The stairs went on.", "machine", ids["suggestion_id"])
    save_draft(studio, ann, ids["draft_id"], key="2", base_version=1, edits=[machine])
    publish_entry(studio, ann, ids["draft_id"], version=2)
    invite_member(studio, ann, ids["game_id"], world.people["ben"].id, "player")
    marked = 'She held the lantern up.<span class="by-machine"> The stairs went on.</span>'
    replay = f'href="/drafts/{ids["draft_id"]}/replay"'
    for name in ("ann", "dan"):
        page = as_reader(name).get(home).text
        assert marked in page and replay in page
    page = as_reader("ben").get(home).text
    assert "She held the lantern up. The stairs went on." in page and replay not in page


def test_one_goes_on_with_a_draft_or_writes_as_whom_one_may(as_reader, studio, ann, world, home):
    page = as_reader("ann").get(home).text
    assert f'href="/drafts/{world.ids["draft_id"]}">Go on writing' in page
    assert 'data-format="establishment">Narrator: set the scene' in page
    assert 'data-format="move">Mina' in page
    ben = world.people["ben"]
    invite_member(studio, ann, world.ids["game_id"], ben.id, "player")
    assert "You play nobody yet" in as_reader("ben").get(home).text
    add_character(studio, ben, world.ids["game_id"], key="o", name="Otto")
    page = as_reader("ben").get(home).text
    assert 'data-format="move">Otto' in page
    assert "Mina</option>" not in page and "Narrator:" not in page


def test_cards_on_the_table_are_said_in_words(as_reader, studio, ann):
    game_id = import_game(studio, ann, SMALL)
    page = as_reader("ann").get(f"/games/{game_id}?scene=1").text
    assert "Rain fell." in page and "Ida takes fresh cards" in page
    assert page.count("Challenge: ") == 1 and page.count("Played: ") == 1


def test_cards_are_found_by_hand_and_kind(as_reader, studio, ann, world, home):
    def names(query):
        return re.findall(r"<h3>(.*?)</h3>", as_reader("ann").get(f"{home}/cards{query}").text)

    add_card(studio, ann, world.ids["game_id"], key="p", namespace="place", name="Cellar")
    assert names("") == ["Patience", "?", "Cellar"]
    assert names("?of=table") == ["Patience", "Cellar"]
    assert names(f"?of={world.ids['character_id']}") == ["?"]
    assert names("?of=table&kind=place") == ["Cellar"]
    assert names("?kind=goal") == []
    assert as_reader("ann").get(f"{home}/cards?of=x").status_code == 422


def test_the_story_is_sent_as_a_file_of_a_safe_name(as_reader, studio, ann):
    title = 'Ein "Märchen"/\r\n<b>x'
    game_id = create_game(studio, ann, key="t", title=title).id
    scene_id = add_scene(studio, ann, game_id, key="s").id
    put_entries(studio, game_id, scene_id, [1])
    browser = as_reader("ann")
    sent = browser.get(f"/games/{game_id}/story.txt")
    named = sent.headers["content-disposition"]
    assert named.startswith('attachment; filename="Ein Marchenbx.txt"') and "%C3%A4" in named
    assert sent.text.endswith("Scene 1\n\nTold as no. 1.\n")
    page = browser.get(f"/games/{game_id}/story.html")
    assert "&lt;b&gt;x" in page.text and "<b>x" not in page.text
    assert page.headers["content-security-policy"] == "sandbox"
    assert browser.get(f"/games/{game_id}/story.exe").status_code == 404


def test_ten_thousand_entries_open_fast(as_reader, studio, ann):
    game_id = create_game(studio, ann, key="l", title="Long").id
    scene_id = add_scene(studio, ann, game_id, key="s").id
    put_entries(studio, game_id, scene_id, range(1, 10_001))
    browser = as_reader("ann")
    browser.get(f"/games/{game_id}")
    seconds = []
    for _ in range(3):
        begun = time.perf_counter()
        page = browser.get(f"/games/{game_id}")
        seconds.append(time.perf_counter() - begun)
    assert read_numbers(page) == list(range(9951, 10_001))
    assert min(seconds) < 0.2 * find_slowness()


def test_somebody_is_invited_by_name(as_ann, world):
    path = f"/api/v1/games/{world.ids['game_id']}/members"
    invited = as_ann.post(path, json={"name": "Ben", "part": "player"})
    assert (invited.status_code, invited.json()["name"]) == (201, "ben")
    nobody = as_ann.post(path, json={"name": "zoe", "part": "player"})
    assert (nobody.status_code, nobody.json()["message"]) == (404, "there is nobody called 'zoe'")
