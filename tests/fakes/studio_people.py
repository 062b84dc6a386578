"""People in a studio, put there without any sign-in."""

from __future__ import annotations

from fabula.studio.database import Studio
from fabula.studio.people import Person, Role
from fabula.studio.tables import new_id, people, roles


def put_person(studio: Studio, name: str = "ann", *given: Role) -> Person:
    """Put a person into a studio, an author unless told otherwise."""
    wanted: tuple[Role, ...] = given or ("author",)
    person = Person(new_id(), name, frozenset(wanted))
    with studio.write() as db:
        db.execute(people.insert().values(id=person.id, name=name))
        db.execute(roles.insert(), [{"person_id": person.id, "role": role} for role in wanted])
    return person
