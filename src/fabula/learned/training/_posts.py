"""Posts with votes, from any table that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from math import isfinite
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError, closest
from fabula.datasets.tables.rows import Row
from fabula.datasets.tables.sheet import Sheet, is_empty, parse_number

_USUAL = {
    "prompt": "prompt_id item item_id thread link_id prompt writing_prompt title",
    "votes": "votes score upvotes ups karma",
    "created": "created created_at created_utc date",
    "updated": "updated updated_at edited",
}
_DATES = ("created", "updated")


@dataclass(frozen=True)
class Post:
    """A story that was posted in answer to a prompt, and the votes it got."""

    id: str
    prompt: str
    text: str
    votes: float
    created: date | None = None
    updated: date | None = None

    def __post_init__(self) -> None:
        """Refuse what is no text or no number, naming the post and the field."""
        for name in ("id", "prompt", "text"):
            if not isinstance(getattr(self, name), str):
                raise InputError(f"post {self.id!r}: {name} must be a string", "use str()")
        if not isinstance(self.votes, int | float) or not isfinite(self.votes):
            raise InputError(f"post {self.id!r}: votes are {self.votes!r}", "give a number")


def read_posts(path: str | Path, *, columns: Mapping[str, str] | None = None) -> list[Post]:
    """Read posts from a CSV, TSV, JSON, JSONL or Parquet file.

    `columns` names the columns of `id`, `prompt`, `text`, `votes`, `created` and `updated`; the
    others are guessed by their usual names. Dates are ISO dates or seconds since 1970.
    """
    given = {"story" if role == "id" else role: name for role, name in (columns or {}).items()}
    own = {role: given.pop(role, "") for role in _USUAL}
    sheet = Sheet.read(Path(path), given)
    names = {role: _column(role, name, sheet) for role, name in own.items()}
    if "text" not in sheet.roles or not names["prompt"] or not names["votes"]:
        known = ", ".join(sheet.names)
        raise InputError(
            f"{sheet.label}: text, prompt and votes are not all among the columns {known}",
            "name the columns",
        )
    sheet = replace(sheet, roles={**sheet.roles, "item": names["prompt"]})
    posts: dict[str, Post] = {}
    for where, row in sheet.rows:
        post = _post(sheet, row, where, names=names)
        if post.id in posts:
            raise InputError(f"{where}: id {post.id!r} was used before", "keep one of the two")
        posts[post.id] = post
    return list(posts.values())


def _post(sheet: Sheet, row: Row, where: str, *, names: Mapping[str, str]) -> Post:
    for column in (names["prompt"], names["votes"], sheet.roles["text"]):
        if row.get(column) in (None, ""):
            raise InputError(f"{where}, column {column!r}: the cell is empty", "fill it")
    votes = sheet.read_number(row, names["votes"], where)
    if votes is None:
        raise InputError(f"{where}, column {names['votes']!r}: no number of votes", "fill it")
    days = (_day(row.get(names[role]), f"{where}, column {names[role]!r}") for role in _DATES)
    return Post(
        sheet.read_story_id(row, where),
        sheet.read_text("item", row),
        sheet.read_text("text", row),
        votes,
        *days,
    )


def _column(role: str, name: str, sheet: Sheet) -> str:
    """Find the column of a role: the one that is named, or one with a usual name, or none."""
    if name and name not in sheet.names:
        raise InputError(f"{sheet.label}: no column {name!r}", closest(name, sheet.names))
    plain = {one.strip().lower(): one for one in sheet.names}
    return name or next((plain[usual] for usual in _USUAL[role].split() if usual in plain), "")


def _day(cell: Any, where: str) -> date | None:
    """Read a date; an empty cell, or False, is none."""
    if is_empty(cell) or str(cell).lower() == "false":
        return None
    if isinstance(cell, date):
        return cell.date() if isinstance(cell, datetime) else cell
    seconds = parse_number(cell)
    try:
        if seconds is not None:
            return datetime.fromtimestamp(seconds, UTC).date()
        return date.fromisoformat(str(cell).strip()[:10])
    except (ValueError, OverflowError, OSError):
        remedy = "write 2019-12-31, or seconds since 1970"
        raise InputError(f"{where}: {cell!r} is no date", remedy) from None
