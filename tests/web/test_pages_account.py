"""The pages of one's account, of people and of co-authors; and what holds for all pages."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from fabula.studio.machines import change_machine
from fabula.studio.people import change_profile, create_person, set_roles
from fabula.studio.tokens import make_token, revoke_token
from web.conftest import HOME, PASSWORD

PAGE = {"Accept": "text/html", "Origin": HOME}
OWN_PAGES = ("/account", "/people", "/machines")


@pytest.fixture
def browser(app):
    """A browser that Ann is signed in with."""
    client = TestClient(app, base_url=HOME, headers=PAGE, follow_redirects=False)
    client.post("/sign-in", data={"name": "ann", "password": PASSWORD})
    return client


@pytest.fixture
def as_admin(browser, studio, world):
    """The same, and Ann looks after the studio."""
    set_roles(studio, None, world.people["ann"].id, ["admin", "author"])
    return browser


@pytest.mark.parametrize("path", OWN_PAGES)
def test_a_stranger_is_sent_to_sign_in_and_back(app, path):
    stranger = TestClient(app, base_url=HOME, headers=PAGE, follow_redirects=False)
    answer = stranger.get(f"{path}?q=1")
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/sign-in?next={path}%3Fq%3D1"


def test_people_and_machines_are_for_admins(browser):
    for path in ("/people", "/machines"):
        answer = browser.get(path)
        assert answer.status_code == 403
        assert "ben" not in answer.text
        assert "<h1>Not for you to do</h1>" in answer.text
    assert 'href="/people"' not in browser.get("/account").text


def test_pages_about_a_person_are_kept_by_nobody(as_admin):
    for path in OWN_PAGES:
        answer = as_admin.get(path)
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "no-store"
        policy = answer.headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        for inline in ("<style", " style=", " onclick=", "javascript:"):
            assert inline not in answer.text


def test_an_account_shows_who_one_is_and_no_secret(browser, studio, world):
    ann = world.people["ann"]
    change_profile(studio, ann, display="<b>Ann</b>", email="ann@example.org")
    token_id, secret = make_token(studio, ann, "<i>mine</i>")
    page = browser.get("/account").text
    assert "&lt;b&gt;Ann&lt;/b&gt;" in page
    assert "ann@example.org" in page
    assert "&lt;i&gt;mine" in page
    assert "<b>Ann</b>" not in page
    assert "<i>mine" not in page
    assert secret not in page
    assert browser.cookies["fabula-session"] not in page
    assert "This browser" in page
    revoke_token(studio, ann, token_id)
    assert "that work no more" in browser.get("/account").text


def test_only_scopes_that_one_may_give_are_offered(browser, as_admin, studio, world):
    assert 'value="metrics"' in as_admin.get("/account").text
    set_roles(studio, None, world.people["ann"].id, ["author"])
    assert 'name="scopes"' not in browser.get("/account").text


def test_what_was_done_is_said_in_our_words_alone(browser):
    assert "Your password is changed" in browser.get("/account?done=password").text
    odd = browser.get("/account", params={"done": "<b>owned</b>"})
    assert "owned" not in odd.text
    assert browser.get("/account", params={"done": "x" * 30}).status_code == 422


def test_sessions_are_ended_through_the_api_with_the_sessions_word(app, browser):
    other = TestClient(app, base_url=HOME, headers=PAGE)
    other.post("/sign-in", data={"name": "ann", "password": PASSWORD})
    csrf = {"X-CSRF-Token": browser.get("/api/v1/me").json()["csrf"]}
    assert browser.delete("/api/v1/sessions").status_code == 403
    assert other.get("/api/v1/me").status_code == 200
    assert browser.delete("/api/v1/sessions", headers=csrf).status_code == 204
    assert other.get("/api/v1/me").status_code == 401
    assert [each["is_current"] for each in browser.get("/api/v1/sessions").json()["items"]] == [
        True
    ]


def test_a_profile_is_changed_by_its_owner(browser):
    csrf = {"X-CSRF-Token": browser.get("/api/v1/me").json()["csrf"]}
    change = {"display": "A. Writer", "email": "a@example.org"}
    for _ in range(2):
        me = browser.patch("/api/v1/me", json=change, headers=csrf).json()
        assert (me["display"], me["email"]) == ("A. Writer", "a@example.org")
    me = browser.patch("/api/v1/me", json={"email": ""}, headers=csrf).json()
    assert (me["display"], me["email"]) == ("A. Writer", None)


def test_people_are_found_by_name_address_and_role(as_admin, studio):
    create_person(studio, None, name="fay", email="fay@example.org", display="Fay Wren")
    everyone = as_admin.get("/people").text
    assert all(f">{name}</b>" in everyone for name in ("ann", "ben", "cat", "dan", "eve", "fay"))
    for search in ("fay@example", "WREN", "wren fay"):
        page = as_admin.get("/people", params={"q": search}).text
        assert ">fay</b>" in page
        assert ">ben</b>" not in page
    assert ">dan</b>" in as_admin.get("/people?q=researcher").text
    none = as_admin.get("/people", params={"q": '"><b>x'}).text
    assert "Nobody is called so" in none
    assert "<b>x" not in none


def test_many_people_come_in_pages(as_admin, studio):
    for number in range(60):
        create_person(studio, None, name=f"person{number:02}")
    first = as_admin.get("/people?q=person")
    assert first.text.count('class="name"') == 50
    assert "q=person&amp;page=2" in first.text
    second = as_admin.get("/people?q=person&page=2").text
    assert second.count('class="name"') == 10
    assert "page=3" not in second
    assert as_admin.get("/people?page=0").status_code == 422


def test_nobody_deletes_themselves_by_the_list_of_people(as_admin):
    page = as_admin.get("/people?q=ann").text
    assert "Delete ann" not in page
    assert "Delete ben" in as_admin.get("/people?q=ben").text


def test_co_authors_show_what_they_are_and_used(as_admin, studio):
    change_machine(studio, None, "lorem", quota=10, status="draining")
    page = as_admin.get("/machines").text
    assert "<code>lorem</code>" in page
    assert " of 10 suggestions this month" in page
    assert 'value="draining" checked' in page


def test_what_goes_wrong_is_escaped_on_its_page(browser):
    answer = browser.get("/people/<script>alert(1)</script>")
    assert answer.status_code == 404
    assert "<script>alert" not in answer.text


@pytest.mark.parametrize("path", ["/account", "/sign-up", "/static/studio.css", "/", "/nothing"])
def test_a_page_can_be_asked_for_without_its_body(browser, path):
    whole, head = browser.get(path), browser.head(path)
    assert head.status_code == whole.status_code
    assert head.content == b""
    assert head.headers.get("content-type") == whole.headers.get("content-type")
    assert head.headers["content-security-policy"] == whole.headers["content-security-policy"]


def test_the_api_says_what_can_be_done_at_an_address(browser):
    assert browser.head("/api/v1/me").status_code == 405
    answer = browser.post("/account")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET"
    assert "This cannot be done at this address." in answer.text


@pytest.mark.parametrize(
    "name",
    [
        "../app.py",
        "..%2fapp.py",
        "%2e%2e%2fapp.py",
        "..%5capp.py",
        ".hidden",
        "nothing.css",
        "studio",
        "%00.css",
        "x" * 300 + ".css",
        "studio.css%2f..%2f..%2fapp.py",
        "__init__.py",
    ],
)
def test_no_file_but_those_of_pages_is_given(client, name):
    assert client.get(f"/static/{name}").status_code == 404


def test_a_file_that_was_not_changed_may_be_kept(client):
    first = client.get("/static/studio.css")
    assert first.headers["cache-control"] == "no-cache"
    again = client.get("/static/studio.css", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    # What is told with it replaces what the browser had been told.
    assert again.headers["cache-control"] == "no-cache"
    wrong = client.get("/static/studio.css?v=000000000000")
    assert wrong.headers["cache-control"] == "no-cache"
