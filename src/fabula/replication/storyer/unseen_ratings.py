"""People's ratings beside what readers said that had not seen the stories: aspects, preference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabula.core.errors import UserError
from fabula.datasets.storyer_ratings import ASPECTS, UPVOTES
from fabula.learned.reader.config import CRITERIA
from fabula.meta.arrays import mean_defined
from fabula.meta.coefficients import Coefficient
from fabula.meta.resampling import Estimate
from fabula.replication.findings import Findings, StudyRow, StudyTable
from fabula.replication.storyer.material import Material
from fabula.replication.unseen import UnseenValues
from fabula.text.words import words

Array = np.ndarray[Any, np.dtype[Any]]
_RATED, _HANNA = "storyer_ratings", "hanna"
# So that the data set is told by its name alone, and read where it is there.
_TASKS = {_RATED: "aspects", _HANNA: "criteria"}
_COEFFICIENTS: Sequence[Coefficient] = ("spearman", "kendall")


@dataclass(frozen=True)
class AspectSettings:
    """Whose values are looked at, and among how many of the surest aspects one is to be."""

    weights: str = "reader"
    at: tuple[int, ...] = (1, 3, 5)


def analyse_aspects(material: Material, settings: AspectSettings) -> Findings:
    """Give recall@k of the aspects spoken of, and rank correlations of the ratings by aspect."""
    stories = {f"{_RATED}:{story.id}": story for story in material.dataset(_RATED).stories}
    means = material.ratings(_RATED)
    rows = {
        name: [means.get((story.id, aspect), np.nan) for aspect in ASPECTS]
        for name, story in stories.items()
    }
    names = [name for name, row in rows.items() if not np.isnan(row).all()]
    ratings = np.array([rows[name] for name in names])  # (stories, aspects)
    lengths = np.array([len(words(stories[name].text)) for name in names], dtype=float)
    items = [str(stories[name].item) for name in names]
    tables = [
        _recall_table(material, settings, names, items, ~np.isnan(ratings)),
        _rating_table(material, settings, names, items, (ratings, lengths)),
    ]
    text = (
        f"{len(names)} stories with {int((~np.isnan(ratings)).sum())} rated aspects, read by "
        "readers whose folds had not seen their prompt. With so few ratings an aspect, an "
        "interval that holds zero is the rule: no aspect's own figure is to be believed."
    )
    return [text], tables


def _recall_table(
    material: Material, settings: AspectSettings, names: list[str], items: list[str], chosen: Array
) -> StudyTable:
    unseen = material.unseen(settings.weights)
    raws = np.array([_column(unseen.raw(f"confidence.{a}", "confidence"), names) for a in ASPECTS])
    reader, prior = log_shares_left_out(raws.T, chosen / chosen.sum(1, keepdims=True))
    rows: list[StudyRow] = []
    for k in settings.at:
        by_reader, by_prior = (recall_at(k, logs, chosen) for logs in (reader, prior))
        columns = (by_reader, by_prior, by_reader - by_prior)
        estimates = [material.estimate_mean(column, items) for column in columns]
        rows.append([f"recall@{k}", *estimates, len(names)])
    return StudyTable(
        "confidence_recall",
        "Aspects spoken of among the surest",
        ("figure", "reader", "prior", "reader less prior", "stories"),
        rows,
        "The prior takes the aspects in order of how often they are spoken of in the other "
        "stories. The reader's slopes are fitted without the story, too.",
    )


def log_shares_left_out(raws: Array, shares: Array) -> tuple[Array, Array]:
    """Give log shares of aspects by reader and by prior, each fitted to all stories but its own.

    A share is its mean, moved by the line of shares on raw values where that rises.
    """
    reader, prior = np.zeros(raws.shape), np.zeros(raws.shape)
    for story in range(len(raws)):
        others = np.arange(len(raws)) != story
        mean = np.maximum(shares[others].mean(0), 1e-3)
        x, y = raws[others] - raws[others].mean(0), shares[others] - shares[others].mean(0)
        # Least squares: the sum of x·y over that of x², as a share of the mean.
        slope = np.maximum((x * y).sum(0) / np.maximum((x * x).sum(0), 1e-12), 0) / mean
        prior[story] = np.log(mean)
        reader[story] = prior[story] + slope * (raws[story] - raws[others].mean(0))
    return reader, prior


def _rating_table(
    material: Material,
    settings: AspectSettings,
    names: list[str],
    items: list[str],
    columns: tuple[Array, Array],
) -> StudyTable:
    ratings, lengths = columns
    unseen = material.unseen(settings.weights)
    raws = np.array([_column(unseen.raw(f"aspects.{a}", "aspects"), names) for a in ASPECTS]).T

    def row(name: str, ours: Array, theirs: Array, lengths: Array, items: list[str]) -> StudyRow:
        estimates = [
            *(material.estimate_correlation(ours, theirs, items, how) for how in _COEFFICIENTS),
            material.estimate_correlation(lengths, theirs, items),
        ]
        return [name, *estimates, estimates[0].n]

    rows = [
        row(aspect, raws[:, place], ratings[:, place], lengths, items)
        for place, aspect in enumerate(ASPECTS)
    ]
    known = np.where(np.isnan(ratings), np.nan, raws)
    rows.append(
        row(
            "all, less their mean",
            centre_columns(known).ravel(),
            centre_columns(ratings).ravel(),
            np.repeat(lengths, len(ASPECTS)),
            [item for item in items for _ in ASPECTS],
        )
    )
    return StudyTable(
        "confidence_ratings",
        "Ratings of aspects",
        ("aspect", "Spearman ρ", "Kendall τ", "ρ of the number of words", "stories"),
        rows,
        "The mean of an aspect, as a prior, has no correlation within it. The last row takes all "
        "ratings together, each less the mean of its aspect; its n counts ratings.",
    )


def centre_columns(values: Array) -> Array:
    """Take the mean of its known values from every column."""
    known = ~np.isnan(values)
    centred: Array = values - np.where(known, values, 0).sum(0) / np.maximum(known.sum(0), 1)
    return centred


def _column(values: dict[str, float], names: list[str]) -> list[float]:
    return [values.get(name, np.nan) for name in names]


def recall_at(k: int, values: Array, chosen: Array) -> Array:
    """Give for every story the share of its chosen aspects among the `k` with the highest value.

    Both are (stories, aspects). Of aspects with equal values the first ones count.
    """
    top = np.argsort(-values, axis=1, kind="stable")[:, :k]
    hits = np.take_along_axis(chosen, top, axis=1).sum(1)
    counts = chosen.sum(1)
    recalls: Array = np.where(counts > 0, hits / np.maximum(counts, 1), np.nan)
    return recalls


@dataclass(frozen=True)
class PreferenceSettings:
    """Whose preference is looked at."""

    weights: str = "reader"


def analyse_preference(material: Material, settings: PreferenceSettings) -> Findings:
    """Correlate the preference of unseen stories with people's ratings of them."""
    votes = {
        (score.story, UPVOTES): score.value
        for score in material.dataset(_RATED).scores
        if score.scorer == UPVOTES
    }
    preference = material.unseen(settings.weights)
    rated = {**material.ratings(_RATED), **votes}
    aspects = _preference_rows(material, preference, _RATED, rated, names=(*ASPECTS, UPVOTES))
    shown = _votes_and_preference(material, preference, votes)
    columns = ("rated", "Spearman ρ of the preference", "ρ of the number of words", "stories")
    note = "Preference of readers that had not seen the prompt; intervals by drawing prompts anew."
    tables = [
        shown,
        StudyTable("preference_aspects", "Aspects of StoryER, and upvotes", columns, aspects, note),
    ]
    predicted = {cell.value for row in shown.rows if isinstance(cell := row[2], Estimate)}
    remarks: list[str] = []
    if len(predicted) == 1:
        remarks.append(
            "The reader's ratings of all aspects are one impression of a story, moved to each "
            "aspect's usual rating: its preference goes with all of them alike."
        )
    try:
        rated = material.ratings(_HANNA)
    except UserError as error:
        remarks.append(f"No criteria of HANNA: {error}")
    else:
        rows = _preference_rows(material, preference, _HANNA, rated, names=CRITERIA)
        tables.append(StudyTable("preference_criteria", "Criteria of HANNA", columns, rows, note))
    return remarks, tables


def _votes_and_preference(
    material: Material, unseen: UnseenValues, votes: dict[tuple[str, str], float]
) -> StudyTable:
    """Figure 5: upvotes by people's ratings, and preference by the ratings that are predicted."""
    stories = material.dataset(_RATED).stories
    names = [f"{_RATED}:{story.id}" for story in stories]
    means = material.ratings(_RATED)
    theirs = np.array([[means.get((story.id, a), np.nan) for a in ASPECTS] for story in stories])
    ours = [_column(unseen.raw(f"aspects.{aspect}", "aspects"), names) for aspect in ASPECTS]
    upvotes = np.array([votes.get((story.id, UPVOTES), np.nan) for story in stories])
    preference = np.array(_column(unseen.raw("preference", _TASKS[_RATED]), names))
    items = [story.item or story.id for story in stories]
    sides = {
        "upvotes × people's rating": (upvotes, theirs),
        "preference × predicted rating": (preference, np.array(ours).T),
    }
    return correlate_aspects(material, "figure_5", sides, items)


def correlate_aspects(
    material: Material, name: str, sides: Mapping[str, tuple[Array, Array]], items: Sequence[str]
) -> StudyTable:
    """Correlate a value of each story with its ratings aspect by aspect, a column for each pair.

    A pair is (stories,) and (stories, aspects); the last row is of a story's mean rating.
    """
    rows: list[StudyRow] = []
    for at, aspect in enumerate((*ASPECTS, "mean of all")):
        cells = []
        for value, ratings in sides.values():
            rated = mean_defined(ratings) if at == len(ASPECTS) else ratings[:, at]
            cells.append(material.estimate_correlation(value, rated, items))
        rows.append([aspect, *cells, *(cell.n for cell in cells)])
    return StudyTable(
        name,
        "Liking beside ratings: people's, and a model's own (Figure 5)",
        ("aspect", *sides, *(f"n, {name.partition(' ×')[0]}" for name in sides)),
        rows,
        "Upvotes are what a story got, preference what it is predicted to get; both beside ratings "
        "of its aspects, the one by people, the other predicted. Intervals draw prompts anew.",
        drawn="Spearman's ρ",
    )


def _preference_rows(
    material: Material,
    unseen: UnseenValues,
    dataset: str,
    ratings: dict[tuple[str, str], float],
    *,
    names: tuple[str, ...],
) -> list[StudyRow]:
    preference = unseen.raw("preference", _TASKS[dataset])
    by_id = {f"{dataset}:{story.id}": story for story in material.dataset(dataset).stories}
    stories = [story for name, story in by_id.items() if name in preference]
    ours = np.array([preference[name] for name in by_id if name in preference])
    lengths = np.array([len(words(story.text)) for story in stories], dtype=float)
    items = [story.item or story.id for story in stories]
    rows: list[StudyRow] = []
    for aspect in names:
        theirs = np.array([ratings.get((story.id, aspect), np.nan) for story in stories])
        correlation, by_length = (
            material.estimate_correlation(column, theirs, items) for column in (ours, lengths)
        )
        rows.append([aspect, correlation, by_length, correlation.n])
    return rows
