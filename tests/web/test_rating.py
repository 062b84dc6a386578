"""Raters over HTTP: a cookie a campaign, and nothing of anybody else's."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from fabula.studio.campaigns.opening import create_campaign, set_campaign_state
from fabula.studio.campaigns.raters import enter_campaign, make_csrf, make_door
from fabula.studio.tables import METADATA
from fakes.open_campaign import make_campaign_definition, make_stories
from web.conftest import HOME

R = "/api/v1/rating"


class Browser:
    """A browser of somebody who rates."""

    def __init__(self, app, code, **names):
        self.client = TestClient(app, base_url=HOME, client=("127.0.0.1", 5000))
        self.entered = self.client.post(f"{R}/enter/{code}", json={"parameters": names})
        assert self.entered.status_code == 200, self.entered.text
        self.home = f"{R}/{self.entered.json()['campaign_id']}"
        self.headers = {"X-CSRF-Token": self.entered.json()["csrf"]}

    def send(self, method, path="", body=None, **options):
        options = {"headers": self.headers} | options
        return self.client.request(method, f"{self.home}{path}", json=body, **options)

    def take(self):
        return self.send("POST", "/next").json()["assignment"]


def answer(task, value=4):
    given = {"fluency": {story["id"]: value for story in task["stories"]}}
    return {"version": task["version"], "answers": given}


@pytest.fixture
def browser(app, world):
    return Browser(app, world.ids["code"])


@pytest.fixture
def nothing_changes(studio):
    """A way to say that all tables are as they were."""

    def read_tables():
        with studio.read() as db:
            return {
                table.name: sorted(map(repr, db.execute(select(table)).all()))
                for table in METADATA.sorted_tables
            }

    before = {}

    def watch(is_after=False):
        if is_after:
            assert read_tables() == before
        else:
            before.update(read_tables())

    return watch


def test_a_rater_comes_in_takes_saves_and_hands_in(browser):
    task = browser.take()
    assert len(task["stories"]) == 1 and task["stories"][0]["system"] is None
    saved = browser.send("PUT", f"/tasks/{task['id']}", answer(task, 2))
    assert saved.json()["version"] == 1
    task = browser.send("GET", f"/tasks/{task['id']}").json()
    receipt = browser.send("POST", f"/tasks/{task['id']}/submit", answer(task))
    assert receipt.json()["state"] == "submitted"
    assert [each["state"] for each in browser.send("GET", "/tasks").json()] == ["submitted"]
    assert browser.send("POST", "/next").json()["done"] == 1


def test_what_raters_are_told_of_a_campaign_holds_nothing_that_checks_them(browser):
    asked = browser.send("GET").json()["asked"]
    assert asked["questions"][0]["name"] == "fluency"
    assert not {"checks", "seed", "planted", "stop"} & asked.keys()


def test_the_cookie_is_for_the_server_alone(browser):
    cookie = browser.entered.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=lax" in cookie and "path=/" in cookie


def test_over_https_the_cookie_is_for_https_alone(app, world):
    far = TestClient(app, base_url="https://127.0.0.1")
    entered = far.post(f"{R}/enter/{world.ids['code']}", json={})
    cookie = entered.headers["set-cookie"]
    assert cookie.startswith("__Host-fabula-rater-") and "; secure" in cookie.lower()


def test_somebody_elses_task_is_not_there(browser, world, nothing_changes):
    theirs = f"/tasks/{world.ids['assignment_id']}"
    task = browser.take()
    nothing_changes()
    for method, path, body in (
        ("GET", theirs, None),
        ("PUT", theirs, answer(task)),
        ("POST", f"{theirs}/submit", answer(task)),
        ("POST", f"{theirs}/release", None),
    ):
        refused = browser.send(method, path, body)
        assert (refused.status_code, refused.json()["message"]) == (404, "this is no task of yours")
    nothing_changes(is_after=True)


def test_a_second_submit_is_the_first_one_or_a_conflict(browser, nothing_changes):
    task = browser.take()
    path = f"/tasks/{task['id']}/submit"
    first = browser.send("POST", path, answer(task))
    nothing_changes()
    assert browser.send("POST", path, answer(task)).json() == first.json()
    assert browser.send("POST", path, answer(task, 1)).status_code == 409
    assert browser.send("PUT", f"/tasks/{task['id']}", answer(task, 1)).status_code == 409
    nothing_changes(is_after=True)


def test_a_stale_tab_is_told_so(browser, nothing_changes):
    task = browser.take()
    browser.send("PUT", f"/tasks/{task['id']}", answer(task, 2))
    nothing_changes()
    for method, path in (("PUT", ""), ("POST", "/submit")):
        stale = browser.send(method, f"/tasks/{task['id']}{path}", answer(task, 5))
        assert stale.status_code == 409 and "version 1" in stale.json()["message"]
    nothing_changes(is_after=True)


def test_a_forged_code_leads_nowhere(app, world, nothing_changes):
    client = TestClient(app, base_url=HOME)
    nothing_changes()
    for code in ("made-up", world.ids["code"][:-1], "%00", "x" * 64):
        assert client.post(f"{R}/enter/{code}", json={}).status_code == 404
    nothing_changes(is_after=True)


def test_a_rater_of_another_campaign_is_nobody_here(app, studio, world, browser, nothing_changes):
    dan = world.people["dan"]
    create_campaign(studio, dan, make_campaign_definition(name="boats"), make_stories())
    set_campaign_state(studio, dan, "boats", "open")
    door = make_door(studio, dan, "boats")
    secret = enter_campaign(studio, door.code).secret or ""
    task = browser.take()
    stranger = TestClient(app, base_url=HOME)
    # Their own cookie, under this campaign's name.
    stranger.cookies.set(f"fabula-rater-{world.ids['campaign_id']}", secret)
    headers = {"X-CSRF-Token": make_csrf(secret)}
    nothing_changes()
    for method, path, body in (
        ("GET", "", None),
        ("POST", "/next", None),
        ("GET", "/tasks", None),
        ("GET", f"/tasks/{task['id']}", None),
        ("POST", f"/tasks/{task['id']}/submit", answer(task)),
    ):
        refused = stranger.request(method, f"{browser.home}{path}", json=body, headers=headers)
        assert refused.status_code == 403
    nothing_changes(is_after=True)


def test_without_the_word_of_the_page_nothing_is_changed(browser, nothing_changes):
    task = browser.take()
    nothing_changes()
    for headers in ({}, {"X-CSRF-Token": "made up"}):
        for path, body in (("/next", None), (f"/tasks/{task['id']}/submit", answer(task))):
            refused = browser.send("POST", path, body, headers=headers)
            assert refused.status_code == 403
    foreign = {"Origin": "https://elsewhere.example"} | browser.headers
    assert browser.send("POST", "/next", headers=foreign).status_code == 403
    nothing_changes(is_after=True)


def test_who_comes_back_by_a_crowd_sites_name_alone_goes_on_and_reads_no_answers(
    app, studio, world
):
    door = make_door(studio, world.people["dan"], "lamps", way="prolific")
    own = Browser(app, door.code, PROLIFIC_PID="5f0c")
    done = own.take()
    own.send("POST", f"/tasks/{done['id']}/submit", answer(done))
    held = own.take()
    forger = Browser(app, door.code, PROLIFIC_PID="5f0c")
    assert forger.take()["id"] == held["id"]
    assert forger.send("GET", f"/tasks/{done['id']}").json()["answers"] == {}
    assert own.send("POST", "/next").status_code == 403


def test_answers_that_will_not_do_are_named(browser):
    task = browser.take()
    refused = browser.send("POST", f"/tasks/{task['id']}/submit", answer(task, 9))
    assert refused.status_code == 422
    assert refused.json()["message"] == "fluency: 9 will not do"
    task = browser.send("GET", f"/tasks/{task['id']}").json()
    assert (task["state"], task["answers"]) == ("leased", {})


def test_a_campaign_is_made_opened_judged_and_closed_by_its_researcher(client, app, world):
    headers = world.bearer("dan")
    asked = {
        "name": "boats", "title": "Boats", "instructions": "Rate.", "raters": 1,
        "questions": [{"name": "fluency", "kind": "scale", "text": "Well?"}],
    }  # fmt: skip
    body = {"definition": asked, "stories": [{"id": "1", "text": "Once.", "system": "one"}]}
    home = "/api/v1/campaigns"
    assert client.post(home, json=body, headers=headers).json()["state"] == "draft"
    assert client.post(home, json=body, headers=headers).status_code == 409
    client.put(f"{home}/boats/state", json={"state": "open"}, headers=headers)
    door = client.post(f"{home}/boats/doors", json={"way": "code"}, headers=headers).json()
    browser = Browser(app, door["code"])
    task = browser.take()
    browser.send("POST", f"/tasks/{task['id']}/submit", answer(task))
    verdict = {"verdict": "rejected", "assignments": [task["id"]], "reason": "made up"}
    judged = client.post(f"{home}/boats/verdicts", json=verdict, headers=headers)
    assert judged.json() == {"assignments": [task["id"]]}
    assert Browser(app, door["code"]).take() is not None
    closed = client.put(f"{home}/boats/state", json={"state": "closed"}, headers=headers)
    assert closed.json()["state"] == "closed"
    lines = client.get(home, headers=headers).json()
    assert [line["name"] for line in lines] == ["boats", "lamps"]
