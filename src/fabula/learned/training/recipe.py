"""Recipes: one frozen dataclass each, read from TOML or from plain values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from fabula.core.errors import SettingError, UnknownName, closest
from fabula.core.plain import from_plain, read_toml

T = TypeVar("T")

_PACKAGED = Path(__file__).with_name("_recipes")


def read_recipe(
    kind: type[T], source: Path | Mapping[str, Any], *, where: str = "recipe", **changes: Any
) -> T:
    """Read a recipe; changes that are not None take the place of what the source says."""
    if isinstance(source, Path):
        source, where = read_toml(source, error=SettingError), str(source)
    said = {name: value for name, value in changes.items() if value is not None}
    return from_plain(kind, {**source, **said}, where)


def find_recipe(name: str) -> Path:
    """Give the file of a recipe that comes with Fabula: in the package, or in the clone."""
    source = Path(__file__).parents[3]
    clone = source.parent / "recipes" if source.name == "src" else _PACKAGED
    folder = _PACKAGED if _PACKAGED.is_dir() else clone
    if not (file := folder / f"{name}.toml").is_file():
        known = closest(name, (path.stem for path in folder.glob("*.toml")))
        raise UnknownName(f"no recipe called {name!r} comes with Fabula", known)
    return file


def is_joint(path: Path) -> bool:
    """Whether a file is the recipe of an encoder-decoder, not of a reader: it names a backbone."""
    return "backbone" in read_toml(path, error=SettingError)


def require_least(recipe: Any, **least: float) -> None:
    """Refuse settings that are lower than they may be."""
    for name, low in least.items():
        if getattr(recipe, name) < low:
            raise SettingError(f"{name} must be at least {low}", "mend the recipe")


def require_shares(recipe: Any, *names: str) -> None:
    """Refuse settings that are no share below 1."""
    for name in names:
        if not 0 <= getattr(recipe, name) < 1:
            raise SettingError(f"{name} must be at least 0 and below 1", "mend the recipe")
