"""Models by their specs: found in the catalogue, loaded once a process."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, field, make_dataclass
from functools import cache
from threading import RLock
from types import ModuleType
from typing import Any, TypeVar, get_type_hints

from fabula.core.catalogue import Catalogue
from fabula.core.errors import SettingError, UserError
from fabula.core.model import (
    Answerer,
    Embedder,
    GapFiller,
    Generator,
    Likelihood,
    MaskedLikelihood,
    Model,
    WordVectors,
)
from fabula.core.protocols import watch
from fabula.core.settings import (
    changed_settings,
    check_settings,
    format_spec,
    named_settings,
    parse_spec,
    setting_fields,
)
from fabula.models.store.asset import asset_names

T = TypeVar("T")
PROTOCOLS = (
    Embedder,
    Likelihood,
    MaskedLikelihood,
    GapFiller,
    WordVectors,
    Answerer,
    Generator,
)

_SPOKEN = {
    "MaskedLikelihood": "masked likelihood",
    "GapFiller": "filler of gaps",
    "TunableFiller": "filler of gaps",
    "WordVectors": "set of word vectors",
}

_loaded: dict[str, Model] = {}
_lock = RLock()


def _pick_load(module: ModuleType) -> Callable[..., Model]:
    if not callable(load := getattr(module, "load", None)):
        raise UserError(f"{module.__name__} defines no function 'load'", "a backend has one")
    return load  # type: ignore[no-any-return]


MODELS: Catalogue[Callable[..., Model]] = Catalogue("backend", ("fabula.models",), _pick_load)


def load_model(spec: str) -> Model:
    """Load the model that a spec spells, such as `huggingface('gpt2')`; once a process.

    A name alone is an asset of the store (`minilm`), else a model of a hub or a folder (`gpt2`).
    """
    backend, settings = _read(spec)
    with _lock:
        if (name := _spell(backend, settings)) not in _loaded:
            with watch.get().during(f"loading {name}"):
                _loaded[name] = MODELS.get(backend)(**vars(settings))
        return _loaded[name]


def model_spec(spec: str) -> str:
    """Canonical spelling of a model; nothing is loaded."""
    return _spell(*_read(spec))


def need(model: Model, protocol: Callable[..., T]) -> T:
    """Give the model as what is needed of it; one that does not offer that is refused."""
    if isinstance(model, protocol):  # type: ignore[arg-type]
        return model  # type: ignore[return-value]
    offers = [_spell_protocol(known) for known in PROTOCOLS if isinstance(model, known)]
    raise SettingError(
        f"{model.signature} is no {_spell_protocol(protocol)}",
        f"take another model; this one is: {', '.join(offers) or 'nothing we know'}",
    )


def _read(spec: str) -> tuple[str, Any]:
    """Backend and checked settings of a spec."""
    name, args, named = parse_spec(_spell_out(spec))
    cls = _settings_class(MODELS.get(name))
    settings = cls(**_require_all(cls, name, named_settings(cls, name, args, named)))
    check_settings(settings, name)
    return name, settings


def _spell_out(spec: str) -> str:
    """Spell out a name alone: an asset of the store, else a model of a hub or a folder."""
    bare = spec.strip()
    if not bare or not bare.isprintable():
        raise SettingError(f"{spec!r} names no model", "write one such as embedded('minilm')")
    if "(" in bare or bare in MODELS:
        return spec
    return f"embedded({bare!r})" if bare in asset_names() else f"huggingface({bare!r})"


def _require_all(cls: type, owner: str, given: dict[str, Any]) -> dict[str, Any]:
    due = [setting.name for setting in setting_fields(cls) if setting.default is MISSING]
    if lacking := [name for name in due if name not in given]:
        raise SettingError(f"{owner} needs {lacking[0]}", f"write {owner}({lacking[0]}=…)")
    return given


@cache
def _settings_class(load: Callable[..., Model]) -> type:
    """The parameters of a backend's `load` as a dataclass, so that they are checked as settings."""
    hints = get_type_hints(load, include_extras=True)
    parameters = inspect.signature(load).parameters.values()
    return make_dataclass(
        "Settings",
        [
            (
                parameter.name,
                hints[parameter.name],
                field(
                    default=MISSING if parameter.default is parameter.empty else parameter.default,
                    kw_only=parameter.kind is parameter.KEYWORD_ONLY,
                ),
            )
            for parameter in parameters
        ],
    )


def _spell(backend: str, settings: Any) -> str:
    """Spell a model; what it is called goes without the setting's name."""
    spelled = format_spec(backend, changed_settings(settings))
    first = next(
        (setting.name for setting in setting_fields(type(settings)) if not setting.kw_only), ""
    )
    return spelled.replace(f"({first}=", "(", 1) if first else spelled


def _spell_protocol(protocol: Any) -> str:
    name: str = protocol.__name__
    return _SPOKEN.get(name, name.lower())
