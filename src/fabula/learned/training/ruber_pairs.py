"""Prompts and stories that RUBER learns from: who is left out, who is held out, and vectors."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import InputError
from fabula.core.model import Embedder, Truncating
from fabula.core.protocols import watch
from fabula.core.story import Story
from fabula.learned.reader.domain import describe_domain
from fabula.learned.ruber_model.network import Array, pool_texts
from fabula.learned.training.examples import digest_of
from fabula.learned.training.folder import read_arrays, write_arrays
from fabula.learned.training.stories import data_folder
from fabula.models import load_model, need

if TYPE_CHECKING:
    from fabula.learned.training.ruber import RuberRecipe

PARTS = ("train", "dev", "test")
_WORD = re.compile(r"[^\W_]+")
_ADDED = 2  # tokens that an encoder puts round a text


@dataclass(frozen=True)
class PromptedStories:
    """Stories by part, each with its prompt; and how many were left out, and why."""

    parts: Mapping[str, tuple[tuple[str, str], ...]]
    counts: Mapping[str, int]

    @property
    def sha256(self) -> str:
        """Digest of all prompts and stories, in order."""
        digest = hashlib.sha256()
        for name in PARTS:
            for text in (text for pair in self.parts[name] for text in pair):
                digest.update(hashlib.sha256(text.encode(errors="surrogatepass")).digest())
        return digest.hexdigest()


@dataclass(frozen=True)
class PooledPairs:
    """Vectors of prompts and of stories by part, row by row; `items` says who shares a prompt."""

    prompts: Mapping[str, Array]
    stories: Mapping[str, Array]
    items: Mapping[str, Array]
    about: Mapping[str, Any]
    domain: Mapping[str, Any] = field(default_factory=dict)  # what stories to train on look like


def plain_prompt(prompt: str | None) -> str:
    """Spell a prompt so that releases that differ in marks, blanks and case agree."""
    return " ".join(_WORD.findall((prompt or "").lower()))


def read_pairs(recipe: RuberRecipe, data: Path | None = None) -> PromptedStories:
    """Read the stories of a recipe's sources, but for prompts that rated stories answer too."""
    from fabula.datasets import load_dataset

    def stories(names: Iterable[str]) -> list[Story]:
        folder = {name: data_folder(name, data) if data else None for name in names}
        return [story for name in names for story in load_dataset(name, folder[name]).stories]

    barred = {plain_prompt(story.prompt) for story in stories(recipe.left_out)}
    return split_pairs(stories(recipe.sources), barred, seed=recipe.split_seed)


def split_pairs(stories: Sequence[Story], barred: Iterable[str], *, seed: int) -> PromptedStories:
    """Part stories 90/5/5 by prompt: a prompt's digest says where all its stories go."""
    known = set(barred)
    parts: dict[str, list[tuple[str, str]]] = {name: [] for name in PARTS}
    named = [(plain_prompt(story.prompt), story) for story in stories if story.text.strip()]
    prompted = [(plain, story) for plain, story in named if plain]
    free = [(plain, story) for plain, story in prompted if plain not in known]
    for plain, story in free:
        parts[_part_of(plain, seed)].append((story.prompt or "", story.text))
    left_out = [plain for plain, _ in prompted if plain in known]
    counts = {
        "stories": len(stories),
        "without a prompt": len(stories) - len(prompted),
        "left out with their prompts": len(left_out),
        "prompts left out": len(set(left_out)),
        "prompts": len({plain for plain, _ in free}),
    }
    return PromptedStories(
        {name: tuple(stories_of_part) for name, stories_of_part in parts.items()}, counts
    )


def _part_of(plain: str, seed: int) -> str:
    share = int.from_bytes(digest_of(plain, seed)[:4]) / 2**32
    return "dev" if share < 0.05 else "test" if share < 0.1 else "train"


def pool_pairs(
    pairs: PromptedStories,
    recipe: RuberRecipe,
    *,
    cache: Path | None = None,
    report: Callable[[str], None] = print,
) -> PooledPairs:
    """Encode every different text once; with `cache`, a file saves doing so again."""
    encoder = need(load_model(recipe.quick_model or recipe.model), Embedder)
    about = {
        "counts": dict(pairs.counts) | {name: len(pairs.parts[name]) for name in PARTS},
        "sha256": pairs.sha256,
        "encoder": f"{encoder.signature}|{recipe.layer}|{recipe.pooling}|{recipe.max_tokens}",
    }
    digest = f"{about['sha256']}|{about['encoder']}"
    texts = list(
        dict.fromkeys(text for name in PARTS for pair in pairs.parts[name] for text in pair)
    )
    vectors = _read_vectors(cache, digest)
    if vectors is None:
        vectors = _encode(texts, recipe, encoder=encoder, report=report)
        if cache:
            arrays = {"table": vectors, "digest": np.array(digest)}
            write_arrays(cache, arrays, compress=False)
    return _arrange(pairs, dict(zip(texts, vectors, strict=True)), about)


def _encode(
    texts: Sequence[str],
    recipe: RuberRecipe,
    *,
    encoder: Embedder,
    report: Callable[[str], None],
) -> Array:
    heads = need(encoder, Truncating).truncate(texts, recipe.max_tokens + _ADDED)
    vectors = []
    pooled = pool_texts(encoder, heads, layer=recipe.layer, pooling=recipe.pooling)
    counting = watch.get().count("texts")
    if counting:
        counting.start(len(texts))
    for vector, _ in pooled:
        vectors.append(vector)
        if counting:
            counting.advance(1)
    if counting:
        counting.finish()
    report(f"encoded {len(texts):,} texts")
    return np.array(vectors)


def _arrange(
    pairs: PromptedStories, vectors: Mapping[str, Array], about: Mapping[str, Any]
) -> PooledPairs:
    """Give the vectors by part; stories without a vector, or whose prompt has none, are dropped."""
    numbers: dict[str, int] = {}
    read = {
        name: [pair for pair in part if not np.isnan(vectors[pair[0]] + vectors[pair[1]]).any()]
        for name, part in pairs.parts.items()
    }
    if few := [name for name in PARTS if len({plain_prompt(p) for p, _ in read[name]}) < 2]:
        raise InputError(f"fewer than two prompts are for {few[0]}", "give more stories")
    return PooledPairs(
        {name: np.array([vectors[prompt] for prompt, _ in part]) for name, part in read.items()},
        {name: np.array([vectors[story] for _, story in part]) for name, part in read.items()},
        {
            name: np.array([numbers.setdefault(plain_prompt(p), len(numbers)) for p, _ in part])
            for name, part in read.items()
        },
        about,
        describe_domain([story for _, story in read["train"]]),
    )


def _read_vectors(file: Path | None, digest: str) -> Array | None:
    """Give the vectors that a file holds, if they are of these texts and the file is whole."""
    if file is None or not file.is_file():
        return None
    try:
        stored = read_arrays(file, "vectors", "delete it")
    except InputError:
        return None
    is_ours = {"table", "digest"} <= stored.keys() and str(stored["digest"]) == digest
    return np.asarray(stored["table"]) if is_ours else None
