"""Scales of a reader: what its heads said of unseen stories, made into values people can read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.errors import SettingError
from fabula.learned.reader.config import (
    Head,
    Pin,
    ReaderConfig,
    Scale,
    Surface,
    Term,
    borrowed_name,
    write_config,
)
from fabula.learned.reader.relation import Relation, fit_relation
from fabula.learned.training.cross_fit import CrossFitted
from fabula.learned.training.examples import ExampleSet, Prepared
from fabula.learned.training.folder import write_arrays
from fabula.learned.training.reader_evaluation import figure_row, text_means
from fabula.learned.training.recipe import ReaderRecipe, ScaleRecipe, Task
from fabula.learned.training.surface import CLIP, fit_surface, surface_parts
from fabula.meta.coefficients import spearman
from fabula.models import asset_names, get_asset
from fabula.text.features import FEATURES_VERSION, PARAGRAPH_FEATURES

Array = np.ndarray[Any, np.dtype[Any]]
CROSS_FITTED = "cross_fitted.npz"
PEOPLE, FEATURES = "people", "features"  # arrays of human stories in it: a head's, the surface's
_FLAT = 1e-12


def write_reader(
    out: Path,
    recipe: ReaderRecipe,
    prepared: Prepared,
    crossed: CrossFitted | None,
    *,
    record: Mapping[str, Any],
    encoder: Pin | None = None,
) -> dict[str, Any]:
    """Fit the scales and write `reader.json`; what unseen stories were given goes beside it.

    `encoder` is that of the reader's own, where it sits on no asset.
    Give how each scale agrees with the opinions on unseen stories that its recipe names.
    """
    heads = {name: Head(_names(task), task.hidden) for name, task in recipe.heads.items()}
    fit = _Fit(recipe, prepared.examples, crossed)
    scales = {name: fit.scale(name, scale) for name, scale in recipe.scales.items()}
    about = ReaderConfig(
        kind=recipe.kind,
        encoder=encoder or _pin(recipe.encoder),
        window=recipe.window,
        overlap=recipe.overlap,
        layout=recipe.layout,
        heads=heads,
        **describe_beside(recipe.beside, recipe.borrowed),
        scales=scales,
        domain=prepared.domain,
        training=_note_training(recipe, record, fit.figures),
    )
    write_config(out, about)
    fit.keep_people()
    if fit.kept:
        write_arrays(out / CROSS_FITTED, fit.kept)
    return fit.figures


def _note_training(
    recipe: ReaderRecipe, record: Mapping[str, Any], figures: Mapping[str, Any]
) -> dict[str, Any]:
    """Say what the weights come of; what was measured against a judge is not with the rest."""
    unseen, judges = record.get("unseen", {}), record.get("judges", {})
    parted = part_figures(unseen, figures, recipe, judges)
    return {
        "licence": recipe.licence,
        "seed": record["seed"],
        "data": record["data"],
        "versions": record["versions"],
        "validation": {"tasks": parted["unseen"], "scales": parted["scales"]},
    } | ({"judges": parted["judges"]} if parted["judges"] else {})


def part_figures(
    unseen: Mapping[str, Any],
    scales: Mapping[str, Mapping[str, Any]],
    recipe: ReaderRecipe,
    judges: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Part figures of tasks and of scales: against people's opinions, and against judges'.

    They are named by the task, or by task and aspect, whose opinions they are against. Those of a
    judge go under `judges`, by its spec, to what is said of it there.
    """
    parted: dict[str, Any] = {"unseen": {}, "scales": {scale: {} for scale in scales}}
    apart = {spec: {**about, "unseen": {}, "scales": {}} for spec, about in judges.items()}

    def place(name: str) -> dict[str, Any]:
        scorer = recipe.tasks[name.partition(".")[0]].scorer
        return apart.setdefault(scorer, {"unseen": {}, "scales": {}}) if scorer else parted

    for name, figure in unseen.items():
        place(name)["unseen"][name] = figure
    for scale, figures in scales.items():
        for name, figure in figures.items():
            place(name)["scales"].setdefault(scale, {})[name] = figure
    return parted | {"judges": apart}


def _names(task: Task) -> tuple[str, ...]:
    return task.aspects if task.kind in ("ratings", "shares", "taught") else (task.head,)


def _pin(name: str) -> Pin:
    return Pin(name, get_asset(name).tree_sha256 if name in asset_names() else "")


@dataclass(frozen=True)
class _Target:
    """Opinions that a scale is fitted to: a task's examples, and which of its outputs."""

    task: str
    examples: ExampleSet
    output: int | None  # None: pairs
    is_share: bool = False  # of raters who chose to speak of it

    @property
    def pairs(self) -> tuple[Array, Array]:
        """Give texts that people preferred, and those beside them: of one item, rated lower."""
        if self.output is None:
            return self.examples.members[:, 0], self.examples.members[:, 1]
        by_item: dict[str, list[int]] = {}
        for number, item in enumerate(self.examples.items):
            by_item.setdefault(item, []).append(number)
        said = self.examples.targets[:, self.output]
        pairs = [
            (number, other)
            for numbers in by_item.values()
            for number in numbers
            for other in numbers
            if said[number] > said[other]
        ]
        texts = self.examples.members[:, 0]
        better, worse = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return texts[better], texts[worse]

    @property
    def values(self) -> Array:
        """Give people's values by text, mean 0 and deviation 1; NaN where there is none."""
        values = np.full(len(self.examples.texts), np.nan)
        if self.output is not None:
            values[self.examples.members[:, 0]] = self.examples.targets[:, self.output]
        return values


class _Fit:
    def __init__(
        self,
        recipe: ReaderRecipe,
        examples: Mapping[str, ExampleSet],
        crossed: CrossFitted | None,
    ) -> None:
        self._recipe, self._examples, self._crossed = recipe, examples, crossed
        self.kept: dict[str, Array] = {}
        self.figures: dict[str, dict[str, Any]] = {}

    def scale(self, name: str, recipe: ScaleRecipe) -> Scale:
        """Fit one scale."""
        terms = tuple(self._term(spelled, weight) for spelled, weight in recipe.terms.items())
        if not recipe.to or self._crossed is None:
            return Scale(terms, link=recipe.link if recipe.link != "clipped" else "identity")
        targets = [self._target(spelled) for spelled in recipe.to]
        terms = tuple(self._standardise(term, targets) for term in terms)
        surface, parts = None, dict[str, Array]()
        if recipe.surface:
            surface, parts = self._surface(recipe, targets)
        relation = self._relation(name, recipe, targets) if recipe.relation else None
        low, high = recipe.bounds
        scale = Scale(terms, surface, recipe.link, low=low, high=high, relation=relation)
        raws = {target.task: self._raw(scale, target.task, parts) for target in targets}
        scale = replace(_link(scale, targets, raws), error=_error(list(raws.values())))
        if recipe.people:
            people = text_means(self._raw(scale, recipe.people, parts))
            points = np.percentile(people[~np.isnan(people)], np.arange(101))
            scale = replace(scale, percentiles=tuple(points.tolist()))
            if recipe.link == "logistic":
                scale = replace(scale, shift=-scale.slope * float(points[50]))
        self._keep(name, recipe, scale, raws, parts)
        return scale

    def _target(self, spelled: str) -> _Target:
        task, _, aspect = spelled.partition(".")
        if task not in self._examples:
            raise SettingError(f"a scale is fitted to {spelled!r}", "name a task, or task.aspect")
        examples, kind = self._examples[task], self._recipe.tasks[task]
        if kind.kind == "pairs":
            return _Target(task, examples, None)
        output = kind.aspects.index(aspect) if aspect else 0
        return _Target(task, examples, output, is_share=kind.kind == "shares")

    def _term(self, spelled: str, weight: float) -> Term:
        head, _, output = spelled.partition(".")
        if self._recipe.beside and head == self._recipe.beside:
            return Term(borrowed_name(head, output), 0, weight, optional=True)
        if head not in self._recipe.heads:
            raise SettingError(f"a scale has the term {spelled!r}", "name a head, or head.output")
        names = _names(self._recipe.heads[head])
        return Term(head, names.index(output) if output else 0, weight)

    def _outputs(self, term: Term, task: str) -> Array:
        """What the term's head said of a task's texts: (seeds, texts)."""
        assert self._crossed is not None
        if term.optional:
            names = [borrowed_name(self._recipe.beside, head) for head in self._recipe.borrowed]
            beside: Array = self._examples[task].beside[:, names.index(term.head)]
            return beside[None]
        outputs: Array = self._crossed.outputs[task, term.head][:, :, term.output]
        return outputs

    def _standardise(self, term: Term, targets: list[_Target]) -> Term:
        values = np.concatenate([self._outputs(term, target.task).ravel() for target in targets])
        deviation = float(np.nanstd(values)) or 1.0
        return replace(term, mean=float(np.nanmean(values)), deviation=deviation)

    def _surface(
        self, recipe: ScaleRecipe, targets: list[_Target]
    ) -> tuple[Surface, dict[str, Array]]:
        """Fit the surface features to all; and, for texts unseen, to the other folds alone."""
        assert self._crossed is not None
        opinions = [(t.examples, t.output) for t in targets]
        # Of a plain text paragraphs tell nothing but its length once more.
        plain = PARAGRAPH_FEATURES if self._recipe.layout == "plain" else ()
        without = (*recipe.without, *plain)
        means, deviations, weights = fit_surface(opinions, without)
        parts: dict[str, Array] = {}
        others = [s.partition(".")[0] for s in (*recipe.also, recipe.people) if s]
        for task in dict.fromkeys([*(t.task for t in targets), *others]):
            parts[task] = surface_parts(
                self._examples[task], self._crossed.folds[task],
                opinions=opinions,
                folds=[self._crossed.folds[t.task] for t in targets],
                own=[t.task == task for t in targets],
                without=without,
            )  # fmt: skip
        pooled = np.concatenate([parts[t.task].ravel() for t in targets])
        mean, deviation = float(np.nanmean(pooled)), float(np.nanstd(pooled)) or 1.0
        surface = Surface(
            FEATURES_VERSION, tuple(means), tuple(deviations), tuple(weights),
            clip=CLIP, weight=recipe.surface, mean=mean, deviation=deviation,
        )  # fmt: skip
        return surface, {task: (value - mean) / deviation for task, value in parts.items()}

    def _relation(self, name: str, recipe: ScaleRecipe, targets: list[_Target]) -> Relation:
        """Standardise what stories have to do with their prompts; nothing of it is fitted."""
        try:
            return fit_relation([t.examples.relations for t in targets], recipe.relation)
        except ValueError as error:
            raise SettingError(f"scale {name}: {error}", "leave its relation out") from None

    def _raw(self, scale: Scale, task: str, parts: Mapping[str, Array]) -> Array:
        """Raw values of a task's texts: (seeds, texts); `parts` are those of the surface."""
        raw: Array = np.asarray(
            sum(
                _fill_optional(term, term.weight * (self._outputs(term, task) - term.mean))
                / term.deviation
                for term in scale.terms
            )
        )
        if scale.surface is not None:
            raw = raw + scale.surface.weight * parts[task]
        if scale.relation is not None:
            raw = raw + scale.relation.parts(self._examples[task].relations)
        return raw

    def _keep(
        self,
        name: str,
        recipe: ScaleRecipe,
        scale: Scale,
        raws: Mapping[str, Array],
        parts: Mapping[str, Array],
    ) -> None:
        values = dict(raws)
        for spelled in recipe.also:
            task = spelled.partition(".")[0]
            values.setdefault(task, self._raw(scale, task, parts))
        self.figures[name] = {
            spelled: _figure(self._target(spelled), values[spelled.partition(".")[0]])
            for spelled in (*recipe.to, *recipe.also)
        }
        for task, raw in values.items():
            self.kept[f"{name}/{task}"] = raw.astype(np.float32)
            self.kept[f"ids/{task}"] = np.array(self._examples[task].ids)
            if task in parts:
                self.kept[f"{name}/{task}/surface"] = parts[task].astype(np.float32)

    def keep_people(self) -> None:
        """Keep what heads said of people's stories, for who weighs heads anew: percentiles."""
        preference = self._recipe.scales.get("preference")
        task = preference.people if preference else ""
        if not task or self._crossed is None:
            return
        for (name, head), outputs in self._crossed.outputs.items():
            if name == task:
                # (seeds, texts, outputs): a seed has one reader that had not seen the text.
                self.kept[f"{PEOPLE}/{head}"] = outputs.mean(axis=0).astype(np.float16)
        self.kept[f"{PEOPLE}/{FEATURES}"] = self._examples[task].features


def _fill_optional(term: Term, added: Array) -> Array:
    """Let an optional term that says nothing of a text count as its mean."""
    return np.nan_to_num(added, nan=0.0) if term.optional else added


def describe_beside(name: str, heads: Sequence[str]) -> dict[str, Any]:
    """Say in a configuration which reader is asked as well, and which of its heads."""
    if not name:
        return {}
    return {
        "beside": Pin(name, get_asset(name).tree_sha256),
        "borrowed": {borrowed_name(name, head): Head((head,)) for head in heads},
    }


def _link(scale: Scale, targets: list[_Target], raws: Mapping[str, Array]) -> Scale:
    """Choose slope and shift so that values are what people would say."""
    if scale.link == "identity":
        return _as_log_share(scale, targets[0], raws) if targets[0].is_share else scale
    if scale.link == "logistic":
        gaps = []
        for target in targets:
            first, second = target.pairs
            gaps.append((raws[target.task][:, first] - raws[target.task][:, second]).ravel())
        return replace(scale, slope=logistic_slope(np.concatenate(gaps)))
    raw = np.concatenate([text_means(raws[t.task]) for t in targets])
    said = np.concatenate([t.values for t in targets])
    both = ~np.isnan(raw) & ~np.isnan(said)
    raw, said = raw[both], said[both]
    slope, shift = np.polyfit(raw, said, 1) if np.ptp(raw) > 0 else (0.0, said.mean())
    if slope < 0:
        # What tells nothing must not be read backwards: everyone gets the mean.
        slope, shift = 0.0, said.mean()
    return replace(scale, slope=float(slope), shift=float(shift))


def _as_log_share(scale: Scale, target: _Target, raws: Mapping[str, Array]) -> Scale:
    """Give values whose softmax is the share of raters: its logarithm, moved as raw tells."""
    raw, said = text_means(raws[target.task]), target.values
    both = ~np.isnan(raw) & ~np.isnan(said)
    mean = max(float(said[both].mean()), 1e-3)
    slope = np.polyfit(raw[both], said[both], 1)[0] / mean if np.ptp(raw[both]) > 0 else 0.0
    return replace(scale, slope=max(0.0, float(slope)), shift=float(np.log(mean)))


def logistic_slope(gaps: Array) -> float:
    """The slope at which the sigmoid of a gap is the probability that people agree with it."""
    gaps = gaps[~np.isnan(gaps) & (gaps != 0)]
    if not len(gaps):
        return 1.0
    slope = 1.0
    for _ in range(50):
        share = np.exp(-np.logaddexp(0, -slope * gaps))
        bend = float((share * (1 - share) * gaps**2).sum())
        if bend < _FLAT:
            break  # people never disagree with it: any steeper slope would do
        slope += float(((1 - share) * gaps).sum()) / bend
    return slope


def _figure(target: _Target, raw: Array) -> dict[str, Any]:
    """Compare raw values of texts, (seeds, texts), with what people said of them."""
    if target.output is None:
        first, second = target.pairs
        shares = np.mean(raw[:, first] > raw[:, second], axis=1)
        return figure_row(shares.tolist(), len(first), is_pair=True)
    said = target.values
    there = ~np.isnan(said) & ~np.isnan(raw).any(axis=0)
    seeds = [float(spearman(values[there], said[there])) for values in raw] if there.any() else []
    return figure_row(seeds, int(there.sum()), is_pair=False)


def _error(raws: list[Array]) -> float | None:
    """Standard error between trainings: None where there was one seed."""
    variances = [
        np.var(raw[:, there], axis=0, ddof=1)
        for raw in raws
        if raw.shape[0] > 1 and (there := ~np.isnan(raw).any(axis=0)).any()
    ]
    return float(np.sqrt(np.concatenate(variances).mean())) if variances else None
