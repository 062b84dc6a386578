"""What a platform says of a suggestion afterwards: its author's feedback, and what was published.

Each is said once. What was published is scored beside the suggestion before the database is
locked, and the scores are stored with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sqlalchemy import Connection, Row, insert, select, update

from fabula.core.errors import Conflict, InputError, NotAllowed, closest
from fabula.core.score import Score
from fabula.datasets.story_games.game import read_entry
from fabula.studio.database import Studio
from fabula.studio.games import check_text
from fabula.studio.jobs import cancel_job
from fabula.studio.kept import score_suggestion
from fabula.studio.people import Person
from fabula.studio.publishing import write_scores
from fabula.studio.ratings import COMMENT, HIGH, LOW, MOST_COMMENT, QUESTIONS
from fabula.studio.storium_door import Object, find_row, need_scope
from fabula.studio.suggestions import UNFINISHED
from fabula.studio.tables import now, ratings, suggestions

FeedbackType = Literal["fluency", "relevance", "coherence", "likeability", "comments"]
FEEDBACK_TYPES: tuple[FeedbackType, ...] = get_args(FeedbackType)
CHOICES = tuple(str(value) for value in range(LOW, HIGH + 1))
# Our own words for what the protocol spells otherwise.
_ASPECTS = {"likeability": "likability", "comments": COMMENT}
_LONGEST_RATER = 64
_ATTEMPTS = 5


@dataclass(frozen=True)
class FeedbackPrompt:
    """A question for the author: one of the `choices`, or free text."""

    type: FeedbackType
    entry_type: Literal["choice", "text"]
    title: str
    choices: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Feedback:
    """An answer to a question."""

    type: FeedbackType
    response: str


def list_prompts(required: Collection[str] = ()) -> list[FeedbackPrompt]:
    """Give all questions, those first that have to be answered."""
    ordered = sorted(FEEDBACK_TYPES, key=lambda kind: kind not in required)
    return [_ask(kind) for kind in ordered]


def _ask(kind: FeedbackType) -> FeedbackPrompt:
    if kind == "comments":
        return FeedbackPrompt(kind, "text", "What else is there to say of the suggestion?")
    return FeedbackPrompt(kind, "choice", QUESTIONS[_ASPECTS.get(kind, kind)].text, CHOICES)


def give_feedback(
    studio: Studio,
    person: Person,
    suggestion_id: str,
    feedback: Sequence[Feedback],
    *,
    required: Collection[str] = (),
) -> None:
    """Write down what the author of an entry thinks of its suggestion, each question once.

    All of it or nothing; questions that are `required` have to be answered, now or before.
    """
    need_scope(person, "backend")
    answers = _check_answers(feedback)
    with studio.write() as db:
        row = _need_row(db, suggestion_id)
        if row.status != "done":
            raise NotAllowed(f"the suggestion is {row.status}", "give feedback when it is done")
        is_its = ratings.c.suggestion_id == suggestion_id
        given = set(db.scalars(select(ratings.c.aspect).where(is_its)))
        for kind in FEEDBACK_TYPES:
            aspect = _ASPECTS.get(kind, kind)
            if aspect in given and aspect in answers:
                raise NotAllowed(f"{kind} was answered already", "answer each question once")
            if kind in required and aspect not in given and aspect not in answers:
                raise NotAllowed(f"{kind} is not answered", "answer all that is required")
        same = {"suggestion_id": suggestion_id, "rater": _name_rater(row.context["entry"])}
        for aspect, (value, comment) in answers.items():
            answer = {"aspect": aspect, "value": value, "comment": comment}
            db.execute(insert(ratings).values(**same, **answer))


def _check_answers(feedback: Sequence[Feedback]) -> dict[str, tuple[int | None, str]]:
    answers: dict[str, tuple[int | None, str]] = {}
    for each in feedback:
        if each.type not in FEEDBACK_TYPES:
            raise InputError(f"nobody asked for {each.type!r}", closest(each.type, FEEDBACK_TYPES))
        aspect = _ASPECTS.get(each.type, each.type)
        if aspect in answers:
            raise NotAllowed(f"{each.type} is answered twice", "answer each question once")
        if aspect == COMMENT:
            answers[aspect] = None, check_text(each.response, "comments", MOST_COMMENT)
        elif each.response in CHOICES:
            answers[aspect] = int(each.response), ""
        else:
            raise NotAllowed(f"{each.type} is none of the choices", f"take {', '.join(CHOICES)}")
    return answers


def _name_rater(entry: Mapping[str, Any]) -> str:
    """Who rates is who writes the entry: the platform's name for them, in a length we keep."""
    name = str(entry["user_pid"])
    if len(name) <= _LONGEST_RATER:
        return name
    return hashlib.sha256(name.encode()).hexdigest()


def finalize(studio: Studio, person: Person, suggestion_id: str, entry: Object) -> list[Score]:
    """Take in the entry as its author published it, once, and score the suggestion beside it.

    What is still being written is stopped: nobody waits for it any more.
    """
    need_scope(person, "backend")
    published = check_text(read_entry(dict(entry), "the entry").text, "description")
    final = {"published": published, "finalized": dict(entry)}
    for _ in range(_ATTEMPTS):
        with studio.read() as db:
            before = _need_unpublished(db, suggestion_id)
        if before.status in UNFINISHED:
            _stop_writing(studio, suggestion_id)
            continue
        scored = (
            score_suggestion(before.generated, published, story=suggestion_id)
            if before.generated
            else []
        )
        with studio.write() as db:
            after = _need_unpublished(db, suggestion_id, lock=True)
            if (after.status, after.generated) != (before.status, before.generated):
                continue
            is_it = suggestions.c.id == suggestion_id
            db.execute(update(suggestions).where(is_it).values(**final, published_at=now()))
            write_scores(db, scored)
        return scored
    raise Conflict("the suggestion is being written anew meanwhile", "finalise it again")


def _stop_writing(studio: Studio, suggestion_id: str) -> None:
    with studio.write() as db:
        # A worker locks the job and then the suggestion: the same order here.
        cancel_job(db, "suggest", suggestion_id)
        which = (suggestions.c.id == suggestion_id) & suggestions.c.status.in_(UNFINISHED)
        ended = {"status": "cancelled", "ended_at": now()}
        db.execute(update(suggestions).where(which).values(**ended))


def _need_row(db: Connection, suggestion_id: str, *, lock: bool = True) -> Row[Any]:
    """Find a suggestion; to say something of one that is not there is not allowed, as STORIUM
    has it."""
    row = find_row(db, suggestion_id, lock=lock)
    if row is None:
        raise NotAllowed(f"there is no suggestion {suggestion_id}", "ask for it first")
    return row


def _need_unpublished(db: Connection, suggestion_id: str, *, lock: bool = False) -> Row[Any]:
    row = _need_row(db, suggestion_id, lock=lock)
    if row.published_at is not None:
        raise NotAllowed("the suggestion is finalised already", "it can be done once")
    return row
