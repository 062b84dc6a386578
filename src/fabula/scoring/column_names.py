"""What people may call a column of scores: by its spec, its aspect, or as tables show it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property

from fabula.core.errors import InputError, UnknownName, UserError, closest
from fabula.scoring.catalogue import METRICS, label_scorers


class ColumnNames:
    """Finds the number of a column by `rouge(n=2).f`, `rouge(n=2) f`, `ROUGE-2 F1` or `words`.

    A scorer's name alone will do where the run has it once and it has one aspect.
    """

    def __init__(self, keys: Sequence[tuple[str, str]]) -> None:
        self.keys = list(keys)

    @cached_property
    def dotted(self) -> list[str]:
        """Names of the columns as `metric.aspect`."""
        return [f"{scorer}.{aspect}" if aspect else scorer for scorer, aspect in self.keys]

    @cached_property
    def labels(self) -> list[str]:
        """What tables call the columns."""
        return list(label_scorers(self.keys).values())

    def find(self, name: str) -> int:
        """Give the number of a column; one that is not known, or could be several, is refused."""
        for spelled in (name, _spell(name)):
            for names in (self.dotted, self.labels, [" ".join(filter(None, k)) for k in self.keys]):
                if spelled in names:
                    return names.index(spelled)
        spec, aspect = _split(_spell(name))
        own = self._list_own(spec, aspect)
        if len(own) == 1:
            return own[0]
        if own:
            several = ", ".join(self.dotted[number] for number in own)
            raise InputError(f"{name!r} may be several columns: {several}", "name one of them")
        known = [*self.dotted, *self.labels]
        raise UnknownName(f"the run has no column {name!r}", closest(name, known))

    def _list_own(self, spec: str, aspect: str) -> list[int]:
        """Columns of a scorer, by its spec or by its bare name, and of an aspect if it is named."""
        named = [(number, *key) for number, key in enumerate(self.keys) if aspect in ("", key[1])]
        exact = [number for number, scorer, _ in named if scorer == spec]
        return exact or [number for number, scorer, _ in named if scorer.partition("(")[0] == spec]


def _split(name: str) -> tuple[str, str]:
    """Split a name into spec and aspect: at the dot after its settings, or at the first."""
    cut = name.rpartition(".") if ")." in name else name.partition(".")
    return (cut[0], cut[2]) if cut[0] else (name, "")


def _spell(name: str) -> str:
    """Spell a metric as runs do: settings in their order, usual ones left out."""
    text = name.strip()
    aspect = ""
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return text
    if isinstance(node, ast.Attribute):
        aspect = f".{node.attr}"
        node = node.value
    text = ast.unparse(node)
    # One of a package that is not here, or no metric at all, stays as it is.
    with suppress(UserError):
        text = METRICS.build(text).spec
    return f"{text}{aspect}"
