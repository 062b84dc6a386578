"""People and what they may do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from fabula.core.errors import NotAllowed

Role = Literal["author", "annotator", "researcher", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True)
class Person:
    """Who acts. `scopes` are what a token or a sign-in elsewhere was given beside the roles:
    `dataset`, `judgement`, `user_edits`, `backend`."""

    id: str
    name: str
    roles: frozenset[Role] = frozenset()
    scopes: frozenset[str] = field(default_factory=frozenset)

    def may(self, *roles: Role) -> bool:
        """Whether the person has one of these roles; an admin has all."""
        return bool(self.roles & {*roles, "admin"})

    def need(self, *roles: Role) -> None:
        """Refuse a person who has none of these roles."""
        if not self.may(*roles):
            raise NotAllowed(
                f"{self.name or 'you'} may not do this", f"ask for the role {' or '.join(roles)}"
            )
