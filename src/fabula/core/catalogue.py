"""Catalogues: one file is one entry; other packages add theirs through entry points."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import MISSING, field, make_dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, get_type_hints

from fabula.core.errors import SettingError, UnknownName, UserError, closest
from fabula.core.settings import (
    changed_settings,
    check_settings,
    describe,
    format_spec,
    kinds_of,
    named_settings,
    parse_spec,
    setting_fields,
)

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from fabula.core.metric import Metric

T = TypeVar("T")


class BrokenPlugin(UserError):
    """An entry of another package that cannot be used."""


class Catalogue(Generic[T]):
    """Entries of one kind, found by file name; nothing is imported before it is asked for.

    `pick` gives the entry of a module; without it, the module is the entry. What another package
    brings may be broken in any way: it is named on one line, and all other entries work.
    """

    def __init__(
        self, kind: str, packages: tuple[str, ...], pick: Callable[[ModuleType], T] | None = None
    ) -> None:
        self.kind = kind
        self.packages = packages
        self.pick = pick
        # Plug-ins that could not be loaded: nobody tries twice, and each is named once.
        self.broken: dict[str, BrokenPlugin] = {}
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
        """All names, sorted; plug-ins among them that may turn out to be broken."""
        return sorted({*self._modules, *self._plugins})

    def module_of(self, name: str) -> str:
        """The module that holds an entry; it is not imported."""
        if name in self._modules:
            return self._modules[name]
        if name in self._plugins:
            return self._plugins[name].module
        raise UnknownName(f"no {self.kind} is called {name!r}", closest(name, self.names()))

    def __contains__(self, name: str) -> bool:
        return name in self._modules or name in self._plugins

    def get(self, name: str) -> T:
        """Import the entry of that name."""
        if name in self.broken:
            raise self.broken[name]
        if name not in self._entries:
            self._entries[name] = self._load(name)
        return self._entries[name]

    def load_all(self) -> dict[str, T]:
        """Import every entry, by name; a broken plug-in is left out, and named once on stderr."""
        entries = {}
        for name in self.names():
            is_news = name not in self.broken
            try:
                entries[name] = self.get(name)
            except BrokenPlugin as error:
                if is_news:
                    print(f"fabula: {error}", file=sys.stderr)
        return entries

    def _load(self, name: str) -> T:
        if name in self._modules:
            return self._check(name, self._import(self._modules[name]))
        module = self.module_of(name)
        entry = self._plugins[name]
        try:
            # What a package prints when it is imported must not get between rows of data.
            with contextlib.redirect_stdout(sys.stderr):
                return self._check(name, self._import(module), is_plugin=True)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a plug-in may even call sys.exit
            origin = entry.dist.name if entry.dist else entry.value
            self.broken[name] = BrokenPlugin(
                f"{self.kind} {name!r} of package {origin!r} {_describe_fault(error)}",
                f"mend or uninstall {origin}",
            )
            raise self.broken[name] from error

    def _import(self, path: str) -> T:
        module = importlib.import_module(path)
        return self.pick(module) if self.pick else cast(T, module)

    def _check(self, name: str, entry: T, *, is_plugin: bool = False) -> T:
        """Refuse an entry that would fail later, in the midst of others."""
        return entry


def _describe_fault(error: BaseException) -> str:
    if isinstance(error, ImportError):
        return f"cannot be imported ({error})"
    if isinstance(error, UserError):
        return f"cannot be used: {error.problem}"
    reason = " ".join(str(error).split())
    return f"cannot be used ({type(error).__name__}{f': {reason}' if reason else ''})"


class MetricCatalogue(Catalogue[type["Metric"]]):
    """The catalogue of metrics, which can also be built from their specs."""

    def _check(self, name: str, entry: type[Metric], *, is_plugin: bool = False) -> type[Metric]:
        if entry.name != name:
            raise UserError(
                f"metric {name!r} calls itself {entry.name!r}, so its specs would not build it",
                f"name its file and its entry point {entry.name!r} alike",
            )
        return _try_out(entry) if is_plugin else entry

    def build(self, text: str) -> Metric:
        """Make the metric that a spec spells."""
        name, args, named = parse_spec(text)
        cls = self.get(name)
        return cls(**named_settings(cls, name, args, named))


def _try_out(metric: type[Metric]) -> type[Metric]:
    """Do with a metric of another package what lists and sets do with all of them."""
    from fabula.core.card import ARROWS, Card

    card = getattr(metric, "card", None)
    if not isinstance(card, Card):
        raise UserError(f"the class {metric.__name__} has no card")
    if card.direction not in ARROWS:
        raise UserError(f"its card has the direction {card.direction!r}")
    published = [spelled for columns in card.published.values() for spelled, _ in columns.values()]
    for spelled in (metric.name, *card.typical, *published):
        _, args, named = parse_spec(spelled)
        metric(**named_settings(metric, metric.name, args, named))
    return metric


class LoaderCatalogue(Catalogue[Callable[..., T]]):
    """Entries that are a function `load`, called as specs spell it: `huggingface('gpt2')`.

    The parameters of `load` are its settings, checked against their annotations.
    """

    def __init__(self, kind: str, packages: tuple[str, ...]) -> None:
        super().__init__(kind, packages, lambda module: _pick_load(kind, module))

    def load(self, spec: str) -> T:
        """Call the entry that a spec names with what it says."""
        name, settings = self._read(spec)
        return self.get(name)(**vars(settings))

    def spell(self, spec: str) -> str:
        """Spell it canonically; what it is called goes without the setting's name."""
        name, settings = self._read(spec)
        spelled = format_spec(name, changed_settings(settings))
        named = (each.name for each in setting_fields(type(settings)) if not each.kw_only)
        first = next(named, "")
        return spelled.replace(f"({first}=", "(", 1) if first else spelled

    def _read(self, spec: str) -> tuple[str, Any]:
        """The entry and its checked settings."""
        name, args, named = parse_spec(spec)
        cls = _settings_class(self.get(name))
        given = named_settings(cls, name, args, named)
        for setting in setting_fields(cls):
            if setting.default is MISSING and setting.name not in given:
                raise SettingError(
                    f"{name} needs {setting.name}", f"write {name}({setting.name}=…)"
                )
        settings = cls(**given)
        check_settings(settings, name)
        return name, settings


def _pick_load(kind: str, module: ModuleType) -> Callable[..., Any]:
    if not callable(load := getattr(module, "load", None)):
        raise UserError(f"{module.__name__} defines no function 'load'", f"a {kind} has one")
    return cast("Callable[..., Any]", load)


@cache
def _settings_class(load: Callable[..., Any]) -> type:
    """The parameters of a function as a dataclass, so that they are checked as settings."""
    hints = get_type_hints(load, include_extras=True)
    fields = [
        (
            parameter.name,
            hints[parameter.name],
            field(
                default=MISSING if parameter.default is parameter.empty else parameter.default,
                kw_only=parameter.kind is parameter.KEYWORD_ONLY,
            ),
        )
        for parameter in inspect.signature(load).parameters.values()
    ]
    return make_dataclass("Settings", fields)


def describe_settings(load: Callable[..., Any]) -> Iterator[tuple[str, str]]:
    """Name the settings of a function `load`, with what each may be and is where nobody says."""
    for setting in setting_fields(_settings_class(load)):
        kind = describe(kinds_of(_settings_class(load))[setting.name])
        usual = "" if setting.default is MISSING else f"; {setting.default!r} unless told"
        yield setting.name, kind + usual


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
