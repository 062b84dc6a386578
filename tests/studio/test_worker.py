"""The worker: texts come out whole, whatever dies; and it keeps the studio tidy."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from fabula.core.errors import UnknownName
from fabula.studio.drafts import open_draft
from fabula.studio.games import create_game
from fabula.studio.jobs import add_job, cancel_job, queue_figures
from fabula.studio.machine_runner import Pace
from fabula.studio.machines import add_machine, change_machine
from fabula.studio.scenes import add_scene
from fabula.studio.storium_door import PLATFORM, story_status, upload_story
from fabula.studio.suggestions import ask_suggestion, cancel_suggestion, read_suggestion
from fabula.studio.tables import jobs, links, now, people, sessions, stories, suggestions
from fabula.studio.worker import clean_stories, find_wanted, remove_expired, run_worker
from fakes.suggestion_rows import ask, offer, read, wait_for, wait_until

TESTS = Path(__file__).resolve().parents[1]
TEXT = "One two three four."
SORRY = "The co-author {} could not write this time; ask again or choose another."
QUICK = Pace(
    lease_s=1.5, timeout_s=2.0, grace_s=0.3, drain_s=0.3, rest_s=0.5, poll_s=0.05, restart_s=0.02
)


@contextmanager
def working(url, **other):
    """A worker in a thread of this process; its children are real."""
    stop = threading.Event()
    worker = threading.Thread(
        target=run_worker, args=(url,), kwargs={"stop": stop, "pace": QUICK} | other
    )
    worker.start()
    try:
        yield stop
    finally:
        stop.set()
        worker.join(30)
    assert not worker.is_alive()


def cancel(studio, suggestion_id):
    with studio.write() as db:
        cancel_job(db, "suggest", suggestion_id)
        which = update(suggestions).where(suggestions.c.id == suggestion_id)
        db.execute(which.values(status="cancelled", ended_at=now()))


def test_texts_are_written_whatever_happens_to_others(
    database_url, studio, scripted, tmp_path, monkeypatch
):
    """One worker, one machine: what fails fails alone, and its author reads one sentence."""
    monkeypatch.setattr("fabula.studio.generation.back_off_s", lambda attempts: 0.05 * attempts)
    machine = offer(studio)
    fine = [ask(studio, machine) for _ in range(5)]
    killed, broken = ask(studio, machine, "crash"), ask(studio, machine, "error")
    recovers = ask(studio, machine, f"memory once {tmp_path / 'memory'}")
    refused = ask(studio, machine, "refuse")
    unreadable = ask(studio, machine, wanted="miles=3-4")
    prepared = tmp_path / "prepared"
    with studio.write() as db:
        context = {"story": "the story", "segments": [], "text": str(prepared)}
        add_job(db, "prepare", "p", machine_id=machine, payload={"context": context})
    with working(database_url):
        rows = [wait_for(studio, each) for each in (*fine, recovers)]
        assert {(row.status, row.generated, row.signature, row.tokens) for row in rows} == {
            ("done", TEXT, "scripted|v1", 4)
        }
        assert all(row.seen[0]["kind"] == "prompt" for row in rows)
        for each in (killed, broken):
            row = wait_for(studio, each)
            assert (row.status, row.problem) == ("failed", SORRY.format("one"))
        assert wait_for(studio, refused).problem == "it would rather not"
        assert "miles" in wait_for(studio, unreadable).problem
        wait_until(prepared.exists)
    assert prepared.read_text(encoding="utf-8") == "the story"
    with studio.read() as db:
        attempts = dict(db.execute(select(jobs.c.key, jobs.c.attempts)).all())
        assert not db.scalars(
            select(jobs.c.id).where(jobs.c.state.in_(("waiting", "leased")))
        ).all()
    # The first attempt of all eight was that of the one that kills.
    assert attempts[killed] == attempts[broken] == attempts[recovers] == 3
    assert {attempts[each] for each in fine} == {2} and attempts[refused] == 1


def test_an_author_asks_and_reads_along(database_url, studio, scripted, admin):
    """From the verbs of writing to the worker and back, by the author's own hands."""
    game = create_game(studio, admin, key="g", title="The Reeds")
    scene = add_scene(studio, admin, game.id, key="s")
    add_machine(studio, admin, name="slow", spec="scripted(pause_s=0.25)")
    where = {"game_id": game.id, "scene_id": scene.id, "format": "establishment"}
    draft = open_draft(studio, admin, key="d", **where)
    first, second = (ask_suggestion(studio, admin, draft.id, key=key) for key in ("1", "2"))
    with working(database_url):
        wait_until(lambda: read_suggestion(studio, admin, second.id).generated)
        assert cancel_suggestion(studio, admin, second.id).status == "cancelled"
        wait_until(lambda: read_suggestion(studio, admin, first.id).is_finished)
        wait_until(lambda: queue_figures(studio)["done"].get("prepare"))
    told = read_suggestion(studio, admin, first.id)
    assert (told.status, told.generated, told.signature) == ("done", TEXT, "scripted|v1")
    stopped = read_suggestion(studio, admin, second.id)
    assert (stopped.status, stopped.generated != TEXT) == ("cancelled", True)
    assert queue_figures(studio)["first_token_count"] == 2


def test_what_hangs_is_ended_and_what_is_cancelled_stops(database_url, studio, scripted):
    slow = offer(studio, "slow", "scripted(pause_s=0.3)")
    stuck = offer(studio, "stuck")
    with working(database_url, most=2):
        stopped, finished = ask(studio, slow), ask(studio, slow)
        hung = ask(studio, stuck, "hang")
        partial = wait_until(lambda: read(studio, stopped).generated)
        assert TEXT.startswith(partial) and partial != TEXT
        cancel(studio, stopped)
        assert wait_for(studio, finished).generated == TEXT
        row = read(studio, stopped)
        assert row.status == "cancelled" and row.generated != TEXT
        row = wait_for(studio, hung)
        assert row.problem == "The co-author stuck took too long; ask again or choose another."
        after = ask(studio, stuck)
        assert wait_for(studio, after).generated == TEXT


def test_a_story_gets_ready_while_texts_wait(database_url, studio, scripted):
    machine = offer(studio, "slow", "scripted(pause_s=0.1)")
    asked = [ask(studio, machine) for _ in range(6)]
    story_id = upload_story(studio, PLATFORM, {"scenes": []}).id
    with working(database_url, most=1):
        wait_until(lambda: story_status(studio, PLATFORM, story_id).status == "ready")
        assert read(studio, asked[-1]).status == "pending"


def test_a_machine_that_cannot_start_says_why_and_is_tried_again(
    database_url, studio, scripted, tmp_path
):
    asset = tmp_path / "weights.bin"
    machine = offer(studio, "grand", f"scripted(needs={str(asset)!r})")
    first = ask(studio, machine)
    with studio.write() as db:
        db.execute(stories.insert().values(id="5" * 32, story={"game_pid": "g"}))
        payload = {"story_id": "5" * 32}
        add_job(db, "prepare", "5" * 32, machine_id=machine, payload=payload)
    with working(database_url, machines=["grand"]):
        assert wait_for(studio, first).problem == (
            "The co-author grand cannot start: weights.bin is missing; put it there"
        )
        with studio.read() as db:
            assert db.scalar(select(stories.c.status)) == "failed"
        asset.write_text("", encoding="utf-8")
        wait_until(lambda: wait_for(studio, ask(studio, machine)).status == "done")


def test_a_worker_that_is_to_stop_gives_back_what_it_cannot_finish(database_url, studio, scripted):
    machine = offer(studio, "slow", "scripted(pause_s=1.0)")
    asked = ask(studio, machine)
    with working(database_url) as stop:
        wait_for(studio, asked, "executing")
        stop.set()
    row = read(studio, asked)
    assert (row.status, row.generated) == ("pending", "")
    with studio.read() as db:
        assert db.execute(select(jobs.c.state, jobs.c.attempts)).one() == ("waiting", 0)


def start_worker(database_url, folder, lease_s=0.6):
    """A worker in a process of its own, as `fabula worker` runs it."""
    script = (
        "import logging, sys; logging.disable()\n"
        "from fabula.studio.worker import run_worker\n"
        "from fabula.studio.machine_runner import Pace\n"
        "run_worker(sys.argv[1], pace=Pace(lease_s=float(sys.argv[2]), poll_s=0.05))"
    )
    path = os.pathsep.join([str(TESTS.parent / "src"), str(TESTS), str(folder)])
    return subprocess.Popen(
        [sys.executable, "-c", script, database_url, str(lease_s)],
        env=os.environ | {"PYTHONPATH": path},
    )


def test_a_worker_is_killed_and_another_takes_over(database_url, studio, scripted_folder):
    """Two workers; the one that has the texts is killed while it writes them."""
    machine = offer(studio, "slow", "scripted(pause_s=0.1)")
    asked = [ask(studio, machine) for _ in range(10)]
    workers = {
        worker.pid: worker for worker in [start_worker(database_url, scripted_folder) for _ in "ab"]
    }
    try:
        wait_until(lambda: read(studio, asked[0]).generated)
        with studio.read() as db:
            lease = db.scalar(select(jobs.c.worker).where(jobs.c.key == asked[0]))
        killed = workers.pop(int(lease.partition("#")[0].rpartition(":")[2]))
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert read(studio, asked[0]).status == "executing"
        rows = [wait_for(studio, each) for each in asked]
        assert {(row.status, row.generated) for row in rows} == {("done", TEXT)}
        [other] = workers.values()
        other.send_signal(signal.SIGTERM)
        assert other.wait(20) == 0
    finally:
        for worker in workers.values():
            worker.kill()
            worker.wait()
    with studio.read() as db:
        states = db.execute(select(jobs.c.state, jobs.c.attempts)).all()
    assert {state for state, _ in states} == {"done"}
    assert max(attempts for _, attempts in states) == 2


def test_machines_run_while_they_are_on_offer_or_have_something_to_finish(studio):
    active, inactive = offer(studio, "active"), offer(studio, "inactive", status="inactive")
    offer(studio, "draining", status="draining")
    assert {each.name for each in find_wanted(studio)} == {"active", "draining"}
    ask(studio, inactive)
    assert {each.name for each in find_wanted(studio)} == {"active", "draining", "inactive"}
    assert [each.id for each in find_wanted(studio, ["active"])] == [active]


def test_an_inactive_machine_finishes_what_was_asked_of_it(database_url, studio, scripted):
    machine = offer(studio)
    asked = ask(studio, machine)
    change_machine(studio, None, "one", status="inactive")
    with working(database_url):
        assert wait_for(studio, asked).status == "done"


def test_a_worker_for_a_machine_that_is_not_there_is_refused(database_url, studio):
    offer(studio, "gilda")
    with pytest.raises(UnknownName, match="gilda"):
        run_worker(database_url, machines=["gilde"], stop=threading.Event())


def test_old_exports_that_nobody_asked_about_are_deleted(studio):
    """Of game g the newest stays and the one with a suggestion; h has one export only."""
    machine = offer(studio)
    rows = [
        ("1", "g", "2020-1-2 3:04:05 UTC"),
        ("2", "g", "2020-10-2 3:04:05 UTC"),
        ("3", "g", "2019-01-02T03:04:05+00:00"),
        ("4", "g", "2018-01-02T03:04:05"),
        ("5", "h", "2010-1-2 3:04:05 UTC"),
        ("6", None, None),
    ]
    with studio.write() as db:
        for digit, pid, exported in rows:
            row = {"id": digit * 32, "pid": pid, "exported_at": exported, "story": {}}
            row["created_at"] = now() - timedelta(days=2)
            db.execute(stories.insert().values(row))
        young = {"id": "7" * 32, "pid": "g", "exported_at": "2011-1-2 3:04:05 UTC", "story": {}}
        db.execute(stories.insert().values(young))
    ask(studio, machine, story_id="3" * 32)
    assert clean_stories(studio) == 2
    assert clean_stories(studio) == 0
    with studio.read() as db:
        assert [each[0] for each in db.scalars(select(stories.c.id).order_by(stories.c.id))] == [
            "2", "3", "5", "6", "7",
        ]  # fmt: skip


def test_sessions_and_links_go_when_their_time_is_over(studio):
    with studio.write() as db:
        db.execute(people.insert().values(id="1" * 32, name="ann"))
        for number, expires in enumerate([now() - timedelta(1), now() + timedelta(1)]):
            digest = str(number) * 64
            db.execute(
                sessions.insert().values(
                    digest=digest, person_id="1" * 32, csrf="x", expires_at=expires
                )
            )
            db.execute(links.insert().values(digest=digest, purpose="first", expires_at=expires))
    assert remove_expired(studio) == 2
    with studio.read() as db:
        assert list(db.scalars(select(sessions.c.digest))) == ["1" * 64]
        assert list(db.scalars(select(links.c.digest))) == ["1" * 64]
