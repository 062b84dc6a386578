"""The library as it is sent: what is in it, for whom, and in what order."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from fabula.studio.games import archive_game, create_game, invite_member
from fabula.studio.shelf import start_story
from fabula.web.pages import library
from fabula.web.rendering import spell_sentence
from fabula.web.settings import ReviewSettings
from web.conftest import QUICK

ODD = '<script>alert("x")</script> & Söhne'


def read_titles(page):
    """Titles of the games on a page, in their order."""
    return re.findall(r'<h3><a href="/games/\w+">(.*?)</a></h3>', page.text)


def test_a_stranger_is_told_what_this_is_and_where_to_go(client, app):
    page = client.get("/", headers={"Accept": "text/html"})
    assert page.status_code == 200 and 'href="/sign-in"' in page.text
    assert "The lantern" not in page.text
    # Nothing is promised that is not open to strangers here.
    assert 'href="/sign-up"' not in page.text and 'href="/review"' not in page.text
    open_to_all = replace(QUICK, sign_up="open", review=ReviewSettings(is_open=True))
    app.state.web.settings = open_to_all
    page = client.get("/", headers={"Accept": "text/html"})
    assert 'href="/sign-up"' in page.text and 'href="/review"' in page.text


def test_the_library_shows_drafts_and_games_of_oneself_alone(as_reader, studio, world):
    page = as_reader("ann").get("/")
    assert read_titles(page) == ["The lantern"]
    assert f'href="/drafts/{world.ids["draft_id"]}"' in page.text
    assert "Below the stairs" in page.text and "5 words" in page.text
    create_game(studio, world.people["ben"], key="b", title="His own")
    page = as_reader("ben").get("/")
    assert read_titles(page) == ["His own"] and "Go on writing" not in page.text


def test_only_pages_that_one_may_see_are_linked(as_reader):
    for name, may_see in (("ann", True), ("cat", False), ("dan", True), ("eve", True)):
        assert ('href="/dashboard/"' in as_reader(name).get("/").text) is may_see


def test_a_first_visit_leads_to_writing(as_reader):
    page = as_reader("ben").get("/").text
    assert "Nothing is written here yet" in page
    assert 'data-api="POST games/start"' in page and 'data-next="/drafts/{id}"' in page
    assert 'data-api="POST games/samples"' in page


def test_who_may_not_write_is_not_asked_to(as_reader):
    page = as_reader("cat").get("/").text
    assert "as soon as somebody invites you" in page
    assert "data-api" not in page


def test_games_are_searched_filtered_and_paged_in_the_address(as_reader, studio, world):
    ben, browser = world.people["ben"], as_reader("ben")
    for number in range(library.GAMES_SHOWN + 2):
        create_game(studio, ben, key=f"k{number}", title=f"Game {number:02}")
    first, second = browser.get("/"), browser.get("/?page=2")
    assert len(read_titles(first)) == library.GAMES_SHOWN and 'href="/?page=2"' in first.text
    assert read_titles(second) == ["Game 01", "Game 00"]
    assert 'rel="prev" href="/"' in second.text and 'rel="next"' not in second.text
    assert read_titles(browser.get("/?q=07")) == ["Game 07"]
    assert read_titles(browser.get("/?part=player")) == []
    assert "No game matches “zzz”" in browser.get("/?q=zzz").text
    invite_member(studio, world.people["ann"], world.ids["game_id"], ben.id, "player")
    assert read_titles(browser.get("/?part=player")) == ["The lantern"]
    assert browser.get("/?page=9").status_code == 404
    assert browser.get("/?part=king").status_code == 422


def test_archived_games_are_behind_a_link(as_reader, studio, world):
    browser = as_reader("ann")
    assert "Nothing is archived" in browser.get("/?archived=true").text
    archive_game(studio, world.people["ann"], world.ids["game_id"])
    assert read_titles(browser.get("/")) == []
    assert read_titles(browser.get("/?archived=true")) == ["The lantern"]


def test_what_people_wrote_is_text_and_nothing_else(as_reader, studio, world):
    create_game(studio, world.people["ann"], key="o", title=ODD, world=ODD, description=ODD)
    page = as_reader("ann").get("/").text
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt; &amp; Söhne") == 3
    assert "<script>alert" not in as_reader("ann").get("/", params={"q": ODD}).text


def test_many_drafts_are_shown_on_wish(as_reader, studio, world):
    for number in range(6):
        start_story(studio, world.people["ben"], key=f"k{number}", title=f"Story {number}")
    browser = as_reader("ben")
    assert len(re.findall(r'href="/drafts/', browser.get("/").text)) == 4
    assert "All 6 drafts" in browser.get("/").text
    assert len(re.findall(r'href="/drafts/', browser.get("/?drafts=all").text)) == 6


@pytest.mark.parametrize("name", ["folds.js", "times.js", "library.js", "game.js", "game.css"])
def test_the_files_of_the_pages_are_there(client, name):
    assert client.get(f"/static/{name}").status_code == 200


def test_examples_come_once_and_one_of_them_opens(as_ann, world):
    first = as_ann.post("/api/v1/games/samples").json()
    assert as_ann.post("/api/v1/games/samples").json() == first
    assert as_ann.get("/api/v1/games").json()["total"] == 4


def test_a_story_starts_with_one_request(as_ann):
    draft = as_ann.post("/api/v1/games/start", json={"key": "k"}).json()
    assert as_ann.post("/api/v1/games/start", json={"key": "k"}).json()["id"] == draft["id"]
    game = as_ann.get(f"/api/v1/games/{draft['game_id']}").json()
    assert (game["game"]["title"], len(game["scenes"])) == ("Untitled story", 1)
    assert as_ann.post("/api/v1/games/start", json={"key": "l", "title": " "}).status_code == 422


def test_what_went_wrong_is_a_sentence_and_names_stay_as_they_are(client):
    page = client.get("/nowhere", headers={"Accept": "text/html"})
    assert page.status_code == 404 and "<p>There is nothing at this address.</p>" in page.text
    assert spell_sentence("bad.xls: an old file") == "bad.xls: an old file."
    assert spell_sentence("at_least (5) is too much") == "at_least (5) is too much."
    assert spell_sentence("is it?") == "Is it?"
