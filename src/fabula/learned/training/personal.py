"""A reader made personal: what its heads say, weighted anew by one's own ratings.

The layers and heads stay as they are. A regression on what they say, on the surface features and
on the reader's own preference takes few ratings: where these tell nothing, the reader's own
preference is left.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.errors import InputError
from fabula.core.story import count_text
from fabula.learned.reader.config import (
    ENCODER,
    FILE,
    PERCENTILE_POINTS,
    REMEDY,
    Scale,
    Surface,
    Term,
    standardise_features,
    write_config,
)
from fabula.learned.reader.inference import Reader, load_reader
from fabula.learned.reader.metric import HUMAN_STORIES, PERSONAL_SCALE
from fabula.learned.reader.network import FILE as WEIGHTS
from fabula.learned.training.examples import fold_of_items
from fabula.learned.training.folder import (
    RECORD,
    TrainingFolder,
    find_versions,
    read_arrays,
    write_arrays,
    write_record,
)
from fabula.learned.training.own_opinions import OwnOpinions
from fabula.learned.training.reader_scales import (
    CROSS_FITTED,
    FEATURES,
    PEOPLE,
    logistic_slope,
)
from fabula.learned.training.surface import CLIP, fit_ranking
from fabula.meta.coefficients import spearman
from fabula.meta.resampling import Estimate, estimate, resample_rows
from fabula.models import asset_names, path_of
from fabula.text.features import FEATURES_VERSION, feature_row

Array = np.ndarray[Any, np.dtype[Any]]

FEW = 30
_LEAST_ITEMS = 5
_FOLDS = 10
# Of 20 to 100 ratings, these learn about most; the reader's own preference is trusted more.
_RIDGE, _OWN_RIDGE = 100.0, 1.0
_RESAMPLES = 1000
_PAIR_HEAD = "order"  # reads pairs of sentences, not stories


@dataclass(frozen=True)
class Personal:
    """A scale of one's own, and how it agrees with opinions on items that it was not fitted to.

    Agreement is Spearman's ρ with ratings, or the share of pairs in the right order.
    """

    scale: Scale
    opinions: int
    items: int
    figure: str
    before: Estimate
    after: Estimate
    gain: Estimate
    among: str  # whose stories the percentiles are among

    def plain(self) -> dict[str, Any]:
        """Give the figures for JSON."""
        figures = {"before": self.before, "after": self.after, "gain": self.gain}
        return {
            "opinions": self.opinions,
            "items": self.items,
            "figure": self.figure,
            **{name: figure.plain() for name, figure in figures.items()},
            "among": self.among,
        }


def personalise(
    opinions: OwnOpinions, *, out: Path, reader: str = "reader", seed: int = 0
) -> Personal:
    """Fit a preference of one's own and leave it in `out`, beside a copy of the weights."""
    if (out / FILE).exists():
        raise InputError(f"{out} holds a reader", "name another folder: it is not written over")
    loaded = load_reader(reader)
    source = path_of(reader) if reader in asset_names() else Path(reader).expanduser()
    people = _read_people(source)
    fitted = fit_personal(loaded, opinions, people=people, seed=seed)
    TrainingFolder(out).open()
    personal = {**fitted.plain(), "reader": loaded.signature}
    training = {**loaded.config.training, "personal": personal}
    scales = {**loaded.config.scales, PERSONAL_SCALE: fitted.scale}
    shutil.copyfile(source / WEIGHTS, out / WEIGHTS)
    if loaded.config.encoder.own:
        shutil.copytree(source / ENCODER, out / ENCODER)
    if people:
        write_arrays(out / CROSS_FITTED, {f"{PEOPLE}/{name}": people[name] for name in people})
    write_config(out, replace(loaded.config, kind="personal", scales=scales, training=training))
    write_record(out / RECORD, {"seed": seed, **training["personal"], "versions": find_versions()})
    return fitted


def fit_personal(
    reader: Reader,
    opinions: OwnOpinions,
    *,
    people: Mapping[str, Array] | None = None,
    seed: int = 0,
) -> Personal:
    """Fit a scale to opinions, and measure it on items left out by folds.

    `people` is what the heads say of human stories, and their surface features: percentiles are
    among these, or else among the stories of the opinions.
    """
    inputs = _Inputs(reader, opinions.texts)
    fit = _Fit(inputs.columns, opinions)
    if fit.count < _LEAST_ITEMS:
        problem = f"opinions on {count_text(fit.count, 'item')} are too few to learn from"
        raise InputError(problem, f"rate stories on at least {_LEAST_ITEMS} items, better on 30")
    scale = inputs.scale(fit.weights(np.arange(len(opinions.items))))
    (before, before_draws), (after, after_draws) = (
        fit.agreements(values) for values in (inputs.own, fit.predict_unseen(seed))
    )
    raws = inputs.raw(scale)
    scale = _link(scale, raws, opinions)
    return Personal(
        _place(scale, inputs.raw_of(people, scale) if people else raws),
        len(opinions.items),
        fit.count,
        "accuracy" if opinions.is_pairs else "spearman",
        estimate(before, before_draws, n=fit.count),
        estimate(after, after_draws, n=fit.count),
        estimate(after - before, after_draws - before_draws, n=fit.count),
        HUMAN_STORIES
        if people
        else f"the {count_text(len(raws), 'story', 'stories')} of these opinions",
    )


def _read_people(folder: Path) -> dict[str, Array]:
    """Read what lies beside a reader of its heads on human stories; nothing where it has none."""
    file = folder / CROSS_FITTED
    stored = read_arrays(file, "what readers said", REMEDY) if file.is_file() else {}
    return {
        name.removeprefix(f"{PEOPLE}/"): values
        for name, values in stored.items()
        if name.startswith(f"{PEOPLE}/")
    }


def _place(scale: Scale, raws: Array) -> Scale:
    """Give a scale its percentiles: the raw values of stories at 0, 1, … 100 %."""
    points = np.percentile(raws[~np.isnan(raws)], np.arange(PERCENTILE_POINTS))
    return replace(scale, percentiles=tuple(points.tolist()))


class _Inputs:
    """What a regression may look at: the reader's own preference, its heads, the surface."""

    def __init__(self, reader: Reader, texts: Sequence[str]) -> None:
        self._scale = reader.scale(PERSONAL_SCALE)
        self._outputs = reader.outputs(texts)
        self._layout = reader.config.layout
        self._rows = list(map(feature_row, reader.lay_out(texts)))
        self.own = reader.raw(PERSONAL_SCALE, texts)
        if np.isnan(self.own).any():
            place = int(np.flatnonzero(np.isnan(self.own))[0])
            problem = f"story {place + 1} ({texts[place][:30]!r}) has no token that can be read"
            raise InputError(problem, "drop it")
        self._terms = self._head_terms(reader)
        self._surface = self._scale.surface or self._plain_surface()
        rows = [self._surface.read(row, self._layout) for row in self._rows]
        means, deviations = np.array(self._surface.means), np.array(self._surface.deviations)
        self._own_deviation = float(self.own.std()) or 1.0
        heads = [
            [
                (float(out[term.head][term.output]) - term.mean) / term.deviation
                for term in self._terms
            ]
            for out in self._outputs
        ]
        columns = np.hstack(
            [
                (self.own / self._own_deviation)[:, None],
                np.array(heads).reshape(len(texts), -1),
                standardise_features(np.array(rows), means, deviations, CLIP),
            ]
        )
        # Around 0, so that values by different weights can be compared.
        self.columns: Array = columns - columns.mean(0)

    def scale(self, weights: Array) -> Scale:
        """Give the scale whose raw values are the columns by weight."""
        own, count = float(weights[0]) / self._own_deviation, len(self._terms)
        terms = [replace(term, weight=term.weight * own) for term in self._scale.terms]
        for term, weight in zip(self._terms, weights[1 : count + 1].tolist(), strict=True):
            terms.append(replace(term, weight=weight))
        part, added = self._surface, weights[count + 1 :]
        share = own * part.weight / part.deviation if self._scale.surface else 0.0
        surface = replace(
            part,
            weights=tuple((share * np.array(part.weights) + added).tolist()),
            bias=share * (part.bias - part.mean), weight=1.0, mean=0.0, deviation=1.0,
        )  # fmt: skip
        return Scale(tuple(terms), surface)

    def raw(self, scale: Scale) -> Array:
        """Give a scale's raw value of every text."""
        pairs = zip(self._outputs, self._rows, strict=True)
        return np.array([scale.raw(*pair, self._layout) for pair in pairs])

    def raw_of(self, people: Mapping[str, Array], scale: Scale) -> Array:
        """Give a scale's raw value of every human story, of what the heads said of it."""
        heads = [name for name in people if name != FEATURES]
        return np.array(
            [
                scale.raw({head: people[head][at] for head in heads}, row, self._layout)
                for at, row in enumerate(people[FEATURES].tolist())
            ]
        )

    def _head_terms(self, reader: Reader) -> list[Term]:
        """Give every output that a value is made of, standardised over the texts."""
        read = {
            (term.head, term.output)
            for scale in reader.config.scales.values()
            for term in scale.terms
            if term.head != _PAIR_HEAD
        }
        terms = []
        for head, output in sorted(read):
            values = np.array([outputs[head][output] for outputs in self._outputs], dtype=float)
            if (deviation := float(values.std())) > 0:
                terms.append(Term(head, output, 1.0, float(values.mean()), deviation))
        return terms

    def _plain_surface(self) -> Surface:
        rows = np.array(self._rows)
        deviations = np.maximum(rows.std(0), 1e-9)
        none = (0.0,) * rows.shape[1]
        means = tuple(rows.mean(0).tolist())
        return Surface(FEATURES_VERSION, means, tuple(deviations.tolist()), none, clip=CLIP)


class _Fit:
    """Regressions on columns of texts, of some of the opinions at a time."""

    def __init__(self, columns: Array, opinions: OwnOpinions) -> None:
        self._columns = columns
        self._members = np.array(opinions.members)  # (opinions, 1 or 2)
        names = {item: place for place, item in enumerate(dict.fromkeys(opinions.items))}
        self._items = np.array([names[item] for item in opinions.items])
        self.count = len(names)
        self._said = np.array(opinions.values or [0.0] * len(opinions.items))
        self._is_pairs = opinions.is_pairs
        if not self._is_pairs and np.ptp(self._said) == 0:
            raise InputError("all ratings are the same", "rate stories that you like and others")
        if not self._is_pairs:
            self._said = (self._said - self._said.mean()) / self._said.std()

    def weights(self, rows: Array) -> Array:
        """Fit weights of the columns to some of the opinions."""
        ridges = np.full(self._columns.shape[1], _RIDGE)
        ridges[0] = _OWN_RIDGE
        x = self._columns[self._members[rows]]  # (rows, texts of an opinion, columns)
        if self._is_pairs:
            # A choice tells at most a quarter of what a rating does: p (1 - p).
            return fit_ranking(x[:, 0] - x[:, 1], ridges / 4)
        x, y = x[:, 0] - x[:, 0].mean(0), self._said[rows] - self._said[rows].mean()
        weights: Array = np.linalg.solve(x.T @ x + np.diag(ridges), x.T @ y)
        return weights

    def predict_unseen(self, seed: int) -> Array:
        """Give raw values of the texts of each opinion, by weights that have not seen its item."""
        values = np.zeros(self._members.shape)
        for part, others in self._split_folds(np.arange(len(self._items)), seed):
            values[part] = self._columns[self._members[part]] @ self.weights(others)
        return values

    def agreements(self, values: Array) -> tuple[float, Array]:
        """Give the agreement of values with the opinions, and the same in every draw of items.

        Values are by text, or by opinion and text.
        """
        by_opinion = values[self._members] if values.ndim == 1 else values

        def agreement(rows: Array) -> float:
            return self._agreement(by_opinion, rows)

        draws = resample_rows(agreement, self._items.tolist(), _RESAMPLES)
        return agreement(np.arange(len(self._items))), draws

    def _agreement(self, values: Array, rows: Array) -> float:
        if self._is_pairs:
            gaps = values[rows, 0] - values[rows, 1]
            return float(np.mean((gaps > 0) + 0.5 * (gaps == 0)))
        return float(spearman(values[rows, 0], self._said[rows]))

    def _split_folds(self, rows: Array, seed: int) -> list[tuple[Array, Array]]:
        """Part opinions by item: those left out, and the others."""
        items = [f"own:{number}" for number in self._items[rows].tolist()]
        folds = fold_of_items(items, min(_FOLDS, len(set(items))), seed)
        fold = np.array([folds[item] for item in items])
        return [
            (rows[fold == number], rows[fold != number]) for number in sorted(set(fold.tolist()))
        ]


def _link(scale: Scale, raw: Array, opinions: OwnOpinions) -> Scale:
    """Choose slope and shift: .5 for the middle story, the chance to be liked better for gaps."""
    if opinions.is_pairs:
        better, worse = np.array(opinions.members).T
    else:
        said, texts = np.array(opinions.values), np.array(opinions.members)[:, 0]
        above, below = np.nonzero(said[:, None] > said[None, :])
        better, worse = texts[above], texts[below]
    slope = max(0.0, logistic_slope(raw[better] - raw[worse]))
    return replace(scale, link="logistic", slope=slope, shift=-slope * float(np.median(raw)))
