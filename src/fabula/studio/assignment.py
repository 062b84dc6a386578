"""Which machine writes for which story: balanced, sticky, under quotas, and made again at will.

A story is given the machine that has the fewest stories among those that are free (active, and
under their quota); a tie is broken by a hash of seed, kind, story and the machine's name. It
keeps this machine until the machine is inactive or has used up its month. A machine that is asked
for by its name writes that once, and the story keeps its own: who tries another does not upset an
experiment. Every decision is a row that nobody changes, with what all machines were at that
moment, so that `replay_assignments` can make all of them again and the balance of an experiment
can be shown.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from sqlalchemy import Connection, and_, func, insert, select

from fabula.core.errors import NoCapacity
from fabula.studio.database import Studio
from fabula.studio.jobs import read_clock
from fabula.studio.machines import Machine, count_used, need_machine, read_machine
from fabula.studio.people import Person
from fabula.studio.tables import assignments, machines

# Free machines get new stories; draining ones keep theirs; full (over their quota) and inactive
# ones lose a story when somebody asks for it.
MachineState = Literal["free", "draining", "full", "inactive"]
Reason = Literal["first", "inactive", "quota", "chosen"]
# What a story keeps; what was chosen was for once.
_IS_OWN = assignments.c.reason != "chosen"


@dataclass(frozen=True)
class AssignmentEvent:
    """Somebody asks for a machine for a story; `states` is what every machine is, by its name.

    `chosen`: the machine that was asked for by name, or nothing.
    """

    story: str
    states: Mapping[str, MachineState]
    kind: str = "scene_entry"
    chosen: str = ""


@dataclass(frozen=True)
class Assignment:
    """A story is given a machine."""

    story: str
    kind: str
    machine: str
    reason: Reason


@dataclass
class Ledger:
    """Who has what: the machine of every story, and how many stories a machine has, by kind."""

    machine_of: dict[tuple[str, str], str] = field(default_factory=dict)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def assign(self, given: Assignment) -> None:
        """Write down who has it now; what was chosen was for once."""
        if given.reason == "chosen":
            return
        before = self.machine_of.get((given.kind, given.story))
        if before is not None:
            self.counts[given.kind, before] -= 1
        self.machine_of[given.kind, given.story] = given.machine
        self.counts[given.kind, given.machine] += 1


def decide(event: AssignmentEvent, ledger: Ledger, *, seed: int) -> Assignment | None:
    """Say which machine is to write for a story; None: the one that the story has."""
    current = ledger.machine_of.get((event.kind, event.story))
    state = event.states.get(current, "inactive") if current is not None else None
    if event.chosen:
        if event.chosen == current and state in ("free", "draining"):
            return None
        if event.states.get(event.chosen) != "free":
            raise NoCapacity(
                f"the co-author {event.chosen} takes no new stories now", "choose another"
            )
        return Assignment(event.story, event.kind, event.chosen, "chosen")
    if state in ("free", "draining"):
        return None
    free = [name for name, each in event.states.items() if each == "free"]
    if not free:
        raise NoCapacity("no co-author is free to write", "try again later")
    machine = min(
        free,
        key=lambda name: (ledger.counts[event.kind, name], _draw_lot(event, name, seed), name),
    )
    reason: Reason = "first" if state is None else "quota" if state == "full" else "inactive"
    return Assignment(event.story, event.kind, machine, reason)


def _draw_lot(event: AssignmentEvent, machine: str, seed: int) -> bytes:
    said = "\0".join((str(seed), event.kind, event.story, machine))
    return hashlib.sha256(said.encode("utf-8")).digest()


def replay_assignments(events: Iterable[AssignmentEvent], seed: int) -> list[Assignment]:
    """Make all decisions again, from the events alone; an event that changes nothing gives none.

    Nothing but the events and the seed is looked at.
    """
    ledger, given = Ledger(), []
    for event in events:
        try:
            assignment = decide(event, ledger, seed=seed)
        except NoCapacity:
            continue
        if assignment is not None:
            ledger.assign(assignment)
            given.append(assignment)
    return given


def assign_machine(
    db: Connection,
    story: str,
    *,
    kind: str = "scene_entry",
    seed: int = 0,
    machine: str | None = None,
) -> Machine:
    """Give the machine that is to write for a story, and write down a decision that was made.

    `machine` asks for one by its name or identity, for this once. `NoCapacity` when nobody is
    free. Belongs into the transaction that adds the suggestion: a quota is exact
    because whoever asks next sees that suggestion.
    """
    if machine is None and (own := _find_lasting(db, story, kind)) is not None:
        return own
    # Decisions of a kind are made one after the other, and no machine changes meanwhile.
    locked = select(machines).where(machines.c.kind == kind).order_by(machines.c.id)
    rows = db.execute(locked.with_for_update(key_share=True)).all()
    by_name = {row.name: read_machine(row) for row in rows}
    limited = [row.id for row in rows if row.quota >= 0]
    used = count_used(db, limited, read_clock(db)) if limited else {}
    states = {name: state_of(each, used.get(each.id, 0)) for name, each in by_name.items()}
    chosen = need_machine(db, machine).name if machine is not None else ""
    event = AssignmentEvent(story, states, kind, chosen)
    ledger = read_ledger(db, kind, story)
    decision = decide(event, ledger, seed=seed)
    if decision is None:
        return by_name[ledger.machine_of[kind, story]]
    _record(db, event, decision, by_name[decision.machine].id, seed)
    return by_name[decision.machine]


def state_of(machine: Machine, used: int) -> MachineState:
    """What a machine is to one who asks: a quota of -1 is never used up."""
    if machine.status == "inactive":
        return "inactive"
    if 0 <= machine.quota <= used:
        return "full"
    return "free" if machine.status == "active" else "draining"


def find_assigned(db: Connection, story: str, kind: str = "scene_entry") -> Machine | None:
    """Give the machine that a story was given last, whatever has become of it."""
    query = (
        select(machines)
        .join(assignments, assignments.c.machine_id == machines.c.id)
        .where(assignments.c.story == story, assignments.c.kind == kind, _IS_OWN)
        .order_by(assignments.c.number.desc())
        .limit(1)
    )
    row = db.execute(query).first()
    return None if row is None else read_machine(row)


def _find_lasting(db: Connection, story: str, kind: str) -> Machine | None:
    """The machine of a story, if nothing but its status has to be looked at: no lock is taken."""
    own = find_assigned(db, story, kind)
    is_lasting = own is not None and own.status != "inactive" and own.quota < 0
    return own if is_lasting else None


def read_ledger(db: Connection, kind: str, story: str) -> Ledger:
    """How many stories every machine has, and which machine has this one."""
    later = assignments.alias()
    is_replaced = and_(
        later.c.story == assignments.c.story,
        later.c.kind == assignments.c.kind,
        later.c.number > assignments.c.number,
        later.c.reason != "chosen",
    )
    current = (
        select(machines.c.name, assignments.c.story)
        .join(machines, machines.c.id == assignments.c.machine_id)
        .where(assignments.c.kind == kind, _IS_OWN)
        .where(~select(later.c.id).where(is_replaced).exists())
        .subquery()
    )
    counted = select(current.c.name, func.count()).group_by(current.c.name)
    counts = Counter({(kind, name): count for name, count in db.execute(counted)})
    own = db.scalar(select(current.c.name).where(current.c.story == story))
    return Ledger({(kind, story): own} if own is not None else {}, counts)


def _record(
    db: Connection, event: AssignmentEvent, decision: Assignment, machine_id: str, seed: int
) -> None:
    is_kind = assignments.c.kind == event.kind
    same = and_(is_kind, assignments.c.story == event.story)
    turn = db.scalar(select(func.max(assignments.c.turn)).where(is_kind))
    number = db.scalar(select(func.max(assignments.c.number)).where(same))
    db.execute(
        insert(assignments).values(
            story=event.story,
            kind=event.kind,
            number=(number or 0) + 1,
            machine_id=machine_id,
            reason=decision.reason,
            seed=seed,
            turn=(turn or 0) + 1,
            states=dict(event.states),
            assigned_at=read_clock(db),
        )
    )


def read_assignments(
    db: Connection, *, kind: str = "scene_entry"
) -> list[tuple[AssignmentEvent, Assignment]]:
    """All decisions of a kind in the order in which they were made, with what they were made of."""
    query = (
        select(assignments, machines.c.name)
        .join(machines, machines.c.id == assignments.c.machine_id)
        .where(assignments.c.kind == kind)
        .order_by(assignments.c.turn)
    )
    recorded = []
    for row in db.execute(query):
        chosen = row.name if row.reason == "chosen" else ""
        event = AssignmentEvent(row.story, row.states, row.kind, chosen)
        recorded.append((event, Assignment(row.story, row.kind, row.name, row.reason)))
    return recorded


def list_assignments(
    studio: Studio, person: Person, *, kind: str = "scene_entry"
) -> list[Assignment]:
    """Which story was given which machine, and why, in the order of decisions; for researchers."""
    person.need("researcher")
    with studio.read() as db:
        return [given for _, given in read_assignments(db, kind=kind)]
