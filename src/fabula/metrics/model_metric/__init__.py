"""What metrics with a model share: it is loaded on first use, and one pass serves all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from fabula.core.errors import SettingError, UnknownName, UserError
from fabula.core.metric import Metric
from fabula.core.model import CountsUnknown, Model, Prefetching, TokenCount
from fabula.core.settings import parse_spec
from fabula.models import load_model, model_spec, need

T = TypeVar("T")


@dataclass(frozen=True)
class ModelMetric(Metric):
    """A metric that asks a model, which is loaded on first use and once a process, by its spec.

    Where the model cannot be had, every story says so and names the one command that gets it.
    """

    model: str = ""

    def check(self) -> None:
        """Spell the model in full; one that is not spelled right is refused."""
        object.__setattr__(self, "model", model_spec(self.model))

    def traits(self) -> dict[str, str]:
        """Give the model's own signature: backend, digest, dtype, window."""
        return {"model": self._loaded.signature if self._loaded else "missing"}

    def layers_wanted(self) -> tuple[int, ...]:
        """Layers of an encoder that will be asked for: that of the setting `layer`, if any."""
        layer = getattr(self, "layer", None)
        return () if layer is None else (layer,)

    def prepare(self, run: Sequence[Metric]) -> None:
        """Tell the encoder all layers that metrics of the run ask it for: one pass serves them."""
        if not isinstance(self._loaded, Prefetching):
            return
        sharing = [m for m in run if isinstance(m, ModelMetric) and m.model == self.model]
        self._loaded.expect(
            sorted({layer for metric in sharing for layer in metric.layers_wanted()})
        )

    def model_as(self, protocol: Callable[..., T]) -> T:
        """Give the model as what is needed of it."""
        assert self._loaded is not None
        return need(self._loaded, protocol)

    def count_unknown(self, texts: Sequence[str]) -> Sequence[TokenCount]:
        """Ask the model, if it has a sign for what it does not know."""
        return self._loaded.count_unknown(texts) if isinstance(self._loaded, CountsUnknown) else ()

    @property
    def vocabulary(self) -> str:
        """Name of the model, without how it is loaded and where it lies."""
        backend, named, _ = parse_spec(self.model)
        return str(named[0]).rpartition("/")[2] if named else backend

    @property
    def absence(self) -> str:
        """Why the model cannot be had, if it cannot."""
        return self._attempt if isinstance(self._attempt, str) else ""

    @cached_property
    def _attempt(self) -> Model | str:
        """Give the model, or why it cannot be had."""
        try:
            return load_model(self.model)
        except (SettingError, UnknownName):
            raise
        except UserError as error:
            return str(error)

    @property
    def _loaded(self) -> Model | None:
        return None if isinstance(self._attempt, str) else self._attempt
