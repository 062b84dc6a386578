"""What an edit is, what it does to a text, and which ones are refused.

Positions count Unicode code points, as Python does (a browser counts UTF-16 units and has to
convert). The edits of one saving follow each other: each speaks of the text that the one before
it left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal, get_args

from fabula.core.errors import InputError
from fabula.core.story import count_text
from fabula.studio.games import check_text

Source = Literal["person", "machine"]

# Of a draft: the longest entries of STORIUM have a tenth of it.
MOST_CHARACTERS = 100_000
# Of one saving; more that were made offline are saved in several.
MOST_EDITS = 5_000
MOST_INSERTED = 1_000_000


@dataclass(frozen=True, slots=True)
class Edit:
    """Characters `start` to `stop` give way to `inserted`.

    What a machine wrote names the suggestion it comes from. `made_at` is when it was made, which
    may be long before it is saved; None is now.
    """

    start: int
    stop: int
    inserted: str = ""
    source: Source = "person"
    suggestion_id: str | None = None
    made_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedEdit:
    """An edit as it stands in the log: `removed` is what gave way.

    A person's edit that names a suggestion rewrites what was the suggestion's: so a restored
    version keeps what it says of who wrote it.
    """

    version: int
    position: int
    person_id: str
    start: int
    stop: int
    removed: str
    inserted: str
    source: Source
    suggestion_id: str | None
    made_at: datetime
    saved_at: datetime


def check_edits(edits: Sequence[Edit], now: datetime) -> list[Edit]:
    """Refuse edits that can be seen to be wrong without knowing the text; date the others.

    A clock that runs ahead is set back to now; one that says no zone is refused.
    """
    if len(edits) > MOST_EDITS:
        raise InputError(f"{len(edits):,} edits are too many", f"save {MOST_EDITS:,} at a time")
    if sum(len(edit.inserted) for edit in edits) > MOST_INSERTED:
        raise InputError("the edits are too long", f"save {MOST_INSERTED:,} characters at a time")
    return [_check_edit(edit, f"edits[{number}]", now) for number, edit in enumerate(edits)]


def _check_edit(edit: Edit, where: str, now: datetime) -> Edit:
    if not 0 <= edit.start <= edit.stop:
        raise InputError(
            f"{where}: start {edit.start} and stop {edit.stop} are no span",
            "give 0 <= start <= stop",
        )
    check_text(edit.inserted, f"{where}: inserted", MOST_CHARACTERS)
    if edit.source not in get_args(Source):
        raise InputError(f"{where}: source is {edit.source!r}", "give person or machine")
    if edit.source == "machine" and not edit.suggestion_id:
        raise InputError(f"{where}: a machine wrote it", "give the suggestion_id it comes from")
    if edit.source == "person" and edit.suggestion_id:
        raise InputError(
            f"{where}: a person wrote it, and it names a suggestion",
            "leave suggestion_id out, or say that its source is the machine",
        )
    made_at = edit.made_at or now
    if made_at.tzinfo is None:
        raise InputError(f"{where}: made_at {made_at} has no time zone", "write it with one")
    try:
        made_at = made_at.astimezone(UTC)
    except OverflowError:
        raise InputError(f"{where}: made_at {made_at} is no moment", "give a date") from None
    return replace(edit, made_at=min(made_at, now))


def apply_edits(text: str, edits: Sequence[Edit]) -> Iterator[str]:
    """Give the text after each edit, in order; refuse one that reaches beyond its text."""
    for number, edit in enumerate(edits):
        if edit.stop > len(text):
            raise InputError(
                f"edits[{number}]: stop {edit.stop} is beyond the text of "
                f"{count_text(len(text), 'character')}",
                "count Unicode code points of the text that the edit before it left",
            )
        text = text[: edit.start] + edit.inserted + text[edit.stop :]
        if len(text) > MOST_CHARACTERS:
            raise InputError(
                f"the draft would have {len(text):,} characters",
                f"publish what there is: a draft has at most {MOST_CHARACTERS:,}",
            )
        yield text
