"""The queue: leased in order, done once, and nothing lost with a worker."""

from __future__ import annotations

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta

import pytest
from sqlalchemy import select

from fabula.core.errors import Conflict, NoCapacity
from fabula.studio import jobs as queue
from fabula.studio.database import open_studio
from fabula.studio.jobs import (
    LeaseLost,
    add_job,
    back_off_s,
    beat,
    cancel_job,
    fail_job,
    finish_job,
    give_back,
    lease_jobs,
    lost_jobs,
    queue_figures,
)
from fabula.studio.tables import audit, jobs, now
from fakes.suggestion_rows import ask, offer


def add(studio, *keys, kind="suggest", **other):
    with studio.write() as db:
        return [add_job(db, kind, key, **other) for key in keys]


def lease(studio, most=1, worker="ann", **other):
    return lease_jobs(studio, worker, kinds=["suggest"], most=most, **other)


def state_of(studio, key):
    with studio.read() as db:
        return db.execute(select(jobs).where(jobs.c.key == key)).one()


def end(studio, verb, *arguments, **other):
    with studio.write() as db:
        return verb(db, *arguments, **other)


def test_a_job_added_twice_is_one_job(studio):
    first, second = add(studio, "a", "a", payload={"n": 1})
    assert first == second
    assert [job.payload for job in lease(studio, 5)] == [{"n": 1}]


def test_urgent_jobs_go_first_and_then_the_oldest(studio):
    add(studio, "old")
    add(studio, "new")
    add(studio, "urgent", priority=1)
    assert [job.key for job in lease(studio, 3)] == ["urgent", "old", "new"]


def test_a_job_that_is_not_due_waits(studio):
    add(studio, "later", due_at=now() + timedelta(hours=1))
    add(studio, "now")
    assert [job.key for job in lease(studio, 3)] == ["now"]


def test_jobs_are_leased_by_kind_and_machine(studio):
    add(studio, "a", machine_id="m1")
    add(studio, "b", machine_id="m2")
    add(studio, "c", kind="prepare", machine_id="m1")
    assert [job.key for job in lease(studio, 5, machine_id="m1")] == ["a"]
    assert [job.key for job in lease(studio, 5)] == ["b"]


def test_what_is_leased_is_nobody_elses_until_the_lease_is_over(studio):
    add(studio, "a")
    (mine,) = lease(studio, lease_s=0.15)
    assert lease(studio, worker="ben") == []
    time.sleep(0.2)
    (taken,) = lease(studio, worker="ben")
    assert (mine.attempts, taken.attempts) == (1, 2)
    with pytest.raises(LeaseLost):
        end(studio, finish_job, mine)
    end(studio, finish_job, taken)
    assert state_of(studio, "a").state == "done"


def test_who_beats_keeps_the_lease(studio):
    add(studio, "a")
    held = lease(studio, lease_s=0.3)
    for _ in range(4):
        time.sleep(0.12)
        assert beat(studio, held, lease_s=0.3) == {held[0].id}
    assert lease(studio, worker="ben") == []


def test_a_worker_that_lost_its_lease_hears_so_and_cannot_take_it_back(studio):
    add(studio, "a", "b")
    held = lease(studio, 2, lease_s=0.0)
    (taken,) = lease(studio, worker="ben")
    assert beat(studio, held) == {job.id for job in held} - {taken.id}


def test_a_job_with_its_result_is_written_whole_or_not_at_all(studio):
    add(studio, "a")
    (late,) = lease(studio, lease_s=0.0)
    (taken,) = lease(studio, worker="ben")
    for job in (taken, late):
        try:
            with studio.write() as db:
                db.execute(audit.insert().values(action=job.lease))
                finish_job(db, job)
        except Conflict:
            assert job is late
    with studio.read() as db:
        assert list(db.scalars(select(audit.c.action))) == [taken.lease]


def test_a_finished_job_is_not_finished_again(studio):
    add(studio, "a")
    (job,) = lease(studio)
    end(studio, finish_job, job)
    with pytest.raises(LeaseLost):
        end(studio, finish_job, job)
    assert lease(studio) == [] and add(studio, "a") == [job.id]


def test_a_failure_is_tried_again_later_and_at_last_is_one(studio):
    add(studio, "a")
    for attempt in (1, 2):
        (job,) = lease(studio)
        assert job.attempts == attempt
        assert end(studio, fail_job, job, "broken", retry_in_s=0.0) == "waiting"
    (job,) = lease(studio)
    assert end(studio, fail_job, job, "broken", retry_in_s=0.0) == "failed"
    assert lease(studio) == []
    assert (state_of(studio, "a").state, state_of(studio, "a").problem) == ("failed", "broken")


def test_a_failure_without_a_retry_is_final_and_one_with_a_retry_waits(studio):
    add(studio, "a", "b")
    first, second = lease(studio, 2)
    assert end(studio, fail_job, first, "never") == "failed"
    assert end(studio, fail_job, second, "soon", retry_in_s=30.0) == "waiting"
    assert lease(studio) == []
    assert timedelta(seconds=25) < state_of(studio, "b").due_at - now() < timedelta(seconds=31)


def test_waiting_between_attempts_grows_and_is_bounded():
    assert [back_off_s(n) for n in range(1, 6)] == [0.5, 2.0, 8.0, 32.0, 60.0]


def test_what_is_given_back_is_no_attempt(studio):
    add(studio, "a")
    for _ in range(5):
        (job,) = lease(studio)
        end(studio, give_back, job)
        with pytest.raises(LeaseLost):
            end(studio, finish_job, job)
    assert lease(studio)[0].attempts == 1


def test_a_cancelled_job_is_not_leased_and_its_worker_hears_of_it(studio):
    add(studio, "a", "b")
    held = lease(studio, worker="ann")
    assert end(studio, cancel_job, "suggest", "a") and end(studio, cancel_job, "suggest", "b")
    assert beat(studio, held) == set() and lease(studio) == []
    with pytest.raises(LeaseLost):
        end(studio, finish_job, held[0])
    assert not end(studio, cancel_job, "suggest", "a")
    assert not end(studio, cancel_job, "suggest", "nothing")


def test_a_job_that_has_ended_can_be_asked_for_again(studio):
    add(studio, "a", payload={"n": 1})
    (job,) = lease(studio)
    add(studio, "a", payload={"n": 2}, again=True)
    end(studio, fail_job, job, "broken")
    add(studio, "a", payload={"n": 3}, again=True)
    (again,) = lease(studio)
    assert (again.id, again.attempts, again.payload) == (job.id, 1, {"n": 3})


def test_a_queue_that_is_full_says_so_and_the_other_queues_are_open(studio, monkeypatch):
    monkeypatch.setattr(queue, "MOST_WAITING", {"suggest": 2})
    add(studio, "a", "b", machine_id="m")
    with pytest.raises(NoCapacity):
        add(studio, "c", machine_id="m")
    add(studio, "a", machine_id="m")
    add(studio, "c", machine_id="other")
    lease(studio, 1, machine_id="m")
    add(studio, "d", machine_id="m")


def test_a_job_that_kills_every_worker_is_found_and_given_to_no_other(studio):
    add(studio, "a", "fine")
    for _ in range(3):
        assert lease(studio, lease_s=0.0)[0].key == "a"
        (fine,) = lease(studio)
        end(studio, give_back, fine)
    assert [job.key for job in lease(studio, 5)] == ["fine"]
    with studio.write() as db:
        (lost,) = lost_jobs(db)
        assert lost.key == "a" and fail_job(db, lost, "lost", retry_in_s=0.0) == "failed"


def test_the_queue_is_told_in_figures(studio):
    """Waits of 1, 2, 3 and 4 seconds: half of them are at most 2, nine in ten at most 4."""
    machine = offer(studio)
    for waited_s in (3, 1, 4, 2):
        asked = now() - timedelta(minutes=5)
        first = asked + timedelta(seconds=waited_s)
        ask(studio, machine, asked_at=asked, first_token_at=first)
    ask(studio, machine, asked_at=now() - timedelta(hours=2), first_token_at=now())
    ask(studio, machine, asked_at=now())
    done, failed, _ = lease(studio, 3)
    end(studio, finish_job, done)
    end(studio, fail_job, failed, "broken")
    add(studio, "p", kind="prepare", due_at=now() - timedelta(seconds=60))
    add(studio, "later", kind="prepare", due_at=now() + timedelta(hours=1))
    figures = queue_figures(studio)
    assert 60 <= figures.pop("oldest_waiting_s") < 90
    assert figures == {
        "waiting": {"suggest": 3, "prepare": 2},
        "leased": {"suggest": 1},
        "done": {"suggest": 1},
        "failed": {"suggest": 1},
        "cancelled": {},
        "first_token_s": {0.5: 2.0, 0.9: 4.0, 0.99: 4.0},
        "first_token_count": 4,
    }


def test_an_empty_queue_has_figures_too(studio):
    figures = queue_figures(studio)
    assert (figures["waiting"], figures["oldest_waiting_s"]) == ({}, 0.0)
    assert (figures["first_token_s"], figures["first_token_count"]) == ({}, 0)


def test_eight_workers_do_two_hundred_jobs_once_each(database_url, studio):
    """A third of what they lease they let go, as if they had died."""
    keys = [f"job {number:03}" for number in range(200)]
    add(studio, *keys)
    lock, dead = threading.Lock(), Counter()

    def work(name):
        own = open_studio(database_url)
        while held := lease_jobs(own, name, kinds=["suggest"], most=3, lease_s=0.4):
            for number, job in enumerate(held):
                with lock:
                    dead[job.key] += 1
                    dies = number == 2 and dead[job.key] == 1
                if not dies:
                    # On a busy machine a lease may have passed on: then nothing is written.
                    with suppress(LeaseLost), own.write() as db:
                        db.execute(audit.insert().values(action=job.key))
                        finish_job(db, job)
        own.close()

    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, [f"worker {number}" for number in range(8)]))
        with studio.read() as db:
            if not db.scalars(select(jobs.c.id).where(jobs.c.state != "done")).first():
                break
        time.sleep(0.1)
    with studio.read() as db:
        assert sorted(db.scalars(select(audit.c.action))) == keys
    assert max(dead.values()) >= 2
