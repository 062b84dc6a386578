"""Choices between two stories, in a table of one's own: which two, and which was preferred.

A row names the better and the worse story (`better,worse`; also `chosen,rejected` and the like), or
two stories and which of them was chosen (`left,right,choice`). A story is named by its id, or by
its whole text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from fabula.core.dataset import Preference
from fabula.core.errors import InputError, closest
from fabula.datasets.tables.rows import Row
from fabula.datasets.tables.sheet import Sheet
from fabula.datasets.tables.text_file import FileForm, shorten

_USUAL = {
    "better": "better chosen preferred winner good high",
    "worse": "worse rejected loser poor low",
    "left": "left story_a story_1 story1 first a",
    "right": "right story_b story_2 story2 second b",
    "choice": "choice preference preferred winner vote answer",
    "tie": "is_tie tie",
}
_LEFT = {"left", "a", "1", "first", "story_a", "story_1"}
_RIGHT = {"right", "b", "2", "second", "story_b", "story_2"}
_TIE = {"tie", "0", "equal", "same", "both", "neither", "none", "draw"}
_YES, _NO = {"true", "yes", "1", "1.0"}, {"", "false", "no", "0", "0.0"}

# Gives the id of the story that a cell names, or None.
FindStory = Callable[[str], str | None]


@dataclass(frozen=True)
class ChoiceSheet:
    """A sheet whose rows are choices; `columns` name those of the roles it has."""

    sheet: Sheet
    columns: Mapping[str, str]

    def read(self, find: FindStory) -> tuple[Preference, ...]:
        """Read all choices; the same one of one rater twice is refused, with both places."""
        places: dict[tuple[str, ...], str] = {}
        choices = []
        for where, row in self.sheet.rows:
            try:
                choice = self._read_row(row, where, find)
            except InputError as error:
                self.sheet.reading.refuse(where, error)
                continue
            key = (*sorted((choice.better, choice.worse)), choice.rater, choice.aspect)
            # Without a rater every row may be somebody else's.
            if choice.rater and key in places:
                again = f"{choice.rater!r} chose between these two before, at {places[key]}"
                raise InputError(f"{where}: {again}", "keep one of the two")
            places[key] = where
            choices.append(choice)
        self.sheet.reading.say_left_out()
        return tuple(choices)

    def _read_row(self, row: Row, where: str, find: FindStory) -> Preference:
        sides = ("better", "worse") if "better" in self.columns else ("left", "right")
        names = [self._find(row, side, where, find) for side in sides]
        if names[0] == names[1]:
            raise InputError(f"{where}: story {names[0]!r} beside itself", "drop the row")
        chosen = self._read_choice(row, where, find, names) if sides[0] == "left" else 0
        tie = chosen is None or self._is_tie(row, where)
        better, worse = names if not chosen else reversed(names)
        rater, aspect = (self.sheet.read_text(role, row) for role in ("rater", "aspect"))
        return Preference(better, worse, rater, aspect, is_tie=tie)

    def _find(self, row: Row, role: str, where: str, find: FindStory) -> str:
        name = _cell(row, self.columns[role])
        if not name:
            raise InputError(f"{where}, column {self.columns[role]!r}: empty", "name a story")
        if (story := find(name)) is None:
            problem = f"{where}, column {self.columns[role]!r}: no story {shorten(name, 60)!r} here"
            raise InputError(problem, "name stories by their ids, or by their whole texts")
        return story

    def _read_choice(self, row: Row, where: str, find: FindStory, names: list[str]) -> int | None:
        """Give the place of the story that was chosen; None for a tie."""
        text = _cell(row, self.columns["choice"])
        plain = text.casefold().replace(" ", "_")
        # A story may be called A or 1, too: these words are places before they are names.
        if (story := find(text)) in names and plain not in _LEFT | _RIGHT:
            return names.index(str(story))
        if plain in _TIE:
            return None
        if plain in _LEFT | _RIGHT:
            return int(plain in _RIGHT)
        column = self.columns["choice"]
        raise InputError(
            f"{where}, column {column!r}: {shorten(text, 60)!r} is no choice",
            "write left, right or tie, or the id of the story that was chosen",
        )

    def _is_tie(self, row: Row, where: str) -> bool:
        if "tie" not in self.columns:
            return False
        text = _cell(row, self.columns["tie"]).casefold()
        if text not in _YES | _NO:
            problem = f"{where}, column {self.columns['tie']!r}: {shorten(text, 60)!r}"
            raise InputError(f"{problem} is neither true nor false", "mend it")
        return text in _YES


def open_choices(
    path: Path, columns: Mapping[str, str], form: FileForm | None = None
) -> ChoiceSheet | None:
    """Open a table of choices; None where its columns are not those of one.

    `columns` name the column of a role (better, worse; left, right, choice; tie, rater, aspect).
    """
    own = {role: name for role, name in columns.items() if role in _USUAL}
    given = {role: name for role, name in columns.items() if role not in _USUAL}
    sheet = Sheet.read(path, given, form)
    for name in own.values():
        if name and name not in sheet.names:
            raise InputError(f"{sheet.label}: no column {name!r}", closest(name, sheet.names))
    roles = {role: own.get(role, _guess(role, sheet)) for role in _USUAL}
    roles = {role: name for role, name in roles.items() if name}
    is_pair = {"better", "worse"} <= roles.keys()
    if not is_pair and not {"left", "right", "choice"} <= roles.keys():
        if own:
            problem = f"{sheet.label}: better and worse, or left, right and choice, are not all"
            raise InputError(f"{problem} there", f"columns: {', '.join(sheet.names)}")
        return None
    wanted = ("better", "worse") if is_pair else ("left", "right", "choice")
    kept = {role: name for role, name in roles.items() if role in (*wanted, "tie")}
    free = {role: name for role, name in sheet.roles.items() if name not in kept.values()}
    return ChoiceSheet(replace(sheet, roles=free), kept)


def _guess(role: str, sheet: Sheet) -> str:
    plain = {name.strip().casefold().replace(" ", "_"): name for name in sheet.names}
    return next((plain[usual] for usual in _USUAL[role].split() if usual in plain), "")


def _cell(row: Row, column: str) -> str:
    cell = row.get(column)
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell).strip()
