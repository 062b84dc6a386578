"""An open campaign of made-up stories, and hands that rate in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, update

from fabula.core.story import Story
from fabula.studio.campaigns.answers import Receipt, submit_answers
from fabula.studio.campaigns.assigning import take_task
from fabula.studio.campaigns.definition import Definition, Question
from fabula.studio.campaigns.opening import Campaign, create_campaign, set_campaign_state
from fabula.studio.campaigns.raters import Rater, enter_campaign, make_door
from fabula.studio.campaigns.showing import Assignment, Turn
from fabula.studio.database import Studio
from fabula.studio.people import Person, create_person
from fabula.studio.tables import campaign_assignments, now

FLUENCY = Question("fluency", "scale", "Is it well written?")


def make_stories(items: int = 3, systems: int = 2) -> list[Story]:
    return [
        Story(
            f"{item}-{system}",
            f"Story {item} told by {system}.",
            prompt=f"prompt {item}",
            references=(f"reference {item}",),
            system=f"system {system}",
            item=f"item {item}",
        )
        for item in range(items)
        for system in range(systems)
    ]


def make_campaign_definition(**changes: Any) -> Definition:
    plain: dict[str, Any] = {"name": "lamps", "title": "Lamps", "instructions": "Read, then rate."}
    return Definition(**(plain | {"questions": (FLUENCY,), "raters": 2, "seed": 7} | changes))


@dataclass
class Hand:
    """A rater's browser."""

    studio: Studio
    campaign: Campaign
    rater: Rater
    secret: str

    @property
    def where(self) -> tuple[Studio, str, str]:
        return self.studio, self.campaign.id, self.secret

    def take(self) -> Turn:
        return take_task(*self.where)

    def hold(self) -> Assignment:
        """The task to work on, which there is."""
        assignment = self.take().assignment
        assert assignment is not None
        return assignment

    def submit(self, assignment: Assignment, value: Any = 3, **answers: Any) -> Receipt:
        given = {"fluency": {story.id: value for story in assignment.stories}} | answers
        version = assignment.version
        return submit_answers(*self.where, assignment.id, version=version, answers=given)

    def rate_all(self, value: Any = 3) -> list[Assignment]:
        """Rate until nothing is left."""
        done: list[Assignment] = []
        while assignment := self.take().assignment:
            self.submit(assignment, value)
            done.append(assignment)
        return done


@dataclass
class Opened:
    """A campaign that is open, whose it is, and the link."""

    studio: Studio
    owner: Person
    campaign: Campaign
    code: str

    def enter(self, **names: str) -> Hand:
        entrance = enter_campaign(self.studio, self.code, parameters=names)
        assert entrance.secret is not None
        return Hand(self.studio, self.campaign, entrance.rater, entrance.secret)

    def expire(self, assignment: Assignment) -> None:
        """Let a lease have run out."""
        self.change(assignment, leased_until=now().replace(year=2020))

    def reject(self, assignment: Assignment) -> None:
        self.change(assignment, rejected_at=now())

    def change(self, assignment: Assignment, **values: Any) -> None:
        work = campaign_assignments
        with self.studio.write() as db:
            db.execute(update(work).where(work.c.id == assignment.id).values(**values))

    def count_accepted(self) -> dict[str, int]:
        """Accepted ratings by story."""
        work, counts = campaign_assignments, dict[str, int]()
        accepted = select(work.c.shown).where(
            work.c.state == "submitted", work.c.rejected_at.is_(None)
        )
        with self.studio.read() as db:
            for shown in db.scalars(accepted):
                for story in shown:
                    counts[story] = counts.get(story, 0) + 1
        return counts


def open_campaign(
    studio: Studio, stories: list[Story] | None = None, *, way: Any = "code", **changes: Any
) -> Opened:
    owner = create_person(studio, None, name="dan", roles=("researcher",))
    definition = make_campaign_definition(**changes)
    create_campaign(studio, owner, definition, make_stories() if stories is None else stories)
    campaign = set_campaign_state(studio, owner, definition.name, "open")
    door = make_door(studio, owner, definition.name, way=way, completion="C0DE")
    return Opened(studio, owner, campaign, door.code)
