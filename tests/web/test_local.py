"""A studio on one's own machine: who gets in without being asked, and who does not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import func, select
from starlette.testclient import TestClient

from fabula.core.errors import SettingError
from fabula.studio.database import open_studio
from fabula.studio.local import welcome_owner
from fabula.studio.migrations import migrate
from fabula.studio.tables import sessions
from fabula.web.app import create_app
from fabula.web.settings import read_settings
from web.conftest import HOME, QUICK

LOCAL = replace(QUICK, is_local=True)
PAGE = {"Accept": "text/html,*/*"}


@pytest.fixture(scope="module")
def own_studio(tmp_path_factory):
    opened = open_studio(f"sqlite:///{tmp_path_factory.mktemp('local') / 'studio.sqlite'}")
    migrate(opened)
    welcome_owner(opened, "ida")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def own_app(own_studio):
    return create_app(own_studio, LOCAL)


@pytest.fixture
def browse(own_app):
    """A browser of somebody at a place, by default of who sits here."""

    def make(client="127.0.0.1", base=HOME):
        address = (client, 5000)
        return TestClient(own_app, base_url=base, client=address, follow_redirects=False)

    return make


def count_sessions(studio):
    with studio.read() as db:
        return db.scalar(select(func.count()).select_from(sessions))


def test_the_first_page_is_opened_as_whose_machine_it_is(browse, own_studio):
    browser = browse()
    page = browser.get("/account", headers=PAGE)
    assert page.status_code == 200
    assert "ida" in page.text
    assert browser.cookies["fabula-session"]
    me = browser.get("/api/v1/me").json()
    assert me["person"]["name"] == "ida"
    assert sorted(me["person"]["roles"]) == ["admin", "annotator", "author", "researcher"]
    # The word that changes need is on the very first page.
    assert me["csrf"] in page.text
    before = count_sessions(own_studio)
    assert "set-cookie" not in browser.get("/account", headers=PAGE).headers
    assert count_sessions(own_studio) == before


def test_a_cookie_that_is_of_no_use_is_replaced(browse):
    browser = browse()
    browser.cookies.set("fabula-session", "of another time", domain="127.0.0.1")
    assert browser.get("/account", headers=PAGE).status_code == 200
    assert browser.get("/sign-in", headers=PAGE).headers["location"] == "/"


@pytest.mark.parametrize("base", ["http://localhost:8000", "http://[::1]:8000", HOME])
def test_it_answers_to_the_names_of_this_machine(browse, base):
    assert browse(base=base).get("/account", headers=PAGE).status_code == 200


@pytest.mark.parametrize(
    ("client", "headers", "status"),
    [
        # A name that somebody else lets point here.
        ("127.0.0.1", {"Host": "rebound.example.com:8000"}, 400),
        ("127.0.0.1", {"Host": "127.0.0.1.example.com"}, 400),
        # Another address of the same machine.
        ("127.0.0.1", {"Host": "192.168.1.5:8000"}, 400),
        ("127.0.0.1", {"Host": ""}, 400),
        ("192.168.1.9", {}, 403),
        ("203.0.113.5", {"Host": "127.0.0.1:8000"}, 403),
        ("", {}, 403),
        ("127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}, 403),
        ("127.0.0.1", {"Forwarded": "for=127.0.0.1"}, 403),
        ("127.0.0.1", {"X-Real-IP": "127.0.0.1"}, 403),
    ],
)
def test_nobody_else_is_answered(browse, own_studio, client, headers, status):
    before = count_sessions(own_studio)
    for path in ("/", "/account", "/api/v1/me", "/static/studio.css", "/healthz"):
        answer = browse(client).get(path, headers=PAGE | headers)
        assert answer.status_code == status
        assert "set-cookie" not in answer.headers
    assert count_sessions(own_studio) == before


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_of_another_site_opens_no_session(browse, own_studio, site):
    before = count_sessions(own_studio)
    led = PAGE | {"Sec-Fetch-Site": site}
    browser = browse()
    answer = browser.get("/account?tab=1", headers=led)
    assert answer.headers["location"] == "/sign-in?next=/account%3Ftab%3D1"
    door = browser.get(answer.headers["location"], headers=led)
    assert 'href="/account?tab=1"' in door.text
    assert "ida" not in door.text
    assert browser.get("/", headers=led).status_code in (200, 303)
    assert not browser.cookies
    assert count_sessions(own_studio) == before
    # Who then asks for it themselves is in.
    own = PAGE | {"Sec-Fetch-Site": "same-origin"}
    assert browser.get("/account?tab=1", headers=own).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example.com", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://127.0.0.1:9999", "Sec-Fetch-Site": "same-site"},
        {"Origin": "null"},
    ],
)
def test_a_form_of_another_site_changes_nothing(browse, headers):
    browser = browse()
    browser.get("/account", headers=PAGE)
    game = {"key": "k", "title": "Not mine"}
    assert browser.post("/api/v1/games", json=game, headers=headers).status_code == 403
    assert browser.get("/api/v1/games").json()["total"] == 0
    # Nor does one that says nothing of where it comes from: it lacks the session's word.
    assert browser.post("/api/v1/games", json=game).status_code == 403


def test_a_script_and_a_program_are_given_no_session(browse, own_studio):
    before = count_sessions(own_studio)
    assert browse().get("/api/v1/me", headers=PAGE).status_code == 401
    assert browse().get("/account", headers={"Accept": "*/*"}).status_code == 401
    assert browse().post("/account", headers=PAGE).status_code == 405
    assert count_sessions(own_studio) == before


def test_nobody_signs_up_or_in_there(browse):
    assert (
        "<form"
        not in browse().get("/sign-up", headers=PAGE | {"Sec-Fetch-Site": "cross-site"}).text
    )
    form = {"name": "fay", "password": "a boat without a bottom"}
    assert browse().post("/sign-up", data=form, headers={"Origin": HOME}).status_code == 403


def test_a_studio_that_is_not_local_gives_nobody_a_session(client):
    answer = client.get("/account", headers=PAGE, follow_redirects=False)
    assert answer.headers["location"] == "/sign-in?next=/account"
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FABULA_PUBLIC_URL", "https://studio.example.org"),
        ("FABULA_HOSTS", "*"),
        ("FABULA_TRUSTED_PROXIES", "127.0.0.1"),
        ("FABULA_OIDC_ISSUER", "https://id.example.org"),
        ("FABULA_SIGN_UP", "open"),
    ],
)
def test_settings_for_others_are_refused_beside_it(name, value):
    with pytest.raises(SettingError, match=name):
        read_settings({"FABULA_LOCAL": "1", name: value})
    assert read_settings({"FABULA_LOCAL": "1"}).is_local
    with pytest.raises(SettingError, match="FABULA_LOCAL"):
        read_settings({"FABULA_LOCAL": "maybe"})
