"""STORIUM's endpoints, as a program that was written for the original platform uses them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from dataclasses import replace

import pytest
from sqlalchemy import update

from fabula.studio.machines import change_machine
from fabula.studio.publishing import publish_entry
from fabula.studio.tables import stories, suggestions
from fabula.studio.tokens import make_token
from fabula.web.api.storium import choose_form
from fabula.web.identity import Web
from fabula.web.settings import OpenIdSettings, Settings, StoriumSettings
from fakes.storium_games import SMALL, entry, game
from fakes.storium_platform import DOOR as T
from fakes.storium_platform import FEEDBACK, MOVE, Platform
from web.conftest import QUICK

TOKEN = {"token": QUICK.storium.secret}


@pytest.fixture
def platform(client):
    return Platform(client)


def test_an_upload_says_where_its_status_is(platform, world):
    for _ in range(2):
        answer = platform.post("/stories/create", SMALL, 202)
        assert answer.json() == {"story_id": world.ids["story_id"]}
        assert answer.headers["location"] == f"{T}/stories/{world.ids['story_id']}/status"


@pytest.mark.parametrize(
    ("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)]
)
def test_bodies_come_compressed_and_long_answers_go_so(client, world, studio, encoding, pack):
    headers = {"Content-Encoding": encoding, "Content-Type": "application/json"}
    body = pack(json.dumps(SMALL).encode())
    sent = client.post(f"{T}/stories/create", params=TOKEN, content=body, headers=headers)
    assert sent.json() == {"story_id": world.ids["story_id"]}
    with studio.write() as db:
        db.execute(update(suggestions).values(generated="water " * 100))
    long = client.get(f"{T}/suggestions/{world.ids['door_id']}", params=TOKEN)
    assert len(long.content) > 1000 and long.headers["content-encoding"] == "gzip"
    short = client.get(f"{T}/stories/{world.ids['story_id']}/status", params=TOKEN)
    assert "content-encoding" not in short.headers


def test_our_own_answers_are_not_compressed(as_ann):
    answer = as_ann.get("/api/v1/openapi.json")
    assert len(answer.content) > 1000 and "content-encoding" not in answer.headers


def test_a_gzip_bomb_at_the_door_is_refused(client, studio):
    bomb = gzip.compress(b'{"a": "' + b"x" * 40_000_000 + b'"}')
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    answer = client.post(f"{T}/stories/create", params=TOKEN, content=bomb, headers=headers)
    assert answer.status_code == 413


def test_a_token_of_scope_backend_opens_too_and_nothing_else_does(client, world, studio):
    place = f"{T}/stories/{world.ids['story_id']}/status"
    opened = client.get(place, headers=world.bearer("platform"))
    assert opened.json() == {"status": "ready"}
    _, plain = make_token(studio, world.people["eve"], "no scope")
    _, judge = make_token(studio, world.people["eve"], "judge", scopes=("judgement", "dataset"))
    wrong = [
        {},
        {"params": {"token": ""}},
        {"params": {"token": "the platform's own secreT"}},
        {"params": {"token": "ä"}},
        {"headers": {"Authorization": "Bearer fab_unknown"}},
        {"headers": {"Authorization": f"Bearer {plain}"}},
        {"headers": {"Authorization": f"Bearer {judge}"}},
    ]
    for request in wrong:
        answer = client.get(place, **request)
        assert (answer.status_code, answer.json()["message"]) == (
            404, "there is nothing at this address",
        )  # fmt: skip


def test_where_no_secret_is_set_the_door_is_closed(app, client, world, studio):
    app.state.web = Web(studio, replace(QUICK, storium=StoriumSettings()))
    place = f"{T}/stories/{world.ids['story_id']}/status"
    for token in ("", "anything"):
        assert client.get(place, params={"token": token}).status_code == 404
    assert client.get(place).status_code == 404
    assert client.get(place, headers=world.bearer("platform")).status_code == 200


def test_what_is_not_there_is_404_and_a_broken_uuid_too(platform, world):
    platform.get(f"/stories/{'0' * 32}/status", 404)
    platform.get("/stories/%00/status", 404)
    for broken in ("0" * 32, "nonsense", "0" * 31, "0" * 64, "%ff", "a" * 400):
        platform.get(f"/suggestions/{broken}", 404)
    for broken in ("nonsense", "0" * 31):
        platform.post(f"/suggestions/{broken}/feedback", FEEDBACK, 404)
        platform.post(f"/suggestions/{broken}/finalize", entry(9, "Ida."), 404)
    # Another spelling of a UUID is the same UUID; a suggestion of the studio's own is none here.
    known = world.ids["door_id"]
    dashed = "-".join((known[:8], known[8:12], known[12:16], known[16:20], known[20:]))
    assert platform.get(f"/suggestions/{dashed.upper()}").json()["status"] == "done"
    platform.get(f"/suggestions/{world.ids['suggestion_id']}", 404)


def test_asking_is_refused_with_the_codes_of_the_original(platform, world, studio):
    asking = {"story_id": world.ids["story_id"], "context": MOVE | {"seq_id": 10}}
    platform.post("/suggestions/create", asking | {"story_id": "0" * 32}, 404)
    written = MOVE | {"description": "Ida ran."}
    answer = platform.post("/suggestions/create", asking | {"context": written}, 400)
    assert set(answer.json()) == {"message", "remedy"}
    platform.post("/suggestions/create", asking | {"context": {}}, 422)
    platform.post("/suggestions/create", asking | {"type": "poem"}, 422)
    platform.post("/suggestions/create", {"story_id": world.ids["story_id"]}, 422)
    platform.post("/stories/create", [SMALL], 422)
    with studio.write() as db:
        db.execute(update(stories).values(status="pending"))
    platform.post("/suggestions/create", asking, 404)


def test_without_an_active_machine_it_is_503(platform, world, studio):
    change_machine(studio, None, "lorem", status="inactive")
    answer = platform.post("/stories/create", SMALL | {"game_pid": "g2"}, 503)
    assert "no co-author is free" in answer.json()["message"]
    asking = {"story_id": world.ids["story_id"], "context": MOVE | {"seq_id": 10}}
    platform.post("/suggestions/create", asking, 503)


def test_feedback_is_refused_with_403(platform, world, studio, app):
    place = f"/suggestions/{world.ids['door_id']}/feedback"
    strict = replace(QUICK.storium, required=("coherence",))
    app.state.web = Web(studio, replace(QUICK, storium=strict))
    refused = [
        (f"/suggestions/{'0' * 32}/feedback", FEEDBACK),
        (place, FEEDBACK),
        (place, [{"type": "coherence", "response": "6"}]),
        (place, [{"type": "coherence", "response": "3"}] * 2),
    ]
    for where, feedback in refused:
        assert platform.post(where, feedback, 403).json()["message"]
    platform.post(place, [{"type": "likability", "response": "3"}], 422)
    platform.post(place, [{"type": "coherence", "response": "3"}], 200)
    platform.post(place, [{"type": "coherence", "response": "3"}], 403)
    platform.post(place, FEEDBACK, 200)
    with studio.write() as db:
        db.execute(update(suggestions).values(status="executing"))
    assert "executing" in platform.post(place, [], 403).json()["message"]


def test_an_entry_is_finalised_once(platform, world):
    place = f"/suggestions/{world.ids['door_id']}/finalize"
    published = MOVE | {"description": "Ida bails. She laughs."}
    platform.post(place, {}, 422)
    platform.post(place, published, 200)
    assert "already" in platform.post(place, published, 403).json()["message"]
    platform.post(f"/suggestions/{'0' * 32}/finalize", published, 403)
    answer = platform.get("/dashboard/sentence/histogram").json()
    assert answer == {}  # Two words are no group of three.


@pytest.fixture
def judged(platform, world, studio):
    """A suggestion of the platform's and one of the studio's, both published."""
    published = MOVE | {"description": "Ida bails, and sings."}
    platform.post(f"/suggestions/{world.ids['door_id']}/finalize", published, 200)
    publish_entry(studio, world.people["ann"], world.ids["draft_id"], version=1)
    return f"{T}/judgement/contexts"


def test_judges_read_what_stands_around_a_suggestion(client, world, judged):
    answer = client.get(judged, headers=world.bearer("dan"))
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="contexts.csv"'
    # The studio's own has no card that was played, and so no row.
    [row] = csv.DictReader(io.StringIO(answer.text))
    assert row == {
        "suggestion_id": world.ids["door_id"],
        "model_name": "lorem",
        "character_name": "Ida",
        "character_description": "A brave cook.",
        "challenge_name": "",
        "challenge_text": "The river rises!",
        "challenge_success_description": "Dry.",
        "challenge_failure_description": "Wet.",
        "played_card_1_name": "",
        "played_card_1_description": "A long ladle",
        "previous_entry_text": "It ends.",
        "suggestion_text": "Ida bails.",
    }


def test_judges_read_whole_stories_as_json_without_names(client, world, judged):
    answer = client.get(judged, headers=world.bearer("dan") | {"Accept": "text/json"})
    assert answer.headers["content-type"].startswith("text/json")
    studios, platforms = json.loads(answer.text)
    assert set(platforms) == {"model_name", "story", "generated", "finalized"}
    assert platforms["generated"]["description"] == "Ida bails."
    assert platforms["finalized"]["description"] == "Ida bails, and sings."
    assert platforms["story"]["scenes"][0]["entries"][0]["description"] == "Rain fell."
    assert platforms["story"]["scenes"][0]["entries"][0]["user_pid"] != "u1"
    assert studios["finalized"]["description"] == "She held the lantern up."
    assert world.people["ann"].id not in answer.text


def test_judgements_are_limited_by_machine_and_chosen_by_its_status(client, world, judged):
    headers = world.bearer("dan") | {"Accept": "text/json"}

    def count(query):
        return len(json.loads(client.get(judged + query, headers=headers).text))

    assert [count(query) for query in ("", "?limit=0", "?limit=1", "?status=inactive")] == [
        2, 2, 1, 0,
    ]  # fmt: skip
    for query in ("?limit=-1", "?status=draining"):
        assert client.get(judged + query, headers=headers).status_code == 422


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("text/csv", "csv"),
        ("*/*", "csv"),
        ("text/*;q=0.5", "csv"),
        ("text/json", "json"),
        ("text/html,application/xhtml+xml,*/*;q=0.8", "csv"),
        ("text/csv;q=0.5, text/json", "json"),
        ("text/csv;q=nonsense, text/json;q=0.1", "json"),
    ],
)
def test_the_best_liked_form_is_given(accept, form):
    assert choose_form(accept) == form


@pytest.mark.parametrize("accept", ["application/json", "text/html", "text/csv;q=0", ""])
def test_no_other_form_is_given(client, world, accept):
    headers = world.bearer("dan") | {"Accept": accept}
    assert client.get(f"{T}/judgement/contexts", headers=headers).status_code == 406


def test_researchers_read_and_to_other_people_there_is_nothing(client, world):
    for path in ("/judgement/contexts", "/data/download"):
        assert client.get(T + path, headers=world.bearer("ann")).status_code == 404
        assert client.get(T + path, headers=world.bearer("dan")).status_code == 200
        assert client.get(T + path).status_code == 401


def test_a_browser_is_sent_to_sign_in_where_there_is_a_provider(app, client, studio, world):
    open_id = OpenIdSettings("https://lab.example.org", "fabula")
    app.state.web = Web(studio, replace(QUICK, open_id=open_id))
    answer = client.get(f"{T}/judgement/contexts?limit=3", follow_redirects=False)
    assert answer.status_code == 303
    login = "/account/login?next=%2Fapi%2Fstorium%2Fjudgement%2Fcontexts%3Flimit%3D3"
    assert answer.headers["location"] == login
    assert client.get(f"{T}/data/download", follow_redirects=False).status_code == 303
    wrong = {"Authorization": "Bearer fab_unknown"}
    assert client.get(f"{T}/data/download", headers=wrong).status_code == 401
    assert client.get(f"{T}/stories/x/status").status_code == 404


def test_the_data_set_is_the_file_that_was_named(app, client, world, studio, tmp_path):
    headers = world.bearer("dan")
    for dataset, status in ((None, 404), (tmp_path / "gone.zip", 404), (tmp_path, 404)):
        app.state.web = Web(studio, replace(QUICK, storium=StoriumSettings(dataset=dataset)))
        assert client.get(f"{T}/data/download", headers=headers).status_code == status
    file = tmp_path / "storium.zip"
    file.write_bytes(b"z" * 5000)
    app.state.web = Web(studio, replace(QUICK, storium=StoriumSettings(dataset=file)))
    answer = client.get(f"{T}/data/download", headers=headers)
    assert answer.content == b"z" * 5000 and "content-encoding" not in answer.headers
    assert 'filename="storium.zip"' in answer.headers["content-disposition"]


def test_rows_without_a_character_or_a_card_are_left_out(platform, client, world, studio):
    for number, context in enumerate((entry(20, None), MOVE | {"role": "narrator"})):
        story = game(f"n{number}", [entry(1, "It began.")])
        story_id = platform.post("/stories/create", story, 202).json()["story_id"]
        with studio.write() as db:
            db.execute(update(stories).values(status="ready"))
        asking = {"story_id": story_id, "context": context}
        asked = platform.post("/suggestions/create", asking, 202).json()["suggestion_id"]
        with studio.write() as db:
            is_it = suggestions.c.id == asked
            db.execute(update(suggestions).where(is_it).values(status="done", generated="So."))
        platform.post(f"/suggestions/{asked}/finalize", context | {"description": "So."}, 200)
    answer = client.get(f"{T}/judgement/contexts", headers=world.bearer("dan"))
    assert list(csv.DictReader(io.StringIO(answer.text))) == []
    assert answer.text.startswith("suggestion_id,model_name,")


def test_settings_show_no_secret():
    settings = Settings(storium=StoriumSettings("the platform's own secret"))
    assert "own secret" not in repr(settings)
