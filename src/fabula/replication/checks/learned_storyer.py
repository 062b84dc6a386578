"""StoryER's stories, by readers that had not seen their prompt: votes and ten aspects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fabula.core.dataset import Dataset
from fabula.core.errors import UserError
from fabula.core.story import Story
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.training.pairs import Pair, pairs_of
from fabula.meta.arrays import Places, Values
from fabula.replication.checks._learned import (
    Columns,
    MeasuredColumns,
    correlate_columns,
    load_below,
    mean_ratings,
    measure_pairs,
    measure_shares,
    score_baselines,
    score_stories,
    story_items,
)
from fabula.replication.checks._result import CheckResult, judge, report, skip
from fabula.replication.storyer.unseen_ratings import recall_at
from fabula.replication.unseen import UnseenValues, read_unseen
from fabula.scoring.evaluate import BASELINES

_ASPECT_RATINGS = "StoryER's aspects (aspects), 100 rated stories, 5 folds by prompt"
_ASPECT_WEIGHTS = "reader"
_FEW = 10  # stories with a rating, below which a coefficient says nothing
_FIRST = (1, 3, 5)
_PREFERENCE = "Preference (storyer, weights='reader'), StoryER's cleaned pairs, 5 folds by prompt"
_PREFERENCE_CLAIM = "the story with more votes is preferred"
_LEAST_PREFERENCE = 0.68
_ALIKE = 0.15  # of the longer story's words
_PAPER = "StoryER's paper: 0.739 with an LED, 22,887 pairs of its own"
_PAPER_N = "StoryER's paper: 0.704"


def check_learned_aspects(data: Path | None) -> Iterator[CheckResult]:
    """Correlate ratings aspect by aspect, and count the aspects that raters spoke of."""
    try:
        rated, unseen = load_below("storyer_ratings", data), read_unseen(_ASPECT_WEIGHTS)
        ids = [f"storyer_ratings:{story.id}" for story in rated.stories]
        yield from (_check_aspect(rated, unseen, ids, name) for name in ASPECTS)
        yield _check_mean_rating(rated, unseen, ids)
        yield from _check_recall(rated, _confidences(unseen, ids))
    except UserError as error:
        yield skip(_ASPECT_RATINGS, "ratings and confidence of aspects", str(error))


def _check_aspect(rated: Dataset, unseen: UnseenValues, ids: list[str], name: str) -> CheckResult:
    stories = list(rated.stories)
    gold = mean_ratings(rated, stories, name)
    raw = unseen.by_seed(f"aspects.{name}", "aspects", ids)
    known = np.flatnonzero(~np.isnan(gold))
    claim = f"rating of {name}"
    if len(known) < _FEW:
        words = f"{len(known)} stories are rated: too few"
        return report(_ASPECT_RATINGS, claim, words)
    items = [story_items(stories)[place] for place in known.tolist()]
    columns = {"ours": raw[:, known]}
    rho = correlate_columns(columns, gold[known], items)
    tau = correlate_columns(columns, gold[known], items, statistic="kendall")
    words = f"ρ {rho.words('ours')}, τ {tau.words('ours')}, {len(known)} stories"
    if not unseen.scale(f"aspects.{name}").slope:
        words += "; what is given is the raters' mean, the same for every story"
    return report(_ASPECT_RATINGS, claim, words)


def _check_mean_rating(rated: Dataset, unseen: UnseenValues, ids: list[str]) -> CheckResult:
    stories = list(rated.stories)
    gold = np.nanmean(np.stack([mean_ratings(rated, stories, name) for name in ASPECTS]), axis=0)
    ours = np.mean([unseen.by_seed(f"aspects.{name}", "aspects", ids) for name in ASPECTS], axis=0)
    measured = correlate_columns({"ours": ours}, gold, story_items(stories))
    words = f"ρ {measured.words('ours')} ({measured.each_seed('ours')}), {measured.n} stories"
    return report(_ASPECT_RATINGS, "mean of a story's ratings", words)


def _confidences(unseen: UnseenValues, ids: list[str]) -> Values:
    """Values before the softmax, which keeps their order: (seeds, stories, aspects)."""
    columns = []
    for name in ASPECTS:
        raw = unseen.by_seed(f"confidence.{name}", "confidence", ids)
        columns.append(np.vectorize(unseen.scale(f"confidence.{name}").value)(raw))
    return np.stack(columns, axis=-1)


def _check_recall(rated: Dataset, ours: Values) -> Iterator[CheckResult]:
    stories = list(rated.stories)
    counts = _count_mentions(rated)
    known = counts.sum(axis=1) > 0
    items = [item for item, there in zip(story_items(stories), known, strict=True) if there]
    prior = np.broadcast_to(counts.sum(axis=0), counts.shape)
    for first in _FIRST:
        columns = {
            "ours": np.stack([recall_at(first, seed, counts > 0)[known] for seed in ours]),
            "prior": recall_at(first, prior, counts > 0)[known],
        }
        measured = measure_shares(columns, items, chance=0.0)
        words = f"{measured.words('ours')} ({measured.each_seed('ours')}), by the raters' overall "
        words += f"shares {measured.words('prior')}; {measured.n} stories"
        yield report(_ASPECT_RATINGS, f"confidence, recall@{first}", words)


def _count_mentions(rated: Dataset) -> Values:
    """How often raters spoke of an aspect of a story: (stories, aspects)."""
    rows = {story.id: number for number, story in enumerate(rated.stories)}
    columns = {name: number for number, name in enumerate(ASPECTS)}
    counts = np.zeros((len(rows), len(columns)))
    for score in rated.ratings:
        if score.ok and score.aspect in columns:
            counts[rows[score.story], columns[score.aspect]] += 1
    return counts


@dataclass(frozen=True)
class StoryPairs:
    """Pairs of stories by their places, and the prompts they answer."""

    stories: tuple[Story, ...]
    better: Places
    worse: Places
    items: tuple[str, ...]

    @classmethod
    def of(cls, pairs: Sequence[Pair]) -> StoryPairs:
        """Lay out pairs; every story stands once."""
        stories = {side.id: side for pair in pairs for side in (pair.better, pair.worse)}
        place = {name: number for number, name in enumerate(stories)}
        sides = np.array([[place[p.better.id], place[p.worse.id]] for p in pairs], dtype=np.int64)
        items = tuple(pair.item for pair in pairs)
        return cls(tuple(stories.values()), sides[:, 0], sides[:, 1], items)

    @property
    def ids(self) -> list[str]:
        """Name the stories."""
        return [story.id for story in self.stories]

    def measure(self, columns: Columns, rows: Places | None = None) -> MeasuredColumns:
        """Measure columns on all pairs, or on some."""
        chosen = np.arange(len(self.items)) if rows is None else rows
        items = [self.items[row] for row in chosen.tolist()]
        return measure_pairs(columns, self.better[chosen], self.worse[chosen], items)


def check_learned_preference(data: Path | None) -> Iterator[CheckResult]:
    """Compare what readers said of unseen stories with the votes."""
    try:
        pairs = StoryPairs.of(pairs_of(load_below("storyer", data)))
        yield from _check_votes(pairs, read_unseen("reader"))
    except UserError as error:
        yield skip(_PREFERENCE, _PREFERENCE_CLAIM, str(error))
        return
    try:
        yield from _check_negatives(pairs, read_unseen("coherence"))
        yield _check_permissive(pairs)
    except UserError as error:
        yield skip(_PREFERENCE, "other weights", str(error))


def _check_votes(pairs: StoryPairs, unseen: UnseenValues) -> Iterator[CheckResult]:
    columns = {
        "storyer": unseen.by_seed("preference", "preference", pairs.ids),
        "surface": unseen.surface("preference", "preference", pairs.ids),
        **score_baselines(pairs.stories),
    }
    measured = pairs.measure(columns)
    counted = f"{measured.n:,} pairs of {measured.items} prompts"
    ours = f"{measured.words('storyer')} ({measured.each_seed('storyer')}), {counted}"
    good = measured.value["storyer"] >= _LEAST_PREFERENCE
    bar = f"accuracy ≥ {_LEAST_PREFERENCE:.2f}, mean of seeds"
    yield judge(_PREFERENCE, _PREFERENCE_CLAIM, wanted=bar, found=f"{ours}; {_PAPER}", good=good)
    gain = measured.gain("storyer", BASELINES)
    beside = f"{measured.plain(BASELINES)}; storyer {gain}"
    yield report(_PREFERENCE, "trivial baselines on the same pairs", beside)
    yield report(_PREFERENCE, "its surface features alone", measured.words("surface"))
    yield from _check_lengths(pairs, columns)


def _check_lengths(pairs: StoryPairs, columns: Columns) -> Iterator[CheckResult]:
    """Look at pairs that length does not tell apart, and at those where it tells the wrong way."""
    better, worse = columns["words"][pairs.better], columns["words"][pairs.worse]
    alike = np.abs(better - worse) < _ALIKE * np.maximum(better, worse)
    kinds = {
        f"pairs whose lengths differ by less than {_ALIKE:.0%}": alike,
        "pairs of which the preferred story is the shorter": better < worse,
        "pairs of which the preferred story is the longer": better > worse,
    }
    for claim, chosen in kinds.items():
        rows = np.flatnonzero(chosen)
        if not len(rows):
            yield skip(_PREFERENCE, claim, "there are none")
            continue
        measured = pairs.measure({name: columns[name] for name in ("storyer", "words")}, rows)
        found = f"storyer {measured.words('storyer')}, words {measured.value['words']:.3f}"
        found += f"; {measured.n} pairs of {measured.items} prompts"
        yield report(_PREFERENCE, claim, found)


def _check_negatives(pairs: StoryPairs, unseen: UnseenValues) -> Iterator[CheckResult]:
    """Measure the variant that also learned from spoiled stories."""
    raw = unseen.by_seed("preference_n", "preference_n", pairs.ids)
    measured = pairs.measure({"storyer": raw})
    words = f"{measured.words('storyer')} ({measured.each_seed('storyer')})"
    yield report(_PREFERENCE, "storyer(negatives=True), the same pairs", f"{words}; {_PAPER_N}")
    names = unseen.ids("corrupted_n")
    spoiled = [name for name in names if "/negative" in name]
    whole = [name.partition("/")[0] for name in spoiled]
    item = {story.id: str(story.item) for story in pairs.stories}
    values = {"storyer": unseen.by_seed("preference_n", "corrupted_n", [*whole, *spoiled])}
    places = np.arange(len(spoiled))
    items = [item[name] for name in whole]
    measured = measure_pairs(values, places, places + len(spoiled), items)
    claim = "storyer(negatives=True), the less liked stories against the same spoiled"
    counted = f"{measured.n:,} pairs of {measured.items} prompts"
    yield report(_PREFERENCE, claim, f"{measured.words('storyer')}, {counted}")


def _check_permissive(pairs: StoryPairs) -> CheckResult:
    spec = "storyer(weights='permissive')"
    measured = pairs.measure({"storyer": score_stories(pairs.stories, spec)})
    claim = f"{spec}, which has seen none of these stories"
    return report(_PREFERENCE, claim, f"{measured.words('storyer')}, {measured.n:,} pairs")
