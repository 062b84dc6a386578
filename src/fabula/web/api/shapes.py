"""Shapes that many requests and answers have: bodies, keys, pages, people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Generic, TypeVar

from fastapi import APIRouter, Depends, Query
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field

from fabula.studio.people import Person, Role
from fabula.web.errors import PROBLEMS
from fabula.web.identity import StrictRoute

Item = TypeVar("Item")
API = "/api/v1"

# A text's own bounds are for the studio to say; these keep a request from being absurd.
Identity = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
Key = Annotated[
    str, Field(min_length=1, max_length=64, description="Yours; the same key, the same thing.")
]
Line = Annotated[str, Field(max_length=1000)]
Prose = Annotated[str, Field(max_length=1_000_000)]
# What both databases keep as a number.
Small = Annotated[int, Field(ge=0, le=2**31 - 1)]
Seed = Annotated[int, Field(ge=0, le=2**63 - 1)]


def make_router(name: str, inside: str = "", *, api: str = API) -> APIRouter:
    """Make the router of a resource; its operations are called as their functions are."""

    def name_operation(route: APIRoute) -> str:
        return f"{name}.{route.endpoint.__name__}"

    return APIRouter(
        prefix=api + inside,
        tags=[name],
        route_class=StrictRoute,
        responses=PROBLEMS,
        generate_unique_id_function=name_operation,
    )


class Body(BaseModel):
    """What is sent: a field that is not known is a mistake, not nothing."""

    model_config = ConfigDict(extra="forbid")


class Page(BaseModel, Generic[Item]):
    """Some of many things: `total` is how many there are."""

    items: list[Item]
    total: int


class Window(BaseModel):
    """Which of many things are wanted."""

    offset: int
    limit: int

    def cut(self, items: Sequence[Item]) -> Page[Item]:
        """Give those of a list."""
        chosen = items[self.offset : self.offset + self.limit]
        return Page(items=list(chosen), total=len(items))


async def _read_window(
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> Window:
    return Window(offset=offset, limit=limit)


Wanted = Annotated[Window, Depends(_read_window)]


class PersonAnswer(BaseModel):
    """Somebody, as others are told of them."""

    id: str
    name: str
    roles: list[Role]
    scopes: list[str]


def describe_person(person: Person) -> PersonAnswer:
    """Give a person with roles and scopes in order."""
    return PersonAnswer(
        id=person.id, name=person.name, roles=sorted(person.roles), scopes=sorted(person.scopes)
    )
