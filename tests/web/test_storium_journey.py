"""STORIUM's protocol from the first request to the last, with a worker that writes."""

from __future__ import annotations

import threading
from contextlib import contextmanager

import pytest
from starlette.testclient import TestClient

from fabula.authors import load_author
from fabula.studio.database import open_studio
from fabula.studio.drafts import open_draft
from fabula.studio.games import create_game
from fabula.studio.machine_runner import Pace
from fabula.studio.machines import add_machine
from fabula.studio.migrations import migrate
from fabula.studio.people import create_person
from fabula.studio.scenes import add_scene
from fabula.studio.storium_door import PLATFORM, upload_story
from fabula.studio.storium_json import download_game
from fabula.studio.suggestions import ask_suggestion, read_suggestion
from fabula.studio.worker import run_worker
from fabula.web.app import create_app
from fakes.figment_server import serve
from fakes.postgres import serve_postgres
from fakes.storium_games import SMALL
from fakes.storium_platform import FEEDBACK, MOVE, Platform
from fakes.suggestion_rows import wait_until
from web.conftest import HOME, QUICK


@pytest.fixture(scope="module")
def postgres_url():
    with serve_postgres() as server:
        if server is None:
            pytest.skip("there is no PostgreSQL: set FABULA_TEST_DATABASE_URL, or install one")
        head, _, query = server.partition("?")
        root = open_studio(f"{head}/postgres?{query}")
        with root.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as db:
            db.exec_driver_sql("DROP DATABASE IF EXISTS storium_door")
            db.exec_driver_sql("CREATE DATABASE storium_door")
        root.close()
        yield f"{head}/storium_door?{query}"


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request, tmp_path):
    """The address of a studio without anything in it."""
    url = f"sqlite:///{tmp_path / 'door.sqlite'}"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres_url")
    studio = open_studio(url)
    migrate(studio)
    studio.close()
    return url


@contextmanager
def working(url):
    """A worker beside the web process; the co-author is a process of its own."""
    stop = threading.Event()
    options = {"stop": stop, "pace": Pace(poll_s=0.02, store_s=0.05)}
    worker = threading.Thread(target=run_worker, args=(url,), kwargs=options)
    worker.start()
    try:
        yield
    finally:
        stop.set()
        worker.join(30)
    assert not worker.is_alive()


def go_the_whole_way(studio, story):
    """Upload, wait, ask, read along, say what one thinks, publish."""
    platform = Platform(TestClient(create_app(studio, QUICK), base_url=HOME))
    uploaded = platform.post("/stories/create", story, 202)
    story_id = uploaded.json()["story_id"]
    wait_until(lambda: platform.get(uploaded.headers["location"]).json()["status"] == "ready")
    asking = {"story_id": story_id, "context": MOVE, "type": "scene_entry"}
    asked = platform.post("/suggestions/create", asking, 202)
    place = asked.headers["location"]
    seen = []

    def read():
        seen.append(platform.get(place).json())
        return seen[-1]["status"] in ("done", "failed")

    wait_until(read)
    assert {each["status"] for each in seen} <= {"pending", "executing", "done"}
    written = seen[-1]["suggestion"]
    assert written | {"description": None} == MOVE
    assert 4 < len(written["description"].split()) <= 250
    assert platform.post(f"{place}/feedback", FEEDBACK, 200).json() is None
    published = written | {"description": "Rain. " + written["description"]}
    assert platform.post(f"{place}/finalize", published, 200).json() is None
    assert platform.post("/suggestions/create", asking, 202).json() == asked.json()
    histogram = platform.get("/dashboard/sentence/histogram").json()
    assert histogram and set(histogram.values()) == {1}
    return asked.json(), seen


def test_a_client_of_the_original_goes_the_whole_way(empty_url):
    studio = open_studio(empty_url)
    add_machine(studio, None, name="slow lorem", spec="lorem(delay_s=0.02)")
    with working(empty_url):
        asked, seen = go_the_whole_way(studio, SMALL)
    studio.close()
    assert [each["type"] for each in asked["required_feedback"]] == [
        "fluency", "relevance", "coherence", "likeability", "comments",
    ]  # fmt: skip
    assert asked["required_feedback"][0]["choices"] == ["1", "2", "3", "4", "5"]
    assert "choices" not in asked["required_feedback"][4]
    assert len(asked["suggestion_id"]) == 32
    partial = [each["suggestion"]["description"] for each in seen if each["status"] == "executing"]
    lengths = {len(text or "") for text in partial}
    assert len(lengths) > 2 and max(lengths) <= len(seen[-1]["suggestion"]["description"])


def test_a_model_of_the_original_writes_behind_the_door(tmp_path):
    """Both ends are STORIUM's protocol; the model is sent the game as it was uploaded."""
    url = f"sqlite:///{tmp_path / 'door.sqlite'}"
    studio = open_studio(url)
    migrate(studio)
    author = load_author("lorem")
    prepared = []
    author.preprocess = lambda context: prepared.append(context.game)
    with serve(author) as served:
        add_machine(studio, None, name="far away", spec=f"remote({served.url!r})")
        with working(url):
            go_the_whole_way(studio, SMALL)
    studio.close()
    assert prepared == [SMALL]


def test_a_model_of_the_original_writes_for_a_game_of_the_studio(tmp_path):
    """It is sent the game before a draft is asked about, and once: nothing has changed since."""
    url = f"sqlite:///{tmp_path / 'studio.sqlite'}"
    studio = open_studio(url)
    migrate(studio)
    ann = create_person(studio, None, name="ann")
    author = load_author("lorem")
    prepared = []
    author.preprocess = lambda context: prepared.append(context.game)
    with serve(author) as served:
        add_machine(studio, None, name="far away", spec=f"remote({served.url!r})")
        story = create_game(studio, ann, key="g", title="The well")
        scene = add_scene(studio, ann, story.id, key="s")
        where = {"game_id": story.id, "scene_id": scene.id, "format": "establishment"}
        draft = open_draft(studio, ann, key="d", **where)
        with working(url):
            wait_until(lambda: prepared)
            asked = ask_suggestion(studio, ann, draft.id, key="1").id
            wait_until(lambda: read_suggestion(studio, ann, asked).is_finished)
        written = read_suggestion(studio, ann, asked)
    assert written.status == "done" and written.generated
    assert prepared == [download_game(studio, ann, story.id)]
    studio.close()


def test_a_machine_that_cannot_get_ready_makes_the_story_fail(tmp_path):
    url = f"sqlite:///{tmp_path / 'door.sqlite'}"
    studio = open_studio(url)
    migrate(studio)
    # Nobody listens there: the co-author cannot start.
    add_machine(studio, None, name="gone", spec="remote('http://127.0.0.1:9')")
    story_id = upload_story(studio, PLATFORM, SMALL).id
    platform = Platform(TestClient(create_app(studio, QUICK), base_url=HOME))
    place = f"/stories/{story_id}/status"
    with working(url):
        wait_until(lambda: platform.get(place).json() == {"status": "failed"})
    assert platform.post("/stories/create", SMALL, 202).json() == {"story_id": story_id}
    assert platform.get(place).json() == {"status": "pending"}
    studio.close()
