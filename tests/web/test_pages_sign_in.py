"""Coming in by the plain forms, anew or again, and going out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from fabula.studio.database import open_studio
from fabula.studio.links import make_link
from fabula.studio.migrations import migrate
from fabula.studio.people import find_person, list_people
from fabula.studio.tables import audit
from fabula.web.app import create_app
from fabula.web.identity import Web
from fabula.web.settings import OpenIdSettings, Rate, Settings
from web.conftest import HOME, PASSWORD, QUICK

GOOD = {"name": "Ann", "password": PASSWORD}
FORM = {"name": "fay", "password": PASSWORD}


@pytest.fixture
def browser(app):
    """A browser on a page of ours; where it is sent is for the test to see."""
    headers = {"Origin": HOME, "Accept": "text/html"}
    return TestClient(app, base_url=HOME, headers=headers, follow_redirects=False)


@pytest.fixture
def open_door(browser, app, studio):
    """The same before a studio that anybody may sign up to."""
    app.state.web = Web(studio, replace(QUICK, sign_up="open"))
    return browser


def name_of(browser):
    answer = browser.get("/api/v1/me")
    return answer.json()["person"]["name"] if answer.status_code == 200 else None


def test_who_has_to_sign_in_goes_on_to_where_they_were_going(browser):
    form = browser.get("/sign-in", params={"next": "/games/1?tab=cards"})
    assert 'value="/games/1?tab=cards"' in form.text
    done = browser.post("/sign-in", data=GOOD | {"next": "/games/1?tab=cards"})
    assert done.status_code == 303
    assert done.headers["location"] == "/games/1?tab=cards"
    assert name_of(browser) == "ann"
    # Who is in already is not asked again.
    assert browser.get("/sign-in?next=/account").headers["location"] == "/account"


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example.com/",
        "//evil.example.com",
        "/\\evil.example.com",
        "/\t/evil.example.com",
        "javascript:alert(1)",
        "/a\r\nSet-Cookie: x=y",
        "",
    ],
)
def test_nobody_is_sent_elsewhere_after_signing_in(browser, target):
    form = browser.get("/sign-in", params={"next": target})
    assert 'name="next" value="/"' in form.text
    done = browser.post("/sign-in", data=GOOD | {"next": target})
    assert (done.status_code, done.headers["location"]) == (303, "/")
    assert browser.get("/sign-in", params={"next": target}).headers["location"] == "/"


def test_what_is_wrong_stands_above_the_form_and_the_name_is_kept(browser):
    answer = browser.post("/sign-in", data={"name": 'a"><b>', "password": "wrong"})
    assert answer.status_code == 403
    assert "Name or password is wrong" in answer.text
    assert "a&#34;&gt;&lt;b&gt;" in answer.text
    assert "<b>" not in answer.text
    assert "wrong</" not in answer.text.replace("is wrong", "")
    assert "set-cookie" not in answer.headers


def test_an_unknown_name_and_a_wrong_password_are_answered_alike(browser):
    pages = [
        browser.post("/sign-in", data={"name": name, "password": "wrong"}).text.replace(name, "X")
        for name in ("ann", "nobody")
    ]
    assert pages[0] == pages[1]


def test_who_guesses_is_told_how_many_seconds_to_wait(browser):
    for _ in range(6):
        answer = browser.post("/sign-in", data={"name": "ann", "password": "wrong"})
    assert answer.status_code == 429
    assert "wait 1 seconds" in answer.text
    assert answer.headers["retry-after"] == "1"
    # The right password has to wait as well.
    assert browser.post("/sign-in", data=GOOD).status_code == 429


def test_an_address_has_few_tries_at_all_the_forms_together(studio):
    settings = Settings(rate_sign_in=Rate(2, 3600), sign_up="open")
    client = TestClient(create_app(studio, settings), base_url=HOME, headers={"Origin": HOME})
    codes = [client.post(path, data={"name": "fay", "password": "x"}).status_code
             for path in ("/sign-up", "/sign-in", "/sign-up", "/sign-in")]  # fmt: skip
    assert codes == [422, 403, 429, 429]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": HOME}, 303),
        ({"Sec-Fetch-Site": "same-origin"}, 303),
        ({}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:9999"}, 403),
        ({"Origin": "https://evil.example.com", "Sec-Fetch-Site": "same-origin"}, 403),
    ],
)
def test_no_other_site_signs_somebody_in_under_a_name_of_its_own(app, headers, status):
    client = TestClient(app, base_url=HOME, headers=headers, follow_redirects=False)
    for path, form in (("/sign-in", GOOD), ("/sign-up", FORM)):
        answer = client.post(path, data=form)
        assert answer.status_code == (status if path == "/sign-in" else 403)
        assert ("set-cookie" in answer.headers) is (path == "/sign-in" and status == 303)


def test_a_link_is_not_used_by_another_site(app, studio):
    secret = make_link(studio, None, purpose="invite")
    client = TestClient(app, base_url=HOME, follow_redirects=False)
    assert client.post(f"/account/link/{secret}", data=FORM).status_code == 403
    evil = {"Origin": "https://evil.example.com"}
    answer = client.post(f"/account/link/{secret}", data=FORM, headers=evil)
    assert answer.status_code == 403
    own = client.post(f"/account/link/{secret}", data=FORM, headers={"Origin": HOME})
    assert own.status_code == 303


def test_without_an_open_door_one_needs_a_link(browser, studio):
    page = browser.get("/sign-up").text
    assert "by invitation" in page
    assert "<form" not in page
    assert browser.post("/sign-up", data=FORM).status_code == 403
    assert "fay" not in [profile.person.name for profile in list_people(studio, None)]


def test_anybody_signs_up_as_an_author_where_that_is_open(open_door, studio):
    assert "Make an account" in open_door.get("/sign-in").text
    done = open_door.post("/sign-up", data=FORM | {"next": "/account"})
    assert (done.status_code, done.headers["location"]) == (303, "/account")
    person = find_person(studio, "fay")
    assert person.roles == {"author"}
    with studio.read() as db:
        row = db.execute(select(audit).where(audit.c.action == "sign_up")).mappings().one()
    assert (row["person_id"], row["object"]) == (person.id, person.id)


def test_a_name_that_is_taken_is_said_and_no_more(open_door):
    taken = open_door.post("/sign-up", data={"name": "ANN", "password": PASSWORD})
    assert taken.status_code == 409
    assert "The name ann is taken" in taken.text
    assert 'value="ANN"' in taken.text
    # An e-mail address is not asked for: whose it is cannot be found out here.
    assert "mail" not in taken.text
    assert name_of(open_door) is None


def test_a_password_that_is_too_short_is_said(open_door):
    answer = open_door.post("/sign-up", data={"name": "fay", "password": "short"})
    assert answer.status_code == 422
    assert "A password has 10 to 1,000 characters" in answer.text
    assert "short" not in answer.text.replace("shorten", "")


def test_an_empty_studio_has_no_open_door(open_door, app, tmp_path):
    empty = open_studio(f"sqlite:///{tmp_path / 'empty.sqlite'}")
    migrate(empty)
    app.state.web = Web(empty, replace(QUICK, sign_up="open"))
    assert "<form" not in open_door.get("/sign-up").text
    assert open_door.post("/sign-up", data=FORM).status_code == 403
    empty.close()


def test_a_provider_is_offered_where_there_is_one(browser, app, studio):
    assert "institution" not in browser.get("/sign-in").text
    open_id = OpenIdSettings("https://id.example.org", "fabula")
    app.state.web = Web(studio, replace(QUICK, open_id=open_id))
    page = browser.get("/sign-in", params={"next": "/games/1?a=b&c"}).text
    assert 'href="/account/login?next=/games/1%3Fa%3Db%26c"' in page


def test_a_page_that_needs_somebody_leads_to_the_form(browser):
    assert browser.get("/nothing").status_code == 404
    answer = browser.get("/account/logout")
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_link_elsewhere_signs_nobody_out(browser, site):
    browser.post("/sign-in", data=GOOD)
    browser.get("/account/logout", headers={"Sec-Fetch-Site": site})
    assert name_of(browser) == "ann"
    browser.get("/account/logout", headers={"Sec-Fetch-Site": "same-origin"})
    assert name_of(browser) is None


def test_links_say_what_they_are_for(browser, studio, world):
    invited = make_link(studio, None, purpose="invite", roles=["author", "researcher"])
    page = browser.get(f"/account/link/{invited}").text
    assert "invited as author, researcher" in page
    renewed = make_link(studio, None, purpose="password", person_id=world.people["ben"].id)
    page = browser.get(f"/account/link/{renewed}").text
    assert "<b>ben</b>" in page
    assert 'name="name"' not in page
    done = browser.post(f"/account/link/{renewed}", data={"password": PASSWORD})
    assert done.headers["location"] == "/"
    assert name_of(browser) == "ben"


def test_the_api_is_listed_for_people(browser):
    page = browser.get("/api/docs").text
    assert "/api/v1/drafts/{draft_id}/save" in page
    assert "Sign in by name and password" in page
