"""Catalogues: one file is one entry; other packages add theirs through entry points."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from fabula.core.errors import UnknownName, UserError, closest
from fabula.core.settings import named_settings, parse_spec

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from fabula.core.metric import Metric

T = TypeVar("T")


class Catalogue(Generic[T]):
    """Entries of one kind, found by file name; nothing is imported before it is asked for.

    `pick` gives the entry of a module; without it, the module is the entry.
    """

    def __init__(
        self, kind: str, packages: tuple[str, ...], pick: Callable[[ModuleType], T] | None = None
    ) -> None:
        self.kind = kind
        self.packages = packages
        self.pick = pick
        self._entries: dict[str, T] = {}

    @cached_property
    def _modules(self) -> dict[str, str]:
        """Module of every entry of our own, by name."""
        return {
            name: f"{package}.{name}"
            for package in self.packages
            if (found := importlib.util.find_spec(package)) is not None
            for _, name, is_package in pkgutil.iter_modules(found.submodule_search_locations)
            if not name.startswith("_") and not is_package
        }

    @cached_property
    def _plugins(self) -> dict[str, EntryPoint]:
        """Entry points of other packages, by name; ours cannot be replaced."""
        from importlib.metadata import entry_points

        return {
            entry.name: entry
            for entry in entry_points(group=self.packages[0])
            if entry.name not in self._modules
        }

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted({*self._modules, *self._plugins})

    def __contains__(self, name: str) -> bool:
        return name in self._modules or name in self._plugins

    def get(self, name: str) -> T:
        """Import the entry of that name."""
        if name not in self._entries:
            self._entries[name] = self._load(name)
        return self._entries[name]

    def _load(self, name: str) -> T:
        if name in self._modules:
            return self._import(self._modules[name])
        if name not in self._plugins:
            raise UnknownName(f"no {self.kind} is called {name!r}", closest(name, self.names()))
        entry = self._plugins[name]
        try:
            return self._import(entry.module)
        except ImportError as error:
            origin = entry.dist.name if entry.dist else entry.value
            raise UserError(
                f"{self.kind} {name!r} of package {origin!r} cannot be imported ({error})",
                f"mend or uninstall {origin}",
            ) from error

    def _import(self, path: str) -> T:
        module = importlib.import_module(path)
        return self.pick(module) if self.pick else cast(T, module)


class MetricCatalogue(Catalogue[type["Metric"]]):
    """The catalogue of metrics, which can also be built from their specs."""

    def _load(self, name: str) -> type[Metric]:
        metric = super()._load(name)
        if metric.name != name:
            raise UserError(
                f"metric {name!r} calls itself {metric.name!r}, so its specs would not build it",
                f"name its file and its entry point {metric.name!r} alike",
            )
        return metric

    def build(self, text: str) -> Metric:
        """Make the metric that a spec spells."""
        name, args, named = parse_spec(text)
        cls = self.get(name)
        return cls(**named_settings(cls, name, args, named))


def pick_subclass(module: ModuleType, parent: type[T]) -> type[T]:
    """Give the one public class a module defines below `parent`."""
    classes = [
        value
        for key, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, parent)
        and value.__module__ == module.__name__
        and not key.startswith("_")
    ]
    if len(classes) != 1:
        raise UserError(
            f"{module.__name__} must define one public {parent.__name__}, not {len(classes)}",
            "one file holds one entry",
        )
    return classes[0]
