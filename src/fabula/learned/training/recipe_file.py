"""Recipes on disk: TOML files, and what a user is told of one that will not do."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from fabula.core.errors import SettingError, closest
from fabula.learned._plain import read_plain

T = TypeVar("T")
_UNKNOWN = " is no field that is known"


def read_toml(path: Path, option: str = "--recipe") -> dict[str, Any]:
    """Read the plain values of a TOML file that an option names."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingError(f"{path} cannot be read ({error.strerror})", f"check {option}") from None
    except ValueError as error:
        raise SettingError(f"{path} is no TOML ({error})", "mend it") from None


def settled(
    kind: type[T], found: Mapping[str, Any], where: str = "recipe", *, parts: Sequence[type] = ()
) -> T:
    """Make a recipe of plain values; of a setting that is not known, say which was meant.

    `parts` are the kinds of its tables.
    """
    try:
        return read_plain(kind, found)
    except ValueError as error:
        spelled, unknown, _ = str(error).partition(_UNKNOWN)
        known = {one.name for some in (kind, *parts) for one in fields(some)}
        remedy = closest(spelled.rpartition(".")[2], known) if unknown else "mend it"
        raise SettingError(f"{where}: {error}", remedy) from None
