"""People, for admins: who there is, what they may do, and links by which others come in."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from fabula.studio.links import make_link
from fabula.studio.people import (
    Profile,
    Role,
    create_person,
    list_people,
    read_profile,
    set_roles,
)
from fabula.studio.privacy import delete_person, export_person
from fabula.web.api.shapes import (
    Body,
    Identity,
    Line,
    Page,
    PersonAnswer,
    Wanted,
    describe_person,
    make_router,
)
from fabula.web.identity import Id, Somebody

router = make_router("people")
Roles = Annotated[tuple[Role, ...], Field(max_length=4)]


class NewPerson(Body):
    """Somebody to be taken in; without a password they come in by a link."""

    name: Line
    email: Line | None = None
    display: Line = ""
    password: Annotated[str, Field(max_length=1000)] | None = None
    roles: Roles = ("author",)


class RoleChange(Body):
    """The roles a person is to have, and no others."""

    roles: Roles


class NewLink(Body):
    """An invitation with roles, or a new password for a person."""

    purpose: Literal["invite", "password"] = "invite"
    roles: Roles = ("author",)
    person_id: Identity | None = None
    hours: Annotated[float, Field(gt=0, le=24 * 30)] = 24


class ProfileAnswer(BaseModel):
    """What is known of a person."""

    person: PersonAnswer
    email: str | None
    display: str
    has_password: bool
    created_at: datetime
    seen_at: datetime | None


class LinkAnswer(BaseModel):
    """A link that works once. It is not shown again."""

    secret: str
    url: str


def _describe(profile: Profile) -> ProfileAnswer:
    return ProfileAnswer(
        person=describe_person(profile.person),
        email=profile.email,
        display=profile.display,
        has_password=profile.has_password,
        created_at=profile.created_at,
        seen_at=profile.seen_at,
    )


@router.get("/people")
def read_people(call: Somebody, window: Wanted) -> Page[ProfileAnswer]:
    """List everyone, by name."""
    return window.cut([_describe(profile) for profile in list_people(call.studio, call.person)])


@router.post("/people", status_code=201)
def add_person(call: Somebody, body: NewPerson) -> PersonAnswer:
    """Take a person in; a name is taken once."""
    person = create_person(
        call.studio,
        call.person,
        name=body.name,
        email=body.email,
        display=body.display,
        password=body.password,
        roles=body.roles,
    )
    return describe_person(person)


@router.get("/people/{person_id}")
def read_person(call: Somebody, person_id: Id) -> ProfileAnswer:
    """Tell what is known of a person: of oneself, or for an admin of anyone."""
    return _describe(read_profile(call.studio, call.person, person_id))


@router.put("/people/{person_id}/roles")
def change_roles(call: Somebody, person_id: Id, body: RoleChange) -> PersonAnswer:
    """Give a person these roles."""
    return describe_person(set_roles(call.studio, call.person, person_id, body.roles))


@router.get("/people/{person_id}/data")
def read_data(call: Somebody, person_id: Id) -> dict[str, Any]:
    """Give all that the studio holds of a person."""
    return export_person(call.studio, call.person, person_id)


@router.delete("/people/{person_id}", status_code=204)
def remove_person(
    call: Somebody, person_id: Id, entries: Literal["keep", "empty"] = "keep"
) -> None:
    """Delete a person. What they rated stays, and no longer says by whom."""
    delete_person(call.studio, call.person, person_id, entries=entries)


@router.post("/links", status_code=201)
def add_link(call: Somebody, body: NewLink) -> LinkAnswer:
    """Make a link by which somebody comes in."""
    secret = make_link(
        call.studio,
        call.person,
        purpose=body.purpose,
        roles=body.roles if body.purpose == "invite" else (),
        person_id=body.person_id,
        hours=body.hours,
    )
    return LinkAnswer(secret=secret, url=f"{call.origin}/account/link/{secret}")
