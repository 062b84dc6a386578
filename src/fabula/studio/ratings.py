"""Ratings: what authors think of a suggestion, in four questions and a comment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from fabula.core.errors import Conflict, InputError, NotAllowed, closest
from fabula.studio.database import Studio
from fabula.studio.games import check_text
from fabula.studio.people import Person, write_audit
from fabula.studio.suggestions import Suggestion, find_suggestion
from fabula.studio.tables import now, ratings

MOST_COMMENT = 5_000
COMMENT = "comment"
LOW, HIGH = 1, 5


@dataclass(frozen=True)
class Question:
    """What an author is asked about a suggestion; answers go from 1 (`low`) to 5 (`high`)."""

    aspect: str
    title: str
    text: str
    low: str
    high: str


# What STORIUM asked its authors when they published (Akoury et al., 2020), in words of our own.
QUESTIONS: Mapping[str, Question] = {
    question.aspect: question
    for question in (
        Question(
            "relevance",
            "Relevance",
            "Does the suggestion fit the story so far?",
            "has nothing to do with it",
            "could come from nowhere else",
        ),
        Question(
            "fluency",
            "Fluency",
            "Is its grammar right, sentence by sentence?",
            "hardly a sentence is",
            "every sentence is",
        ),
        Question(
            "coherence",
            "Coherence",
            "Do its sentences follow from one another, in this order?",
            "they might be shuffled",
            "each leads to the next",
        ),
        Question(
            "likability",
            "Likability",
            "Did you enjoy reading it?",
            "not at all",
            "very much",
        ),
    )
}


@dataclass(frozen=True)
class Rating:
    """An answer to one question, or, of the aspect `comment`, words of one's own."""

    suggestion_id: str
    aspect: str
    value: int | None
    comment: str
    rated_at: datetime


def rate_suggestion(
    studio: Studio,
    person: Person,
    suggestion_id: str,
    ratings: Mapping[str, int],
    comment: str = "",
    *,
    once: bool = False,
) -> list[Rating]:
    """Rate a suggestion that one has asked for and that is there; questions may be left out.

    What was rated before is corrected, and what it was stands in the audit log; with `once` a
    second answer to a question is refused, as STORIUM's protocol has it. The same again changes
    nothing.
    """
    answers = _check_ratings(ratings, comment)
    with studio.write() as db:
        suggestion = find_suggestion(db, person, suggestion_id, lock=True)
        _need_rater(person, suggestion)
        given = {rating.aspect: rating for rating in _read(db, suggestion_id, person.id)}
        if once and (again := sorted(answers.keys() & given.keys())):
            raise Conflict(f"{again[0]} was rated already", "rate each question once")
        for aspect, (value, words) in answers.items():
            _write(db, person, suggestion_id, aspect, value, words, given.get(aspect))
        return _read(db, suggestion_id, person.id)


def read_ratings(studio: Studio, person: Person, suggestion_id: str) -> list[Rating]:
    """Give the ratings of a suggestion: to who asked for it, and to researchers."""
    with studio.read() as db:
        find_suggestion(db, person, suggestion_id)
        return _read(db, suggestion_id)


def _check_ratings(ratings: Mapping[str, int], comment: str) -> dict[str, tuple[int | None, str]]:
    answers: dict[str, tuple[int | None, str]] = {}
    for aspect, value in ratings.items():
        if aspect not in QUESTIONS:
            raise InputError(f"there is no question {aspect!r}", closest(aspect, QUESTIONS))
        if isinstance(value, bool) or not isinstance(value, int) or not LOW <= value <= HIGH:
            raise InputError(f"{aspect} is {value!r}", f"give a whole number, {LOW} to {HIGH}")
        answers[aspect] = (value, "")
    if check_text(comment, "comment", MOST_COMMENT).strip():
        answers[COMMENT] = (None, comment)
    if not answers:
        raise InputError("nothing is rated", f"answer one of {', '.join(QUESTIONS)}")
    return answers


def _need_rater(person: Person, suggestion: Suggestion) -> None:
    if suggestion.person_id != person.id:
        raise NotAllowed("somebody else asked for this suggestion", "rate your own")
    if suggestion.status != "done":
        raise Conflict(f"the suggestion is {suggestion.status}", "rate one that is done")


def _write(
    db: Connection,
    person: Person,
    suggestion_id: str,
    aspect: str,
    value: int | None,
    comment: str,
    before: Rating | None,
) -> None:
    which = {"suggestion_id": suggestion_id, "rater": person.id, "aspect": aspect}
    answer = {"value": value, "comment": comment}
    if before is None:
        db.execute(insert(ratings).values(**which, **answer))
    elif (before.value, before.comment) != (value, comment):
        same = [ratings.c[name] == each for name, each in which.items()]
        db.execute(update(ratings).where(*same).values(rated_at=now(), **answer))
        was: dict[str, Any] = {"value": before.value, "rated_at": before.rated_at.isoformat()}
        if before.comment:
            was["comment"] = before.comment
        write_audit(db, person, "correct_rating", suggestion_id, aspect=aspect, was=was)


def _read(db: Connection, suggestion_id: str, rater: str | None = None) -> list[Rating]:
    columns = [ratings.c[name] for name in Rating.__dataclass_fields__]
    query = select(*columns).where(ratings.c.suggestion_id == suggestion_id)
    if rater is not None:
        query = query.where(ratings.c.rater == rater)
    return [Rating(**row._mapping) for row in db.execute(query.order_by(ratings.c.aspect))]
