"""What was gathered of batches, on its way between workers: written, read and merged.

It is pickled, for a statistic is whatever a metric makes of it. Who can write into a run's folder
must not be able to have code run by those who read it: only classes that hold statistics are made
again, and arrays.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterable, Sequence
from typing import Any

from fabula.core.errors import InputError, SettingError
from fabula.core.metric import Metric, needs_batch
from fabula.scoring.survey import Batches

State = dict[str, Batches]

_PLAIN = {"set", "frozenset", "dict", "list", "tuple", "int", "float", "str", "bytes", "bool"}
_ARRAYS = {"_reconstruct", "_frombuffer", "scalar", "ndarray", "dtype"}


def write_state(state: State) -> bytes:
    """Write what was gathered, by the specs of metrics."""
    return pickle.dumps(state, protocol=5)


def read_state(data: bytes, metrics: Sequence[Metric]) -> State:
    """Read what was gathered for these metrics."""
    try:
        state: State = _StateReader(io.BytesIO(data), metrics).load()
    except (pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError) as error:
        problem = f"what was gathered of the stories cannot be read ({error})"
        raise InputError(problem, "score again with --overwrite") from None
    return state


class _StateReader(pickle.Unpickler):
    """Makes classes of ours and of the metrics' own packages, containers and arrays."""

    def __init__(self, file: io.BytesIO, metrics: Sequence[Metric]) -> None:
        super().__init__(file)
        self._modules = {"fabula", *(type(metric).__module__.split(".")[0] for metric in metrics)}

    def find_class(self, module: str, name: str) -> Any:
        """Find a class that may be made."""
        package = module.split(".")[0]
        if (module, name) in (("collections", "Counter"), ("collections", "OrderedDict")):
            return super().find_class(module, name)
        if (module == "builtins" and name in _PLAIN) or (package == "numpy" and name in _ARRAYS):
            return super().find_class(module, name)
        found = super().find_class(module, name) if package in self._modules else None
        if not isinstance(found, type):
            raise pickle.UnpicklingError(f"{module}.{name} is no statistic")
        return found


def merge_states(states: Iterable[State]) -> State:
    """Merge what was gathered of different stories; one is held at a time besides the whole."""
    whole: State = {}
    for state in states:
        for spec, batches in state.items():
            if spec in whole:
                whole[spec].merge(batches)
            else:
                whole[spec] = batches
    return whole


def split_state(state: State, parts: int) -> list[State]:
    """Part what was gathered, so that each part of all shards can be merged by itself.

    Statistics that know `split` are parted; others, and what else is known of batches, are in the
    first part.
    """
    split: list[State] = [{spec: Batches() for spec in state} for _ in range(parts)]
    for spec, batches in state.items():
        split[0][spec].digests, split[0][spec].failed = batches.digests, batches.failed
        for name, statistics in batches.gathered.items():
            part = getattr(statistics, "split", None)
            pieces = part(parts) if part else [statistics]
            for own, piece in zip(split, pieces, strict=False):
                own[spec].gathered[name] = piece
    return split


def seal_state(state: State, metrics: Sequence[Metric]) -> State:
    """Let metrics drop what no story will be asked about."""
    for metric in metrics:
        if needs_batch(metric) and metric.spec in state:
            for statistics in state[metric.spec].gathered.values():
                metric.seal(statistics)
    return state


def refuse_unmergeable(metrics: Sequence[Metric]) -> None:
    """Refuse metrics whose batches can only be gathered in one piece, or by one who asks."""
    for metric in metrics:
        if metric.card.family == "judge":
            problem = f"{metric.spec} is a judge, which asks in one process"
            raise SettingError(problem, "score with judges apart, without shards")
        # A class written before statistics were merged, by somebody else, has no such method.
        if needs_batch(metric) and not hasattr(metric.empty_statistics(), "merge"):
            problem = f"{metric.spec}: its statistics of a batch cannot be merged"
            raise SettingError(problem, "write their `merge`, or score without shards")
