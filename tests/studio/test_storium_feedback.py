"""Feedback and what was published, as STORIUM's protocol has them: each once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select, update

from fabula.core.errors import InputError, NotAllowed, NotFound
from fabula.studio.generation import Writing, end_suggestions, start_suggestions
from fabula.studio.jobs import lease_jobs
from fabula.studio.quality import count_sentences, read_opinions
from fabula.studio.storium_door import (
    PLATFORM,
    ask_for_story,
    read_door_suggestion,
    upload_story,
)
from fabula.studio.storium_feedback import Feedback, finalize, give_feedback, list_prompts
from fabula.studio.tables import ratings, scores, stories, suggestions
from fakes.storium_games import SMALL, entry
from fakes.suggestion_rows import offer

MOVE = entry(9, None, user_pid="u-seven")
TEXT = "Ida lights the stove. The kettle sings over the flood."
FOUR = [Feedback(kind, "4") for kind in ("fluency", "relevance", "coherence", "likeability")]


@pytest.fixture
def asked(studio):
    offer(studio)
    story_id = upload_story(studio, PLATFORM, SMALL).id
    with studio.write() as db:
        db.execute(update(stories).values(status="ready"))
    return ask_for_story(studio, PLATFORM, story_id, MOVE).id


@pytest.fixture
def done(studio, asked):
    """A suggestion that was written."""
    [job] = lease_jobs(studio, "tests", kinds=["suggest"])
    start_suggestions(studio, [job])
    end_suggestions(studio, [Writing(job, TEXT, status="done")], "tests|v1")
    return asked


def read_rated(studio):
    with studio.read() as db:
        query = select(ratings.c.rater, ratings.c.aspect, ratings.c.value, ratings.c.comment)
        return sorted(tuple(row) for row in db.execute(query))


def test_all_questions_are_named_those_first_that_are_required():
    assert [each.type for each in list_prompts()] == [
        "fluency", "relevance", "coherence", "likeability", "comments",
    ]  # fmt: skip
    first, *_, last = list_prompts(["likeability"])
    assert (first.type, first.entry_type, first.choices) == (
        "likeability", "choice", ("1", "2", "3", "4", "5"),
    )  # fmt: skip
    assert (last.type, last.entry_type, last.choices) == ("comments", "text", None)


def test_feedback_is_a_rating_by_who_wrote_the_entry(studio, done):
    give_feedback(studio, PLATFORM, done, [*FOUR, Feedback("comments", "so warm")])
    assert read_rated(studio) == [
        ("u-seven", "coherence", 4, ""),
        ("u-seven", "comment", None, "so warm"),
        ("u-seven", "fluency", 4, ""),
        ("u-seven", "likability", 4, ""),
        ("u-seven", "relevance", 4, ""),
    ]


def test_each_question_is_answered_once_and_a_refusal_keeps_nothing(studio, done):
    give_feedback(studio, PLATFORM, done, FOUR[:1])
    for feedback in (FOUR, [FOUR[1], FOUR[1]], [FOUR[2], Feedback("relevance", "6")]):
        with pytest.raises(NotAllowed):
            give_feedback(studio, PLATFORM, done, feedback)
    assert len(read_rated(studio)) == 1
    give_feedback(studio, PLATFORM, done, FOUR[1:])
    assert len(read_rated(studio)) == 4


def test_feedback_at_once_counts_once(studio, done):
    def try_it(_):
        try:
            give_feedback(studio, PLATFORM, done, FOUR)
        except NotAllowed:
            return 0
        return 1

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(try_it, range(6))) == 1
    assert len(read_rated(studio)) == 4


def test_what_is_required_is_answered_now_or_before(studio, done):
    with pytest.raises(NotAllowed, match="comments is not answered"):
        give_feedback(studio, PLATFORM, done, FOUR, required=["comments"])
    give_feedback(studio, PLATFORM, done, [Feedback("comments", "")], required=["comments"])
    give_feedback(studio, PLATFORM, done, FOUR, required=["comments"])


def test_feedback_to_what_is_unknown_or_not_done_is_not_allowed(studio, asked):
    with pytest.raises(NotAllowed, match="pending"):
        give_feedback(studio, PLATFORM, asked, FOUR)
    with pytest.raises(NotAllowed, match="no suggestion"):
        give_feedback(studio, PLATFORM, "0" * 32, FOUR)
    with pytest.raises(InputError):
        give_feedback(studio, PLATFORM, asked, [Feedback("beauty", "4")])


def test_a_long_name_of_a_rater_is_shortened_to_a_digest(studio, done):
    with studio.write() as db:
        changed = {"entry": MOVE | {"user_pid": "u" * 500}}
        db.execute(update(suggestions).values(context=changed))
    give_feedback(studio, PLATFORM, done, FOUR[:1])
    [(rater, *_)] = read_rated(studio)
    assert len(rater) == 64


def test_what_was_published_is_scored_and_stored_once(studio, done, admin):
    """Of ten words that were suggested the four of the first sentence stand among seven."""
    published = MOVE | {"description": "Ida lights the stove. Rain falls outside."}
    scored = finalize(studio, PLATFORM, done, published)
    user = {score.aspect: score.value for score in scored if score.scorer == "user"}
    assert user == pytest.approx({"precision": 4 / 10, "recall": 4 / 7, "f": 8 / 17})
    with studio.read() as db:
        row = db.execute(select(suggestions)).one()
        stored = db.scalar(select(func.count()).select_from(scores))
    assert (row.published, row.finalized) == (published["description"], published)
    assert row.published_at is not None and stored == len(scored)
    with pytest.raises(NotAllowed, match="already"):
        finalize(studio, PLATFORM, done, published)
    opinions = read_opinions(studio, admin)
    assert opinions.suggestions == (done,)
    assert count_sentences(studio) == {0: 1}


def test_published_twice_at_once_counts_once(studio, done):
    def try_it(number):
        try:
            finalize(studio, PLATFORM, done, MOVE | {"description": f"Ida lights {number}."})
        except NotAllowed:
            return 0
        return 1

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(try_it, range(4))) == 1
    with studio.read() as db:
        per_aspect = select(func.count(scores.c.id)).group_by(scores.c.scorer, scores.c.aspect)
        assert set(db.scalars(per_aspect)) == {1}


def test_who_publishes_without_waiting_stops_the_machine(studio, asked):
    [job] = lease_jobs(studio, "tests", kinds=["suggest"])
    start_suggestions(studio, [job])
    assert finalize(studio, PLATFORM, asked, MOVE | {"description": "Ida sleeps."}) == []
    end_suggestions(studio, [Writing(job, TEXT, status="done")], "tests|v1")
    read = read_door_suggestion(studio, PLATFORM, asked)
    assert (read.status, read.entry) == ("failed", MOVE)
    # It is over: asked for again, it is not written after all.
    with studio.read() as db:
        story_id = db.scalar(select(stories.c.id))
    assert ask_for_story(studio, PLATFORM, story_id, MOVE) == read


def test_an_entry_that_cannot_be_read_is_refused_before_anything(studio, asked):
    with pytest.raises(InputError, match="'autotexts'"):
        finalize(studio, PLATFORM, asked, {k: v for k, v in MOVE.items() if k != "autotexts"})
    with pytest.raises(NotAllowed, match="no suggestion"):
        finalize(studio, PLATFORM, "0" * 32, MOVE)
    assert read_door_suggestion(studio, PLATFORM, asked).status == "pending"


def test_only_who_was_named_a_backend_says_something(studio, done, admin):
    with pytest.raises(NotFound):
        give_feedback(studio, admin, done, FOUR)
    with pytest.raises(NotFound):
        finalize(studio, admin, done, MOVE)
