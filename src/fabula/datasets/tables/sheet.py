"""A sheet: the rows of a table of one's own, and which column plays which role."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError, SettingError, closest
from fabula.core.story import Story, count_text
from fabula.datasets.tables.rows import TEXTS, Row, detect_format, read_rows
from fabula.datasets.tables.stories import USUAL as PARTS
from fabula.datasets.tables.stories import is_there, split_strings
from fabula.datasets.tables.text_file import FileForm, Reading, TextFile, name_path

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
_EMPTY = {"", "na", "n/a", "#n/a", "nan", "null", "none"}
_LONGEST_NUMBER, _LONGEST_SHOWN = 40, 60
_FEW = 3
_INDEX = {"", "index", "unnamed:_0"}


@dataclass(frozen=True)
class ColumnNumbers:
    """How far a column holds numbers: how they are written, how many, and what is none."""

    style: str = "plain"
    count: int = 0
    faults: int = 0
    first_fault: str = ""

    @property
    def is_numeric(self) -> bool:
        """Whether all cells are numbers or empty."""
        return not self.faults

    @property
    def is_spoiled(self) -> bool:
        """Whether it is a column of numbers but for a few cells."""
        return 0 < self.faults <= max(self.count / 4, 1) and self.count > 2


@dataclass(frozen=True)
class Sheet:
    """Rows with the words for where each stands, and the column of each role."""

    label: str
    rows: list[tuple[str, Row]]
    names: tuple[str, ...]
    roles: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, ColumnNumbers] = field(default_factory=dict)
    reading: Reading = field(default_factory=lambda: Reading(""))

    @classmethod
    def read(cls, path: Path, given: Mapping[str, str], form: FileForm | None = None) -> Sheet:
        """Read a file; columns that are not given are guessed by their usual names."""
        for role in given:
            if role not in ROLES:
                raise SettingError(f"a table has no role {role!r}", closest(role, ROLES))
        if not is_there(path):
            raise InputError(f"{name_path(path)}: no such file", "check the path")
        kind = detect_format(path)
        if kind in ("folder", *TEXTS):
            remedy = "give a CSV, TSV, JSON, JSONL, Excel, ODS or Parquet file"
            raise InputError(f"{name_path(path)}: not a table", remedy)
        reading = Reading(name_path(path.name), form or FileForm())
        try:
            rows = _read_all(path, kind, reading)
            names = tuple(dict.fromkeys(name for _, row in rows for name in row))
            numbers = _read_columns(rows, names, reading)
        finally:
            reading.say_notes()
        if not rows:
            bad = next(iter(reading.left_out.values()), "")
            problem = (
                f"{name_path(path)}: holds no rows{f' that can be used ({bad})' if bad else ''}"
            )
            raise InputError(problem, "check that it is the right file")
        bare = cls(reading.label, rows, names, numbers=numbers, reading=reading)
        return replace(bare, roles=bare._choose_roles(given))

    @property
    def numeric_columns(self) -> list[str]:
        """Columns that play no role and hold numbers; bad cells of them may have to be skipped."""
        skip = self.reading.form.skip_bad
        return [
            name
            for name in self.free_columns
            if self.numbers[name].is_numeric or (skip and self.numbers[name].is_spoiled)
        ]

    @property
    def free_columns(self) -> list[str]:
        """Columns that play no role and hold something."""
        taken = {*self.roles.values()}
        return [
            name
            for name in self.names
            if name not in taken
            and _normalise(name) not in _INDEX
            and (self.numbers[name].count or self.numbers[name].faults)
        ]

    def check_numbers(self, known: Collection[str]) -> None:
        """Refuse a column of numbers with a few cells that are none, unless they may be skipped.

        One with more of them is left out, and that is said. Those that are `known` to be numbers
        are looked at when they are read.
        """
        unread = []
        for name in self.free_columns:
            column = self.numbers[name]
            if name in known or column.is_numeric:
                continue
            if column.is_spoiled and not self.reading.form.skip_bad:
                more = f" and {column.faults - 1} more are none" if column.faults > 1 else ""
                raise InputError(
                    f"{column.first_fault}, where "
                    f"{count_text(column.count, 'cell', 'cells')} of the column are{more}",
                    "mend it or leave it empty, or pass --skip-bad to count such cells as missing",
                )
            if not column.is_spoiled and column.count > column.faults:
                fault = column.first_fault.removeprefix(f"{self.label}, ")
                unread.append(f"{fault}, so that the column is not read")
        if unread:
            self.reading.say("columns", "; ".join(unread[:_FEW]) + "; …" * (len(unread) > _FEW))

    def read_number(self, row: Row, name: str, where: str) -> float | None:
        """Read a number; an empty cell is None, anything else an error that names the place."""
        cell = row.get(name)
        if is_empty(cell):
            return None
        value = parse_number(cell, self.numbers[name].style)
        if value is None:
            problem = _name_fault(where, name, cell, self.numbers[name].style)
            error = InputError(problem, "mend it, or leave it empty")
            self.reading.refuse(f"{where}, {name}", error)
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
        numbers = self.numbers[column] if column and role in _TEXTS else None
        return "" if numbers and (numbers.is_numeric or numbers.is_spoiled) else column

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


def parse_number(cell: Any, style: str = "plain") -> float | None:
    """Read a cell as a finite number, if it is one; `style` says what its commas and points are."""
    if isinstance(cell, bool) or not isinstance(cell, str | int | float):
        return None
    if style != "plain" and isinstance(cell, str):
        cell = _WRITTEN[style](cell.strip())
    try:
        number = float(cell)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


# Ways of writing 1234.5; the points or commas of thousands stand before three digits.
_COMMA = re.compile(r"[+-]?(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+)(?:,\d+)?(?:[eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_POINTS = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+")
_WRITTEN: dict[str, Callable[[str], str]] = {
    "decimal commas": lambda cell: (
        cell.replace(".", "").replace(",", ".") if _COMMA.fullmatch(cell) else ""
    ),
    "thousands with commas": lambda cell: (
        cell.replace(",", "") if _THOUSANDS.fullmatch(cell) else ""
    ),
    "unclear": lambda cell: "" if "," in cell or "." in cell else cell,
}


def _read_all(path: Path, kind: str, reading: Reading) -> list[tuple[str, Row]]:
    """Read the rows of a file; a pipe of such a name through a copy, for it is read twice."""
    if path.is_file():
        file = TextFile(path, reading.label, reading.form.encoding)
        return list(read_rows(file, kind, reading))
    from fabula.datasets.tables.spool import make_spool, put_aside

    with make_spool() as folder:
        aside = put_aside(path, folder, reading.label, kind)
        file = TextFile(aside, reading.label, reading.form.encoding)
        return list(read_rows(file, kind, reading))


def _read_columns(
    rows: list[tuple[str, Row]], names: Collection[str], reading: Reading
) -> dict[str, ColumnNumbers]:
    """Tell of every column how far it holds numbers, and how they are written."""
    styles = {name: _detect_style(rows, name) for name in names}
    # Another column tells how one is written that could be either way, and so does Excel, which
    # parts cells by semicolons where commas are decimal.
    written = "decimal commas" in styles.values()
    commas = written or reading.delimiter == ";"
    columns = {}
    for name, style in styles.items():
        if style == "unclear" and commas:
            style = "decimal commas"
        if style == "plain" and written and reading.delimiter:
            style = _doubt_points(rows, name)
        columns[name] = _count_numbers(rows, name, style)
        if style == "unclear":
            reading.note(f"column {name!r} not read, its commas or points being unclear")
        elif style != "plain" and columns[name].count:
            reading.note(style)
    return columns


def _detect_style(rows: list[tuple[str, Row]], name: str) -> str:
    """Tell how most numbers of a column are written."""
    cells = [cell.strip() for _, row in rows if isinstance(cell := row.get(name), str)]
    cells = [cell for cell in cells if len(cell) <= _LONGEST_NUMBER and not is_empty(cell)]
    if not any("," in cell for cell in cells):
        return "plain"
    plain = sum(parse_number(cell) is not None for cell in cells)
    commas = sum(_COMMA.fullmatch(cell) is not None for cell in cells)
    thousands = sum(_THOUSANDS.fullmatch(cell) is not None for cell in cells)
    if plain >= max(commas, thousands):
        return "plain"
    if commas == thousands:
        return "unclear"
    return "decimal commas" if commas > thousands else "thousands with commas"


def _doubt_points(rows: list[tuple[str, Row]], name: str) -> str:
    """Doubt numbers like 1.234 in a file in which others have decimal commas."""
    cells = (str(row.get(name) or "").strip() for _, row in rows)
    pointed = [cell for cell in cells if "." in cell and len(cell) <= _LONGEST_NUMBER]
    doubtful = pointed and all(_POINTS.fullmatch(cell) for cell in pointed)
    return "unclear" if doubtful else "plain"


def _count_numbers(rows: list[tuple[str, Row]], name: str, style: str) -> ColumnNumbers:
    count = faults = 0
    first = ""
    for where, row in rows:
        cell = row.get(name)
        if is_empty(cell):
            continue
        if parse_number(cell, style) is not None:
            count += 1
            continue
        faults += 1
        first = first or _name_fault(where, name, cell, style)
    return ColumnNumbers(style, count, faults, first)


def _name_fault(where: str, name: str, cell: Any, style: str) -> str:
    """Say of a cell that it is no number, and where it stands."""
    endless = isinstance(cell, float) or str(cell).strip("+- ").lower().startswith("inf")
    shown = repr(cell) if len(repr(cell)) <= _LONGEST_SHOWN else f"{repr(cell)[:_LONGEST_SHOWN]}…"
    if style == "unclear":
        return f"{where}, column {name!r}: {shown} may have decimals or thousands"
    return f"{where}, column {name!r}: {shown} is no {'finite ' * endless}number"


def _normalise(name: str) -> str:
    return "_".join(name.strip().lower().split())
