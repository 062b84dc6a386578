"""Pages of long lists: which one is shown, and the addresses of its neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query

from fabula.core.errors import NotFound

# As far as somebody can turn.
PageNumber = Annotated[int, Query(ge=1, le=100_000)]


@dataclass(frozen=True)
class Pager:
    """Where one is in a list; `previous` and `next` are addresses, or None at the ends."""

    page: int
    pages: int
    total: int
    previous: str | None
    next: str | None


def spell_address(path: str, **wanted: object) -> str:
    """Spell an address with what is asked for; what is empty is left out."""
    query = urlencode({name: value for name, value in wanted.items() if value not in (None, "")})
    return f"{path}?{query}" if query else path


def make_pager(
    path: str, query: Mapping[str, object], *, page: int, total: int, size: int
) -> Pager:
    """Say where one is; a page that is not there is refused."""
    pages = max(1, -(-total // size))
    if page > pages:
        raise NotFound(f"there is no page {page} of this list", f"the last is {pages}")

    def spell(number: int) -> str | None:
        if not 1 <= number <= pages:
            return None
        return spell_address(path, **query, page=number if number > 1 else None)

    return Pager(page, pages, total, spell(page - 1), spell(page + 1))
