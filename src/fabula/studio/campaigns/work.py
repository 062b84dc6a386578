"""The whole work of a campaign, read at once: plain values that checks, export and pages go by.

Nothing here is personal: raters are called by their numbers in the campaign (`r1`, `r2` …), and
neither what a crowd site calls them nor whose accounts they are is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, func, select

from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.studio.campaigns.definition import Definition, Question
from fabula.studio.campaigns.opening import find_campaign_row
from fabula.studio.database import Studio
from fabula.studio.people import Person
from fabula.studio.tables import (
    campaign_assignments,
    campaign_doors,
    campaign_raters,
    campaign_scores,
    campaign_stories,
    campaign_tasks,
    campaign_verdicts,
)

# States of work that a rater has finished; for `surplus` work no place was left.
HANDED_IN = ("submitted", "surplus")
Answers = Mapping[str, Any]


@dataclass(frozen=True)
class WorkStory:
    """A story as raters see it; `story` holds its text under the name it has in its file."""

    id: str
    story: Story
    extra: Mapping[str, Any] = field(default_factory=dict)
    is_planted: bool = False


@dataclass(frozen=True)
class WorkTask:
    """What is rated at once, by identities of stories; `original` is the task it repeats."""

    id: str
    number: int
    kind: str
    stories: tuple[str, ...]
    wanted: int
    original: str | None = None


@dataclass(frozen=True)
class WorkRater:
    """A rater by number, by which way they came, and when."""

    id: str
    number: int
    way: str
    created_at: datetime
    consented_at: datetime | None = None
    trained_at: datetime | None = None
    finished_at: datetime | None = None
    excluded_at: datetime | None = None
    has_failed: bool = False  # the training: no tries are left

    @property
    def name(self) -> str:
        """What the rater is called in all that leaves the studio."""
        return f"r{self.number}"

    @property
    def state(self) -> str:
        """What became of them, in a word or two; nothing while they are at work."""
        if self.excluded_at:
            return "excluded"
        if self.has_failed:
            return "did not pass"
        return "finished" if self.finished_at else ""


@dataclass(frozen=True)
class Verdict:
    """What a person said of submitted work, and why; the last one counts."""

    verdict: str
    reason: str
    person_id: str
    at: datetime


@dataclass(frozen=True)
class WorkAssignment:
    """A task in the hands of a rater, and what came of it."""

    id: str
    task: str
    rater: str
    number: int
    shown: tuple[str, ...]
    state: str
    answers: Answers
    opened_at: datetime
    submitted_at: datetime | None = None
    rejected_at: datetime | None = None
    visible_s: float = 0.0
    verdicts: tuple[Verdict, ...] = ()

    @property
    def is_rejected(self) -> bool:
        """Whether a person rejected it, and nobody restored it since."""
        return self.rejected_at is not None

    def answer(self, question: Question, story: str) -> Any:
        """Give the answer about a story, or to a comparing question; None where there is none."""
        given = self.answers.get(question.name)
        if question.compares:
            return given
        return given.get(story) if isinstance(given, Mapping) else None


@dataclass(frozen=True)
class Work:
    """A campaign with everything that was done in it, at one moment."""

    id: str
    name: str
    state: str
    digest: str
    definition: Definition
    stories: Mapping[str, WorkStory]
    tasks: Mapping[str, WorkTask]
    raters: Mapping[str, WorkRater]
    assignments: tuple[WorkAssignment, ...]
    scores: tuple[Score, ...] = ()

    @cached_property
    def submitted(self) -> tuple[WorkAssignment, ...]:
        """What was handed in, rejected or without a place or not, in the order it came."""
        done = [one for one in self.assignments if one.submitted_at and one.state in HANDED_IN]
        return tuple(sorted(done, key=lambda one: (one.submitted_at, one.id)))

    @cached_property
    def accepted(self) -> tuple[WorkAssignment, ...]:
        """What counts: it was handed in while there was a place for it, and is not rejected."""
        kept = [one for one in self.submitted if one.state == "submitted"]
        return tuple(one for one in kept if not one.is_rejected)

    @cached_property
    def by_rater(self) -> Mapping[str, tuple[WorkAssignment, ...]]:
        """What each rater submitted, in order; raters who submitted nothing have nothing."""
        parts: dict[str, list[WorkAssignment]] = {rater: [] for rater in self.raters}
        for one in self.submitted:
            parts[one.rater].append(one)
        return {rater: tuple(done) for rater, done in parts.items()}

    @cached_property
    def gaps_s(self) -> Mapping[str, float]:
        """Seconds that each submitted assignment took at most, by the server's clock.

        From the submit before it, or from when it was given out if that was later. Who takes many
        tasks at once makes any time since opening long; the gaps between submits stay short.
        """
        gaps: dict[str, float] = {}
        for done in self.by_rater.values():
            before: datetime | None = None
            for one in done:
                assert one.submitted_at is not None
                start = max(before, one.opened_at) if before else one.opened_at
                gaps[one.id] = (one.submitted_at - start).total_seconds()
                before = one.submitted_at
        return gaps

    def kind_of(self, assignment: WorkAssignment) -> str:
        """Say whether an assignment is a story's, or there to check the rater."""
        return self.tasks[assignment.task].kind


def read_work(studio: Studio, person: Person | None, name: str) -> Work:
    """Read all of a campaign's work as it is now. For researchers, and who runs the machine."""
    with studio.snapshot() as db:
        campaign = find_campaign_row(db, person, name)
        tasks = {task.id: task for task in _read_tasks(db, campaign.id)}
        stories = _order_stories(_read_stories(db, campaign.id), tasks.values())
        return Work(
            campaign.id,
            campaign.name,
            campaign.state,
            campaign.digest,
            campaign.definition,
            stories,
            tasks,
            {rater.id: rater for rater in _read_raters(db, campaign.id)},
            tuple(_read_assignments(db, campaign.id)),
            tuple(_read_scores(db, campaign.id, stories)),
        )


def read_mark(studio: Studio, campaign_id: str) -> str:
    """Give a word that is another as soon as anything in a campaign's work has changed."""
    work, raters, scores = campaign_assignments, campaign_raters, campaign_scores
    judged = select(func.max(campaign_verdicts.c.id)).join(
        work, work.c.id == campaign_verdicts.c.assignment_id
    )
    questions = (
        (select(func.count(), func.max(work.c.submitted_at), func.sum(work.c.version)), work),
        (select(func.count(), func.max(raters.c.finished_at)), raters),
        (select(func.max(raters.c.excluded_at)), raters),
        (select(func.count(), func.sum(scores.c.value)), scores),
        (judged, work),
    )
    with studio.read() as db:
        rows = [
            db.execute(question.where(table.c.campaign_id == campaign_id)).one()
            for question, table in questions
        ]
    return repr([tuple(row) for row in rows])


def _read_stories(db: Connection, campaign: str) -> Iterator[WorkStory]:
    table = campaign_stories
    wanted = select(table).where(table.c.campaign_id == campaign).order_by(table.c.name)
    for row in db.execute(wanted):
        story = Story(
            row.name,
            row.text,
            row.prompt,
            tuple(row.reference_texts),
            tuple(row.pictures),
            row.system,
            row.item,
        )
        yield WorkStory(row.id, story, row.extra, row.is_planted)


def _order_stories(stories: Iterable[WorkStory], tasks: Iterable[WorkTask]) -> dict[str, WorkStory]:
    """Put stories into the order of the tasks that show them, which is that of their file."""
    order: dict[str, int] = {}
    for task in tasks:
        for place in task.stories:
            order.setdefault(place, len(order))
    known = sorted(stories, key=lambda story: order.get(story.id, len(order)))
    return {story.id: story for story in known}


def _read_tasks(db: Connection, campaign: str) -> Iterator[WorkTask]:
    table = campaign_tasks
    wanted = select(table).where(table.c.campaign_id == campaign).order_by(table.c.number)
    for row in db.execute(wanted):
        parts = row.id, row.number, row.kind, tuple(row.stories), row.wanted, row.original_id
        yield WorkTask(*parts)


def _read_raters(db: Connection, campaign: str) -> Iterator[WorkRater]:
    table = campaign_raters
    wanted = (
        select(table, campaign_doors.c.way)
        .join(campaign_doors, campaign_doors.c.id == table.c.door_id)
        .where(table.c.campaign_id == campaign)
        .order_by(table.c.number)
    )
    for row in db.execute(wanted):
        moments = row.consented_at, row.trained_at, row.finished_at, row.excluded_at
        has_failed = bool(row.training.get("failed"))
        yield WorkRater(row.id, row.number, row.way, row.created_at, *moments, has_failed)


def _read_assignments(db: Connection, campaign: str) -> Iterator[WorkAssignment]:
    table = campaign_assignments
    verdicts: dict[str, list[Verdict]] = {}
    judged = (
        select(campaign_verdicts)
        .join(table, table.c.id == campaign_verdicts.c.assignment_id)
        .where(table.c.campaign_id == campaign)
        .order_by(campaign_verdicts.c.id)
    )
    for row in db.execute(judged):
        verdict = Verdict(row.verdict, row.reason, row.person_id, row.at)
        verdicts.setdefault(row.assignment_id, []).append(verdict)
    wanted = select(table).where(table.c.campaign_id == campaign)
    for row in db.execute(wanted.order_by(table.c.rater_id, table.c.number)):
        yield WorkAssignment(
            row.id,
            row.task_id,
            row.rater_id,
            row.number,
            tuple(row.shown),
            row.state,
            row.answers,
            row.opened_at,
            row.submitted_at,
            row.rejected_at,
            row.visible_s,
            tuple(verdicts.get(row.id, ())),
        )


def _read_scores(
    db: Connection, campaign: str, stories: Mapping[str, WorkStory]
) -> Iterator[Score]:
    table = campaign_scores
    order = {place: number for number, place in enumerate(stories)}
    rows = db.execute(select(table).where(table.c.campaign_id == campaign))
    for row in sorted(rows, key=lambda row: (row.scorer, row.aspect, order[row.story_id])):
        value = float("nan") if row.value is None else row.value
        name = stories[row.story_id].story.id
        yield Score(name, row.scorer, row.aspect, value, Status(row.status), note=row.note)
