"""A sheet: the rows of a table of one's own, and which column plays which role."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError, SettingError, closest
from fabula.core.story import Story
from fabula.datasets.tables.rows import Row, detect_format, read_rows
from fabula.datasets.tables.stories import USUAL as PARTS
from fabula.datasets.tables.stories import is_there, several
from fabula.datasets.tables.text_file import TextFile

_USUAL = {
    "story": PARTS["id"],
    **{role: PARTS[role] for role in ("item", "system", "text", "prompt", "references")},
    "rater": "rater rater_id annotator annotator_id worker worker_id workerid",
    "scorer": "scorer metric",
    "aspect": "aspect criterion dimension",
    "value": "value",
}
ROLES = tuple(_USUAL)
_TEXTS = ("text", "prompt", "references")
_EMPTY = {"", "na", "n/a", "nan", "null", "none"}
_INDEX = {"", "index", "unnamed:_0"}


@dataclass(frozen=True)
class Sheet:
    """Rows with the words for where each stands, and the column of each role."""

    label: str
    rows: list[tuple[str, Row]]
    names: tuple[str, ...]
    roles: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, given: Mapping[str, str]) -> Sheet:
        """Read a file; columns that are not given are guessed by their usual names."""
        for role in given:
            if role not in ROLES:
                raise SettingError(f"a table has no role {role!r}", closest(role, ROLES))
        if not is_there(path):
            raise InputError(f"{path}: no such file", "check the path")
        found = list(_read(path))
        if not found:
            raise InputError(f"{path}: holds no rows", "check that it is the right file")
        names = tuple(dict.fromkeys(name for _, row in found for name in row))
        bare = cls(path.name, found, names)
        return cls(path.name, found, names, bare._chosen(given))

    @property
    def numeric(self) -> list[str]:
        """Columns that play no role and whose cells are all numbers or empty."""
        return [name for name in self.free if self.fault(name) is None]

    @property
    def free(self) -> list[str]:
        """Columns that play no role and hold something."""
        taken = {*self.roles.values()}
        return [
            name
            for name in self.names
            if name not in taken
            and _plain(name) not in _INDEX
            and any(not is_empty(row.get(name)) for _, row in self.rows)
        ]

    def fault(self, name: str) -> str | None:
        """Say where a column holds something that is no number, if it does."""
        for where, row in self.rows:
            if not is_empty(row.get(name)) and parse_number(row[name]) is None:
                return f"{where}, column {name!r}: {row[name]!r} is no number"
        return None

    def value(self, row: Row, name: str, where: str) -> float | None:
        """Read a number; an empty cell is None, anything else an error that names the place."""
        cell = row.get(name)
        if is_empty(cell):
            return None
        found = parse_number(cell)
        if found is None:
            raise InputError(
                f"{where}, column {name!r}: {cell!r} is no number", "mend it, or leave it empty"
            )
        return found

    def part(self, role: str, row: Row) -> str:
        """Give the cell of a role as text; "" where there is none."""
        cell = row.get(self.roles[role]) if role in self.roles else None
        if isinstance(cell, float) and cell.is_integer():
            return str(int(cell))
        return "" if cell is None else str(cell)

    def story_id(self, row: Row, where: str) -> str:
        """Id of the story that a row is about: its own column, or system and item together."""
        if "story" not in self.roles and {"item", "system"} <= self.roles.keys():
            found = f"{self.part('system', row)}/{self.part('item', row)}"
        else:
            found = self.part("story", row)
        if not found:
            known = "story" in self.roles
            problem = f"{where}: no story id" if known else f"{self.label}: no column of story ids"
            raise InputError(
                problem, f"{'fill the cell, or ' * known}name the column with --column story=NAME"
            )
        return found

    def story(self, row: Row, name: str, where: str) -> Story:
        """Make the story of a row, as far as the row tells."""
        column = self.roles.get("references", "")
        references = several(row.get(column), column, where) if column else ()
        return Story(
            name,
            self.part("text", row),
            self.part("prompt", row) or None,
            tuple(references),
            system=self.part("system", row) or None,
            item=self.part("item", row) or None,
        )

    def _chosen(self, given: Mapping[str, str]) -> dict[str, str]:
        for name in given.values():
            if name and name not in self.names:
                raise InputError(f"{self.label}: no column {name!r}", closest(name, self.names))
        free = [name for name in self.names if name not in given.values()]
        guessed = {role: self._guess(role, free) for role in ROLES if role not in given}
        chosen = {**guessed, **given}
        chosen |= self._settled_story(chosen, given)
        chosen = {role: name for role, name in chosen.items() if name}
        return chosen | self._settled_value(chosen, given)

    def _guess(self, role: str, names: Collection[str]) -> str:
        plain = {_plain(name): name for name in names}
        found = next((plain[usual] for usual in _USUAL[role].split() if usual in plain), "")
        # A column of numbers called `human` or `target` holds ratings, not references.
        return "" if role in _TEXTS and found and self.fault(found) is None else found

    def _settled_story(self, chosen: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
        """Settle a column called `story`: an id where there is no other, and no text in it."""
        story = next((name for name in self.names if _plain(name) == "story"), "")
        if not story or chosen.get("story") or "story" in given or story in given.values():
            return {}
        others = [name for name in self.names if name not in {story, *given.values()}]
        text = given["text"] if "text" in given else self._guess("text", others)
        spaced = any(" " in str(row.get(story)).strip() for _, row in self.rows)
        return {} if spaced and not text else {"story": story, "text": text}

    def _settled_value(self, chosen: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
        """Settle a column called `score` or `rating`: a value where it is the only number."""
        if "value" in {*given, *chosen} or not {"rater", "scorer"} & chosen.keys():
            return {}
        numeric = Sheet(self.label, self.rows, self.names, chosen).numeric
        only = numeric[0] if len(numeric) == 1 else ""
        return {"value": only} if _plain(only) in ("score", "rating") else {}


def is_empty(cell: Any) -> bool:
    """Whether a cell holds nothing: empty, NA, NaN or null."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return True
    return isinstance(cell, str) and cell.strip().lower() in _EMPTY


def parse_number(cell: Any) -> float | None:
    """Read a cell as a finite number, if it is one."""
    if isinstance(cell, bool) or not isinstance(cell, str | int | float):
        return None
    try:
        found = float(cell)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def _read(path: Path) -> Iterator[tuple[str, Row]]:
    kind = detect_format(path)
    if kind in ("folder", "txt"):
        raise InputError(f"{path}: not a table", "give a CSV, TSV, JSON, JSONL or Parquet file")
    try:
        yield from read_rows(TextFile(path, path.name), kind)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{path}: cannot be read ({reason})", "check it") from None


def _plain(name: str) -> str:
    return "_".join(name.strip().lower().split())
