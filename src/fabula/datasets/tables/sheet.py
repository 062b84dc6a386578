"""A sheet: the rows of a table of one's own, and which column plays which role."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError, SettingError, closest
from fabula.core.story import Story
from fabula.datasets.tables.rows import TEXTS, Row, detect_format, read_rows
from fabula.datasets.tables.stories import USUAL as PARTS
from fabula.datasets.tables.stories import is_there, split_strings
from fabula.datasets.tables.text_file import FileForm, Reading, TextFile

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
    def read(cls, path: Path, given: Mapping[str, str], form: FileForm | None = None) -> Sheet:
        """Read a file; columns that are not given are guessed by their usual names."""
        for role in given:
            if role not in ROLES:
                raise SettingError(f"a table has no role {role!r}", closest(role, ROLES))
        if not is_there(path):
            raise InputError(f"{path}: no such file", "check the path")
        kind = detect_format(path)
        if kind in ("folder", *TEXTS):
            remedy = "give a CSV, TSV, JSON, JSONL, Excel, ODS or Parquet file"
            raise InputError(f"{path}: not a table", remedy)
        reading = Reading(path.name, form or FileForm())
        rows = list(read_rows(TextFile(path, path.name, reading.form.encoding), kind, reading))
        if not rows:
            raise InputError(f"{path}: holds no rows", "check that it is the right file")
        names = tuple(dict.fromkeys(name for _, row in rows for name in row))
        bare = cls(path.name, rows, names)
        return replace(bare, roles=bare._choose_roles(given))

    @property
    def numeric_columns(self) -> list[str]:
        """Columns that play no role and whose cells are all numbers or empty."""
        return [name for name in self.free_columns if self.find_fault(name) is None]

    @property
    def free_columns(self) -> list[str]:
        """Columns that play no role and hold something."""
        taken = {*self.roles.values()}
        return [
            name
            for name in self.names
            if name not in taken
            and _normalise(name) not in _INDEX
            and any(not is_empty(row.get(name)) for _, row in self.rows)
        ]

    def find_fault(self, name: str) -> str | None:
        """Say where a column holds something that is no number, if it does."""
        for where, row in self.rows:
            if not is_empty(row.get(name)) and parse_number(row[name]) is None:
                return f"{where}, column {name!r}: {row[name]!r} is no number"
        return None

    def read_number(self, row: Row, name: str, where: str) -> float | None:
        """Read a number; an empty cell is None, anything else an error that names the place."""
        cell = row.get(name)
        if is_empty(cell):
            return None
        value = parse_number(cell)
        if value is None:
            raise InputError(
                f"{where}, column {name!r}: {cell!r} is no number", "mend it, or leave it empty"
            )
        return value

    def read_text(self, role: str, row: Row) -> str:
        """Give the cell of a role as text; "" where there is none."""
        cell = row.get(self.roles[role]) if role in self.roles else None
        if isinstance(cell, float) and cell.is_integer():
            return str(int(cell))
        return "" if cell is None else str(cell)

    def read_story_id(self, row: Row, where: str) -> str:
        """Id of the story that a row is about: its own column, or system and item together."""
        if "story" not in self.roles and {"item", "system"} <= self.roles.keys():
            name = f"{self.read_text('system', row)}/{self.read_text('item', row)}"
        else:
            name = self.read_text("story", row)
        if not name:
            known = "story" in self.roles
            problem = f"{where}: no story id" if known else f"{self.label}: no column of story ids"
            raise InputError(
                problem, f"{'fill the cell, or ' * known}name the column with --column story=NAME"
            )
        return name

    def make_story(self, row: Row, name: str, where: str) -> Story:
        """Make the story of a row, as far as the row tells."""
        column = self.roles.get("references", "")
        references = split_strings(row.get(column), column, where) if column else ()
        return Story(
            name,
            self.read_text("text", row),
            self.read_text("prompt", row) or None,
            tuple(references),
            system=self.read_text("system", row) or None,
            item=self.read_text("item", row) or None,
        )

    def _choose_roles(self, given: Mapping[str, str]) -> dict[str, str]:
        for name in given.values():
            if name and name not in self.names:
                raise InputError(f"{self.label}: no column {name!r}", closest(name, self.names))
        free = [name for name in self.names if name not in given.values()]
        guessed = {role: self._guess_column(role, free) for role in ROLES if role not in given}
        chosen = {**guessed, **given}
        chosen |= self._choose_story(chosen, given)
        chosen = {role: name for role, name in chosen.items() if name}
        return chosen | self._choose_value(chosen, given)

    def _guess_column(self, role: str, names: Collection[str]) -> str:
        plain = {_normalise(name): name for name in names}
        column = next((plain[usual] for usual in _USUAL[role].split() if usual in plain), "")
        # A column of numbers called `human` or `target` holds ratings, not references.
        return "" if role in _TEXTS and column and self.find_fault(column) is None else column

    def _choose_story(self, chosen: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
        """Decide on a column called `story`: an id where there is no other, and no text in it."""
        story = next((name for name in self.names if _normalise(name) == "story"), "")
        if not story or chosen.get("story") or "story" in given or story in given.values():
            return {}
        others = [name for name in self.names if name not in {story, *given.values()}]
        text = given["text"] if "text" in given else self._guess_column("text", others)
        spaced = any(" " in str(row.get(story)).strip() for _, row in self.rows)
        return {} if spaced and not text else {"story": story, "text": text}

    def _choose_value(self, chosen: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
        """Decide on a column called `score` or `rating`: a value where it is the only number."""
        if "value" in {*given, *chosen} or not {"rater", "scorer"} & chosen.keys():
            return {}
        numeric = replace(self, roles=chosen).numeric_columns
        only = numeric[0] if len(numeric) == 1 else ""
        return {"value": only} if _normalise(only) in ("score", "rating") else {}


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
        number = float(cell)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _normalise(name: str) -> str:
    return "_".join(name.strip().lower().split())
