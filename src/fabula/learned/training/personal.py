"""A reader made personal: what its heads say, weighted anew by one's own ratings.

The layers and heads stay as they are. A regression on what they say, on the surface features and
on the reader's own preference takes few ratings: where these tell nothing, the reader's own
preference is left.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError, closest
from fabula.core.story import count_text
from fabula.datasets.table import read_table
from fabula.datasets.tables.sheet import Sheet
from fabula.learned.reader.config import (
    ENCODER,
    FILE,
    Scale,
    Surface,
    Term,
    standardise_features,
    write_config,
)
from fabula.learned.reader.inference import Reader, load_reader
from fabula.learned.reader.network import FILE as WEIGHTS
from fabula.learned.training.examples import fold_of_items
from fabula.learned.training.folder import RECORD, TrainingFolder, find_versions, write_record
from fabula.learned.training.reader_scales import logistic_slope
from fabula.learned.training.surface import CLIP, fit_ranking
from fabula.meta.coefficients import spearman
from fabula.meta.resampling import Estimate, estimate, resample_rows
from fabula.models import asset_names, path_of
from fabula.text.features import FEATURES_VERSION, feature_row

Array = np.ndarray[Any, np.dtype[Any]]

SCALE = "preference"
FEW = 30
_LEAST_ITEMS = 5
_FOLDS = 10
# Of 20 to 100 ratings, these learn about most; the reader's own preference is trusted more.
_RIDGE, _OWN_RIDGE = 100.0, 1.0
_RESAMPLES = 1000
_USUAL = ("rating", "ratings", "score", "stars", "overall", "preference")
_SIDES = ("better", "worse")
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

    def plain(self) -> dict[str, Any]:
        """Give the figures for JSON."""
        figures = {"before": self.before, "after": self.after, "gain": self.gain}
        return {
            "opinions": self.opinions,
            "items": self.items,
            "figure": self.figure,
            **{name: figure.plain() for name, figure in figures.items()},
        }


def personalise(
    opinions: OwnOpinions, *, out: Path, reader: str = "reader", seed: int = 0
) -> Personal:
    """Fit a preference of one's own and leave it in `out`, beside a copy of the weights."""
    if (out / FILE).exists():
        raise InputError(f"{out} holds a reader", "name another folder: it is not written over")
    loaded = load_reader(reader)
    source = path_of(reader) if reader in asset_names() else Path(reader).expanduser()
    fitted = fit_personal(loaded, opinions, seed=seed)
    TrainingFolder(out).open()
    personal = {**fitted.plain(), "reader": loaded.signature}
    training = {**loaded.config.training, "personal": personal}
    scales = {**loaded.config.scales, SCALE: fitted.scale}
    shutil.copyfile(source / WEIGHTS, out / WEIGHTS)
    if loaded.config.encoder.own:
        shutil.copytree(source / ENCODER, out / ENCODER)
    write_config(out, replace(loaded.config, kind="personal", scales=scales, training=training))
    write_record(out / RECORD, {"seed": seed, **training["personal"], "versions": find_versions()})
    return fitted


def fit_personal(reader: Reader, opinions: OwnOpinions, *, seed: int = 0) -> Personal:
    """Fit a scale to opinions, and measure it on items left out by folds."""
    inputs = _Inputs(reader, opinions.texts)
    fit = _Fit(inputs.columns, opinions)
    if fit.count < _LEAST_ITEMS:
        problem = f"opinions on {count_text(fit.count, 'item')} are too few to learn from"
        raise InputError(problem, f"rate stories on at least {_LEAST_ITEMS} items, better on 30")
    scale = inputs.scale(fit.weights(np.arange(len(opinions.items))))
    (before, before_draws), (after, after_draws) = (
        fit.agreements(values) for values in (inputs.own, fit.predict_unseen(seed))
    )
    return Personal(
        _link(scale, inputs.raw(scale), opinions),
        len(opinions.items),
        fit.count,
        "accuracy" if opinions.is_pairs else "spearman",
        estimate(before, before_draws, n=fit.count),
        estimate(after, after_draws, n=fit.count),
        estimate(after - before, after_draws - before_draws, n=fit.count),
    )


class _Inputs:
    """What a regression may look at: the reader's own preference, its heads, the surface."""

    def __init__(self, reader: Reader, texts: Sequence[str]) -> None:
        self._scale = reader.scale(SCALE)
        self._outputs = reader.outputs(texts)
        self._layout = reader.config.layout
        self._rows = list(map(feature_row, reader.lay_out(texts)))
        self.own = reader.raw(SCALE, texts)
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


@dataclass(frozen=True)
class OwnOpinions:
    """Texts, and what was said of them.

    `members` are the numbers of an opinion's texts: one, and a rating in `values`; or the better
    and the worse, and no values. `items` name what folds may not part, opinion by opinion.
    """

    texts: tuple[str, ...]
    members: tuple[tuple[int, ...], ...]
    items: tuple[str, ...]
    values: tuple[float, ...] = ()

    @property
    def is_pairs(self) -> bool:
        """Whether stories were compared rather than rated."""
        return not self.values


def read_own_opinions(
    path: Path,
    *,
    gold: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    aspect: str = "",
) -> OwnOpinions:
    """Read a table with a column of stories and one of ratings, or with `better` and `worse`.

    Several ratings of a story are averaged. Stories on one item or prompt belong together.
    """
    sheet = Sheet.read(path, columns or {})
    sides = [name for side in _SIDES for name in sheet.names if name.strip().lower() == side]
    if len(sides) == len(_SIDES) and not gold:
        return _pairs(sheet, sides)
    return _ratings(_table(path, gold, columns), aspect)


def _table(path: Path, gold: Sequence[str], columns: Mapping[str, str] | None) -> Dataset:
    """Read a table whose ratings may be in a column of a usual name."""
    try:
        return read_table(path, gold=gold, columns=columns)
    except InputError:
        names = {name.strip().lower(): name for name in Sheet.read(path, columns or {}).names}
        known = [names[usual] for usual in _USUAL if usual in names]
        if gold or not known:
            raise
        return read_table(path, gold=known[:1], columns=columns)


def _ratings(table: Dataset, aspect: str) -> OwnOpinions:
    aspects = list(dict.fromkeys(score.aspect for score in table.ratings))
    if not aspect and len(aspects) == 1:
        aspect = aspects[0]
    if aspect not in aspects:
        problem = f"{table.name}: no rating is of {aspect!r}"
        problem = problem if aspect else f"{table.name} rates several aspects"
        raise InputError(problem, f"name one with --aspect; {closest(aspect, aspects)}")
    said: dict[str, list[float]] = {}
    for score in table.ratings:
        if score.aspect == aspect and not math.isnan(score.value):
            said.setdefault(score.story, []).append(score.value)
    rated = [story for story in table.stories if story.id in said and story.text.strip()]
    if not rated:
        raise InputError(
            f"{table.name}: no rated story has a text", "name its column with --column text=NAME"
        )
    return OwnOpinions(
        tuple(story.text for story in rated),
        tuple((place,) for place in range(len(rated))),
        _group_rows(
            [[story.text, ("item", story.item or story.prompt or story.id)] for story in rated]
        ),
        tuple(fmean(said[story.id]) for story in rated),
    )


def _pairs(sheet: Sheet, sides: Sequence[str]) -> OwnOpinions:
    texts: dict[str, int] = {}
    members, nodes = [], list[list[object]]()
    for where, row in sheet.rows:
        pair = [str(row.get(side) or "").strip() for side in sides]
        if not all(pair):
            raise InputError(f"{where}: a side of the pair is empty", "fill it, or drop the row")
        if pair[0] == pair[1]:
            raise InputError(f"{where}: better and worse are the same", "drop the row")
        members.append(tuple(texts.setdefault(text, len(texts)) for text in pair))
        item = sheet.read_text("item", row) or sheet.read_text("prompt", row)
        nodes.append([*pair, *([("item", item)] if item else [])])
    return OwnOpinions(tuple(texts), tuple(members), _group_rows(nodes))


def _group_rows(rows: Sequence[Sequence[object]]) -> tuple[str, ...]:
    """Name the group of every row: rows that share anything, a text or an item, are together."""
    above: dict[object, object] = {}

    def top(node: object) -> object:
        while (found := above.setdefault(node, node)) != node:
            node = found
        return node

    for row in rows:
        for node in row[1:]:
            above[top(node)] = top(row[0])
    names: dict[object, str] = {}
    return tuple(names.setdefault(top(row[0]), str(len(names) + 1)) for row in rows)
