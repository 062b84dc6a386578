"""Ratings: by who asked, once it is there, and corrected in the open."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound
from fabula.studio.ratings import QUESTIONS, rate_suggestion, read_ratings
from fabula.studio.tables import audit, ratings
from fakes.studio_people import put_person
from fakes.studio_writing import begin_draft, lay_table, put_suggestion


@pytest.fixture
def table(studio):
    return lay_table(studio)


@pytest.fixture
def suggestion(studio, table):
    return put_suggestion(studio, begin_draft(studio, table), "The grey ferry.")


def answers(given):
    return {rating.aspect: rating.value or rating.comment for rating in given}


def test_the_four_questions_of_storium_are_asked():
    assert set(QUESTIONS) == {"fluency", "relevance", "coherence", "likability"}
    assert all(question.text.endswith("?") for question in QUESTIONS.values())


def test_a_suggestion_is_rated_bit_by_bit(studio, table, suggestion):
    rate = (studio, table.person, suggestion)
    assert answers(rate_suggestion(*rate, {"fluency": 5, "relevance": 1})) == {
        "fluency": 5, "relevance": 1,
    }  # fmt: skip
    both = {"coherence": 3, "comment": "Too short", "fluency": 5, "relevance": 1}
    assert answers(rate_suggestion(*rate, {"coherence": 3}, "Too short")) == both
    assert answers(read_ratings(*rate)) == both


def test_a_correction_leaves_the_old_answer_in_the_audit_log(studio, table, suggestion):
    rate = (studio, table.person, suggestion)
    rate_suggestion(*rate, {"fluency": 5}, "Hm")
    rate_suggestion(*rate, {"fluency": 5}, "Hm")
    assert answers(rate_suggestion(*rate, {"fluency": 2}, "No")) == {"comment": "No", "fluency": 2}
    query = select(audit.c.person_id, audit.c.object, audit.c.detail).where(
        audit.c.action == "correct_rating"
    )
    with studio.read() as db:
        rows = db.execute(query.order_by(audit.c.id)).all()
        assert len(db.execute(select(ratings)).all()) == 2
    assert [(row.detail["aspect"], row.detail["was"]["value"]) for row in rows] == [
        ("fluency", 5), ("comment", None),
    ]  # fmt: skip
    assert rows[1].detail["was"]["comment"] == "Hm"
    assert {(row.person_id, row.object) for row in rows} == {(table.person.id, suggestion)}


def test_where_an_answer_counts_once_a_second_is_refused_whole(studio, table, suggestion):
    rate = (studio, table.person, suggestion)
    rate_suggestion(*rate, {"fluency": 5}, once=True)
    with pytest.raises(Conflict, match="fluency was rated already"):
        rate_suggestion(*rate, {"relevance": 1, "fluency": 5}, once=True)
    assert answers(rate_suggestion(*rate, {"relevance": 2}, once=True)) == {
        "fluency": 5, "relevance": 2,
    }  # fmt: skip


def test_only_who_asked_rates_and_only_what_is_there(studio, table, suggestion):
    with pytest.raises(NotFound):
        rate_suggestion(studio, put_person(studio, "bob"), suggestion, {"fluency": 1})
    eve = put_person(studio, "eve", "researcher")
    with pytest.raises(NotAllowed):
        rate_suggestion(studio, eve, suggestion, {"fluency": 1})
    assert read_ratings(studio, eve, suggestion) == []
    draft = begin_draft(studio, table, "other")
    for status in ("pending", "executing", "failed", "cancelled"):
        unfinished = put_suggestion(studio, draft, "The", status=status)
        with pytest.raises(Conflict, match=f"the suggestion is {status}"):
            rate_suggestion(studio, table.person, unfinished, {"fluency": 1})


def test_answers_that_will_not_do_are_refused_whole(studio, table, suggestion):
    for given, comment, message in (
        ({"fluency": 6}, "", "fluency is 6; give a whole number, 1 to 5"),
        ({"fluency": 0}, "", "fluency is 0"),
        ({"fluency": True}, "", "fluency is True"),
        ({"fluency": 2.5}, "", "fluency is 2.5"),
        ({"likeability": 2}, "", "did you mean 'likability'"),
        ({}, " ", "nothing is rated"),
        ({"fluency": 2}, "a\0", "comment holds a sign"),
        ({"fluency": 2}, "x" * 5001, "comment has 5,001 characters"),
    ):
        with pytest.raises(InputError, match=message):
            rate_suggestion(studio, table.person, suggestion, given, comment)
    assert read_ratings(studio, table.person, suggestion) == []
