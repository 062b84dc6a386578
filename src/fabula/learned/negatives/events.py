"""What goes before and after an event: a small protocol, and ConceptNet's file as a source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fabula.text.conceptnet import read_assertions

# Relations in which the other event comes first; told afterwards it stands in the wrong place.
EARLIER = ("HasPrerequisite", "HasFirstSubevent")
LATER = ("Causes", "HasLastSubevent")
RELATIONS = (*EARLIER, *LATER)
MOST = 10


class Events(Protocol):
    """Tells events that stand in a relation to one: a table, or a model such as COMET."""

    def of(self, event: str, relation: str) -> Sequence[str]:
        """Give phrases for a plain lower-case verb or phrase, the likeliest first."""


@dataclass(frozen=True)
class EventTable:
    """Events by event and relation."""

    found: Mapping[tuple[str, str], tuple[str, ...]]

    def of(self, event: str, relation: str) -> Sequence[str]:
        """Give phrases, at most ten, the heaviest first."""
        return self.found.get((event, relation), ())


def read_events(path: Path) -> EventTable:
    """Read ConceptNet's assertions, plain or gzipped; at most ten for an event and a relation."""
    weights: dict[tuple[str, str], dict[str, float]] = {}
    for one in read_assertions(path, RELATIONS):
        ends = weights.setdefault((one.start, one.relation), {})
        ends[one.end] = max(one.weight, ends.get(one.end, 0.0))
    return EventTable({key: _heaviest(ends) for key, ends in weights.items()})


def _heaviest(ends: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(sorted(ends, key=lambda end: (-ends[end], end))[:MOST])
