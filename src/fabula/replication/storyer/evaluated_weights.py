"""Weights that are evaluated: refused where there are none, named, and asked about stories once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.errors import SettingError, UserError, closest
from fabula.core.story import Story
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.reader.fake import FAKE
from fabula.learned.reader.inference import check_folder, load_reader
from fabula.learned.reader.metric import ReaderMetric
from fabula.models import asset_names
from fabula.scoring.catalogue import METRICS

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Weights:
    """Weights that are evaluated, and what they say of stories, asked once.

    What they cannot say is missing, and `lacks` keeps why. They may be `called` more than by their
    folder's own name.
    """

    spec: str
    called: str = ""
    lacks: dict[str, None] = field(default_factory=dict)
    _values: dict[str, dict[Story, dict[str, float]]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """How rows call them."""
        return self.called or Path(self.spec).name or self.spec

    def preferences(self, stories: Sequence[Story]) -> Array:
        """Give the preference of stories, from 0 to 1."""
        return self._ask("preference", f"storyer(weights={self.spec!r})", stories, ("",))[:, 0]

    def ratings(self, stories: Sequence[Story]) -> Array:
        """Give ratings of all aspects: (stories, aspects)."""
        spec = f"aspects(weights={self.spec!r}, guesses=True)"
        return self._ask("ratings of aspects", spec, stories, ASPECTS)

    def confidences(self, stories: Sequence[Story]) -> Array:
        """Give how sure it is that each aspect is spoken of: (stories, aspects)."""
        spec = f"aspects(weights={self.spec!r}, confidence=True, guesses=True)"
        return self._ask("confidences", spec, stories, ASPECTS)

    def lack(self, error: UserError) -> None:
        """Keep why something cannot be said."""
        self.lacks[f"{self.name}: {error}"] = None

    def _ask(self, what: str, spec: str, stories: Sequence[Story], aspects: Sequence[str]) -> Array:
        known = self._values.setdefault(spec, {})
        unread = [story for story in dict.fromkeys(stories) if story not in known]
        try:
            check_learned(spec, what)
            scored = score_all(spec, unread) if unread else {}
        except UserError as error:
            self.lack(error)
            scored = {aspect: np.full(len(unread), np.nan) for aspect in aspects}
        for at, story in enumerate(unread):
            known[story] = {aspect: float(values[at]) for aspect, values in scored.items()}
        return np.array([[known[story][aspect] for aspect in aspects] for story in stories])


def check_learned(spec: str, what: str) -> None:
    """Refuse to ask weights what they have not learned."""
    metric = METRICS.build(spec)
    if isinstance(metric, ReaderMetric) and (lack := metric.find_lack()):
        raise SettingError(f"no {what}: {lack}", "take others")


def score_all(spec: str, stories: Sequence[Story]) -> dict[str, Array]:
    """Give the values of a metric by aspect, each in the order of the stories."""
    by_aspect: dict[str, dict[str, float]] = {}
    for score in METRICS.build(spec).score(list(stories)):
        by_aspect.setdefault(score.aspect, {})[score.story] = score.value
    return {
        aspect: np.array([values.get(story.id, np.nan) for story in stories])
        for aspect, values in by_aspect.items()
    }


def check_weights(spec: str) -> None:
    """Refuse what is neither an asset nor the folder of a model, before anything is read."""
    if spec in (FAKE, *asset_names()):
        return
    folder = Path(spec).expanduser()
    if not folder.is_dir():
        remedy = f"give the folder of a training, or {closest(spec, asset_names())}"
        raise SettingError(f"{spec}: no such folder", remedy)
    check_folder(folder)


def open_weights(specs: Sequence[str]) -> list[Weights]:
    """Open weights, so that those that will not do are refused before anything is computed."""
    names = name_weights(specs)
    for spec in names:
        check_weights(spec)
    for spec in names:
        load_reader(spec)
    return [Weights(spec, name) for spec, name in names.items()]


def name_weights(specs: Sequence[str]) -> dict[str, str]:
    """Call weights by the end of their path, as much of it as tells them from the others."""
    parts = {spec: Path(spec).parts or (spec,) for spec in specs}
    names = {}
    for spec, own in parts.items():
        others = [path for other, path in parts.items() if other != spec]
        count = 1
        while count < len(own) and any(path[-count:] == own[-count:] for path in others):
            count += 1
        names[spec] = str(Path(*own[-count:]))
    # Two spellings of one path are told apart by nothing but themselves.
    return names if len({*names.values()}) == len(names) else {spec: spec for spec in names}
