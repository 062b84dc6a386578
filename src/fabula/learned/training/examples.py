"""What is learned from, as numbers: word pieces of texts, examples made of them, and folds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.errors import InputError
from fabula.learned.training.folder import read_arrays, write_arrays

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class TokenSet:
    """Word pieces of several texts end to end; text i is `flat[offsets[i] : offsets[i + 1]]`."""

    flat: Array
    offsets: Array

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sha256(self) -> str:
        """Digest of texts and their ends."""
        digest = hashlib.sha256(np.ascontiguousarray(self.flat, dtype="<u2").tobytes())
        digest.update(np.ascontiguousarray(self.offsets, dtype="<i8").tobytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class ExampleSet:
    """Examples of one task.

    `members` are the numbers of an example's texts: (N, 1), (N, 2) for pairs and order; for
    `filled` the first sentence of a story and the one after its last. `targets` are (N, outputs),
    NaN where nobody said anything. `ids` name the texts, `items` what folds may not part.
    `features` are the texts' surface features, where a value is to be made of them: (texts, 17);
    `relations` what they have to do with their prompts, where that counts: (texts, 2); `beside`
    what the heads of a reader beside say of them: (texts, heads).
    """

    texts: TokenSet
    members: Array
    targets: Array
    items: tuple[str, ...]
    ids: tuple[str, ...]
    features: Array = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    relations: Array = field(default_factory=lambda: np.zeros((0, 2), dtype=np.float32))
    beside: Array = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))

    def __len__(self) -> int:
        return len(self.members)

    def text(self, number: int) -> list[int]:
        """Give the word pieces of a text."""
        start, end = self.texts.offsets[number : number + 2]
        pieces: list[int] = self.texts.flat[start:end].tolist()
        return pieces

    def choose(self, rows: Array) -> ExampleSet:
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


def token_set(texts: Sequence[Sequence[int]]) -> TokenSet:
    """Lay texts end to end."""
    flat = np.fromiter((piece for text in texts for piece in text), dtype=np.uint16)
    return TokenSet(flat, np.cumsum([0, *map(len, texts)], dtype=np.int64))


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
        name: {
            "examples": len(task_examples),
            "texts": len(task_examples.texts),
            "sha256": task_examples.sha256,
        }
        for name, task_examples in examples.items()
    }


def save_prepared(
    prepared: Prepared, path: Path, settings: Mapping[str, Any] | None = None
) -> None:
    """Write what was prepared into one file.

    `settings` are those of the recipe that the examples follow from.
    """
    arrays: dict[str, Array] = {"domain": np.array(json.dumps(prepared.domain))}
    if settings is not None:
        arrays["settings"] = np.array(json.dumps(settings))
    for name, task_examples in prepared.examples.items():
        arrays |= {
            f"{name}/flat": task_examples.texts.flat,
            f"{name}/offsets": task_examples.texts.offsets,
        }
        arrays |= {
            f"{name}/members": task_examples.members,
            f"{name}/targets": task_examples.targets,
        }
        arrays[f"{name}/features"] = task_examples.features
        for more in ("relations", "beside"):
            if len(rows := getattr(task_examples, more)):
                arrays[f"{name}/{more}"] = rows
        arrays[f"{name}/names"] = np.array(json.dumps([task_examples.items, task_examples.ids]))
    write_arrays(path, arrays)


def load_prepared(
    path: Path, tasks: Sequence[str], settings: Mapping[str, Any] | None = None
) -> Prepared:
    """Read the examples of some tasks that `save_prepared` wrote.

    Where `settings` are given and the file says others, it is refused.
    """
    remedy = "delete it, or name another file"
    stored = read_arrays(path, "the examples", remedy)
    try:
        stored_settings = json.loads(str(stored["settings"])) if "settings" in stored else settings
        if settings is not None and stored_settings != json.loads(json.dumps(settings)):
            raise InputError(f"{path} holds examples of another recipe", remedy)
        domain = json.loads(str(stored["domain"]))
        return Prepared({name: _read(stored, name) for name in tasks}, domain)
    except (ValueError, KeyError) as error:
        raise InputError(f"{path} does not hold the examples ({error})", remedy) from None


def _read(stored: Any, name: str) -> ExampleSet:
    items, ids = json.loads(str(stored[f"{name}/names"]))
    texts = TokenSet(stored[f"{name}/flat"], stored[f"{name}/offsets"])
    members, targets = stored[f"{name}/members"], stored[f"{name}/targets"]
    more = {
        one: stored[f"{name}/{one}"] for one in ("relations", "beside") if f"{name}/{one}" in stored
    }
    features = stored[f"{name}/features"]
    return ExampleSet(texts, members, targets, tuple(items), tuple(ids), features, **more)


def fold_of_items(items: Iterable[str], folds: int, seed: int) -> dict[str, int]:
    """Spread the items of every data set evenly over folds, by a digest of seed and item."""
    by_set: dict[str, set[str]] = {}
    for item in items:
        by_set.setdefault(item.rpartition(":")[0].partition(":")[0], set()).add(item)
    fold_of: dict[str, int] = {}
    for members in by_set.values():
        ordered = sorted(members, key=lambda item: digest_of(item, seed))
        fold_of |= {item: place % folds for place, item in enumerate(ordered)}
    return fold_of


def digest_of(text: str, seed: int) -> bytes:
    """Give a text's place in a random order, which does not hang on what other texts there are."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=str(seed).encode()).digest()


def without_fold(
    examples: Examples, fold_of: Mapping[str, int], fold: int
) -> dict[str, ExampleSet]:
    """Leave out the examples of one fold; items that are in none stay."""
    return {
        name: task_examples.choose(_rows_of(task_examples, fold_of, fold, inside=False))
        for name, task_examples in examples.items()
    }


def fold_alone(examples: ExampleSet, fold_of: Mapping[str, int], fold: int) -> ExampleSet:
    """Give the examples of one fold."""
    return examples.choose(_rows_of(examples, fold_of, fold, inside=True))


def hold_out(
    examples: Examples, share: float
) -> tuple[dict[str, ExampleSet], dict[str, ExampleSet]]:
    """Part examples by item into those to learn from and a share that is held out."""
    if not share:
        return dict(examples), {}
    folds = max(2, round(1 / share))
    fold_of = fold_of_items(
        {item for task_examples in examples.values() for item in task_examples.items}, folds, 0
    )
    held = {name: fold_alone(task_examples, fold_of, 0) for name, task_examples in examples.items()}
    return without_fold(examples, fold_of, 0), held


def _rows_of(examples: ExampleSet, fold_of: Mapping[str, int], fold: int, *, inside: bool) -> Array:
    rows = [i for i, item in enumerate(examples.items) if (fold_of.get(item) == fold) == inside]
    return np.array(rows, dtype=np.int64)
