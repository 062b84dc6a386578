"""Whether the process lives, can work, and what it counts."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from fabula.studio.database import open_studio
from fabula.studio.tables import jobs, now
from fabula.studio.tokens import make_token
from fabula.web import health
from fabula.web.app import create_app
from web.conftest import HOME, QUICK

FIGURES = "/metrics"


def test_a_process_that_lives_says_so_even_without_a_database(tmp_path):
    app = create_app(open_studio(f"sqlite:///{tmp_path}/none.sqlite"), QUICK)
    client = TestClient(app, base_url=HOME)
    assert client.get("/healthz").json() == {"status": "ok"}
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["tables"] == "empty"


def test_a_studio_that_can_work_is_ready(client):
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["ready"] is True


def test_work_that_waits_for_long_says_that_no_worker_is_seen(client, studio):
    with studio.write() as db:
        db.execute(update(jobs).values(due_at=now() - timedelta(seconds=90)))
    assert client.get("/readyz").json()["worker"].startswith("not seen: work waits for 9")
    with studio.write() as db:
        db.execute(update(jobs).values(state="leased", leased_until=now()))
    assert client.get("/readyz").json()["worker"] == "at work"


def test_the_figures_tell_of_the_queue(client):
    lines = client.get(FIGURES).text.splitlines()
    assert 'fabula_jobs{kind="suggest",state="waiting"} 2.0' in lines
    assert any(line.startswith("fabula_oldest_job_seconds ") for line in lines)


def test_a_database_that_does_not_answer_is_503_and_no_stack_trace(tmp_path, world):
    app = create_app(open_studio("postgresql://127.0.0.1:9/nothing"), QUICK)
    client = TestClient(app, base_url=HOME)
    assert client.get("/readyz").json()["database"] == "does not answer"
    answer = client.get("/api/v1/me", headers=world.bearer("ann"))
    assert answer.status_code == 503
    assert answer.json()["message"] == "the database does not answer"
    assert "retry-after" in answer.headers


def test_requests_are_counted_by_their_route_and_not_by_their_path(studio, world):
    as_ann = TestClient(create_app(studio, QUICK), base_url=HOME, client=("127.0.0.1", 1))
    as_ann.headers.update(world.bearer("ann"))
    for _ in range(3):
        as_ann.get(f"/api/v1/games/{world.ids['game_id']}")
    as_ann.get("/api/v1/games/nothing")
    as_ann.get("/no/such/place")
    lines = as_ann.get(FIGURES).text.splitlines()
    route = 'route="/api/v1/games/{game_id}"'
    assert f'fabula_requests_total{{method="GET",{route},status="200"}} 3.0' in lines
    assert f'fabula_requests_total{{method="GET",{route},status="404"}} 1.0' in lines
    assert 'fabula_requests_total{method="",route="nowhere",status="404"} 1.0' in lines
    assert f'fabula_request_seconds_count{{method="GET",{route}}} 4.0' in lines
    assert world.ids["game_id"] not in "".join(lines)


def test_figures_are_for_this_machine_and_for_those_with_a_token_for_them(app, studio, world):
    here = TestClient(app, base_url=HOME, client=("127.0.0.1", 1))
    there = TestClient(app, base_url=HOME, client=("203.0.113.5", 1))
    _, secret = make_token(studio, world.people["eve"], "prometheus", scopes=["metrics"])
    assert here.get(FIGURES).status_code == 200
    assert there.get(FIGURES).status_code == 401
    assert there.get(FIGURES, headers=world.bearer("ann")).status_code == 403
    token = {"Authorization": f"Bearer {secret}"}
    assert there.get(FIGURES, headers=token).status_code == 200


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded", "x-real-ip"])
def test_what_a_proxy_passes_on_does_not_come_from_this_machine(app, header):
    here = TestClient(app, base_url=HOME, client=("127.0.0.1", 1))
    assert here.get(FIGURES, headers={header: "203.0.113.9"}).status_code == 401


def test_a_file_of_counts_that_is_just_being_made_is_read_a_moment_later(monkeypatch):
    tries = []

    def gather() -> bytes:
        tries.append(1)
        if len(tries) < 3:
            raise RuntimeError("Read beyond file size detected, file is corrupted.")
        return b"counted"

    monkeypatch.setattr(health, "_gather_shared", gather)
    monkeypatch.setattr(health, "_AGAIN_S", 0.0)
    assert health._spell_shared() == b"counted"
    monkeypatch.setattr(health, "_TRIES", 1)
    tries.clear()
    with pytest.raises(RuntimeError, match="corrupted"):
        health._spell_shared()
