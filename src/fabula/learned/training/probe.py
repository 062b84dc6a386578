"""Linear probes: heads on the states of a model that stays as it is.

What is known of a text is the mean of a layer's states, how likely the model found it, and its
surface features. A head is linear in all of them and has one best solution, so that there is
neither a seed nor a schedule. Heads learn from choices, all corpora counting alike, or from the
ratings of one data set; what they learn is chosen by corpora left out (`left_out.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabula.core.errors import SettingError
from fabula.learned.reader.config import Link, standardise_features
from fabula.learned.training.choices import Choices
from fabula.learned.training.left_out import fit_preference
from fabula.learned.training.recipe import require_least
from fabula.learned.training.surface import CLIP
from fabula.meta.resampling import draw_counts
from fabula.models.networks.hf_pooled import SURPRISALS
from fabula.text.features import FEATURE_NAMES, PARAGRAPH_FEATURES

Array = np.ndarray[Any, np.dtype[Any]]
# Columns of texts by corpus: (texts, columns) each.
Columns = Mapping[str, Array]

_UNIQUE = FEATURE_NAMES.index("log_unique_words")
_REPEATED = FEATURE_NAMES.index("repeated_trigrams")
_LEAST = 1e-9


@dataclass(frozen=True)
class ProbeHead:
    """What a head learns from, and how its values are shown.

    `choices` are corpora of choices and `made` those that nobody made; or `ratings` is a data set
    and `aspect` what its raters rated. Groups of columns are standardised and multiplied by
    `states`, `surprisal` and `surface`: the same penalty holds a column of a smaller weight down
    more. `unique`, `repetition`, `relation` and `beside` are how much the number of different
    words, runs of three words that come again (against a text), the relation to the prompt and
    what the heads of another reader say count beside what was learned, in standard deviations of
    it.
    `people` is a corpus whose texts percentiles are among. Beside ratings, choices that nobody
    made count with `made_weight`. With a `teacher`, weights whose head of the same name was trained
    on these corpora, it learns what they said of unseen items instead of what people chose.
    """

    choices: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    ratings: str = ""
    aspect: str = ""
    penalty: float = 0.03
    states: float = 4.0
    surprisal: float = 0.0
    surface: float = 0.5
    beside: float = 0.0
    relation: float = 0.0
    unique: float = 0.0
    repetition: float = 0.0
    made_weight: float = 0.3
    link: Link = "identity"
    low: float = 1.0
    high: float = 5.0
    people: str = ""
    teacher: str = ""


@dataclass(frozen=True)
class ProbeRecipe:
    """What probes depend on, besides their data: the model, its layer, the heads.

    The model is an asset of transformers, or the encoder that a reader among the assets learned;
    with `surprisal` it is a causal one, which says how likely it found a text. `beside` is a reader
    that is asked as well, and `beside_heads` those of its heads that count.
    """

    kind: str
    probes: Mapping[str, ProbeHead]
    encoder: str = "smollm2_stories"
    beside: str = ""
    beside_heads: tuple[str, ...] = ()
    layer: int = 22
    surprisal: bool = True
    window: int = 1022
    folds: int = 5
    draws: int = 8  # fits to items drawn again: how far another training would be
    tested: tuple[str, ...] = ()  # corpora that are measured and never learned from
    domain: tuple[str, ...] = ()  # data sets whose stories it knows
    licence: str = "research use; see weights/LICENSE"

    def __post_init__(self) -> None:
        require_least(self, layer=1, window=8, folds=2, draws=2)
        if bool(self.beside) != bool(self.beside_heads):
            raise SettingError("beside and beside_heads go together", "name a reader and its heads")
        for name, head in self.probes.items():
            if bool(head.choices) == bool(head.ratings):
                problem = f"probe {name} needs either choices or ratings"
                raise SettingError(problem, "name corpora of choices, or a data set and an aspect")
            if head.surprisal and not self.surprisal:
                problem = f"probe {name} asks how likely texts are, and the model is not asked"
                raise SettingError(problem, "say surprisal = true in the recipe, or 0 in the probe")
            if head.beside and not self.beside_heads:
                raise SettingError(f"probe {name} asks a reader beside", "name its heads")
            if head.teacher and (head.ratings or head.made):
                problem = f"probe {name} has a teacher, who knows nothing but its choices"
                raise SettingError(problem, "leave out made, or name choices and no ratings")
            if head.penalty <= 0:
                raise SettingError(f"probe {name} needs a penalty above 0", "mend the recipe")


@dataclass(frozen=True)
class Ratings:
    """Texts and what people said of them: the mean of their ratings, by text."""

    corpus: str
    texts: tuple[str, ...]
    values: Array
    groups: tuple[str, ...]
    prompts: tuple[str, ...]


@dataclass(frozen=True)
class Layout:
    """How columns are made of what is known of texts: means and deviations of all of it.

    Vectors are states, `surprisals` and the outputs of `beside` heads of another reader. Columns
    are states, surprisals, one of all heads beside (the sum of what they say, each standardised,
    whose deviation over the texts is `beside_spread`), and surface features.
    """

    means: Array
    deviations: Array
    feature_means: Array
    feature_deviations: Array
    beside: int = 0
    beside_spread: float = 1.0
    surprisals: int = SURPRISALS

    @classmethod
    def of(
        cls, vectors: Array, features: Array, beside: int = 0, surprisals: int = SURPRISALS
    ) -> Layout:
        """Measure means and deviations over texts: (texts, vector), (texts, 17)."""
        means, deviations = vectors.mean(0), np.maximum(vectors.std(0), _LEAST)
        spreads = np.maximum(features.std(0), _LEAST)
        others = ((vectors - means) / deviations)[:, len(means) - beside :].sum(1)
        together = max(float(others.std()), _LEAST) if beside else 1.0
        of_features = features.mean(0), spreads
        return cls(means, deviations, *of_features, beside, together, surprisals)

    def columns(self, head: ProbeHead, vectors: Array, features: Array) -> Array:
        """Give the columns that a head is linear in: states, surprisals, heads beside, surface."""
        scaled = (vectors - self.means) / self.deviations
        own, others = np.split(scaled, [self._own], axis=1)
        others = others.sum(1, keepdims=True) / self.beside_spread * bool(head.beside)
        surface = standardise_features(features, self.feature_means, self.feature_deviations, CLIP)
        used = [name not in PARAGRAPH_FEATURES for name in FEATURE_NAMES]
        parts = [own * self._weights(head), others, surface * used * head.surface]
        return np.concatenate(parts, axis=1)

    def part(self, head: ProbeHead, weights: Array) -> tuple[Array, float, Array]:
        """Give a fit's weights of plain vectors, their bias, and those of standardised features."""
        own = self._own
        plain = weights[:own] * self._weights(head) / self.deviations[:own]
        used = np.array([name not in PARAGRAPH_FEATURES for name in FEATURE_NAMES])
        surface = weights[own + 1 :] * used * head.surface
        return plain, -float(plain @ self.means[:own]), surface

    def beside_terms(self, weights: Array) -> list[tuple[float, float, float]]:
        """Give weight, mean and deviation of every head beside."""
        share, own = float(weights[self._own]) / self.beside_spread, self._own
        means, deviations = self.means[own:].tolist(), self.deviations[own:].tolist()
        return [(share, *pair) for pair in zip(means, deviations, strict=True)]

    @property
    def states(self) -> int:
        """Numbers of a mean state."""
        return self._own - self.surprisals

    @property
    def _own(self) -> int:
        return len(self.means) - self.beside

    def _weights(self, head: ProbeHead) -> Array:
        width = self.states
        states = np.full(width, head.states / width**0.5)
        return np.concatenate([states, np.full(self.surprisals, head.surprisal)])


def fit_choices(head: ProbeHead, corpora: Sequence[Choices], columns: Columns) -> Array:
    """Fit a head's weights of columns to choices, and let what is not learned count beside."""
    seen = {one.corpus: _hide_beside(columns[one.corpus]) for one in corpora}
    weights = fit_preference(corpora, seen, head.penalty)
    people = [columns[one.corpus] for one in corpora if one.question != "spoiled"]
    return _add_fixed(head, weights, np.concatenate(people))


def fit_taught(
    head: ProbeHead, corpora: Sequence[Choices], columns: Columns, taught: Columns
) -> Array:
    """Fit a head's weights of columns to a teacher's values, by least squares.

    All corpora count alike, and of a corpus its texts by the weights of the choices they are in.
    """
    rows, said, shares = [], [], []
    for one in corpora:
        weights = np.zeros(len(one.texts))
        np.add.at(weights, one.pairs, one.weights[:, None])
        rows.append(_hide_beside(columns[one.corpus]))
        said.append(taught[one.corpus])
        shares.append(weights / weights.sum() / len(corpora))
    x, y, share = map(np.concatenate, (rows, said, shares))
    x, y = x - share @ x, y - share @ y
    y = y / (np.sqrt(share @ y**2) or 1.0)
    bend = (x * share[:, None]).T @ x + head.penalty * np.eye(x.shape[1])
    weights = np.linalg.solve(bend, (x * share[:, None]).T @ y)
    return _add_fixed(head, weights, np.concatenate(rows))


def fit_ratings(
    head: ProbeHead, ratings: Ratings, columns: Array, rows: Array, gaps: Array | None = None
) -> Array:
    """Fit a head's weights of columns to the ratings of some texts, by least squares.

    `gaps` are columns of better texts less those of the same made worse: a deviation is wanted
    between the two.
    """
    said, seen = ratings.values[rows], _hide_beside(columns[rows])
    x = seen - seen.mean(0)
    y = (said - said.mean()) / (said.std() or 1.0)
    bend = x.T @ x / len(rows) + head.penalty * np.eye(x.shape[1])
    right = x.T @ y / len(rows)
    if gaps is not None and len(gaps):
        gaps = _hide_beside(gaps)
        bend += head.made_weight * gaps.T @ gaps / len(gaps)
        right = right + head.made_weight * gaps.mean(0)
    return _add_fixed(head, np.linalg.solve(bend, right), columns[rows])


def _hide_beside(columns: Array) -> Array:
    """Give columns without what the reader beside says: how much it counts is not learned.

    It has learned from stories made worse, which heads learn from as well: a fit would trust it
    too much.
    """
    hidden = columns.copy()
    hidden[:, _beside_place(columns)] = 0.0
    return hidden


def _beside_place(columns: Array) -> int:
    return int(columns.shape[1]) - len(FEATURE_NAMES) - 1


def _add_fixed(head: ProbeHead, weights: Array, rows: Array) -> Array:
    """Let other things count as much as the recipe says, whatever was learned."""
    added, spread, place = weights.copy(), float((rows @ weights).std()), _beside_place(rows)
    added[place] = head.beside * spread
    if head.surface:
        added[place + 1 + _UNIQUE] += head.unique * spread / head.surface
        added[place + 1 + _REPEATED] -= head.repetition * spread / head.surface
    return added


def draw_again(corpora: Sequence[Choices], draws: int) -> list[list[Choices]]:
    """Give the choices of items drawn again, so many times: an item counts as often as drawn."""
    drawn: list[list[Choices]] = [[] for _ in range(draws)]
    for one in corpora:
        counts = draw_counts(int(one.units.max()) + 1, draws, seed=0)
        for number, times in enumerate(np.asarray(counts)):
            weights = one.weights * times[one.units]
            drawn[number].append(replace(one, weights=weights))
    return drawn
