"""A study as a TOML file: which data set, which question, which parts its report has."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError, SettingError, closest
from fabula.meta.study import Study

# A study of scorers beside ratings is run here; the other kinds have rooms of their own.
KINDS = ("ratings", "storyer")
# What a report shows of any data set; parts that need what it does not hold leave themselves out.
USUAL_PARTS = (
    "standing", "raters", "systems", "violins", "criteria", "correlations", "ranking",
    "between_metrics", "labels", "significance", "scatter",
)  # fmt: skip


@dataclass(frozen=True)
class StudyFile:
    """What a study file declares. `options` are the tables of single parts, by part."""

    title: str
    dataset: str
    about: tuple[str, ...] = ()
    parts: tuple[str, ...] = USUAL_PARTS
    printed: str = ""
    selection: tuple[str, ...] = ()
    study: Study = field(default_factory=Study)
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


_PLAIN: Mapping[str, type] = {
    "title": str, "dataset": str, "about": tuple, "parts": tuple, "printed": str,
}  # fmt: skip
_WORDS = {str: "words in quotes", tuple: "a list", bool: "true or false", int: "a whole number"}


def study_kind(path: Path) -> str:
    """Name the kind of a study file: "ratings" unless it says otherwise."""
    found = _read(path).get("kind", KINDS[0])
    if found not in KINDS:
        raise InputError(f"{path}: no study is of kind {found!r}", closest(str(found), KINDS))
    return str(found)


def read_study(path: Path) -> StudyFile:
    """Read a study of scorers beside ratings; a name that means nothing is an error."""
    found = {name: value for name, value in _read(path).items() if name != "kind"}
    for name in ("title", "dataset"):
        if not isinstance(found.get(name), str):
            raise InputError(f"{path}: no {name}", f'write {name} = "…"')
    tables = {name: value for name, value in found.items() if isinstance(value, dict)}
    for name in found:
        if (name in tables) == (name in _PLAIN):
            raise InputError(f"{path}: {name!r} means nothing here", closest(name, _PLAIN))
    plain = {
        name: _checked(found[name], kind, f"{path}: {name}")
        for name, kind in _PLAIN.items()
        if name in found
    }
    chosen = tables.pop("selection", {}).get("metrics", [])
    selection = _checked(chosen, tuple, f"{path}: metrics of the selection")
    study = _study(tables.pop("study", {}), path)
    return StudyFile(**plain, selection=selection, study=study, options=tables)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: not a study file ({error})", "check it") from None


def _checked(value: Any, kind: type, what: str) -> Any:
    """Give a value of the kind that is wanted; lists are to hold words."""
    value = tuple(value) if isinstance(value, list) else value
    value = float(value) if kind is float and type(value) is int else value
    words = value if kind is tuple and isinstance(value, tuple) else ()
    if type(value) is not kind or not all(isinstance(one, str) for one in words):
        raise SettingError(
            f"{what} = {value!r} will not do", f"give {_WORDS.get(kind, 'a number')}"
        )
    return value


def _study(given: Mapping[str, Any], path: Path) -> Study:
    known = {one.name for one in fields(Study)}
    for name in given:
        if name not in known:
            raise SettingError(f"{path}: a study has no {name!r}", closest(name, known))
    usual = Study()
    kinds = {name: type(getattr(usual, name)) for name in given}
    asked = {name: _checked(value, kinds[name], f"{path}: {name}") for name, value in given.items()}
    try:
        return Study(**asked)
    except SettingError as error:
        raise SettingError(f"{path}: {error.problem}", error.remedy) from None
