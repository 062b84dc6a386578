"""What people may call a column of scores: by its spec, its aspect, or as tables show it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
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
        spec, _, aspect = _spell(name).rpartition(".") if ")." in _spell(name) else ("", "", "")
        if not spec:
            spec, _, aspect = _spell(name).partition(".")
        own = self._list_own(spec, aspect)
        if len(own) == 1:
            return own[0]
        if own:
            names = ", ".join(self.dotted[number] for number in own)
            raise InputError(f"{name!r} may be several columns: {names}", "name one of them")
        known = [*self.dotted, *self.labels]
        raise UnknownName(f"the run has no column {name!r}", closest(name, known))

    def _list_own(self, spec: str, aspect: str) -> list[int]:
        """Columns of a scorer, by its spec or by its bare name, and of an aspect if one is named."""
        for same in (lambda scorer: scorer == spec, lambda scorer: scorer.partition("(")[0] == spec):
            own = [
                number
                for number, (scorer, known) in enumerate(self.keys)
                if same(scorer) and aspect in ("", known)
            ]
            if own:
                return own
        return []


def _spell(name: str) -> str:
    """Spell a metric as runs do: settings in their order, usual ones left out."""
    text = name.strip()
    aspect = ""
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return text
    if isinstance(node, ast.Attribute):
        node, aspect = node.value, f".{node.attr}"
    text = ast.unparse(node)
    try:
        text = METRICS.build(text).spec
    except UserError:
        pass  # of a package that is not here, or no metric at all
    return f"{text}{aspect}"
