"""What a worker writes down: a suggestion and its job change together, for the holder alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from fabula.core.author import Piece, SeenSegment
from fabula.studio.database import open_studio
from fabula.studio.drafts import discard_draft, open_draft
from fabula.studio.games import create_game
from fabula.studio.generation import (
    Writing,
    end_preparation,
    end_suggestions,
    fail_lost,
    fail_suggestions,
    read_preparation,
    retry_suggestions,
    return_suggestions,
    start_suggestions,
    store_pieces,
    tidy_problem,
)
from fabula.studio.jobs import add_job, cancel_job, lease_jobs
from fabula.studio.scenes import add_scene
from fabula.studio.tables import jobs, now, stories, suggestions
from fakes.suggestion_rows import ask, offer, read


@pytest.fixture
def asked(studio):
    """Two suggestions that wait for the machine `one`."""
    machine = offer(studio)
    return machine, ask(studio, machine), ask(studio, machine)


def lease(studio, most=8, **other):
    return lease_jobs(studio, "ann", kinds=["suggest"], most=most, **other)


def job_states(studio):
    with studio.read() as db:
        return dict(db.execute(select(jobs.c.key, jobs.c.state)).all())


def write(job, *pieces):
    writing = Writing(job)
    for piece in pieces:
        writing.add(piece)
    return writing


def test_pieces_make_a_text_and_one_that_replaces_makes_it_anew():
    seen = (SeenSegment("prompt", "Once", 1, 3),)
    writing = write(None, Piece("x", "Once ", tokens=1, seen=seen), Piece("x", "upon", tokens=2))
    assert (writing.text, writing.tokens, writing.seen) == ("Once upon", 3, seen)
    writing.add(Piece("x", "Once.", status="done", replaces=True))
    assert (writing.text, writing.status, writing.seen) == ("Once.", "done", seen)
    assert writing.first_token_at is not None


def test_a_suggestion_goes_from_waiting_to_done_with_its_job(studio, asked):
    _, first, second = asked
    started = start_suggestions(studio, lease(studio))
    assert [job.key for job, _ in started] == [first, second]
    order = started[0][1]
    assert (order.wanted, order.seed, order.context["story"]) == ("words=0-249", 7, "s")
    assert read(studio, first).status == "executing" and read(studio, first).started_at
    a, b = (job for job, _ in started)
    writings = [write(a, Piece("x", "Once ")), write(b)]
    assert store_pieces(studio, writings) == {a.id, b.id}
    assert read(studio, first).generated == "Once " and read(studio, first).first_token_at
    assert read(studio, second).generated == "" and not read(studio, second).first_token_at
    seen = (SeenSegment("prompt", "A prompt.", 2, 5),)
    writings[0].add(Piece("x", "upon", status="done", tokens=4, seen=seen))
    end_suggestions(studio, writings[:1], "scripted|v1")
    row = read(studio, first)
    assert (row.status, row.generated, row.tokens, row.signature, row.problem) == (
        "done", "Once upon", 4, "scripted|v1", "",
    )  # fmt: skip
    assert row.seen == [
        {"kind": "prompt", "text": "A prompt.", "tokens": 2, "available": 5, "title": ""}
    ]
    assert row.asked_at <= row.started_at <= row.first_token_at <= row.ended_at
    assert job_states(studio) == {first: "done", second: "leased"}


def test_what_no_database_can_hold_is_left_out_of_a_text(studio, asked):
    """A zero, and the two halves of a smile that came apart; a half alone is a question mark."""
    _, first, _ = asked
    job = start_suggestions(studio, lease(studio, 1))[0][0]
    seen = (SeenSegment("prompt", "\0", 1, 1),)
    writing = write(job, Piece("x", "a\0b \ud83d", seen=seen))
    store_pieces(studio, [writing])
    assert read(studio, first).generated == "ab \ufffd"
    writing.add(Piece("x", "\ude00", status="failed", problem="no\0"))
    end_suggestions(studio, [writing], "")
    row = read(studio, first)
    assert (row.generated, row.problem, row.seen[0]["text"]) == ("ab \U0001f600", "no", "")


def test_what_somebody_else_holds_is_not_touched(studio, asked):
    _, first, second = asked
    late = [job for job, _ in start_suggestions(studio, lease(studio, lease_s=0.0))]
    taken = lease_jobs(studio, "ben", kinds=["suggest"], most=8)
    assert [job.key for job in taken] == [first, second]
    assert start_suggestions(studio, late) == []
    ended = [write(job, Piece("x", "late", status="done")) for job in late]
    assert store_pieces(studio, ended) == set()
    end_suggestions(studio, ended, "")
    for verb in (fail_suggestions, retry_suggestions):
        verb(studio, late, "late")
    return_suggestions(studio, late)
    assert (read(studio, first).status, read(studio, first).generated) == ("executing", "")
    assert set(job_states(studio).values()) == {"leased"}


def test_what_was_cancelled_stays_cancelled_and_keeps_its_text(studio, asked):
    _, first, second = asked
    started = [job for job, _ in start_suggestions(studio, lease(studio))]
    writings = [write(job, Piece("x", "Once")) for job in started]
    store_pieces(studio, writings)
    with studio.write() as db:
        cancel_job(db, "suggest", first)
        changed = update(suggestions).where(suggestions.c.id == first)
        db.execute(changed.values(status="cancelled"))
    for writing in writings:
        writing.add(Piece("x", " upon", status="done"))
    assert store_pieces(studio, writings) == {started[1].id}
    end_suggestions(studio, writings, "")
    assert (read(studio, first).status, read(studio, first).generated) == ("cancelled", "Once")
    assert (read(studio, second).status, read(studio, second).generated) == ("done", "Once upon")
    assert job_states(studio) == {first: "cancelled", second: "done"}


def test_workers_and_those_who_cancel_agree_on_every_text(database_url, studio):
    """Two workers end what four people cancel at the same time, several texts at once."""
    machine = offer(studio)
    texts = sorted(ask(studio, machine) for _ in range(48))

    def work(name):
        own = open_studio(database_url)
        while leased := lease_jobs(own, name, kinds=["suggest"], most=8):
            writings = [write(job, Piece("x", "Once")) for job, _ in start_suggestions(own, leased)]
            store_pieces(own, writings)
            for writing in writings:
                writing.add(Piece("x", " upon", status="done"))
            end_suggestions(own, writings, "")
        own.close()

    def stop(start):
        own = open_studio(database_url)
        for first in range(start, len(texts), 16):
            with own.write() as db:
                for key in texts[first : first + 4]:
                    if cancel_job(db, "suggest", key):
                        which = update(suggestions).where(suggestions.c.id == key)
                        db.execute(which.values(status="cancelled"))
        own.close()

    with ThreadPoolExecutor(6) as pool:
        tasks = [pool.submit(work, name) for name in "ab"]
        tasks += [pool.submit(stop, start) for start in (0, 2, 8, 10)]
        for task in tasks:
            task.result()
    states = job_states(studio)
    rows = [read(studio, key) for key in texts]
    assert {row.status for row in rows} <= {"done", "cancelled"}
    assert all(states[row.id] == row.status for row in rows)
    assert all(row.generated == "Once upon" for row in rows if row.status == "done")
    assert all(row.generated in ("", "Once") for row in rows if row.status == "cancelled")


def test_a_new_attempt_begins_with_nothing_and_the_third_is_the_last(studio, asked):
    _, first, _ = asked
    for attempt in (1, 2, 3):
        job = next(job for job in lease(studio) if job.key == first)
        start_suggestions(studio, [job])
        store_pieces(studio, [write(job, Piece("x", "half a"))])
        failed = retry_suggestions(studio, [job], "The co-author one could not write this time.")
        assert bool(failed) == (attempt == 3)
        row = read(studio, first)
        if attempt < 3:
            assert (row.status, row.generated, row.first_token_at) == ("pending", "", None)
            with studio.write() as db:
                db.execute(update(jobs).where(jobs.c.key == first).values(due_at=now()))
    assert (row.status, row.problem) == ("failed", "The co-author one could not write this time.")
    assert row.ended_at and job_states(studio)[first] == "failed"


def test_what_is_returned_can_be_had_by_another_at_once(studio, asked):
    _, first, _ = asked
    jobs_held = [job for job, _ in start_suggestions(studio, lease(studio))]
    return_suggestions(studio, jobs_held)
    assert read(studio, first).status == "pending"
    assert [job.attempts for job in lease_jobs(studio, "ben", kinds=["suggest"], most=8)] == [1, 1]


def test_a_failed_text_is_a_failed_job_with_one_line(studio, asked):
    _, first, second = asked
    a, b = (job for job, _ in start_suggestions(studio, lease(studio)))
    end_suggestions(studio, [write(a, Piece("x", "", status="failed", problem="no\n such"))], "")
    fail_suggestions(studio, [b], "The co-author is away.")
    assert (read(studio, first).status, read(studio, first).problem) == ("failed", "no such")
    assert read(studio, second).problem == "The co-author is away."
    assert set(job_states(studio).values()) == {"failed"}
    assert len(tidy_problem("x" * 1000)) == 500
    told = "smollm2 is not there: run: /srv/studio/.venv/bin/fabula models pull smollm2"
    assert tidy_problem(told) == "smollm2 is not there: run: fabula models pull smollm2"


def test_a_text_lost_with_three_workers_has_failed_with_a_sentence(studio, asked):
    _, first, second = asked
    for _ in range(3):
        start_suggestions(studio, lease(studio, most=1, lease_s=0.0))
    assert fail_lost(studio) == 1 and fail_lost(studio) == 0
    row = read(studio, first)
    assert (row.status, row.problem) == (
        "failed",
        "The co-author one could not write this time; ask again or choose another.",
    )
    assert [job.key for job in lease(studio)] == [second]


def test_a_job_whose_suggestion_has_ended_is_done(studio, asked):
    _, first, second = asked
    with studio.write() as db:
        changed = update(suggestions).where(suggestions.c.id == first)
        db.execute(changed.values(status="cancelled", ended_at=now() - timedelta(seconds=1)))
    assert [job.key for job, _ in start_suggestions(studio, lease(studio))] == [second]
    assert job_states(studio) == {first: "done", second: "leased"}


def test_a_draft_is_prepared_with_its_context_while_it_is_open(studio, admin):
    game = create_game(studio, admin, key="g", title="The Reeds")
    scene = add_scene(studio, admin, game.id, key="s", title="Dawn")
    offer(studio)
    where = {"game_id": game.id, "scene_id": scene.id, "format": "establishment"}
    draft = open_draft(studio, admin, key="d", **where)
    (job,) = lease_jobs(studio, "ann", kinds=["prepare"])
    context = read_preparation(studio, job)
    assert (context["story"], context["text"]) == (game.id, "")
    discard_draft(studio, admin, draft.id)
    assert read_preparation(studio, job) is None


@pytest.mark.parametrize(("problem", "status"), [("", "ready"), ("no room", "failed")])
def test_an_uploaded_story_is_ready_when_its_co_author_is(studio, problem, status):
    machine = offer(studio)
    with studio.write() as db:
        db.execute(stories.insert().values(id="5" * 32, story={"game_pid": "g"}))
        payload = {"story_id": "5" * 32}
        add_job(db, "prepare", "5" * 32, machine_id=machine, payload=payload)
    (job,) = lease_jobs(studio, "ann", kinds=["prepare"])
    assert read_preparation(studio, job) == {
        "story": "5" * 32, "segments": [], "game": {"game_pid": "g"},
    }  # fmt: skip
    end_preparation(studio, job, problem)
    with studio.read() as db:
        assert db.scalar(select(stories.c.status)) == status
    assert job_states(studio)["5" * 32] == ("failed" if problem else "done")
