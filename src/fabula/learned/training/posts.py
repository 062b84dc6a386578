"""Posts: stories that were put up in answer to a prompt, with their votes and dates, in a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError, SettingError, closest
from fabula.datasets.tables.rows import Row
from fabula.datasets.tables.sheet import Sheet, is_empty

_USUAL = {
    "prompt": "prompt_id item item_id thread link_id prompt writing_prompt title",
    "votes": "votes score upvotes ups karma",
    "written": "written created created_utc created_at date posted published",
    "updated": "updated updated_at updated_utc edited edited_utc changed",
}
# What a prompt says, where posts have the number of a prompt or of a thread as well.
_WORDINGS = ("prompt", "writing_prompt", "title")
# From so many seconds on, a number is one of thousandths: the year 5138.
_MOST_SECONDS = 1e11


@dataclass(frozen=True)
class Post:
    """A story that was posted in answer to a prompt, the votes it got, and when.

    `prompt` is what posts have in common; `wording` is what it says, where that is more.
    """

    id: str
    prompt: str
    text: str
    votes: float
    written: datetime | None = None
    updated: datetime | None = None
    wording: str = ""

    def __post_init__(self) -> None:
        """Refuse what is no text or no number, naming the post and the field."""
        for name in ("id", "prompt", "text"):
            if not isinstance(getattr(self, name), str):
                raise InputError(f"post {self.id!r}: {name} must be a string", "use str()")
        if not isinstance(self.votes, int | float) or not isfinite(self.votes):
            raise InputError(f"post {self.id!r}: votes are {self.votes!r}", "give a number")


@dataclass(frozen=True)
class Period:
    """Posts of which time are taken: written `before`, and not updated between two dates.

    Votes of a post that was updated late may not be of its text. What has no date is left out
    where one is asked for; what was never updated has no second date.
    """

    before: datetime | None = None
    not_updated: tuple[datetime, datetime] | None = None

    def __post_init__(self) -> None:
        if self.not_updated and self.not_updated[0] >= self.not_updated[1]:
            start, end = (f"{day:%Y-%m-%d}" for day in self.not_updated)
            raise SettingError(f"nothing is between {start} and {end}", "give the earlier first")

    def choose(self, posts: Iterable[Post]) -> tuple[list[Post], Counter[str]]:
        """Give the posts of the period, and how many were left out and why."""
        chosen, left_out = [], Counter[str]()
        for post in posts:
            if reason := self._find_fault(post):
                left_out[reason] += 1
            else:
                chosen.append(post)
        return chosen, left_out

    def _find_fault(self, post: Post) -> str:
        if self.before and post.written is None:
            return "without a date"
        if self.before and post.written and post.written >= self.before:
            return "too late"
        start, end = self.not_updated or (None, None)
        if start and end and post.updated and start <= post.updated < end:
            return "updated in between"
        return ""


def read_posts(path: str | Path, *, columns: Mapping[str, str] | None = None) -> list[Post]:
    """Read posts from a CSV, TSV, JSON, JSONL or Parquet file.

    `columns` names the columns of `id`, `prompt`, `text`, `votes`, `written` and `updated`; the
    others are guessed by their usual names. Dates need not be there; posts of a table without a
    column of ids are called by the numbers of their rows.
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
    names["wording"] = _find_wording(names["prompt"], sheet)
    posts: dict[str, Post] = {}
    for number, (where, row) in enumerate(sheet.rows, 1):
        post = _post(sheet, row, where, number=number, names=names)
        if post.id in posts:
            raise InputError(f"{where}: id {post.id!r} was used before", "keep one of the two")
        posts[post.id] = post
    return list(posts.values())


def _post(sheet: Sheet, row: Row, where: str, *, number: int, names: Mapping[str, str]) -> Post:
    for column in (names["prompt"], names["votes"], sheet.roles["text"]):
        if row.get(column) in (None, ""):
            raise InputError(f"{where}, column {column!r}: the cell is empty", "fill it")
    votes = sheet.read_number(row, names["votes"], where)
    if votes is None:
        raise InputError(f"{where}, column {names['votes']!r}: no number of votes", "fill it")
    written, updated = (_read_date(row, names[role], where) for role in ("written", "updated"))
    return Post(
        sheet.read_story_id(row, where) if "story" in sheet.roles else str(number),
        sheet.read_text("item", row),
        sheet.read_text("text", row),
        votes,
        written,
        updated,
        str(row.get(names["wording"]) or "").strip() if names["wording"] else "",
    )


def _find_wording(prompt: str, sheet: Sheet) -> str:
    """Find the column of what prompts say; none where one prompt has several, as titles may be."""
    plain = {column.strip().lower(): column for column in sheet.names}
    columns = [plain[name] for name in _WORDINGS if name in plain]
    for name in [] if prompt in columns else columns:
        told = {(str(row.get(prompt)), str(row.get(name)).strip()) for _, row in sheet.rows}
        if len(told) == len({key for key, _ in told}):
            return name
    return ""


def _read_date(row: Row, column: str, where: str) -> datetime | None:
    """Read a date: 2020-03-01, a time with it, or seconds since 1970; none where it is empty.

    Reddit writes false for a post that was never edited.
    """
    cell = row.get(column) if column else None
    if is_empty(cell) or str(cell).strip().lower() in ("false", "0", "0.0", "true"):
        return None
    try:
        return _parse_date(cell)
    except (ValueError, OverflowError, OSError):
        raise InputError(
            f"{where}, column {column!r}: {str(cell)[:40]!r} is no date",
            "write 2020-03-01, or seconds since 1970",
        ) from None


def _parse_date(cell: Any) -> datetime:
    text = str(cell).strip()
    try:
        number = float(text)
    except ValueError:
        date = datetime.fromisoformat(text)
        return date if date.tzinfo else date.replace(tzinfo=UTC)
    seconds = number / 1000 if abs(number) >= _MOST_SECONDS else number
    return datetime.fromtimestamp(seconds, UTC)


def _column(role: str, name: str, sheet: Sheet) -> str:
    """Find the column of a role: the one that is named, or one with a usual name, or none."""
    if name and name not in sheet.names:
        raise InputError(f"{sheet.label}: no column {name!r}", closest(name, sheet.names))
    plain = {column.strip().lower(): column for column in sheet.names}
    return name or next((plain[usual] for usual in _USUAL[role].split() if usual in plain), "")
