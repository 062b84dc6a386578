"""Pages of raters without a browser: who sees which, and what stands in them."""

from __future__ import annotations

import html
import re

import pytest

from fabula.core.story import Story
from fabula.studio.campaigns.opening import set_campaign_state
from fabula.studio.campaigns.raters import list_doors, make_csrf, make_door
from fabula.studio.campaigns.verdicts import exclude_rater
from fakes.rated_campaign import SCALE, define, open_campaign, write_stories

PAGE = {"Accept": "text/html"}
STEPS = ("/instructions", "/practice", "/task", "/tasks/1", "/pause")
PRACTICE = {"text": "A dog read.", "answers": {"flow": [1]}, "feedback": "It repeats."}


@pytest.fixture
def begin(world, studio):
    """Opens a campaign of Dan's and gives the address of its door."""

    def open_one(stories=None, way="code", questions=(SCALE,), **more):
        definition = define(questions, name="towers", **more)
        dan, given = world.people["dan"], stories or write_stories(2)
        return open_campaign(studio, dan, definition, given, way=way, completion="C0DE")

    return open_one


def enter(client, door, **body):
    """Come in by a door; the cookie stays with the client."""
    code = door.rpartition("/")[2]
    answer = client.post(f"/api/v1/rating/enter/{code}", json=body)
    assert answer.status_code == 200, answer.text
    client.headers["X-CSRF-Token"] = answer.json()["csrf"]
    return answer.json()


def look(client, path):
    return client.get(path, headers=PAGE, follow_redirects=False)


def submit(client, campaign, value=4):
    """Hand in the task that is next."""
    turn = client.post(f"/api/v1/rating/{campaign.id}/next").json()
    task = turn["assignment"]
    answers = {"flow": {story["id"]: value for story in task["stories"]}}
    body = {"version": task["version"], "answers": answers}
    path = f"/api/v1/rating/{campaign.id}/tasks/{task['id']}/submit"
    assert client.post(path, json=body).status_code == 200


def test_who_has_not_come_in_is_sent_to_the_door_and_leaves_no_trace(client, begin, studio, world):
    campaign, door = begin()
    assert [look(client, door + step).headers["location"] for step in STEPS] == [door] * 5
    assert "Begin" in look(client, door).text
    assert list_doors(studio, world.people["dan"], campaign.name)[0].raters == 0


def test_consent_and_practice_come_before_the_first_task(client, begin):
    _, door = begin(consent="We keep no names.", training=[PRACTICE])
    enter(client, door)
    assert look(client, f"{door}/task").headers["location"] == door
    enter(client, door, consents=True)
    assert look(client, f"{door}/task").headers["location"] == f"{door}/practice"
    page = look(client, f"{door}/practice").text
    # What will do, and what is said then, is told after the answer alone.
    assert "A dog read." in page and "It repeats." not in page


def test_the_last_page_has_the_code_and_what_was_submitted_is_only_read(client, begin):
    campaign, door = begin()
    enter(client, door)
    submit(client, campaign)
    assert "C0DE" not in look(client, f"{door}/task").text
    submit(client, campaign, 2)
    page = look(client, f"{door}/task").text
    assert "You have submitted 2 tasks." in page and "C0DE" in page
    page = look(client, f"{door}/tasks/2").text
    assert 'id="submit"' not in page and "and not changed" in page and '"can_answer": false' in page
    assert look(client, f"{door}/tasks/3").headers["location"] == f"{door}/task"


def test_a_task_can_be_given_back_from_the_pause(client, begin):
    campaign, door = begin()
    enter(client, door)
    first = re.search(r"Tale \d", look(client, f"{door}/task").text)[0]
    page = look(client, f"{door}/pause").text
    path = re.search(r'data-api="POST (\S+)"', page)[1]
    assert client.post(path).status_code == 204
    assert "Give the task back" not in look(client, f"{door}/pause").text
    assert re.search(r"Tale \d", look(client, f"{door}/task").text)[0] != first
    assert campaign.id in path


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_a_campaign_that_is_not_open_says_so_at_the_door_and_inside(
    client, begin, studio, world, state
):
    campaign, door = begin()
    enter(client, door)
    submit(client, campaign)
    set_campaign_state(studio, world.people["dan"], campaign.name, state)
    words = {"paused": "The campaign pauses", "closed": "C0DE"}[state]
    assert words in look(client, f"{door}/task").text
    client.cookies.clear()
    page = look(client, door).text
    assert 'id="enter"' not in page
    assert {"paused": "come back later", "closed": "Nobody new is asked"}[state] in page


def test_who_was_excluded_or_did_not_pass_is_told(client, begin, studio, world):
    campaign, door = begin(training=[PRACTICE], training_tries=1)
    enter(client, door)
    body = {"number": 0, "answers": {"flow": 5}}
    assert (
        client.post(f"/api/v1/rating/{campaign.id}/training", json=body).json()["tries_left"] == 0
    )
    page = look(client, f"{door}/practice")
    assert page.headers["location"] == f"{door}/task"
    assert "Thank you for trying" in look(client, f"{door}/task").text
    exclude_rater(studio, world.people["dan"], campaign.name, "r1", reason="a test")
    assert "You take no part any more" in look(client, f"{door}/task").text


def test_a_door_for_accounts_sends_strangers_to_sign_in_and_a_wrong_address_leads_nowhere(
    client, begin, studio, world
):
    campaign, door = begin(way="account")
    assert look(client, door).headers["location"] == f"/sign-in?next={door}"
    assert look(client, door[:-1]).status_code == 404
    other = make_door(studio, world.people["dan"], campaign.name).code
    assert look(client, f"/campaigns/another/{other}").status_code == 404
    assert look(client, f"/campaigns/{campaign.name}/{other}").status_code == 200


def test_what_researchers_and_writers_wrote_is_shown_and_never_run(client, begin):
    bad = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
    question = {**SCALE, "text": bad, "help": bad, "anchors": [bad] * 5}
    examples = [{"text": bad, "verdict": "good", "why": bad}]
    story = Story("s", bad, bad, (bad,), system="m", item="i")
    _, door = begin(
        [story], title=bad, instructions=bad, consent=bad, examples=examples,
        questions=[question, {"name": "m", "kind": "spans", "text": bad, "choices": [bad, "b"]}],
        show={"prompt": True, "reference": True},
    )  # fmt: skip
    page = look(client, door).text
    enter(client, door, consents=True)
    page += look(client, f"{door}/instructions").text + look(client, f"{door}/task").text
    assert "<script>alert" not in page and "<img src=x" not in page
    assert page.count(html.escape("<img src=x")) > 10


def test_pages_carry_the_word_of_their_rater(client, begin):
    campaign, door = begin()
    enter(client, door)
    secret = client.cookies[f"fabula-rater-{campaign.id}"]
    assert f'name="csrf" content="{make_csrf(secret)}"' in look(client, f"{door}/task").text
