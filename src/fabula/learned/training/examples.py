"""What a reader learns from, as numbers: texts, which of them make an example, and its target."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from fabula.core.errors import InputError
from fabula.learned.training.tokens import TokenSet, token_set

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class ExampleSet:
    """Examples of one task.

    `members` are the numbers of an example's texts: (N, 1), (N, 2) for pairs and order; for
    `filled` the first sentence of a story and the one after its last. `targets` are (N, outputs),
    NaN where nobody said anything. `ids` name the texts, `items` what folds may not part.
    `features` are the texts' surface features, where a value is to be made of them: (texts, 17).
    """

    texts: TokenSet
    members: Array
    targets: Array
    items: tuple[str, ...]
    ids: tuple[str, ...]
    features: Array = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))

    def __len__(self) -> int:
        return len(self.members)

    def lengths(self) -> Array:
        """Count the tokens of every example."""
        sizes = np.diff(self.texts.offsets)
        found: Array = sizes[self.members].sum(axis=1)
        return found

    def text(self, number: int) -> list[int]:
        """Give the word pieces of a text."""
        start, end = self.texts.offsets[number : number + 2]
        found: list[int] = self.texts.flat[start:end].tolist()
        return found

    def chosen(self, rows: Array) -> ExampleSet:
        """Give some of the examples; the texts stay."""
        items = tuple(self.items[i] for i in rows.tolist())
        return replace(self, members=self.members[rows], targets=self.targets[rows], items=items)

    @property
    def sha256(self) -> str:
        """Digest of texts, members and targets."""
        digest = hashlib.sha256(self.texts.sha256.encode())
        for array, kind in ((self.members, "<i8"), (self.targets, "<f4")):
            digest.update(np.ascontiguousarray(array, dtype=kind).tobytes())
        return digest.hexdigest()


Examples = Mapping[str, ExampleSet]


@dataclass(frozen=True)
class Prepared:
    """All that a training reads: examples by task, and what its stories look like."""

    examples: Examples
    domain: Mapping[str, Any]


def example_set(
    texts: Sequence[Sequence[int]],
    members: Sequence[Sequence[int]],
    targets: Sequence[Sequence[float]],
    *,
    items: Sequence[str],
    ids: Sequence[str],
    features: Sequence[Sequence[float]] = (),
) -> ExampleSet:
    """Lay examples out as arrays."""
    return ExampleSet(
        token_set(texts),
        np.array(members or np.zeros((0, 1)), dtype=np.int64),
        np.array(targets or np.zeros((0, 1)), dtype=np.float32),
        tuple(items),
        tuple(ids),
        np.array(features or np.zeros((0, 0)), dtype=np.float32),
    )


def describe(examples: Examples) -> dict[str, Any]:
    """Counts and digests, for the record."""
    return {
        name: {"examples": len(one), "texts": len(one.texts), "sha256": one.sha256}
        for name, one in examples.items()
    }


def save_prepared(
    prepared: Prepared, path: Path, settings: Mapping[str, Any] | None = None
) -> None:
    """Write what was prepared into one compressed file, whole or not at all.

    `settings` are those of the recipe that the examples follow from.
    """
    arrays: dict[str, Array] = {"domain": np.array(json.dumps(prepared.domain))}
    if settings is not None:
        arrays["settings"] = np.array(json.dumps(settings))
    for name, one in prepared.examples.items():
        arrays |= {f"{name}/flat": one.texts.flat, f"{name}/offsets": one.texts.offsets}
        arrays |= {f"{name}/members": one.members, f"{name}/targets": one.targets}
        arrays[f"{name}/features"] = one.features
        arrays[f"{name}/names"] = np.array(json.dumps([one.items, one.ids]))
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.part")
    with partial.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    partial.replace(path)


def load_prepared(
    path: Path, tasks: Sequence[str], settings: Mapping[str, Any] | None = None
) -> Prepared:
    """Read the examples of some tasks that `save_prepared` wrote.

    Where `settings` are given and the file says others, it is refused.
    """
    remedy = "delete it, or name another file"
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
            kept = json.loads(str(found["settings"])) if "settings" in found.files else settings
            if settings is not None and kept != json.loads(json.dumps(settings)):
                raise InputError(f"{path} holds examples of another recipe", remedy)
            domain = json.loads(str(found["domain"]))
            return Prepared({name: _read(found, name) for name in tasks}, domain)
    except (OSError, EOFError, ValueError, KeyError, BadZipFile) as error:
        raise InputError(f"{path} does not hold the examples ({error})", remedy) from None


def _read(found: Any, name: str) -> ExampleSet:
    items, ids = json.loads(str(found[f"{name}/names"]))
    texts = TokenSet(found[f"{name}/flat"], found[f"{name}/offsets"])
    members, targets = found[f"{name}/members"], found[f"{name}/targets"]
    return ExampleSet(texts, members, targets, tuple(items), tuple(ids), found[f"{name}/features"])
