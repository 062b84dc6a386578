"""What all probes of a recipe share: their corpora, and what is known of every text in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.dataset import Dataset
from fabula.core.protocols import watch
from fabula.learned.reader.encoders import open_hub_asset
from fabula.learned.reader.inference import load_reader
from fabula.learned.training.choices import flatten, gather_choices
from fabula.learned.training.examples import digest_of
from fabula.learned.training.folder import read_arrays, write_arrays
from fabula.learned.training.loop import Report
from fabula.learned.training.made_choices import gather_made
from fabula.learned.training.probe import Layout, ProbeHead, ProbeRecipe, Ratings
from fabula.learned.training.stories import read_dataset
from fabula.models.networks.hf_pooled import SURPRISALS, PooledHub
from fabula.models.reading.state_cache import text_key
from fabula.models.reading.windows import cut_evenly
from fabula.text.features import feature_row

Array = np.ndarray[Any, np.dtype[Any]]
_AT_ONCE = 256  # texts between two looks at how far reading has come


class Bench:
    """The corpora that probes learn from, and the columns of their texts."""

    def __init__(
        self, recipe: ProbeRecipe, data: Path | None, states: Path | None, report: Report
    ) -> None:
        self.recipe, self._data = recipe, data
        self._sets: dict[str, Dataset] = {}
        heads = recipe.probes.values()
        names = dict.fromkeys([*(one for head in heads for one in head.choices), *recipe.tested])
        made = dict.fromkeys(one for head in heads for one in head.made)
        self.choices = {one.corpus: one for one in gather_choices(data, names)}
        self.choices |= {one.corpus: one for one in gather_made(data, made)}
        rated = dict.fromkeys((head.ratings, head.aspect) for head in heads if head.ratings)
        self.ratings = {key: self._rate(*key) for key in rated}
        read = [one.texts for one in self.choices.values()]
        read += [one.texts for one in self.ratings.values()]
        texts = list(dict.fromkeys(chain(*read)))
        self._place = {text: number for number, text in enumerate(texts)}
        self._vectors = read_texts(recipe, texts, states, report).astype(np.float64)
        self._features = np.array([feature_row(text) for text in texts])
        how = len(recipe.beside_heads), SURPRISALS * recipe.surprisal
        self.layout = Layout.of(self._vectors, self._features, *how)

    @property
    def sources(self) -> list[str]:
        """Data sets that people's opinions are of."""
        asked = [one.data for one in self.choices.values() if one.question != "spoiled"]
        return list(dict.fromkeys([*asked, *(name for name, _ in self.ratings)]))

    def dataset(self, name: str) -> Dataset:
        """Read a data set, once."""
        if name not in self._sets:
            self._sets[name] = read_dataset(name, self._data)
        return self._sets[name]

    def describe(self) -> dict[str, Any]:
        """Count what was learned from."""
        counted: dict[str, Any] = {
            name: {"choices": len(one), "texts": len(one.texts)}
            for name, one in self.choices.items()
        }
        return counted | {one.corpus: {"texts": len(one.texts)} for one in self.ratings.values()}

    def columns(self, head: ProbeHead, texts: Sequence[str]) -> Array:
        """Give the columns of texts that a head is linear in."""
        rows = [self._place[text] for text in texts]
        return self.layout.columns(head, self._vectors[rows], self._features[rows])

    def fold_of(self, groups: Iterable[str]) -> Array:
        """Give the fold of every text, by a digest of what folds may not part."""
        folds = self.recipe.folds
        return np.array([int.from_bytes(digest_of(one, 0)[:8], "big") % folds for one in groups])

    def _rate(self, name: str, aspect: str) -> Ratings:
        said: dict[str, list[float]] = {}
        for score in self.dataset(name).ratings:
            if score.aspect == aspect and not np.isnan(score.value):
                said.setdefault(score.story, []).append(score.value)
        stories = [story for story in self.dataset(name).stories if story.id in said]
        return Ratings(
            f"{name} {aspect}",
            tuple(flatten(story.text) for story in stories),
            np.array([np.mean(said[story.id]) for story in stories]),
            tuple(f"{name}:{story.item or story.id}" for story in stories),
            tuple(story.prompt or "" for story in stories),
        )


def read_texts(
    recipe: ProbeRecipe, texts: Sequence[str], states: Path | None, report: Report
) -> Array:
    """Give the mean of the layer's states, and the surprisals, of every text: (texts, width).

    What the heads of the reader beside say follows, where there is one. `states` is a file of what
    was read before, here or on a faster machine; what is missing in it is read now, and written
    there.
    """
    known: dict[str, Array] = {}
    if states and states.is_file():
        stored = read_arrays(states, "states of texts", "name another file")
        known = dict(zip(stored["texts"].tolist(), stored["states"], strict=True))
    keys = [text_key(text).hex() for text in texts]
    missing = [place for place, key in enumerate(keys) if key not in known]
    if missing:
        report(f"{len(missing):,} texts are read by {recipe.encoder}")
        how: Any = {"layer": recipe.layer, "surprisal": recipe.surprisal}
        encoder = open_hub_asset(recipe.encoder, **how)
        watch.get().tell("reading")
        for start in range(0, len(missing), _AT_ONCE):
            some = missing[start : start + _AT_ONCE]
            chosen = [texts[place] for place in some]
            rows = _read(encoder, chosen, recipe.window)
            if recipe.beside:
                rows = np.concatenate([rows, _ask_beside(recipe, chosen)], axis=1)
            known |= {keys[place]: row for place, row in zip(some, rows, strict=True)}
            watch.get().tell_detail(f"text {start + len(some):,} of {len(missing):,}")
        if states:
            rows = np.stack(list(known.values()))
            write_arrays(states, {"texts": np.array(list(known)), "states": rows})
    return np.stack([known[key] for key in keys])


def _ask_beside(recipe: ProbeRecipe, texts: Sequence[str]) -> Array:
    """Give what the heads of the reader beside say of texts: (texts, heads)."""
    said = load_reader(recipe.beside).outputs(texts)
    return np.array([[float(one[head][0]) for head in recipe.beside_heads] for one in said])


def _read(encoder: PooledHub, texts: Sequence[str], window: int) -> Array:
    """Read some texts, long ones by windows of which the mean is taken."""
    cut = [encoder.ids(text) for text in texts]
    places = [cut_evenly(len(ids), window) for ids in cut]
    windows = [
        ids[place.start : place.stop]
        for ids, windows in zip(cut, places, strict=True)
        for place in windows
    ]
    # Vectors begin with the last token's state, which is not looked at.
    vectors = encoder.pool(windows).numpy()[:, encoder.encoder.width :]
    ends = np.cumsum([0, *map(len, places)])
    return np.stack([vectors[low:high].mean(0) for low, high in pairwise(ends)])
