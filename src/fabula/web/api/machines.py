"""Co-authors on offer, and which story has which: for researchers and admins."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabula.studio.assignment import Assignment, list_assignments
from fabula.studio.machines import Machine, add_machine, change_machine, list_machines
from fabula.web.api.shapes import Body, Line, Page, Wanted, make_router
from fabula.web.identity import Id, Somebody

router = make_router("machines")
Status = Literal["active", "draining", "inactive"]
Quota = Annotated[int, Field(ge=-1, le=2**31 - 1, description="Suggestions a month; -1: any.")]
Decoding = Annotated[dict[str, float | int | bool], Field(max_length=20)]


class NewMachine(Body):
    """A co-author to be offered, by its spec: `embedded`, `api('…', base_url='…')`."""

    name: Line
    spec: Annotated[str, Field(max_length=2000)]
    status: Status = "active"
    quota: Quota = -1
    decoding: Decoding | None = None


class MachineChange(Body):
    """What of a machine is to be another; one that drains finishes what it has."""

    status: Status | None = None
    quota: Quota | None = None
    decoding: Decoding | None = None


@router.get("/machines")
def read_machines(call: Somebody, window: Wanted) -> Page[Machine]:
    """List the co-authors on offer."""
    return window.cut(list_machines(call.studio, call.person))


@router.post("/machines", status_code=201)
def offer_machine(call: Somebody, body: NewMachine) -> Machine:
    """Offer a co-author; nothing is loaded before a worker does."""
    return add_machine(call.studio, call.person, **body.model_dump())


@router.patch("/machines/{machine_id}")
def alter_machine(call: Somebody, machine_id: Id, body: MachineChange) -> Machine:
    """Change a machine's status, quota or decoding."""
    changes = body.model_dump(exclude_unset=True)
    return change_machine(call.studio, call.person, machine_id, **changes)


@router.get("/assignments")
def read_assignments(call: Somebody, window: Wanted) -> Page[Assignment]:
    """List which story was given to which machine, when and why."""
    return window.cut(list_assignments(call.studio, call.person))
