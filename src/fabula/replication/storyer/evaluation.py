"""Evaluate weights on any sets as StoryER's paper does: preference, aspects, comments, means.

Rows are weights (a joint training's folder, a reader's, or an asset), trivial baselines, and what
the paper prints. Which stories weights have learned from, nobody can tell from here: give them
sets that were held out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fabula.core.dataset import Dataset
from fabula.core.errors import UserError
from fabula.core.story import Story
from fabula.datasets.storyer_ratings import ASPECTS, UPVOTES
from fabula.meta.coefficients import Coefficient
from fabula.meta.resampling import Estimate
from fabula.replication.findings import StudyCell, StudyFinding, StudyRow, StudyTable
from fabula.replication.storyer.evaluated_comments import comment_tables
from fabula.replication.storyer.evaluated_sets import part_stories, rated_aspects
from fabula.replication.storyer.evaluated_weights import Weights, open_weights, score_all
from fabula.replication.storyer.material import Material
from fabula.replication.storyer.printed import (
    RATERS,
    TABLE_3,
    TABLE_4_N,
    TABLE_8_BAD,
    TABLE_8_LIKED,
)
from fabula.replication.storyer.unseen_ratings import (
    centre_columns,
    correlate_aspects,
    recall_at,
)

Array = np.ndarray[Any, np.dtype[Any]]
AT = (1, 3, 5)
_COEFFICIENTS: tuple[Coefficient, ...] = ("spearman", "kendall", "pearson")
_CAUTION = (
    "Worth something only where the weights have not learned from these stories, which nobody can "
    "tell from here; of Fabula's own, `fabula study run studies/storyer.toml` looks at unseen ones."
)
_BASELINES = {"number of words °": "words", "different words °": "unique_words"}


@dataclass(frozen=True)
class HowEvaluated:
    """On how many aspects of stories comments are asked for, and what parts the stories of a set.

    `by` is the name of a column, such as genre, whose values `open_sets` has made systems; the sets
    that are `whole`, by their names, have no such column. `remarks` are said of sets, by name.
    """

    comments: int = 100
    by: str = ""
    whole: Collection[str] = ()
    remarks: Mapping[str, Sequence[str]] = field(default_factory=dict)


def evaluate_weights(
    specs: Sequence[str],
    sets: Sequence[Dataset],
    material: Material,
    how: HowEvaluated | None = None,
) -> list[StudyFinding]:
    """Give what weights are worth on sets, analysis by analysis; what lacks something says what."""
    how = how or HowEvaluated()
    weights = open_weights(specs)
    findings: list[StudyFinding] = []
    for dataset in sets:
        material.report(f"{dataset.name}: {len(dataset.stories):,} stories")
        tables: list[StudyTable] = []
        words = [*([] if findings else [_CAUTION]), *how.remarks.get(dataset.name, ())]
        asked = replace(how, by="") if dataset.name in how.whole else how
        for build in _choose_parts(dataset):
            try:
                tables += build(weights, dataset, material, asked)
            except UserError as error:
                words.append(f"Not measured: {error}")
        words += [line for one in weights for line in one.lacks]
        findings.append(StudyFinding(dataset.name, f"On {dataset.name}", words, tables))
    findings.append(_compare_means(weights, sets, material))
    return findings


def _choose_parts(dataset: Dataset) -> list[Any]:
    """Choose what can be asked of a set: what it holds gold for."""
    parts: list[Any] = []
    if dataset.preferences:
        parts.append(_pair_tables)
    if len(dataset.ratings):
        aspects = rated_aspects(dataset)
        parts += [_aspect_tables, comment_tables] if aspects else [_rating_tables]
    return parts


def _items(stories: Sequence[Story]) -> list[str]:
    return [str(story.item or story.id) for story in stories]


def _pair_tables(
    weights: Sequence[Weights], dataset: Dataset, material: Material, how: HowEvaluated
) -> list[StudyTable]:
    """Tables 3 and 4: how many pairs are put in order, and how far their stories are apart."""
    choices = [one for one in dataset.preferences if not one.is_tie]
    places = {story.id: at for at, story in enumerate(dataset.stories)}
    better, worse = (
        np.array([places[getattr(one, side)] for one in choices]) for side in ("better", "worse")
    )
    items = [_items(dataset.stories)[at] for at in better]

    def row(name: str, values: Array, *, shared: bool) -> StudyRow:
        gaps = values[better] - values[worse]
        right = np.where(np.isnan(gaps), np.nan, gaps > 0)
        distance: StudyCell = material.estimate_mean(gaps, items) if shared else None
        return [name, material.estimate_mean(right, items), distance, int((~np.isnan(gaps)).sum())]

    preferred = {one.name: one.preferences(dataset.stories) for one in weights}
    rows = [row(name, values, shared=True) for name, values in preferred.items()]
    rows += [
        row(name, score_all(spec, dataset.stories)[""], shared=False)
        for name, spec in _BASELINES.items()
    ]
    rows += [
        [f"{name}, printed", printed.accuracy, printed.distance, 22_887]
        for name, printed in TABLE_3.items()
    ]
    rows.append(["StoryER (N), printed in Table 4", TABLE_4_N.accuracy, TABLE_4_N.distance, 22_887])
    return [
        StudyTable(
            f"pairs_{dataset.name}",
            "Preference: pairs put in the right order (Tables 3 and 4)",
            ("model", "accuracy", "distance", "pairs"),
            rows,
            "A tie counts as wrong. Distance: by how much the better story's preference is higher. "
            "Intervals by drawing prompts anew. Printed: on the paper's own test pairs, which are "
            "others unless these are they.",
        ),
        *(_pairs_by_system(dataset, material, preferred, (better, worse)) if how.by else ()),
    ]


def _pairs_by_system(
    dataset: Dataset,
    material: Material,
    preferred: dict[str, Array],
    pairs: tuple[Array, Array],
) -> list[StudyTable]:
    """Table 9: accuracy genre by genre, where stories tell theirs; none where they do not."""
    systems = [dataset.stories[at].system or "none" for at in pairs[0]]
    if len(set(systems)) < 2:
        return []
    items = [_items(dataset.stories)[at] for at in pairs[0]]
    rows: list[StudyRow] = []
    for system in dict.fromkeys(systems):
        there = np.array([name == system for name in systems])
        cells: list[StudyCell] = []
        for values in preferred.values():
            gaps = values[pairs[0]] - values[pairs[1]]
            right = np.where(np.isnan(gaps) | ~there, np.nan, gaps > 0)
            cells.append(material.estimate_mean(right, items))
        rows.append([system, *cells, int(there.sum())])
    columns = ("genre", *(f"accuracy of {name}" for name in preferred), "pairs")
    title = "Pairs put in the right order, genre by genre (Table 9)"
    return [StudyTable(f"genres_{dataset.name}", title, columns, rows, drawn="share of pairs")]


def _rating_tables(
    weights: Sequence[Weights], dataset: Dataset, material: Material, how: HowEvaluated
) -> list[StudyTable]:
    """Table 3 on: how preference goes with people's mean ratings."""
    tables = []
    for aspect in dict.fromkeys(score.aspect for score in dataset.ratings):
        means = mean_ratings(dataset, aspect)
        gold = np.array([means.get(story.id, np.nan) for story in dataset.stories])
        items = _items(dataset.stories)
        columns = {one.name: one.preferences(dataset.stories) for one in weights}
        columns |= {n: score_all(spec, dataset.stories)[""] for n, spec in _BASELINES.items()}
        rows: list[StudyRow] = []
        for name, values in columns.items():
            estimates = [
                material.estimate_correlation(values, gold, items, chosen)
                for chosen in _COEFFICIENTS
            ]
            rows.append([name, *estimates, estimates[0].n])
        rows += [
            [f"{name} on {known}, printed", rho, tau, None, 200]
            for name in ("StoryER", "StoryER (N)")
            for known, (rho, tau) in TABLE_3[name].sets.items()
        ]
        rows += _rows_by_system(dataset, material, columns, gold) if how.by else []
        title = f"Preference beside people's ratings{f': {aspect}' if aspect else ''} (Table 3)"
        names = ("model", "Spearman ρ", "Kendall τ", "Pearson r", "stories")
        note = "Mean ratings of stories; intervals by drawing prompts anew."
        tables.append(StudyTable(f"ratings_{dataset.name}_{aspect}", title, names, rows, note))
    return tables


def _rows_by_system(
    dataset: Dataset, material: Material, columns: dict[str, Array], gold: Array
) -> list[StudyRow]:
    """Give the rows of every genre or system alone, where there are several."""
    systems = [story.system or "none" for story in dataset.stories]
    items, rows = _items(dataset.stories), []
    for system in dict.fromkeys(systems) if len(set(systems)) > 1 else ():
        there = np.array([name == system for name in systems])
        for name, values in columns.items():
            if name in _BASELINES:
                continue
            alone = np.where(there, values, np.nan)
            cells: list[StudyCell] = [
                material.estimate_correlation(alone, gold, items, how) for how in _COEFFICIENTS
            ]
            rows.append([f"{name}, {system} alone", *cells, int(there.sum())])
    return rows


def mean_ratings(dataset: Dataset, aspect: str) -> dict[str, float]:
    """Give people's mean rating of every story on one aspect."""
    by_story: dict[str, list[float]] = {}
    for score in dataset.ratings:
        if score.aspect == aspect and score.ok:
            by_story.setdefault(score.story, []).append(score.value)
    return {story: float(np.mean(values)) for story, values in by_story.items()}


def _aspect_tables(
    weights: Sequence[Weights], dataset: Dataset, material: Material, _how: HowEvaluated
) -> list[StudyTable]:
    """Table 5: which aspects are spoken of, and how they are rated."""
    by_aspect = [mean_ratings(dataset, aspect) for aspect in ASPECTS]
    stories = [s for s in dataset.stories if any(s.id in means for means in by_aspect)]
    gold = np.array([[means.get(story.id, np.nan) for means in by_aspect] for story in stories])
    chosen, items = ~np.isnan(gold), _items(stories)
    # What is chosen of the other stories: no story helps to guess its own.
    others = (chosen.sum(0)[None] - chosen).astype(float)
    rows: list[StudyRow] = []
    detail: dict[str, Array] = {}
    for one in weights:
        detail[one.name] = one.ratings(stories)
        rows.append([one.name, *_recalls(material, one.confidences(stories), chosen, items)])
        rows[-1] += [*_agreement(material, detail[one.name], gold, items), int(chosen.sum())]
    rows.append(["prior: the commonest aspects °", *_recalls(material, others, chosen, items)])
    rows[-1] += [None, None, int(chosen.sum())]
    rows.append(["as many drawn by lot °", *(k / len(ASPECTS) for k in AT), None, None, None])
    printed = [RATERS["spearman"], RATERS["kendall"]]
    rows.append(["two raters, printed", None, None, None, *printed, None])
    columns = ("model", *(f"R@{k}" for k in AT), "Spearman ρ", "Kendall τ", "ratings")
    note = (
        "R@k: share of the aspects that raters spoke of among the k of most confidence. The "
        "commonest are those of the other stories; with few, a lot may do better. ρ and τ of "
        "all ratings, each less the mean of its aspect. Intervals by drawing prompts anew. Of the "
        "paper's own R@k, ρ and τ none are at hand."
    )
    title = "Aspects: spoken of, and rated (Table 5)"
    whole = StudyTable(f"aspects_{dataset.name}", title, columns, rows, note)
    sides = {"upvotes × people's rating": (_upvotes(dataset, stories), gold)}
    for one in weights:
        sides[f"{one.name}: preference × rating"] = one.preferences(stories), detail[one.name]
    figure = correlate_aspects(material, f"figure_5_{dataset.name}", sides, items)
    return [whole, _by_aspect(material, dataset.name, detail, gold, items), figure]


def _upvotes(dataset: Dataset, stories: Sequence[Story]) -> Array:
    votes = {one.story: one.value for one in dataset.scores if one.scorer == UPVOTES}
    return np.array([votes.get(story.id, np.nan) for story in stories])


def _recalls(material: Material, values: Array, chosen: Array, items: list[str]) -> list[StudyCell]:
    unknown = np.isnan(values).any(1)
    return [
        material.estimate_mean(np.where(unknown, np.nan, recall_at(k, values, chosen)), items)
        for k in AT
    ]


def _agreement(material: Material, ours: Array, gold: Array, items: list[str]) -> list[Estimate]:
    """Give ρ and τ of all ratings together, each less the mean of its aspect."""
    known = np.where(np.isnan(gold), np.nan, ours)
    columns = [centre_columns(values).ravel() for values in (known, gold)]
    units = [item for item in items for _ in ASPECTS]
    return [
        material.estimate_correlation(columns[0], columns[1], units, how)
        for how in _COEFFICIENTS[:2]
    ]


def _by_aspect(
    material: Material, name: str, detail: dict[str, Array], gold: Array, items: list[str]
) -> StudyTable:
    rows: list[StudyRow] = []
    for at, aspect in enumerate(ASPECTS):
        cells: list[StudyCell] = [
            material.estimate_correlation(values[:, at], gold[:, at], items)
            for values in detail.values()
        ]
        rows.append([aspect, *cells, int((~np.isnan(gold[:, at])).sum())])
    columns = ("aspect", *(f"ρ of {model}" for model in detail), "stories")
    return StudyTable(f"by_aspect_{name}", "Ratings aspect by aspect", columns, rows)


def _compare_means(
    weights: Sequence[Weights], sets: Sequence[Dataset], material: Material
) -> StudyFinding:
    """Table 8: the mean preference of the stories of every set, and of its parts."""
    rows: list[StudyRow] = []
    for dataset in sets:
        for name, stories in part_stories(dataset).items():
            cells: list[StudyCell] = [
                material.estimate_mean(one.preferences(stories), _items(stories)) for one in weights
            ]
            rows.append([name, *cells, len(stories)])
    note = (
        f"Printed of StoryER (N): {TABLE_8_BAD[0]} to {TABLE_8_BAD[1]} of stories made bad on "
        f"purpose, {TABLE_8_LIKED} of those liked most."
    )
    columns = ("stories", *(one.name for one in weights), "n")
    table = StudyTable("means", "Mean preference by set (Table 8)", columns, rows, note)
    return StudyFinding("means", "Means", tables=[table])
