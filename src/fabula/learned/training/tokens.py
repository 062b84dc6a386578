"""Texts as numbers: word pieces end to end, in two bytes each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.errors import InputError, PackageMissing
from fabula.learned.training.corpus import Split
from fabula.learned.training.recipe import Recipe

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
class TokenCorpus:
    """All that a training reads: word pieces by source and by held-out data set, and counts."""

    train: Mapping[str, TokenSet]
    held_out: Mapping[str, TokenSet]
    counts: Mapping[str, Mapping[str, int]]

    def describe(self) -> dict[str, Any]:
        """Counts and digests, for the record."""
        return {
            part: {
                name: {"texts": len(one), "tokens": int(one.offsets[-1]), "sha256": one.sha256}
                for name, one in sets.items()
            }
            for part, sets in (("train", self.train), ("held_out", self.held_out))
        } | {"counts": {name: dict(one) for name, one in self.counts.items()}}


def tokenise(split: Split, folder: Path) -> TokenCorpus:
    """Cut all texts into word pieces with the tokeniser of a folder."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise PackageMissing("tokenizers", "train") from None
    file = folder / "tokenizer.json"
    if not file.is_file():
        raise InputError(f"{file} is not there", "run: fabula models pull minilm")
    tokeniser = Tokenizer.from_file(str(file))
    tokeniser.no_truncation()
    tokeniser.no_padding()

    def pieces(texts: Sequence[str]) -> TokenSet:
        found = tokeniser.encode_batch(list(texts), add_special_tokens=False)
        return token_set([one.ids for one in found if one.ids])

    return TokenCorpus(
        {name: pieces(texts) for name, texts in split.train.items()},
        {name: pieces(texts) for name, texts in split.held_out.items()},
        split.counts,
    )


def token_set(texts: Sequence[Sequence[int]]) -> TokenSet:
    """Lay texts end to end."""
    flat = np.fromiter((piece for text in texts for piece in text), dtype=np.uint16)
    return TokenSet(flat, np.cumsum([0, *map(len, texts)], dtype=np.int64))


def save_corpus(corpus: TokenCorpus, path: Path) -> None:
    """Write a corpus into one compressed file, whole or not at all."""
    arrays = {
        f"{part}/{name}/{kind}": getattr(one, kind)
        for part, sets in (("train", corpus.train), ("held_out", corpus.held_out))
        for name, one in sets.items()
        for kind in ("flat", "offsets")
    }
    counts = json.dumps({name: dict(one) for name, one in corpus.counts.items()})
    partial = path.with_name(f".{path.name}.part")
    with partial.open("wb") as file:
        np.savez_compressed(file, counts=np.array(counts), **arrays)
    partial.replace(path)


def load_corpus(path: Path, recipe: Recipe | None = None) -> TokenCorpus:
    """Read a corpus that `save_corpus` wrote; with a recipe, one that holds what it names."""
    sets: dict[str, dict[str, TokenSet]] = {"train": {}, "held_out": {}}
    try:
        with np.load(path, allow_pickle=False) as found:
            for key in found.files:
                if key.endswith("/flat"):
                    part, name, _ = key.split("/")
                    sets[part][name] = TokenSet(found[key], found[f"{part}/{name}/offsets"])
            counts = json.loads(str(found["counts"]))
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{path} holds no word pieces ({error})", "delete it") from None
    if recipe and (set(sets["train"]), set(sets["held_out"])) != (
        set(recipe.sources),
        set(recipe.held_out),
    ):
        raise InputError(f"{path} is of another recipe", "name another file with --tokens")
    return TokenCorpus(sets["train"], sets["held_out"], counts)
