"""The film of a draft, and who wrote a draft and a game: who may look, and what the pages say."""

from __future__ import annotations

import csv
import io

import pytest
from lxml import etree, html
from sqlalchemy import update

from fabula.studio.drafts import open_draft
from fabula.studio.edits import Edit
from fabula.studio.games import change_game
from fabula.studio.people import create_person
from fabula.studio.publishing import publish_entry
from fabula.studio.sign_in import sign_in
from fabula.studio.tables import games
from fabula.studio.versions import save_draft
from web.conftest import PASSWORD

STAIRS = " The stairs went on."
PATHS = (
    "/drafts/{draft_id}/replay",
    "/drafts/{draft_id}/replay/film",
    "/drafts/{draft_id}/authorship",
    "/drafts/{draft_id}/authorship.csv",
    "/drafts/{draft_id}/authorship.svg",
    "/games/{game_id}/authorship",
    "/games/{game_id}/authorship.csv",
    "/games/{game_id}/authorship.svg",
)


def enter(client, studio, name):
    """Let somebody sign in with the browser of the test."""
    client.cookies.set("fabula-session", sign_in(studio, name, PASSWORD).secret)
    client.headers["Accept"] = "text/html"


@pytest.fixture
def browser_of_ann(client, studio):
    enter(client, studio, "ann")
    return client


@pytest.fixture
def written(studio, world):
    """Ann's draft: 24 characters of hers, 20 of a suggestion, of which she rewrote four."""
    ann, ids = world.people["ann"], world.ids
    taken = Edit(24, 24, STAIRS, "machine", ids["suggestion_id"])
    return save_draft(
        studio, ann, ids["draft_id"], key="2", base_version=1, edits=[taken, Edit(36, 40, "came")]
    )


def read_table(page, label):
    """The cells of a table, row by row."""
    [table] = html.fromstring(page).xpath(f"//*[@aria-label='{label}']//table")
    return [[" ".join(cell.text_content().split()) for cell in row] for row in table.iter("tr")]


@pytest.mark.parametrize("path", PATHS)
def test_pages_are_for_who_may_read_the_draft_or_the_game(path, client, studio, world):
    for name, role in (("sam", "author"), ("rex", "researcher")):
        create_person(studio, None, name=name, password=PASSWORD, roles=(role,))
    address = path.format(**world.ids)
    client.headers["Accept"] = "text/html"
    sent_away = client.get(address, follow_redirects=False)
    assert (sent_away.status_code, sent_away.headers["location"][:9]) == (303, "/sign-in?")
    for name, status in (("ann", 200), ("sam", 404), ("rex", 200)):
        enter(client, studio, name)
        assert client.get(address).status_code == status
    assert client.get(path.format(draft_id="0" * 32, game_id="0" * 32)).status_code == 404


def test_a_film_holds_every_change_once(browser_of_ann, world, written):
    film = browser_of_ann.get(f"/drafts/{world.ids['draft_id']}/replay/film").json()
    assert film["inserted"] == ["She held the lantern up.", STAIRS, "came"]
    assert film["starts"] == [0, 24, 36]
    assert film["removed"] == [0, 0, 4]
    suggestion = world.ids["suggestion_id"]
    authors = [film["authors"][who] for who in film["who"]]
    assert authors == [["person", None], ["machine", suggestion], ["edited", suggestion]]
    assert film["versions"] == [1, 1]


def test_a_draft_says_its_shares_its_sittings_and_what_was_kept(browser_of_ann, world, written):
    page = browser_of_ann.get(f"/drafts/{world.ids['draft_id']}/authorship").text
    assert written.text == "She held the lantern up. The stairs came on."
    head, characters, words = read_table(page, "Table of shares")
    assert head == ["of", "all", "person", "machine, then edited", "machine"]
    # Of 44 characters 24, 4 and 16; of nine words five, one and three.
    assert characters == ["characters", "44", "54.5 % 24", "9.1 % 4", "36.4 % 16"]
    assert words == ["words", "9", "55.6 % 5", "11.1 % 1", "33.3 % 3"]
    [_, sitting] = read_table(page, "Table of sittings")
    assert sitting[2:] == ["3", "28", "20", "4", "replay sitting 1"]
    [_, suggestion] = read_table(page, "Table of suggestions")
    assert suggestion[2:] == ["done", "20", "16", "4"]
    passages = html.fromstring(page).xpath("//*[@id='passages']/span")
    assert "".join(part.text for part in passages) == written.text
    assert [part.get("class") for part in passages] == [
        "passage", "passage by-machine", "passage by-edited", "passage by-machine",
    ]  # fmt: skip


def test_shares_can_be_taken_along(browser_of_ann, world, written):
    address = f"/drafts/{world.ids['draft_id']}/authorship"
    answer = browser_of_ann.get(f"{address}.csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="authorship.csv"'
    characters, words = csv.DictReader(io.StringIO(answer.text))
    assert {name: characters[name] for name in ("n", "person_n", "machine_n", "edited_n")} == {
        "n": "44", "person_n": "24", "machine_n": "16", "edited_n": "4",
    }  # fmt: skip
    assert float(words["machine_share"]) == pytest.approx(3 / 9)
    figure = browser_of_ann.get(f"{address}.svg")
    assert figure.headers["content-type"] == "image/svg+xml"
    assert etree.fromstring(figure.content).tag == "{http://www.w3.org/2000/svg}svg"


def test_a_game_says_whose_words_it_is_made_of(browser_of_ann, studio, world, written):
    ann, ids = world.people["ann"], world.ids
    address = f"/games/{ids['game_id']}/authorship"
    assert "Nothing has been published" in browser_of_ann.get(address).text
    publish_entry(studio, ann, ids["draft_id"], version=2)
    page = browser_of_ann.get(address).text
    [_, total, author] = read_table(page, "Table of authors")
    assert total[1:] == author[1:] == ["1", "9", "55.6 % 5", "11.1 % 1", "33.3 % 3"]
    [_, entry] = read_table(page, "Table of entries")
    assert entry == ["1", "ann", "Mina", "9", "55.6 % 5", "11.1 % 1", "33.3 % 3", "more on entry 1"]
    [row] = csv.DictReader(io.StringIO(browser_of_ann.get(f"{address}.csv").text))
    assert (row["author"], row["words_machine"], row["characters_edited"]) == ("ann", "3", "4")


def test_a_game_of_many_entries_is_shown_a_page_at_a_time(
    browser_of_ann, studio, world, written, monkeypatch
):
    monkeypatch.setattr("fabula.web.pages.authorship.ENTRIES_A_PAGE", 1)
    ann, ids = world.people["ann"], world.ids
    publish_entry(studio, ann, ids["draft_id"], version=2)
    place = {"game_id": ids["game_id"], "scene_id": ids["scene_id"]}
    draft = open_draft(studio, ann, key="two", format="addition", **place)
    save_draft(studio, ann, draft.id, key="1", base_version=0, edits=[Edit(0, 0, "Snow.")])
    publish_entry(studio, ann, draft.id, version=1)
    address = f"/games/{ids['game_id']}/authorship"
    for page, number in ((1, "1"), (2, "2"), (99, "2")):
        shown = browser_of_ann.get(address, params={"page": page}).text
        [_, entry] = read_table(shown, "Table of entries")
        assert entry[0] == number
        # What is added up is the whole game.
        assert read_table(shown, "Table of authors")[1][1] == "2"
    assert browser_of_ann.get(address, params={"page": 0}).status_code == 422


def test_a_draft_without_a_word_says_so(browser_of_ann, studio, world):
    place = {"game_id": world.ids["game_id"], "scene_id": world.ids["scene_id"]}
    draft = open_draft(studio, world.people["ann"], key="e", format="addition", **place)
    for page in ("replay", "authorship"):
        answer = browser_of_ann.get(f"/drafts/{draft.id}/{page}")
        assert "Nothing has been written" in answer.text
    answer = browser_of_ann.get(f"/drafts/{draft.id}/authorship.csv")
    assert list(csv.reader(io.StringIO(answer.text)))[1][:2] == ["characters", "0"]


def test_what_people_write_is_escaped(browser_of_ann, studio, world, written):
    ann, ids = world.people["ann"], world.ids
    evil = "<img src=x onerror=alert(1)>"
    change_game(studio, ann, ids["game_id"], title=evil)
    save_draft(
        studio, ann, ids["draft_id"], key="3", base_version=2, edits=[Edit(0, 0, f"{evil} ")]
    )
    for page in ("replay", "authorship"):
        text = browser_of_ann.get(f"/drafts/{ids['draft_id']}/{page}").text
        assert evil not in text
        assert "&lt;img src=x" in text
    with studio.write() as db:
        db.execute(update(games).values(title=evil))
    assert evil not in browser_of_ann.get(f"/games/{ids['game_id']}/authorship").text
