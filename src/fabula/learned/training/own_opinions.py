"""What somebody said of stories in a table of their own: ratings, or which of two is better."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError, closest
from fabula.datasets.table import read_table
from fabula.datasets.tables.sheet import Sheet

_USUAL = ("rating", "ratings", "score", "stars", "overall", "preference")
_SIDES = ("better", "worse")


@dataclass(frozen=True)
class OwnOpinions:
    """Texts, and what was said of them.

    `members` are the numbers of an opinion's texts: one, and a rating in `values`; or the better
    and the worse, and no values. `items` name what folds may not part, opinion by opinion.
    """

    texts: tuple[str, ...]
    members: tuple[tuple[int, ...], ...]
    items: tuple[str, ...]
    values: tuple[float, ...] = ()

    @property
    def is_pairs(self) -> bool:
        """Whether stories were compared rather than rated."""
        return not self.values


def read_own_opinions(
    path: Path,
    *,
    gold: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    aspect: str = "",
) -> OwnOpinions:
    """Read a table with a column of stories and one of ratings, or with `better` and `worse`.

    Several ratings of a story are averaged. Stories on one item or prompt belong together.
    """
    sheet = Sheet.read(path, columns or {})
    sides = [name for side in _SIDES for name in sheet.names if name.strip().lower() == side]
    if len(sides) == len(_SIDES) and not gold:
        return _pairs(sheet, sides)
    return _ratings(_table(path, gold, columns), aspect)


def _table(path: Path, gold: Sequence[str], columns: Mapping[str, str] | None) -> Dataset:
    """Read a table whose ratings may be in a column of a usual name."""
    try:
        return read_table(path, gold=gold, columns=columns)
    except InputError:
        names = {name.strip().lower(): name for name in Sheet.read(path, columns or {}).names}
        known = [names[usual] for usual in _USUAL if usual in names]
        if gold or not known:
            raise
        return read_table(path, gold=known[:1], columns=columns)


def _ratings(table: Dataset, aspect: str) -> OwnOpinions:
    aspects = list(dict.fromkeys(score.aspect for score in table.ratings))
    if not aspect and len(aspects) == 1:
        aspect = aspects[0]
    if aspect not in aspects:
        problem = f"{table.name}: no rating is of {aspect!r}"
        problem = problem if aspect else f"{table.name} rates several aspects"
        raise InputError(problem, f"name one with --aspect; {closest(aspect, aspects)}")
    said: dict[str, list[float]] = {}
    for score in table.ratings:
        if score.aspect == aspect and not math.isnan(score.value):
            said.setdefault(score.story, []).append(score.value)
    rated = [story for story in table.stories if story.id in said and story.text.strip()]
    if not rated:
        raise InputError(
            f"{table.name}: no rated story has a text", "name its column with --column text=NAME"
        )
    return OwnOpinions(
        tuple(story.text for story in rated),
        tuple((place,) for place in range(len(rated))),
        _group_rows(
            [[story.text, ("item", story.item or story.prompt or story.id)] for story in rated]
        ),
        tuple(fmean(said[story.id]) for story in rated),
    )


def _pairs(sheet: Sheet, sides: Sequence[str]) -> OwnOpinions:
    texts: dict[str, int] = {}
    members, nodes = [], list[list[object]]()
    for where, row in sheet.rows:
        pair = [str(row.get(side) or "").strip() for side in sides]
        if not all(pair):
            raise InputError(f"{where}: a side of the pair is empty", "fill it, or drop the row")
        if pair[0] == pair[1]:
            raise InputError(f"{where}: better and worse are the same", "drop the row")
        members.append(tuple(texts.setdefault(text, len(texts)) for text in pair))
        item = sheet.read_text("item", row) or sheet.read_text("prompt", row)
        nodes.append([*pair, *([("item", item)] if item else [])])
    return OwnOpinions(tuple(texts), tuple(members), _group_rows(nodes))


def _group_rows(rows: Sequence[Sequence[object]]) -> tuple[str, ...]:
    """Name the group of every row: rows that share anything, a text or an item, are together."""
    above: dict[object, object] = {}

    def top(node: object) -> object:
        while (found := above.setdefault(node, node)) != node:
            node = found
        return node

    for row in rows:
        for node in row[1:]:
            above[top(node)] = top(row[0])
    names: dict[object, str] = {}
    return tuple(names.setdefault(top(row[0]), str(len(names) + 1)) for row in rows)
