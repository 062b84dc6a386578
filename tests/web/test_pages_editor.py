"""The editor's page: who may see it, what its scripts are given, and that nothing in it is run."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
from starlette.testclient import TestClient

from fabula.studio.drafts import discard_draft, open_draft
from fabula.studio.edits import Edit
from fabula.studio.games import archive_game, change_game
from fabula.studio.machines import add_machine, change_machine
from fabula.studio.publishing import publish_entry
from fabula.studio.scenes import add_character, add_scene, close_scene
from fabula.studio.sign_in import open_session
from fabula.studio.versions import save_draft
from web.conftest import HOME

NASTY = "</script><img src=x onerror=alert(1)>\"'&"


@pytest.fixture
def look(app, studio, world):
    """Opens a draft's page as somebody, with their cookie."""

    def open_page(who="ann", draft_id=None):
        browser = TestClient(
            app, base_url=HOME, headers={"Accept": "text/html"}, follow_redirects=False
        )
        if who is not None:
            with studio.write() as db:
                session = open_session(db, world.people[who])
            browser.cookies["fabula-session"] = session.secret
        return browser.get(f"/drafts/{draft_id or world.ids['draft_id']}")

    return open_page


def read_data(answer):
    block = re.search(r'id="editor-data">(.*?)</script>', answer.text, re.S)
    return json.loads(block[1])


def save(studio, world, text, **edit):
    """Put text at the end of Ann's draft."""
    ann, draft_id = world.people["ann"], world.ids["draft_id"]
    end = len("She held the lantern up.")
    edits = [Edit(end, end, text, **edit)]
    return save_draft(studio, ann, draft_id, key="more", base_version=1, edits=edits)


def test_a_stranger_is_sent_to_sign_in_and_back(look, world):
    answer = look(None)
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/sign-in?next=/drafts/{world.ids['draft_id']}"


@pytest.mark.parametrize(
    ("who", "status"), [("ann", 200), ("ben", 404), ("cat", 404), ("dan", 200), ("eve", 200)]
)
def test_a_draft_is_its_author_s_and_researchers_read_it(look, who, status):
    assert look(who).status_code == status


def test_what_is_no_draft_is_not_there(look):
    assert look(draft_id="0" * 32).status_code == 404
    assert look(draft_id="nothing").status_code == 404


def test_the_author_gets_a_desk_and_what_is_around_it(look, studio, world):
    add_machine(studio, None, name="another", spec="lorem")
    change_machine(studio, None, "another", status="inactive")
    add_machine(studio, None, name="a third", spec="lorem")
    answer = look()
    assert 'id="desk"' in answer.text and 'id="read"' not in answer.text
    data = read_data(answer)
    assert data["can_write"] is True
    assert data["draft"]["text"] == "She held the lantern up."
    assert data["person"]["name"] == "ann"
    # The game's own co-author comes first; what is not on offer is only known by its name.
    assert (data["machine"], data["machines"]) == ("lorem", ["lorem", "a third"])
    assert sorted(data["machine_names"].values()) == ["a third", "another", "lorem"]
    assert [each["aspect"] for each in data["questions"]] == [
        "relevance", "fluency", "coherence", "likability",
    ]  # fmt: skip
    assert data["scenes"] == [
        {
            "id": world.ids["scene_id"],
            "game_id": world.ids["game_id"],
            "number": 1,
            "title": "Below the stairs",
            "is_complete": False,
            "entries": 0,
        }
    ]
    assert {card["name"] for card in data["cards"]} == {"Patience", "?"}
    assert data["narrated"] is False


def test_entries_are_counted_and_not_sent(look, studio, world):
    ann = world.people["ann"]
    save(studio, world, " A secret sentence.")
    publish_entry(studio, ann, world.ids["draft_id"], version=2)
    later = add_scene(studio, ann, world.ids["game_id"], key="later", title="Above")
    place = {"game_id": world.ids["game_id"], "scene_id": later.id}
    draft = open_draft(studio, ann, key="next", format="establishment", **place)
    answer = look(draft_id=draft.id)
    data = read_data(answer)
    assert [(each["title"], each["entries"]) for each in data["scenes"]] == [
        ("Below the stairs", 1),
        ("Above", 0),
    ]
    assert data["narrated"] is True
    assert "A secret sentence." not in answer.text
    assert "Narrator" in answer.text


def test_a_published_draft_is_read_with_marks_and_where_they_lead(look, studio, world):
    save(
        studio, world, " The stairs went on.", source="machine",
        suggestion_id=world.ids["suggestion_id"],
    )  # fmt: skip
    publish_entry(studio, world.people["ann"], world.ids["draft_id"], version=2)
    answer = look()
    assert 'id="desk"' not in answer.text and read_data(answer)["can_write"] is False
    assert "Published as entry 1." in answer.text
    assert 'She held the lantern up.<span class="by-machine"> The stairs went on.</span>' in (
        answer.text
    )
    for page in ("replay", "authorship"):
        assert f'href="/drafts/{world.ids["draft_id"]}/{page}"' in answer.text


def test_a_discarded_draft_and_that_of_another_are_only_read(look, studio, world):
    theirs = look("dan")
    assert "ann is writing this" in theirs.text and 'id="desk"' not in theirs.text
    assert read_data(theirs)["log"] is None
    discard_draft(studio, world.people["ann"], world.ids["draft_id"])
    assert "This draft was discarded." in look().text
    assert "This draft was discarded, written by ann." in look("eve").text


def test_paragraphs_of_a_draft_that_is_read_are_those_that_were_written(look, studio, world):
    save(studio, world, "\n\nDown.\nAnd <down>.")
    text = look("dan").text
    read = text[text.index('id="read"') : text.index('class="legend"')]
    paragraphs = re.findall(r"<p>(.*?)</p>", read)
    assert [unescape(each) for each in paragraphs] == [
        "She held the lantern up.",
        "",
        "Down.",
        "And <down>.",
    ]


@pytest.mark.parametrize("close", [close_scene, archive_game])
def test_who_writes_where_nothing_can_be_published_is_told(look, studio, world, close):
    where = [world.ids["game_id"]] + ([world.ids["scene_id"]] if close is close_scene else [])
    close(studio, world.people["ann"], *where)
    assert "cannot be published here" in look().text


def test_what_people_wrote_is_text_wherever_it_stands(look, studio, world):
    ann = world.people["ann"]
    change_game(studio, ann, world.ids["game_id"], title=NASTY)
    add_character(studio, ann, world.ids["game_id"], key="n", name=NASTY, description=NASTY)
    save(studio, world, NASTY)
    for who in ("ann", "dan"):
        answer = look(who)
        assert "<img src=x" not in answer.text
        # One script holds data and two are files of ours: no other was opened or closed.
        assert answer.text.count("<script") == answer.text.count("</script>") == 4
        data = read_data(answer)
        assert data["game"]["title"] == NASTY
        assert data["draft"]["text"].endswith(NASTY)
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert "style=" not in answer.text and "onclick=" not in answer.text
