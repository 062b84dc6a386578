"""STORIUM's door: stories and suggestions of a platform that is not ours, on both databases."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from fabula.core.errors import InputError, NoCapacity, NotFound
from fabula.studio.generation import end_preparation, read_preparation, start_suggestions
from fabula.studio.jobs import lease_jobs
from fabula.studio.machines import change_machine
from fabula.studio.people import Person
from fabula.studio.storium_door import (
    PLATFORM,
    WrittenAlready,
    ask_for_story,
    read_door_suggestion,
    story_status,
    upload_story,
)
from fabula.studio.tables import assignments, jobs, now, stories, suggestions
from fabula.studio.worker import clean_stories
from fakes.storium_games import FLOOD, LADLE, SMALL, entry
from fakes.suggestion_rows import offer

MOVE = entry(9, None, target_challenge_card=FLOOD, cards_played_on_challenge=[LADLE])


def lease(studio, kind):
    return lease_jobs(studio, "tests", kinds=[kind])


def make_ready(studio, story_id, problem=""):
    """Be the worker that gets a story ready, or cannot."""
    [job] = lease(studio, "snapshot")
    assert job.key == story_id
    end_preparation(studio, job, problem)


@pytest.fixture
def story_id(studio):
    """A story that is ready, for the machine `one`."""
    offer(studio)
    uploaded = upload_story(studio, PLATFORM, SMALL)
    make_ready(studio, uploaded.id)
    return uploaded.id


def set_status(studio, suggestion_id, status, **other):
    with studio.write() as db:
        which = update(suggestions).where(suggestions.c.id == suggestion_id)
        db.execute(which.values(status=status, **other))


def test_a_story_is_known_by_the_md5_of_its_json_whatever_the_order_of_its_keys(studio):
    offer(studio)
    first = upload_story(studio, PLATFORM, {"b": [1, "Käse"], "a": None})
    # printf '{"a":null,"b":[1,"Käse"]}' | md5sum
    assert first.id == hashlib.md5('{"a":null,"b":[1,"Käse"]}'.encode()).hexdigest()
    assert upload_story(studio, PLATFORM, {"a": None, "b": [1, "Käse"]}) == first
    assert first.status == story_status(studio, PLATFORM, first.id).status == "pending"
    with studio.read() as db:
        assert db.scalar(select(func.count()).select_from(jobs)) == 1
        assert db.scalar(select(func.count()).select_from(assignments)) == 1


def test_a_machine_is_shown_the_whole_story_and_then_the_story_is_ready(studio):
    offer(studio)
    uploaded = upload_story(studio, PLATFORM, SMALL)
    [job] = lease(studio, "snapshot")
    assert read_preparation(studio, job) == {"story": uploaded.id, "segments": [], "game": SMALL}
    end_preparation(studio, job)
    assert story_status(studio, PLATFORM, uploaded.id).status == "ready"
    assert upload_story(studio, PLATFORM, SMALL).status == "ready"
    assert lease(studio, "snapshot") == []


def test_who_uploads_again_and_the_worker_do_not_wait_for_each_other(studio):
    offer(studio)
    for number in range(8):
        story = SMALL | {"game_pid": f"g{number}"}
        uploaded = upload_story(studio, PLATFORM, story)
        [job] = lease(studio, "snapshot")
        with ThreadPoolExecutor(5) as pool:
            again = [pool.submit(upload_story, studio, PLATFORM, story) for _ in range(4)]
            ended = pool.submit(end_preparation, studio, job)
            assert {each.result().id for each in again} == {uploaded.id}
            ended.result()
        assert story_status(studio, PLATFORM, uploaded.id).status == "ready"
        assert lease(studio, "snapshot") == []


def test_a_story_that_failed_is_tried_again_when_it_is_uploaded_again(studio):
    offer(studio)
    uploaded = upload_story(studio, PLATFORM, SMALL)
    make_ready(studio, uploaded.id, "the machine will not have it")
    assert story_status(studio, PLATFORM, uploaded.id).status == "failed"
    assert upload_story(studio, PLATFORM, SMALL).status == "pending"
    make_ready(studio, uploaded.id)
    assert story_status(studio, PLATFORM, uploaded.id).status == "ready"


def test_without_a_machine_nothing_is_taken_in(studio):
    offer(studio, status="inactive")
    with pytest.raises(NoCapacity):
        upload_story(studio, PLATFORM, SMALL)
    with studio.read() as db:
        assert db.scalar(select(func.count()).select_from(stories)) == 0


def test_a_story_that_was_cleaned_away_comes_back_as_new(studio):
    """The clean-up takes an old export that nobody asked about, and leaves one that came again."""
    offer(studio)
    old = SMALL | {"exported_at": "2019-2-1 0:00:00 UTC"}
    first = upload_story(studio, PLATFORM, old)
    make_ready(studio, first.id)
    newest = upload_story(studio, PLATFORM, SMALL)
    make_ready(studio, newest.id)
    with studio.write() as db:
        db.execute(update(stories).values(created_at=now() - timedelta(days=2)))
    upload_story(studio, PLATFORM, old)
    assert clean_stories(studio) == 0
    with studio.write() as db:
        db.execute(update(stories).values(created_at=now() - timedelta(days=2)))
    assert clean_stories(studio) == 1
    with pytest.raises(NotFound):
        story_status(studio, PLATFORM, first.id)
    assert upload_story(studio, PLATFORM, old).status == "pending"
    make_ready(studio, first.id)
    assert story_status(studio, PLATFORM, first.id).status == "ready"


def test_the_same_entry_is_the_same_suggestion(studio, story_id):
    first = ask_for_story(studio, PLATFORM, story_id, MOVE)
    assert (first.status, first.entry) == ("pending", MOVE)
    assert ask_for_story(studio, PLATFORM, story_id, dict(reversed(MOVE.items()))) == first
    other = ask_for_story(studio, PLATFORM, story_id, MOVE | {"seq_id": 10})
    assert other.id != first.id
    with studio.read() as db:
        row = db.execute(select(suggestions).where(suggestions.c.id == first.id)).one()
    assert (row.person_id, row.wanted, row.context["game"]) == (None, "words=0-249", None)
    kinds = [segment["kind"] for segment in row.context["segments"]]
    assert kinds == ["character", "previous", "previous", "challenge", "strength"]


def test_two_who_ask_for_the_same_at_once_have_one_suggestion(studio, story_id):
    with ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(ask_for_story, studio, PLATFORM, story_id, MOVE) for _ in range(6)]
        assert len({each.result().id for each in asked}) == 1
    assert len(lease(studio, "suggest")) == 1


def test_the_machine_gets_the_story_with_what_it_is_shown(studio, story_id):
    ask_for_story(studio, PLATFORM, story_id, MOVE)
    [(_, order)] = start_suggestions(studio, lease(studio, "suggest"))
    assert (order.context["game"], order.context["entry"]) == (SMALL, MOVE)
    assert order.context["story"] == story_id


def test_the_entry_carries_the_text_so_far(studio, story_id):
    asked = ask_for_story(studio, PLATFORM, story_id, MOVE)
    set_status(studio, asked.id, "executing", generated="Ida runs")
    read = read_door_suggestion(studio, PLATFORM, asked.id)
    assert (read.status, read.entry) == ("executing", MOVE | {"description": "Ida runs"})


def test_a_suggestion_that_failed_is_tried_again_by_the_machine_of_then(studio, story_id):
    asked = ask_for_story(studio, PLATFORM, story_id, MOVE)
    [job] = lease(studio, "suggest")
    with studio.write() as db:
        db.execute(update(jobs).where(jobs.c.id == job.id).values(state="failed"))
    set_status(studio, asked.id, "failed", generated="Ida", problem="it fell", ended_at=now())
    change_machine(studio, None, "one", status="inactive")
    with pytest.raises(NoCapacity):
        ask_for_story(studio, PLATFORM, story_id, MOVE)
    other = offer(studio, "two")
    again = ask_for_story(studio, PLATFORM, story_id, MOVE)
    assert (again.id, again.status, again.entry) == (asked.id, "pending", MOVE)
    [job] = lease(studio, "suggest")
    assert (job.key, job.machine_id) == (asked.id, other)
    with studio.read() as db:
        row = db.execute(select(suggestions).where(suggestions.c.id == asked.id)).one()
    assert (row.machine_id, row.problem, row.ended_at) == (other, "", None)


def test_what_is_not_there_or_not_ready_is_not_found(studio, story_id):
    pending = upload_story(studio, PLATFORM, SMALL | {"game_pid": "g2"})
    for each in (pending.id, "0" * 32):
        with pytest.raises(NotFound):
            ask_for_story(studio, PLATFORM, each, MOVE)
    with pytest.raises(NotFound):
        read_door_suggestion(studio, PLATFORM, "0" * 32)
    with pytest.raises(NotFound):
        story_status(studio, PLATFORM, "0" * 32)


def test_an_entry_that_is_written_or_lacks_a_key_is_refused(studio, story_id):
    with pytest.raises(WrittenAlready):
        ask_for_story(studio, PLATFORM, story_id, MOVE | {"description": "Ida ran."})
    with pytest.raises(InputError, match="'role'"):
        ask_for_story(studio, PLATFORM, story_id, {k: v for k, v in MOVE.items() if k != "role"})
    assert lease(studio, "suggest") == []


def test_odd_stories_are_taken_in_as_they_are(studio):
    offer(studio)
    for odd in ({}, {"scenes": 3, "characters": [None, 7]}, {"game_pid": "g" * 500, "scenes": [1]}):
        uploaded = upload_story(studio, PLATFORM, odd)
        make_ready(studio, uploaded.id)
        assert ask_for_story(studio, PLATFORM, uploaded.id, MOVE).status == "pending"


def test_only_who_was_named_a_backend_comes_in(studio, story_id, admin):
    for person in (admin, Person("", "", scopes=frozenset({"dataset", "judgement"}))):
        for call in (
            lambda who: upload_story(studio, who, SMALL),
            lambda who: story_status(studio, who, story_id),
            lambda who: ask_for_story(studio, who, story_id, MOVE),
            lambda who: read_door_suggestion(studio, who, "0" * 32),
        ):
            with pytest.raises(NotFound, match="nothing at this address"):
                call(person)
