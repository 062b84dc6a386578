"""Train probes: fit every head, make a scale of it, say how it does on what it never met."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import InputError
from fabula.learned.reader.config import (
    Head,
    Pin,
    ReaderConfig,
    Scale,
    Surface,
    Term,
    borrowed_name,
    read_config,
    write_config,
)
from fabula.learned.reader.domain import describe_domain
from fabula.learned.reader.inference import find_folder
from fabula.learned.reader.network import save_packed
from fabula.learned.reader.relation import fit_relation, relate
from fabula.learned.training.choices import Choices, flatten
from fabula.learned.training.folder import (
    MODEL,
    TrainingFolder,
    find_versions,
    plain_values,
    read_arrays,
    write_arrays,
)
from fabula.learned.training.left_out import Held, leave_out, measure_columns
from fabula.learned.training.loop import Report
from fabula.learned.training.probe import (
    ProbeHead,
    ProbeRecipe,
    draw_again,
    fit_choices,
    fit_ratings,
    fit_taught,
)
from fabula.learned.training.probe_bench import Bench
from fabula.learned.training.reader_scales import CROSS_FITTED, describe_beside, logistic_slope
from fabula.learned.training.surface import CLIP
from fabula.meta.coefficients import spearman
from fabula.models import get_asset
from fabula.text.features import FEATURES_VERSION

if TYPE_CHECKING:
    from torch import Tensor

Array = np.ndarray[Any, np.dtype[Any]]
# Gives the weights of columns that some corpora teach.
FitCorpora = Callable[[Sequence[Choices]], Array]


def train_probes(
    recipe: ProbeRecipe,
    *,
    out: Path,
    data: Path | None = None,
    states: Path | None = None,
    resume: bool = False,
    report: Report = print,
) -> dict[str, Any]:
    """Train the probes of a recipe, leave them in `out`, give training.json.

    `states` is a file that what is read of texts is kept in (`read_texts`).
    """
    folder = TrainingFolder(out, resume=resume)
    if (finished := folder.open(recipe)) is not None:
        return finished
    bench = Bench(recipe, data, states, report)
    fits: dict[str, _Fit] = {}
    for name, head in recipe.probes.items():
        fits[name] = _fit_to_ratings(bench, name) if head.ratings else _fit_to_choices(bench, name)
        report(f"{name}: {_say(fits[name].figures)}")
    save_packed(out / MODEL, _head_tensors(bench, fits), {})
    record: dict[str, Any] = {"recipe": plain_values(recipe), "data": bench.describe()}
    record |= {"versions": find_versions(), "device": "cpu"}
    record["scales"] = {name: fit.figures for name, fit in fits.items()}
    _write_config(out, bench, fits, record)
    said = {f"{name}/{key}": one for name, fit in fits.items() for key, one in fit.unseen.items()}
    write_arrays(out / CROSS_FITTED, {key: one.astype(np.float32) for key, one in said.items()})
    folder.close(record)
    return record


@dataclass(frozen=True)
class _Fit:
    """A head's weights of columns, and what comes of them.

    Raw values are (columns @ weights - center) / spread; `unseen` are those of texts whose fold
    the head had not learned from, by corpus.
    """

    head: ProbeHead
    weights: Array
    center: float
    spread: float
    unseen: Mapping[str, Array] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    scale: Scale = field(default_factory=lambda: Scale(()))

    def say(self, columns: Array, weights: Array | None = None) -> Array:
        """Give raw values by its own weights, or by those of another fit."""
        values: Array = columns @ (self.weights if weights is None else weights)
        return (values - self.center) / self.spread


def _standardise(head: ProbeHead, weights: Array, columns: Array) -> _Fit:
    """Let raw values of the texts learned from have mean 0 and deviation 1."""
    values = columns @ weights
    return _Fit(head, weights, float(values.mean()), float(values.std()) or 1.0)


def _fit_to_choices(bench: Bench, name: str) -> _Fit:
    head = bench.recipe.probes[name]
    corpora = [bench.choices[one] for one in head.choices]
    made = [bench.choices[one] for one in head.made]
    asked = {one.question for one in corpora}
    tested = [one for one in map(bench.choices.get, bench.recipe.tested) if one]
    tested = [one for one in tested if one.question in asked]
    learned = [*corpora, *made]
    columns = {one.corpus: bench.columns(head, one.texts) for one in (*learned, *tested)}
    fit_to = _choose_fit(name, head, learned, columns)
    weights = fit_to(learned)
    people = np.concatenate([columns[one.corpus] for one in corpora])
    fit = _standardise(head, weights, people)
    crossed = _cross_fit(bench, fit, learned, columns, fit_to)
    unseen = {one.corpus: crossed[one.corpus] for one in corpora}
    inside = measure_columns(corpora, {key: one[:, None] for key, one in unseen.items()})
    left = leave_out([*corpora, *tested], columns, also=made, fit=fit_to)
    figures: dict[str, Any] = {"unseen": [_row(one) for one in inside]}
    figures["left_out"] = [_row(one) for one in left.held]
    figures["mean_gain"] = left.mean_gain.plain()
    again = [fit_to(drawn) for drawn in draw_again(learned, bench.recipe.draws)]
    error = _find_error(fit, again, people)
    if head.teacher:  # who might have learned otherwise, too; raw values of both have deviation 1
        teacher = read_config(find_folder(head.teacher)).scales[name]
        error = math.hypot(error, teacher.error or 0.0)
    gaps = [np.subtract(*unseen[one.corpus][one.pairs].T) for one in corpora]
    scale = replace(_make_scale(bench, name, fit), error=error)
    if head.link == "logistic":
        scale = replace(scale, slope=logistic_slope(np.concatenate(gaps)))
    scale = _add_percentiles(scale, head, unseen.get(head.people))
    return replace(fit, unseen=unseen, figures=figures, scale=scale)


def _choose_fit(
    name: str, head: ProbeHead, corpora: Sequence[Choices], columns: Mapping[str, Array]
) -> FitCorpora:
    """Give what fits the head to some corpora: to people's choices, or to what a teacher said."""
    if not head.teacher:
        return lambda some: fit_choices(head, some, columns)
    taught = _read_taught(name, head.teacher, corpora)
    return lambda some: fit_taught(head, some, columns, taught)


def _read_taught(name: str, teacher: str, corpora: Sequence[Choices]) -> dict[str, Array]:
    """Read what a teacher's head of that name said of texts whose items it had not learned from."""
    file = find_folder(teacher) / CROSS_FITTED
    remedy = "name weights of a recipe with probes, such as 'large'"
    if not file.is_file():
        raise InputError(f"the teacher {teacher!r} has no {CROSS_FITTED}", remedy)
    said, taught = read_arrays(file, "values of unseen texts", remedy), dict[str, Array]()
    for one in corpora:
        values = said.get(f"{name}/{one.corpus}")
        if values is None or values.shape != (len(one.texts),):
            problem = f"the teacher {teacher!r} did not say {name} of the texts of {one.corpus}"
            raise InputError(problem, "leave that corpus out, or name another teacher")
        taught[one.corpus] = values.astype(np.float64)
    return taught


def _cross_fit(
    bench: Bench,
    fit: _Fit,
    corpora: Sequence[Choices],
    columns: Mapping[str, Array],
    fit_to: FitCorpora,
) -> dict[str, Array]:
    """Give raw values by heads that were fitted without a text's fold, by corpus."""
    said = {one.corpus: np.full(len(one.texts), np.nan) for one in corpora}
    folds = {one.corpus: bench.fold_of(one.groups) for one in corpora}
    for fold in range(bench.recipe.folds):
        rest = [
            replace(one, weights=one.weights * (folds[one.corpus][one.pairs] != fold).all(1))
            for one in corpora
        ]
        weights = fit_to(rest)
        for one in corpora:
            there = folds[one.corpus] == fold
            said[one.corpus][there] = fit.say(columns[one.corpus][there], weights)
    return said


def _fit_to_ratings(bench: Bench, name: str) -> _Fit:
    head = bench.recipe.probes[name]
    ratings = bench.ratings[head.ratings, head.aspect]
    columns, folds = bench.columns(head, ratings.texts), bench.fold_of(ratings.groups)
    everyone, gaps = np.arange(len(ratings.texts)), _find_gaps(bench, head)
    fit = _standardise(head, fit_ratings(head, ratings, columns, everyone, gaps), columns)
    unseen = np.full(len(everyone), np.nan)
    for fold in range(bench.recipe.folds):
        there = folds == fold
        weights = fit_ratings(head, ratings, columns, np.flatnonzero(~there), gaps)
        unseen[there] = fit.say(columns[there], weights)
    scale = _make_scale(bench, name, fit)
    if head.relation:
        rows = relate(ratings.prompts, ratings.texts)
        relation = fit_relation([rows], head.relation)
        scale, unseen = replace(scale, relation=relation), unseen + relation.parts(rows)
    rng = np.random.default_rng(0)
    drawn = [rng.choice(everyone, len(everyone)) for _ in range(bench.recipe.draws)]
    again = [fit_ratings(head, ratings, columns, rows, gaps) for rows in drawn]
    scale = replace(scale, error=_find_error(fit, again, columns))
    if head.link == "clipped":
        slope, shift = np.polyfit(unseen, ratings.values, 1)
        scale = replace(scale, slope=max(0.0, float(slope)), shift=float(shift))
    if head.people:  # who were not asked about this, so that all heads see them for the first time
        scale = _add_percentiles(scale, head, fit.say(_people_columns(bench, head)))
    figure = {"figure": "spearman", "value": float(spearman(unseen, ratings.values))}
    figures = {name: figure | {"n": len(unseen), "against": ratings.corpus}}
    return replace(fit, unseen={ratings.corpus: unseen}, figures=figures, scale=scale)


def _find_gaps(bench: Bench, head: ProbeHead) -> Array | None:
    """Give columns of texts less those of the same made worse; None where none are learned from."""
    parts = []
    for one in (bench.choices[name] for name in head.made):
        better, worse = bench.columns(head, one.texts)[one.pairs].swapaxes(0, 1)
        parts.append(better - worse)
    return np.concatenate(parts) if parts else None


def _people_columns(bench: Bench, head: ProbeHead) -> Array:
    return bench.columns(head, bench.choices[head.people].texts)


def _find_error(fit: _Fit, again: Sequence[Array], columns: Array) -> float:
    """Give how far raw values lie apart when items are drawn again: a standard error."""
    return float(np.sqrt(np.var([fit.say(columns, one) for one in again], axis=0, ddof=1).mean()))


def _add_percentiles(scale: Scale, head: ProbeHead, people: Array | None) -> Scale:
    """Say where people's own texts stand; of those, half are above the middle of a chance."""
    if people is None:
        return scale
    points = np.percentile(people, np.arange(101))
    if head.link == "logistic":
        scale = replace(scale, shift=-scale.slope * float(points[50]))
    return replace(scale, percentiles=tuple(points.tolist()))


def _make_scale(bench: Bench, name: str, fit: _Fit) -> Scale:
    """Give the scale of a head: its output, and the features that were fitted with it."""
    layout = bench.layout
    _, _, weights = layout.part(fit.head, fit.weights)
    surface = Surface(
        FEATURES_VERSION, tuple(layout.feature_means.tolist()),
        tuple(layout.feature_deviations.tolist()), tuple((weights / fit.spread).tolist()),
        clip=CLIP,
    )  # fmt: skip
    head, beside = fit.head, list[Term]()
    if head.beside:
        terms = zip(bench.recipe.beside_heads, layout.beside_terms(fit.weights), strict=True)
        beside = [
            Term(borrowed_name(bench.recipe.beside, other), 0, weight / fit.spread, mean, deviation)
            for other, (weight, mean, deviation) in terms
        ]
    return Scale((Term(name), *beside), surface, head.link, low=head.low, high=head.high)


def _head_tensors(bench: Bench, fits: Mapping[str, _Fit]) -> dict[str, Tensor]:
    """Give the heads' matrices over a window's vector, which begins with the last token's state."""
    import torch

    tensors = {}
    for name, fit in fits.items():
        plain, bias, _ = bench.layout.part(fit.head, fit.weights)
        whole = np.concatenate([np.zeros(bench.layout.states), plain]) / fit.spread
        tensors[f"head.{name}.weight"] = torch.from_numpy(whole[None])
        shift = (bias - fit.center) / fit.spread
        tensors[f"head.{name}.bias"] = torch.tensor([shift], dtype=torch.float64)
    return tensors


def _write_config(
    out: Path, bench: Bench, fits: Mapping[str, _Fit], record: Mapping[str, Any]
) -> None:
    recipe = bench.recipe
    names = recipe.domain or bench.sources
    stories = [story.text for name in names for story in bench.dataset(name).stories]
    training = {name: record[name] for name in ("data", "versions")}
    training |= {"licence": recipe.licence, "validation": {"scales": record["scales"]}}
    config = ReaderConfig(
        kind=recipe.kind,
        encoder=Pin(recipe.encoder, get_asset(recipe.encoder).tree_sha256),
        window=recipe.window,
        heads={name: Head((name,)) for name in fits},
        scales={name: fit.scale for name, fit in fits.items()},
        domain=describe_domain([text for text in dict.fromkeys(map(flatten, stories)) if text]),
        training=training,
        layer=recipe.layer,
        surprisal=recipe.surprisal,
        **describe_beside(recipe.beside, recipe.beside_heads),
    )
    write_config(out, config)


def _row(one: Held) -> dict[str, Any]:
    return {
        "corpus": one.corpus, "choices": one.choices, "accuracy": one.accuracy.plain(),
        "baseline": one.name, "baseline_accuracy": one.baseline, "gain": one.gain.plain(),
    }  # fmt: skip


def _say(figures: Mapping[str, Any]) -> str:
    if "mean_gain" not in figures:
        [figure] = figures.values()
        return f"Spearman's ρ {figure['value']:.3f}, unseen items"
    gain = figures["mean_gain"]
    return f"corpora left out: {gain['value']:+.3f} [{gain['low']:+.3f}, {gain['high']:+.3f}]"
