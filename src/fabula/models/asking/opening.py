"""Opening a respondent by the spec of a model."""

from __future__ import annotations

from pathlib import Path
from threading import RLock

from fabula.core.errors import SettingError
from fabula.core.model import Generator, Model
from fabula.core.settings import format_spec, parse_spec
from fabula.models._load import load_model, model_spec
from fabula.models.asking.interview import Backend, Interview
from fabula.models.asking.journal import Journal, journal_path
from fabula.models.asking.question import Respondent

# What `embedded()` is: small, and an assistant; good enough to see that all works.
SMOKE_TEST_MODEL = "smollm2"

_opened: dict[tuple[str, Path], Respondent] = {}
_lock = RLock()


def respondent_spec(spec: str) -> str:
    """Canonical spelling of the model that is asked; nothing is loaded."""
    bare = spec.strip()
    if bare == "embedded" or bare.startswith("embedded("):
        name, args, named = parse_spec(bare)
        if not args and "name" not in named:
            return model_spec(format_spec(name, {"name": SMOKE_TEST_MODEL, **named}))
    return model_spec(bare)


def open_respondent(spec: str, *, journal: Path | None = None) -> Respondent:
    """Open the model that a spec spells for questions; once a process and journal.

    `api('gpt-x', base_url='https://…/v1')` asks a server, `huggingface('…')` a model of the hub or
    a folder, `embedded()` SmolLM2 of the store, `fake()` nobody. What was answered before, by the
    journal (in the cache folder, a file a model), is not asked again.
    """
    spelled = respondent_spec(spec)
    with _lock:
        backend = _open_backend(load_model(spelled), spelled)
        path = journal or journal_path(backend.signature, backend.place)
        if (spelled, path) not in _opened:
            _opened[spelled, path] = Interview(backend, Journal(path))
        return _opened[spelled, path]


def _open_backend(model: Model, spec: str) -> Backend:
    from fabula.models.api import ApiModel
    from fabula.models.fake import FakeModel
    from fabula.models.networks.causal import CausalModel

    if isinstance(model, ApiModel):
        from fabula.models.asking.batches import BatchBackend
        from fabula.models.asking.pacing import Pace
        from fabula.models.asking.served import ServedBackend

        return (BatchBackend if model.is_batched else ServedBackend)(model, Pace(*model.limits))
    if isinstance(model, FakeModel):
        from fabula.models.asking.made_up import FakeBackend

        return FakeBackend(model)
    if isinstance(model, CausalModel):
        from fabula.models.asking.local import CausalBackend

        return CausalBackend(model)
    if isinstance(model, Generator):
        from fabula.models.asking.local import GeneratorBackend

        return GeneratorBackend(model)
    raise SettingError(
        f"{spec} answers no questions", "take one that writes: api(…), huggingface(…), embedded()"
    )
