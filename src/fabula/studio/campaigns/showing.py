"""What a rater is shown: a task with its stories, how far they are, and nothing that is not theirs.

Answers that were given before the browser's secret was (`Rater.secret_at`) are left out: whoever
shows no more than the name that a crowd site put into an address does not read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row, select

from fabula.core.errors import NotFound
from fabula.studio.campaigns.balance import Instructed, find_instructed
from fabula.studio.campaigns.definition import Definition, Example, Pay, Question
from fabula.studio.campaigns.raters import Rater, Step, find_rater
from fabula.studio.database import Studio
from fabula.studio.tables import (
    campaign_assignments,
    campaign_pictures,
    campaign_stories,
    campaign_tasks,
)

# `paused` and `closed` are the campaign's; `finished` is a rater who has had all there is for them.
TurnStep = Literal[
    "consent", "training", "failed", "excluded", "tasks", "finished", "paused", "closed"
]
WorkState = Literal["leased", "submitted", "surplus", "released"]
# Handed in by the rater, whatever became of it.
DONE = ("submitted", "surplus")


@dataclass(frozen=True)
class PracticeStory:
    """A training story before it is answered: which questions are asked of it, not which answers
    will do."""

    text: str
    prompt: str
    reference: str
    questions: tuple[str, ...]


@dataclass(frozen=True)
class Asked:
    """A campaign as its raters know it: neither checks nor seeds nor what is planted."""

    name: str
    title: str
    instructions: str
    consent: str
    thanks: str
    language: str
    direction: str
    questions: tuple[Question, ...]
    examples: tuple[Example, ...]
    training: tuple[PracticeStory, ...]
    names_character: bool
    pay: Pay
    most_tasks: int
    lease_minutes: float


@dataclass(frozen=True)
class ShownStory:
    """A story as a rater sees it: what the campaign shows, and nothing else. `fields` hold the
    model's input and others by their names; `system` is told only where raters are not blind."""

    id: str
    text: str
    prompt: str | None
    references: tuple[str, ...]
    pictures: tuple[str, ...]
    fields: Mapping[str, Any]
    system: str | None


@dataclass(frozen=True)
class Assignment:
    """A task in the hands of a rater, with the stories in the order of the page. `number` counts
    the rater's tasks from 1."""

    id: str
    number: int
    state: WorkState
    stories: tuple[ShownStory, ...]
    answers: Mapping[str, Any]
    version: int
    visible_s: float
    opened_at: datetime
    leased_until: datetime
    submitted_at: datetime | None
    instructed: Instructed | None


@dataclass(frozen=True)
class Turn:
    """What is next for a rater: a task, or why there is none. `done` of `most` tasks are handed
    in; `completion` is the code to be shown, once there is one to show."""

    step: TurnStep
    done: int
    most: int
    assignment: Assignment | None = None
    completion: str | None = None


@dataclass(frozen=True)
class OwnTask:
    """A line of a rater's own list."""

    id: str
    number: int
    state: WorkState
    submitted_at: datetime | None


@dataclass(frozen=True)
class ServedPicture:
    """A picture as it is sent to a browser."""

    media_type: str
    data: bytes


def describe_campaign(definition: Definition) -> Asked:
    """Give what raters may know of a campaign."""
    told = {name: getattr(definition, name) for name in Asked.__annotations__
            if name not in ("training", "names_character")}  # fmt: skip
    practice = tuple(
        PracticeStory(story.text, story.prompt, story.reference, tuple(story.answers))
        for story in definition.training
    )
    character = definition.checks.character
    return Asked(training=practice, names_character=character, **told)


def read_assignment(
    studio: Studio, campaign_id: str, secret: str, assignment_id: str
) -> Assignment:
    """Give a task that a rater has or had."""
    with studio.read() as db:
        rater = find_rater(db, campaign_id, secret)
        return load_assignment(db, rater, assignment_id)


def list_assignments(studio: Studio, campaign_id: str, secret: str) -> list[OwnTask]:
    """Give what a rater has and had, in order."""
    with studio.read() as db:
        rater = find_rater(db, campaign_id, secret)
        return [
            OwnTask(row.id, row.number, row.state, row.submitted_at)
            for row in read_own(db, rater.id)
        ]


def read_picture(studio: Studio, campaign_id: str, secret: str, digest: str) -> ServedPicture:
    """Give a picture of a campaign to one of its raters."""
    table = campaign_pictures
    wanted = select(table.c.media_type, table.c.data).where(
        table.c.campaign_id == campaign_id, table.c.digest == digest
    )
    with studio.read() as db:
        find_rater(db, campaign_id, secret)
        row = db.execute(wanted).first()
    if row is None:
        raise NotFound("there is no such picture")
    return ServedPicture(row.media_type, bytes(row.data))


def read_own(db: Connection, rater_id: str) -> Sequence[Row[Any]]:
    """Read what a rater has and had, with what its tasks are, in order."""
    work, tasks = campaign_assignments, campaign_tasks
    columns = (work.c.id, work.c.task_id, work.c.number, work.c.state, work.c.leased_until)
    query = (
        select(
            *columns,
            work.c.submitted_at,
            tasks.c.kind,
            tasks.c.item,
            tasks.c.systems,
            tasks.c.wanted,
            tasks.c.original_id,
        )
        .join(tasks, tasks.c.id == work.c.task_id)
        .where(work.c.rater_id == rater_id)
        .order_by(work.c.number)
    )
    return list(db.execute(query))


def load_assignment(db: Connection, rater: Rater, assignment_id: str) -> Assignment:
    """Read a task of a rater; that of anybody else is not there."""
    work = campaign_assignments
    is_own = (work.c.id == assignment_id) & (work.c.rater_id == rater.id)
    row = db.execute(select(work).where(is_own)).first()
    if row is None:
        raise NotFound("this is no task of yours", "go on with your own")
    definition = rater.campaign.definition
    last = row.submitted_at or row.saved_at
    return Assignment(
        id=row.id,
        number=row.number,
        state=row.state,
        stories=read_shown(db, definition, row.shown),
        answers=row.answers if last is None or last >= rater.secret_at else {},
        version=row.version,
        visible_s=row.visible_s,
        opened_at=row.opened_at,
        leased_until=row.leased_until,
        submitted_at=row.submitted_at,
        instructed=find_instructed(definition, rater=rater.number, number=row.number),
    )


def read_shown(
    db: Connection, definition: Definition, shown: Sequence[str]
) -> tuple[ShownStory, ...]:
    """Read stories in the order of the page, with what the campaign shows of them."""
    table = campaign_stories
    rows = {row.id: row for row in db.execute(select(table).where(table.c.id.in_(list(shown))))}
    return tuple(show_story(definition, rows[story]) for story in shown)


def show_story(definition: Definition, row: Row[Any]) -> ShownStory:
    """Give a story as a rater sees it."""
    show = definition.show
    names = [*(["input"] if show.input else []), *show.fields]
    return ShownStory(
        id=row.id,
        text=row.text,
        prompt=row.prompt if show.prompt else None,
        references=tuple(row.reference_texts) if show.reference else (),
        pictures=tuple(row.pictures) if show.pictures else (),
        fields={name: row.extra[name] for name in names if name in row.extra},
        system=None if definition.blind else row.system,
    )


def make_turn(
    db: Connection,
    rater: Rater,
    own: Sequence[Row[Any]],
    *,
    tasks: int,
    assignment_id: str | None = None,
    is_finished: bool = False,
) -> Turn:
    """Say what is next for a rater who has had `own` of so many tasks."""
    done = sum(row.state in DONE for row in own)
    state, step = rater.campaign.state, _widen(rater.step)
    assignment = load_assignment(db, rater, assignment_id) if assignment_id else None
    if step == "tasks" and assignment is None:
        if is_finished or state == "closed":
            step = "finished" if is_finished or done else "closed"
        elif state != "open":
            step = "paused"
    # Who was asked nothing is owed nothing; a code is worth money on crowd sites.
    is_owed = done > 0 and step in ("finished", "closed", "excluded")
    most = min(rater.campaign.definition.most_tasks or tasks, tasks)
    return Turn(step, done, max(most, done), assignment, rater.completion if is_owed else None)


def _widen(step: Step) -> TurnStep:
    return step
