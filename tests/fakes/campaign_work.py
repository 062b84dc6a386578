"""The work of a campaign, made up: as plain values, and as rows of a studio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import insert

from fabula.core.story import Story
from fabula.studio import tables
from fabula.studio.campaigns.definition import Checks, Definition, Question
from fabula.studio.campaigns.work import Work, WorkAssignment, WorkRater, WorkStory, WorkTask
from fabula.studio.database import Studio
from fabula.studio.people import Person
from fabula.studio.tables import new_id

BEGAN = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
# Forty words, read in four seconds at 600 a minute.
TEXT = "Mara walked home. Then Mara sang. " * 6 + "It rained all night long."


def make_scales(*names: str) -> tuple[Question, ...]:
    """Questions from 1 to 5."""
    return tuple(Question(name, "scale", f"How good is the {name}?") for name in names)


def make_campaign(
    questions: Sequence[Question] = (), checks: Checks | None = None, **fields: Any
) -> Definition:
    """A campaign that asks for relevance and empathy unless told otherwise."""
    asked = tuple(questions) or make_scales("relevance", "empathy")
    known = {"name": "tales", "title": "Tales", "instructions": "Read."} | fields
    return Definition(questions=asked, checks=checks or Checks(), **known)


def make_stories(count: int, systems: int = 2) -> list[WorkStory]:
    """Stories of several systems on common prompts, the systems in turn."""
    return [
        WorkStory(
            f"s{number}",
            Story(
                f"tale-{number}",
                f"{TEXT} The end, number {number}.",
                f"Prompt {number // systems}.",
                (f"Reference {number // systems}.",),
                system=f"system {number % systems}",
                item=str(number // systems),
            ),
        )
        for number in range(count)
    ]


def make_work(
    definition: Definition,
    stories: Sequence[WorkStory],
    answers: Mapping[str, Mapping[str, Mapping[str, Any]]],
    *,
    kinds: Mapping[str, tuple[str, str | None]] | None = None,
    shown: Mapping[str, Sequence[str]] | None = None,
    gap_s: float = 60.0,
) -> Work:
    """Make work of answers by rater (`r1` …) and task; all raters submit every `gap_s` seconds.

    A task is called like its story unless `shown` says which stories it shows; `kinds` says which
    tasks are planted or duplicates, and of which task. Later raters begin a day later.
    """
    names = dict.fromkeys(task for given in answers.values() for task in given)
    places = {task: tuple((shown or {}).get(task, [task])) for task in names}
    tasks = {
        task: WorkTask(
            task, number, (kinds or {}).get(task, ("story", None))[0], places[task], 3,
            (kinds or {}).get(task, ("story", None))[1],
        )
        for number, task in enumerate(names, 1)
    }  # fmt: skip
    raters = {rater: WorkRater(rater, int(rater[1:]), "code", BEGAN) for rater in answers}
    assignments = []
    for day, (rater, given) in enumerate(answers.items()):
        for number, (task, said) in enumerate(given.items(), 1):
            end = BEGAN + timedelta(days=day, seconds=gap_s * number)
            start = end - timedelta(seconds=gap_s)
            parts = f"{rater}-{task}", task, rater, number, places[task], "submitted", said
            assignments.append(WorkAssignment(*parts, opened_at=start, submitted_at=end))
    known = {story.id: story for story in stories}
    return Work(
        "c1", definition.name, "open", "0" * 64, definition, known, tasks, raters,
        tuple(assignments),
    )  # fmt: skip


def spread(table: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """Turn answers {rater: {story: {question: value}}} into those of an assignment."""
    return {
        rater: {
            story: {question: {story: value} for question, value in said.items()}
            for story, said in given.items()
        }
        for rater, given in table.items()
    }


class _Identities(dict[str, str]):
    """Identities in the studio of what made-up work calls by short names."""

    def __missing__(self, name: str) -> str:
        self[name] = new_id()
        return self[name]

    def rename(self, value: Any) -> Any:
        """Give answers and lists of stories with the identities that are known."""
        if isinstance(value, Mapping):
            return {self.get(str(name), name): self.rename(part) for name, part in value.items()}
        if isinstance(value, list | tuple):
            return [self.rename(part) for part in value]
        return self.get(value, value) if isinstance(value, str) else value


def put_work(studio: Studio, owner: Person, work: Work) -> Work:
    """Write work into a studio; gives it with the identity that the campaign has there."""
    ids = _Identities()
    campaign = {
        "id": ids["campaign"], "name": work.name, "owner_id": owner.id, "state": work.state,
        "definition": asdict(work.definition), "digest": work.digest,
    }  # fmt: skip
    door = {"id": ids["door"], "way": "code", "code": new_id()}
    steps = [
        (tables.campaign_stories, [_story_row(one, ids) for one in work.stories.values()]),
        (tables.campaign_tasks, [_task_row(one, ids) for one in work.tasks.values()]),
        (tables.campaign_doors, [door]),
        (tables.campaign_raters, [_rater_row(one, ids) for one in work.raters.values()]),
        (tables.campaign_assignments, [_work_row(one, ids) for one in work.assignments]),
    ]
    with studio.write() as db:
        db.execute(insert(tables.campaigns), [campaign])
        for table, rows in steps:
            for row in rows:
                db.execute(insert(table), [row | {"campaign_id": ids["campaign"]}])
    return replace(work, id=ids["campaign"])


def _story_row(one: WorkStory, ids: _Identities) -> dict[str, Any]:
    story = one.story
    return {
        "id": ids[one.id], "name": story.id, "text": story.text, "prompt": story.prompt,
        "reference_texts": list(story.references), "system": story.system, "item": story.item,
        "extra": dict(one.extra), "is_planted": one.is_planted,
    }  # fmt: skip


def _task_row(task: WorkTask, ids: _Identities) -> dict[str, Any]:
    return {
        "id": ids[f"task {task.id}"], "number": task.number, "kind": task.kind,
        "stories": ids.rename(task.stories), "wanted": task.wanted,
        "original_id": ids[f"task {task.original}"] if task.original else None,
    }  # fmt: skip


def _rater_row(rater: WorkRater, ids: _Identities) -> dict[str, Any]:
    return {
        "id": ids[rater.id], "number": rater.number, "door_id": ids["door"],
        "external_id": f"crowd-{rater.number}", "digest": new_id(),
    }  # fmt: skip


def _work_row(one: WorkAssignment, ids: _Identities) -> dict[str, Any]:
    return {
        "id": ids[f"work {one.id}"], "task_id": ids[f"task {one.task}"],
        "rater_id": ids[one.rater], "number": one.number, "shown": ids.rename(one.shown),
        "state": one.state, "answers": ids.rename(one.answers), "opened_at": one.opened_at,
        "leased_until": one.opened_at, "submitted_at": one.submitted_at,
        "visible_s": one.visible_s,
    }  # fmt: skip
