"""A training's folder: a checkpoint to go on from, the best weights, and at the end the record.

Weights and arrays are written whole or not at all, so that a kill leaves what was there before.
"""

from __future__ import annotations

import json
import shutil
import sys
import zlib
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from fabula.core.errors import InputError
from fabula.core.files import write_atomically, write_bytes, write_text
from fabula.core.plain import read_json, read_tensors
from fabula.core.protocols import watch

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer

    from fabula.learned.training.loop import TrainingState

CHECKPOINT = "checkpoint.safetensors"
BEST = "best.safetensors"
MODEL = "model.safetensors"
RECORD = "training.json"
OUTPUTS = "outputs.npz"  # what readers said of stories they had not learned from
MEMBER = "member-"
# Settings that say how fast a training goes and what it tells, not what comes of it; and names of
# sources, whose contents are told apart by their digests.
_ASIDE = frozenset({"sources", "at_once", "checkpoint_every", "report_every", "licence"})
_REMEDY = "delete it and train again, or name another folder"


class TrainingFolder:
    """Where a training leaves what it needs to go on, and what others read when it is over."""

    def __init__(self, path: Path, *, resume: bool = False) -> None:
        self.path, self._resume = path, resume

    def check(self) -> None:
        """Refuse a folder of another training, which is not to go on, or of weights from elsewhere.

        Who makes examples first, which may take long, asks before that.
        """
        begun = any(
            any(self.path.glob(name)) for name in (CHECKPOINT, RECORD, OUTPUTS, f"{MEMBER}*")
        )
        if begun and not self._resume:
            problem = f"{self.path} holds a training"
            raise InputError(problem, "say --resume, or name another folder")
        if not begun and (self.path / MODEL).exists():
            problem = f"{self.path / MODEL} is there, and not by a training of Fabula"
            raise InputError(problem, "name another folder")

    def open(self, recipe: Any = None) -> dict[str, Any] | None:
        """Make the folder and give the record of a training that is over, if it may be resumed.

        With a recipe, a training that is over by another one is refused.
        """
        self.check()
        if (self.path / RECORD).exists():
            record = read_json(self.path / RECORD, remedy=_REMEDY)
            if not isinstance(record, dict):
                raise InputError(f"{self.path / RECORD} is no record of a training", _REMEDY)
            if recipe is not None and (other := find_changes(record, recipe)):
                problem = f"{self.path} was trained by another recipe ({', '.join(other)})"
                raise InputError(problem, _REMEDY)
            return record
        self.path.mkdir(parents=True, exist_ok=True)
        return None

    def member(self, number: int) -> TrainingFolder:
        """Give the folder of one of several trainings, which stays until all of them are over."""
        path = self.path / f"{MEMBER}{number + 1}"
        path.mkdir(exist_ok=True)
        return TrainingFolder(path, resume=self._resume)

    @property
    def can_resume(self) -> bool:
        """Whether there is something to go on from, and that is wanted."""
        return self._resume and (self.path / CHECKPOINT).is_file()

    def save_checkpoint(
        self, weights: Mapping[str, Tensor], optimiser: Optimizer, state: TrainingState
    ) -> None:
        """Write weights, the optimiser's memory of them, and where the training stands."""
        tensors = {f"weight/{name}": value for name, value in weights.items()}
        for name, value in weights.items():
            for key, memory in optimiser.state.get(value, {}).items():
                tensors[f"{key}/{name}"] = memory
        write_tensors(self.path / CHECKPOINT, tensors, asdict(state))
        watch.get().tell_kept(f"step {state.step:,} is kept; --resume goes on from there")

    def read_state(self, state: TrainingState) -> bool:
        """Let a state go on from where the checkpoint stands; false where it begins anew."""
        from safetensors import SafetensorError, safe_open

        if not self.can_resume:
            return False
        try:
            with safe_open(self.path / CHECKPOINT, "pt") as file:
                state.take_up(json.loads(file.metadata()["about"]))
        except (OSError, SafetensorError, ValueError, LookupError, TypeError) as error:
            problem = f"{self.path / CHECKPOINT} is damaged ({error})"
            raise InputError(problem, _REMEDY) from None
        return True

    def restore_checkpoint(self, weights: Mapping[str, Tensor], optimiser: Optimizer) -> None:
        """Put the checkpoint's numbers in the place of those that weights and optimiser have."""
        import torch

        tensors = self._read_fitting(CHECKPOINT, weights)
        with torch.no_grad():
            for key, tensor in tensors.items():
                kind, _, name = key.partition("/")
                if kind == "weight":
                    weights[name].copy_(tensor)
                else:
                    optimiser.state[weights[name]][kind] = tensor.to(weights[name].device)

    def _read_fitting(self, file: str, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Read tensors that stand for weights, or belong to some, by name and size."""
        tensors: dict[str, Tensor] = read_tensors(self.path / file, remedy=_REMEDY)
        for key, tensor in tensors.items():
            own = weights.get(key.partition("/")[2] or key)
            # What an optimiser keeps of a matrix is of its size, or one number.
            if own is None or tensor.shape not in (own.shape, ()):
                problem = f"{self.path / file} is of another model ({key})"
                raise InputError(problem, "train into another folder")
        return tensors

    def save_best(self, weights: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
        """Write the weights that learn, in full precision."""
        learned = {name: value for name, value in weights.items() if value.requires_grad}
        write_tensors(self.path / BEST, learned, about)

    def restore_best(self, weights: Mapping[str, Tensor]) -> None:
        """Put the best weights in place."""
        put_weights(weights, self._read_fitting(BEST, weights))

    def close(self, record: Mapping[str, Any], *others: str) -> None:
        """Write the record, then remove what only served to go on; `others` are more such files."""
        write_record(self.path / RECORD, record)
        for name in (CHECKPOINT, BEST, *others):
            (self.path / name).unlink(missing_ok=True)
        for folder in self.path.glob(f"{MEMBER}*"):
            shutil.rmtree(folder)


def put_weights(weights: Mapping[str, Tensor], others: Mapping[str, Tensor]) -> None:
    """Put other numbers in the place of those that weights of the same names have."""
    import torch

    with torch.no_grad():
        for name, value in others.items():
            weights[name].copy_(value)


def save_model(path: Path, weights: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
    """Write weights in half precision, as transformers reads them."""
    import torch

    write_tensors(path, {name: value.to(torch.float16) for name, value in weights.items()}, about)


def write_tensors(path: Path, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
    """Write tensors and a few plain values into one file."""
    from safetensors.torch import save

    plain = {name: value.detach().contiguous() for name, value in tensors.items()}
    # Not by save_file, which lets nobody else read the file.
    write_bytes(path, save(plain, metadata={"format": "pt", "about": json.dumps(about)}))


def write_arrays(path: Path, arrays: Mapping[str, Any], *, compress: bool = True) -> None:
    """Write named arrays into one file."""
    with write_atomically(path) as partial, partial.open("wb") as file:
        (np.savez_compressed if compress else np.savez)(file, **arrays)


def read_arrays(path: Path, what: str, remedy: str) -> dict[str, Any]:
    """Read all arrays that `write_arrays` wrote into a file, which is to hold `what`."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (OSError, EOFError, BadZipFile, zlib.error, MemoryError) as error:
        problem = f"{path} does not hold {what} ({error})"
    except (ValueError, LookupError, TypeError, AttributeError, RuntimeError) as error:
        problem = f"{path} does not hold {what} ({error})"
    except (SyntaxError, TokenError):  # numpy reads an array's header as a piece of Python
        problem = f"{path} does not hold {what} (it is no array)"
    raise InputError(problem, remedy)


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write what is known of a training as JSON; figures that are undefined stay NaN."""
    write_text(path, json.dumps(record, indent=1) + "\n")


def plain_values(given: Any) -> dict[str, Any]:
    """Give a recipe, or what is known of data, as JSON would give it back."""
    values = asdict(given) if is_dataclass(given) and not isinstance(given, type) else given
    plain: dict[str, Any] = json.loads(json.dumps(values))
    return plain


def find_changes(record: Any, recipe: Any) -> list[str]:
    """Name the settings of a recipe that the record of a training has otherwise."""
    recorded = record.get("recipe") if isinstance(record, dict) else None
    known = recorded if isinstance(recorded, dict) else {}
    return [
        name
        for name, value in plain_values(recipe).items()
        if name not in _ASIDE and known.get(name, value) != value
    ]


def find_versions(*more: str) -> dict[str, str]:
    """Give the versions that the numbers may depend on."""
    from importlib.metadata import PackageNotFoundError, version

    versions = {"python": sys.version.split()[0]}
    for name in ("fabula", "torch", "numpy", "tokenizers", "safetensors", *more):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions
