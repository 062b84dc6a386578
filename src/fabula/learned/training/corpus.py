"""Stories for the encoder: those to train on and those held out, cut into word pieces."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import InputError, SettingError
from fabula.learned.training.examples import TokenSet, digest_of, token_set
from fabula.learned.training.folder import read_arrays, write_arrays
from fabula.learned.training.stories import (
    PLACEHOLDER,
    Groups,
    data_folder,
    near_duplicate_groups,
    open_tokeniser,
)

if TYPE_CHECKING:
    from fabula.learned.training.encoder import EncoderRecipe

_STRAY = re.compile(r"[\s@]+$")


@dataclass(frozen=True)
class Text:
    """A story's text, where it comes from and which item it belongs to."""

    source: str
    text: str
    item: str | None = None


@dataclass(frozen=True)
class Split:
    """Texts to train on by source, texts held out by data set, and what became of the others."""

    train: Mapping[str, tuple[str, ...]]
    held_out: Mapping[str, tuple[str, ...]]
    counts: Mapping[str, Mapping[str, int]]


def read_texts(source: str, data: Path | None = None) -> list[Text]:
    """Read the stories of a source from its folder below `data`, or from where it was added."""
    from fabula.datasets import load_dataset

    name, _, system = source.partition(":")
    stories = load_dataset(name, data_folder(name, data) if data else None).stories
    texts = [
        Text(source, _STRAY.sub("", story.text), story.item and f"{name}:{story.item}")
        for story in stories
        if not system or story.system == system
    ]
    if not texts:
        raise SettingError(f"data set {name} has no stories of {system!r}", "check the sources")
    return texts


def read_split(recipe: EncoderRecipe, data: Path | None = None) -> Split:
    """Read all that a recipe names and part it."""
    names = {*recipe.sources, *recipe.held_out, *recipe.left_out}
    return split_texts([text for name in sorted(names) for text in read_texts(name, data)], recipe)


def split_texts(texts: Sequence[Text], recipe: EncoderRecipe) -> Split:
    """Part texts: groups of near duplicates, and items, stand on one side as a whole.

    Of near duplicates one is kept: with its names rather than masked, cased rather than not, then
    the longest. Held-out texts have no masked names, which are too easy to guess.
    """
    twins = near_duplicate_groups([text.text for text in texts])
    kin = _join_items(texts, twins)
    barred = {twins[i] for i, text in enumerate(texts) if text.source in recipe.left_out}
    held: dict[str, list[int]] = {}
    for name, wanted in recipe.held_out.items():
        places = [
            i for i, text in enumerate(texts) if text.source == name and twins[i] not in barred
        ]
        held[name] = _draw(places, kin, texts=texts, wanted=wanted, seed=recipe.split_seed)
    kin_of_held = {kin[i] for places in held.values() for i in places}
    fates = _assign_fates(texts, twins, recipe=recipe, barred=barred, aside=(kin, kin_of_held))
    train = {
        source: tuple(text.text for text, fate in zip(texts, fates, strict=True) if fate == source)
        for source in recipe.sources
    }
    counts = {
        source: Counter(
            "trained on" if fate == source else fate
            for text, fate in zip(texts, fates, strict=True)
            if text.source == source
        )
        for source in recipe.sources
    }
    held_texts = {
        name: tuple(texts[i].text for i in _keep_best(places, twins, texts))
        for name, places in held.items()
    }
    return Split(train, held_texts, counts)


def _join_items(texts: Sequence[Text], twins: Sequence[int]) -> list[int]:
    groups, first = Groups(len(texts)), dict[str, int]()
    for i, text in enumerate(texts):
        groups.join(i, twins[i])
        if text.item is not None:
            groups.join(i, first.setdefault(text.item, i))
    return groups.numbers()


def _draw(
    places: list[int], kin: Sequence[int], *, texts: Sequence[Text], wanted: int, seed: int
) -> list[int]:
    """Draw whole groups until enough texts are there."""
    groups: dict[int, list[int]] = {}
    for i in places:
        groups.setdefault(kin[i], []).append(i)
    named = [
        group for group in groups.values() if not any(_has_masked_names(texts[i]) for i in group)
    ]
    # By digest, so that the same stories are drawn whatever other sources are there.
    named.sort(key=lambda group: min(digest_of(texts[i].text, seed) for i in group))
    drawn: list[int] = []
    for group in named:
        if len(drawn) >= wanted:
            return drawn
        drawn += group
    if len(drawn) < wanted:
        raise InputError(f"{wanted} held-out stories are wanted of {len(drawn)}", "ask for fewer")
    return drawn


def _assign_fates(
    texts: Sequence[Text],
    twins: Sequence[int],
    *,
    recipe: EncoderRecipe,
    barred: set[int],
    aside: tuple[Sequence[int], set[int]],
) -> list[str]:
    """Say of every text that it is trained on (by its source's name), or why not."""
    kin, kin_of_held = aside
    fates = ["other" for _ in texts]
    free = []
    for i, text in enumerate(texts):
        if text.source not in recipe.sources:
            continue
        if kin[i] in kin_of_held:
            fates[i] = "held out, or like one held out"
        elif twins[i] in barred and text.source not in recipe.left_out:
            fates[i] = "left out"
        else:
            fates[i] = "near duplicate"
            free.append(i)
    for i in _keep_best(free, twins, texts):
        fates[i] = texts[i].source
    return fates


def _keep_best(places: Iterable[int], twins: Sequence[int], texts: Sequence[Text]) -> list[int]:
    """Keep one text of every group of near duplicates."""
    best: dict[int, int] = {}
    for i in places:
        best_place = best.setdefault(twins[i], i)
        if _worth(texts[i]) > _worth(texts[best_place]):
            best[twins[i]] = i
    return sorted(best.values())


def _worth(text: Text) -> tuple[bool, bool, int]:
    return not _has_masked_names(text), text.text != text.text.lower(), len(text.text)


def _has_masked_names(text: Text) -> bool:
    return PLACEHOLDER.search(text.text) is not None


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
                name: {
                    "texts": len(tokens),
                    "tokens": int(tokens.offsets[-1]),
                    "sha256": tokens.sha256,
                }
                for name, tokens in sets.items()
            }
            for part, sets in (("train", self.train), ("held_out", self.held_out))
        } | {"counts": {name: dict(counts) for name, counts in self.counts.items()}}


def tokenise(split: Split, folder: Path) -> TokenCorpus:
    """Cut all texts into word pieces with the tokeniser of a folder."""
    cut = open_tokeniser(folder)

    def pieces(texts: Sequence[str]) -> TokenSet:
        return token_set([ids for ids in cut(texts) if ids])

    return TokenCorpus(
        {name: pieces(texts) for name, texts in split.train.items()},
        {name: pieces(texts) for name, texts in split.held_out.items()},
        split.counts,
    )


def save_corpus(corpus: TokenCorpus, path: Path) -> None:
    """Write a corpus into one file."""
    arrays = {
        f"{part}/{name}/{kind}": getattr(tokens, kind)
        for part, sets in (("train", corpus.train), ("held_out", corpus.held_out))
        for name, tokens in sets.items()
        for kind in ("flat", "offsets")
    }
    counts = json.dumps({name: dict(fates) for name, fates in corpus.counts.items()})
    write_arrays(path, {"counts": np.array(counts), **arrays})


def load_corpus(path: Path, recipe: EncoderRecipe | None = None) -> TokenCorpus:
    """Read a corpus that `save_corpus` wrote; with a recipe, one that holds what it names."""
    sets: dict[str, dict[str, TokenSet]] = {"train": {}, "held_out": {}}
    stored = read_arrays(path, "word pieces", "delete it")
    try:
        for key in stored:
            if key.endswith("/flat"):
                part, name, _ = key.split("/")
                sets[part][name] = TokenSet(stored[key], stored[f"{part}/{name}/offsets"])
        counts = json.loads(str(stored["counts"]))
    except (ValueError, KeyError) as error:
        raise InputError(f"{path} does not hold word pieces ({error})", "delete it") from None
    if recipe and (set(sets["train"]), set(sets["held_out"])) != (
        set(recipe.sources),
        set(recipe.held_out),
    ):
        raise InputError(f"{path} is of another recipe", "name another file with --tokens")
    return TokenCorpus(sets["train"], sets["held_out"], counts)


def read_corpus(
    recipe: EncoderRecipe, start: Path, *, data: Path | None, tokens: Path | None
) -> TokenCorpus:
    """Read the stories of a recipe, or the file `tokens` that holds their word pieces already."""
    if tokens and tokens.exists():
        return load_corpus(tokens, recipe)
    corpus = tokenise(read_split(recipe, data), start)
    if tokens:
        save_corpus(corpus, tokens)
    return corpus
