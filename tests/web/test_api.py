"""The API as a program uses it, from an empty game to a published entry and its export."""

from __future__ import annotations

import io
import json
import threading
import zipfile

import pytest
from sqlalchemy import update

from fabula.studio.tables import suggestions

A = "/api/v1"


@pytest.fixture
def draft(world):
    return f"{A}/drafts/{world.ids['draft_id']}"


def test_a_game_is_begun_once_however_often_its_request_is_sent(as_ann):
    body = {"key": "mine", "title": "A well", "world": "Sea"}
    first, again = (as_ann.post(f"{A}/games", json=body) for _ in range(2))
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()
    assert as_ann.get(f"{A}/games").json()["total"] == 2


def test_a_draft_is_saved_restored_and_published(as_ann, draft, world):
    edit = {"start": 24, "stop": 24, "inserted": " The stairs went on."}
    edit |= {"source": "machine", "suggestion_id": world.ids["suggestion_id"]}
    saved = as_ann.post(f"{draft}/save", json={"key": "2", "base_version": 1, "edits": [edit]})
    assert saved.json()["text"] == "She held the lantern up. The stairs went on."
    assert [run[:2] for run in saved.json()["marks"]] == [[24, "person"], [20, "machine"]]
    log = as_ann.get(f"{draft}/log").json()
    assert [row["inserted"] for row in log["items"]] == [
        "She held the lantern up.",
        " The stairs went on.",
    ]
    published = as_ann.post(f"{draft}/publish", json={"version": 2}).json()
    user = {s["aspect"]: s["value"] for s in published["scores"] if s["scorer"] == "user"}
    # Four words of four were kept, and are four of the nine that were published.
    assert (user["precision"], user["recall"]) == (1.0, pytest.approx(4 / 9))
    assert as_ann.post(f"{draft}/publish", json={"version": 2}).json() == published
    entries = as_ann.get(f"{A}/games/{world.ids['game_id']}/entries").json()
    assert [entry["text"] for entry in entries["items"]] == [saved.json()["text"]]


def test_who_saves_over_an_old_text_is_told_and_loses_nothing(as_ann, draft):
    edit = {"start": 0, "stop": 0, "inserted": "Then: "}
    stale = {"key": "x", "base_version": 0, "edits": [edit]}
    before = as_ann.get(draft).json()
    assert as_ann.post(f"{draft}/save", json=stale).status_code == 409
    assert as_ann.get(draft).json() == before


def test_pages_are_bounded(as_ann):
    for number in range(3):
        as_ann.post(f"{A}/games", json={"key": str(number), "title": f"Game {number}"})
    page = as_ann.get(f"{A}/games?offset=1&limit=2").json()
    assert (len(page["items"]), page["total"]) == (2, 4)
    assert as_ann.get(f"{A}/games?limit=501").status_code == 422
    assert as_ann.get(f"{A}/games?limit=0").status_code == 422


def read_events(text):
    blocks = [block.split("\n") for block in text.strip().split("\n\n") if block[:1] != ":"]
    return [(lines[0][7:], json.loads(lines[1][6:])) for lines in blocks]


def test_a_suggestion_that_is_there_is_streamed_and_ends_with_its_status(as_ann, world):
    answer = as_ann.get(f"{A}/suggestions/{world.ids['suggestion_id']}/stream")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert read_events(answer.text) == [
        ("text", {"text": " The stairs went on."}),
        ("status", {"status": "done", "problem": ""}),
    ]


def test_a_suggestion_is_watched_while_it_is_written(as_ann, world, studio, monkeypatch):
    for name in ("LOOK_EVERY_S", "LOOK_AT_LEAST_EVERY_S"):
        monkeypatch.setattr(f"fabula.web.api.suggestions.{name}", 0.02)
    asked = as_ann.post(
        f"{A}/drafts/{world.ids['draft_id']}/suggestions", json={"key": "live"}
    ).json()
    assert asked["status"] == "pending"

    def write(**values):
        with studio.write() as db:
            db.execute(update(suggestions).where(suggestions.c.id == asked["id"]).values(**values))

    def work():
        for text in ("One", "One\nlight", "Two lights"):
            write(status="executing", generated=text)
            threading.Event().wait(0.15)
        write(status="failed", problem="the model fell asleep")

    worker = threading.Thread(target=work)
    worker.start()
    events = read_events(as_ann.get(f"{A}/suggestions/{asked['id']}/stream").text)
    worker.join()
    assert events == [
        ("text", {"text": "One"}),
        ("text", {"text": "\nlight"}),
        ("replace", {"text": "Two lights"}),
        ("status", {"status": "failed", "problem": "the model fell asleep"}),
    ]
    assert as_ann.app.state.web.streams == 0


def test_only_so_many_are_watched_at_once(as_ann, world):
    as_ann.app.state.web.streams = 200
    answer = as_ann.get(f"{A}/suggestions/{world.ids['suggestion_id']}/stream")
    assert answer.status_code == 503


def test_a_suggestion_is_rated_and_the_questions_say_what_is_asked(as_ann, world):
    aspects = [question["aspect"] for question in as_ann.get(f"{A}/questions").json()]
    assert sorted(aspects) == ["coherence", "fluency", "likability", "relevance"]
    place = f"{A}/suggestions/{world.ids['suggestion_id']}/ratings"
    body = {"ratings": dict.fromkeys(aspects, 4), "comment": "kept whole"}
    assert len(as_ann.put(place, json=body).json()) == 5
    values = {row["aspect"]: row["value"] for row in as_ann.get(place).json()}
    assert values == dict.fromkeys(aspects, 4) | {"comment": None}
    assert as_ann.put(place, json={"ratings": {"beauty": 3}}).status_code == 422
    assert as_ann.put(place, json={"ratings": {"fluency": 6}}).status_code == 422


def test_a_game_goes_out_as_storium_json_and_comes_in_again(as_ann, world):
    game = as_ann.get(f"{A}/games/{world.ids['game_id']}/storium").json()
    brought = as_ann.post(f"{A}/games/import", json=game)
    assert brought.status_code in (201, 409), brought.text
    game["game_pid"] = "another"
    made = as_ann.post(f"{A}/games/import", json=game).json()["id"]
    view = as_ann.get(f"{A}/games/{made}").json()
    assert [character["name"] for character in view["characters"]] == ["Mina"]
    assert made != world.ids["game_id"]


@pytest.mark.parametrize("form", ["json", "csv"])
def test_researchers_take_everything_along_in_one_archive(client, world, form):
    answer = client.get(f"{A}/export?form={form}", headers=world.bearer("dan"))
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        names = archive.namelist()
        everything = b"".join(archive.read(name) for name in names)
    assert {"stories.jsonl", "scores.jsonl", f"suggestions.{form}"} <= set(names)
    assert world.people["ann"].id.encode() not in everything


def test_ones_own_data_is_given_and_then_forgotten(as_ann, world):
    data = as_ann.get(f"{A}/me/data").json()
    assert "She held the lantern up." in json.dumps(data)
    wrong = as_ann.request("DELETE", f"{A}/me", json={"name": "ben"})
    assert wrong.status_code == 403
    assert as_ann.request("DELETE", f"{A}/me", json={"name": "Ann"}).status_code == 204
    assert as_ann.get(f"{A}/me").status_code == 401
