"""Machine co-authors on offer: what they are called, what they are, and what they may do.

An active machine writes for its stories and is given new ones. A draining one writes for the
stories it has and is given no others. An inactive one finishes what was asked of it before;
whoever asks next for one of its stories is given another machine. Machines are never deleted,
nor is what they are changed: texts refer to them. For another model, add another machine.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from sqlalchemy import Connection, Row, func, select, update

from fabula.authors import author_spec
from fabula.core.author import Decoding
from fabula.core.errors import Conflict, InputError, NotFound, closest
from fabula.core.plain import from_plain
from fabula.studio.database import Studio, insert_new
from fabula.studio.people import Person, write_audit
from fabula.studio.tables import machines, now, suggestions

MachineStatus = Literal["active", "draining", "inactive"]
STATUSES: tuple[MachineStatus, ...] = get_args(MachineStatus)
UNLIMITED = -1
_LONGEST_NAME = 100


@dataclass(frozen=True)
class Machine:
    """A co-author on offer. `quota` counts suggestions a calendar month (UTC), -1 is without
    limit; `used` are those of this month, where they were counted."""

    id: str
    name: str
    spec: str
    kind: str = "scene_entry"
    status: MachineStatus = "inactive"
    quota: int = UNLIMITED
    decoding: Mapping[str, Any] | None = None
    created_at: datetime | None = None
    used: int | None = None


def add_machine(
    studio: Studio,
    person: Person | None,
    *,
    name: str,
    spec: str,
    kind: str = "scene_entry",
    status: str = "active",
    quota: int = UNLIMITED,
    decoding: Mapping[str, Any] | None = None,
) -> Machine:
    """Offer a co-author; of a name that is there already, the same again.

    Admins do so, and who has the command line (`person` is None).
    """
    _need_admin(person)
    spec = author_spec(spec)
    values = {
        "name": _check_name(name),
        "spec": spec,
        "kind": kind,
        "status": _check_status(status),
        "quota": _check_quota(quota),
        "decoding": _check_decoding(decoding or {}),
    }
    with studio.write() as db:
        if machine_id := insert_new(db, machines, values):
            write_audit(db, person, "add_machine", machine_id, **values)
            return need_machine(db, machine_id)
        existing = need_machine(db, name)
        if (existing.spec, existing.kind) != (spec, kind):
            raise Conflict(
                f"the machine {name!r} is {existing.spec} already", "give this one another name"
            )
        return existing


def change_machine(
    studio: Studio,
    person: Person | None,
    machine: str,
    *,
    status: str | None = None,
    quota: int | None = None,
    decoding: Mapping[str, Any] | None = None,
) -> Machine:
    """Change what a machine may do, by its name or identity; what is not given stays as it is."""
    _need_admin(person)
    values: dict[str, Any] = {}
    if status is not None:
        values["status"] = _check_status(status)
    if quota is not None:
        values["quota"] = _check_quota(quota)
    if decoding is not None:
        values["decoding"] = _check_decoding(decoding)
    with studio.write() as db:
        found = need_machine(db, machine)
        if values:
            db.execute(update(machines).where(machines.c.id == found.id).values(**values))
            write_audit(db, person, "change_machine", found.id, **values)
        return need_machine(db, found.id)


def list_machines(
    studio: Studio, person: Person | None, *, status: str | None = None
) -> list[Machine]:
    """All machines by name, with how many suggestions they were asked for this month.

    What they are and how they draw is for researchers; others see names and whether they are on
    offer.
    """
    with studio.read() as db:
        found = [read_machine(row) for row in db.execute(select(machines).order_by("name"))]
        used = count_used(db, [machine.id for machine in found], now())
    found = [replace(machine, used=used.get(machine.id, 0)) for machine in found]
    if status is not None:
        found = [machine for machine in found if machine.status == _check_status(status)]
    if person is None or person.may("researcher"):
        return found
    return [replace(machine, spec="", decoding=None, used=None) for machine in found]


def find_machine(db: Connection, name: str) -> Machine | None:
    """The machine of that name or identity, if there is one."""
    is_it = (machines.c.name == name) | (machines.c.id == name)
    row = db.execute(select(machines).where(is_it)).first()
    return None if row is None else read_machine(row)


def need_machine(db: Connection, name: str) -> Machine:
    """The machine of that name or identity."""
    if (found := find_machine(db, name)) is None:
        names = db.scalars(select(machines.c.name))
        raise NotFound(f"no machine is called {name!r}", closest(name, names))
    return found


def read_machine(row: Row[Any]) -> Machine:
    """A row of the table as a value."""
    return Machine(
        id=row.id,
        name=row.name,
        spec=row.spec,
        kind=row.kind,
        status=row.status,
        quota=row.quota,
        decoding=row.decoding,
        created_at=row.created_at,
    )


def count_used(db: Connection, machine_ids: Collection[str], moment: datetime) -> dict[str, int]:
    """How many suggestions these machines were asked for in a calendar month, by their identity.

    One that failed is not counted: its author has nothing of it.
    """
    moment = moment.astimezone(UTC)
    month = moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    counted = (
        select(suggestions.c.machine_id, func.count().label("used"))
        .where(
            suggestions.c.machine_id.in_(machine_ids),
            suggestions.c.asked_at >= month,
            suggestions.c.status != "failed",
        )
        .group_by(suggestions.c.machine_id)
    )
    return {row.machine_id: row.used for row in db.execute(counted)}


def _need_admin(person: Person | None) -> None:
    if person is not None:
        person.need("admin")


def _check_name(name: str) -> str:
    if not name.strip() or name != name.strip() or len(name) > _LONGEST_NAME:
        raise InputError(
            f"the machine's name {name[:_LONGEST_NAME]!r} will not do",
            f"give it 1 to {_LONGEST_NAME} characters, without blanks around them",
        )
    return name


def _check_status(status: str) -> str:
    if status not in STATUSES:
        raise InputError(f"a machine's status is not {status!r}", closest(status, STATUSES))
    return status


def _check_quota(quota: int) -> int:
    if quota < UNLIMITED or quota > 2**31 - 1:
        raise InputError(
            f"a quota of {quota} will not do", "give suggestions a month, or -1 for no limit"
        )
    return quota


def _check_decoding(decoding: Mapping[str, Any]) -> dict[str, Any]:
    """Only what was given is kept: what is not said may change with the defaults."""
    checked = asdict(from_plain(Decoding, dict(decoding), "decoding", error=InputError))
    return {name: checked[name] for name in decoding}
