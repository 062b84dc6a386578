"""A study file with `kind = "storyer"`: which of StoR3's analyses are run, and how."""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError, SettingError, UnknownName, closest
from fabula.learned._plain import read_plain

ANALYSES = (
    "ablation", "losses", "confidence", "correlations", "distributions", "comments",
    "aspect_classifier", "sentiment",
)  # fmt: skip
_ROOM = "fabula.replication.storyer"


@dataclass(frozen=True)
class _Head:
    kind: str
    title: str
    about: tuple[str, ...] = ()
    analyses: tuple[str, ...] = ANALYSES
    seed: int = 1
    resamples: int = 1000


@dataclass(frozen=True)
class StoryerStudy:
    """What a study file declares; `settings` are those of every analysis, by name."""

    title: str
    about: tuple[str, ...]
    analyses: tuple[str, ...]
    settings: Mapping[str, Any]
    seed: int = 1
    resamples: int = 1000


def read_storyer_study(path: Path) -> StoryerStudy:
    """Read a study file; a name that means nothing is an error."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: not a study file ({error})", "check it") from None
    tables = {name: value for name, value in found.items() if isinstance(value, dict)}
    head = _plain(_Head, {name: one for name, one in found.items() if name not in tables}, path)
    for name in tables:
        if name not in ANALYSES:
            raise UnknownName(f"{path}: no analysis is called {name!r}", closest(name, ANALYSES))
    if head.resamples < 1 or head.seed < 0:
        raise SettingError(f"{path}: resamples must be 1 or more, seed 0 or more", "mend it")
    settings = {name: _settings(name, tables.get(name, {}), path) for name in ANALYSES}
    study = StoryerStudy(head.title, head.about, head.analyses, settings, head.seed, head.resamples)
    return chosen_analyses(study, head.analyses)


def chosen_analyses(study: StoryerStudy, names: Sequence[str]) -> StoryerStudy:
    """Give the study with these analyses alone, in this order."""
    for name in names:
        if name not in ANALYSES:
            raise UnknownName(f"no analysis is called {name!r}", closest(name, ANALYSES))
    if not names:
        raise SettingError("the study has no analysis", f"name some of {', '.join(ANALYSES)}")
    return replace(study, analyses=tuple(dict.fromkeys(names)))


def _settings(name: str, given: Mapping[str, Any], path: Path) -> Any:
    kind = importlib.import_module(f"{_ROOM}.{name}").Settings
    return _plain(kind, given, path, f"{name}.")


def _plain(kind: type[Any], given: Mapping[str, Any], path: Path, before: str = "") -> Any:
    try:
        return read_plain(kind, given)
    except ValueError as error:
        raise SettingError(
            f"{path}: {before}{error}", "mend it, see studies/storyer.toml"
        ) from None
