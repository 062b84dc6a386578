"""Models by their specs: found in the catalogue, loaded once a process."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, TypeVar

from fabula.core.catalogue import LoaderCatalogue
from fabula.core.errors import SettingError
from fabula.core.model import (
    Answerer,
    Detector,
    Embedder,
    GapFiller,
    Generator,
    ImageClassifier,
    ImageEncoder,
    JointEncoder,
    Likelihood,
    MaskedLikelihood,
    Model,
    WordVectors,
)
from fabula.core.protocols import watch
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
    Detector,
    ImageEncoder,
    JointEncoder,
    ImageClassifier,
)

_SPOKEN = {
    "MaskedLikelihood": "masked likelihood",
    "GapFiller": "filler of gaps",
    "TunableFiller": "filler of gaps",
    "WordVectors": "set of word vectors",
    "ImageEncoder": "encoder of pictures",
    "JointEncoder": "encoder of pictures and words",
    "ImageClassifier": "classifier of pictures",
}

_loaded: dict[str, Model] = {}
_lock = RLock()


MODELS: LoaderCatalogue[Model] = LoaderCatalogue("backend", ("fabula.models",))


def load_model(spec: str) -> Model:
    """Load the model that a spec spells, such as `huggingface('gpt2')`; once a process.

    A name alone is an asset of the store (`minilm`), else a model of a hub or a folder (`gpt2`).
    """
    with _lock:
        if (name := model_spec(spec)) not in _loaded:
            with watch.get().during(f"loading {name}"):
                _loaded[name] = MODELS.load(name)
        return _loaded[name]


def model_spec(spec: str) -> str:
    """Canonical spelling of a model; nothing is loaded."""
    return MODELS.spell(_spell_out(spec))


def need(model: Model, protocol: Callable[..., T]) -> T:
    """Give the model as what is needed of it; one that does not offer that is refused."""
    if isinstance(model, protocol):  # type: ignore[arg-type]
        return model  # type: ignore[return-value]
    offers = [_spell_protocol(known) for known in PROTOCOLS if isinstance(model, known)]
    raise SettingError(
        f"{model.signature} is no {_spell_protocol(protocol)}",
        f"take another model; this one is: {', '.join(offers) or 'nothing we know'}",
    )


def _spell_out(spec: str) -> str:
    """Spell out a name alone: an asset of the store, else a model of a hub or a folder."""
    bare = spec.strip()
    if not bare or not bare.isprintable():
        raise SettingError(f"{spec!r} names no model", "write one such as embedded('minilm')")
    if "(" in bare or bare in MODELS:
        return spec
    return f"embedded({bare!r})" if bare in asset_names() else f"huggingface({bare!r})"


def _spell_protocol(protocol: Any) -> str:
    name: str = protocol.__name__
    return _SPOKEN.get(name, name.lower())
