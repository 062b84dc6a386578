"""Writers' scores of paragraphs, by readers that had seen neither these nor their edits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path

import numpy as np

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError, UserError
from fabula.core.story import Story
from fabula.learned.training.pairs import pairs_of
from fabula.meta.arrays import Places, Values
from fabula.replication.checks._learned import (
    Columns,
    correlate_columns,
    load_below,
    mean_ratings,
    measure_pairs,
    score_baselines,
    score_stories,
    story_items,
)
from fabula.replication.checks._result import CheckResult, judge, report, skip
from fabula.replication.checks.learned_storyer import StoryPairs
from fabula.replication.unseen import UnseenValues, read_unseen
from fabula.scoring.evaluate import BASELINES

_PART = "Writers' scores (writers), LAMP's paragraphs, 5 folds by item"
_CLAIM = "writers agrees with professional writers beyond what can be counted"
_SCALE, _TASK, _WEIGHTS = "writers", "writers", "permissive"
_VOTES = "writers prefer the story with more votes (StoryER's pairs), never learned from"
_MET_VOTES = "ids/preference"  # what was measured of votes in the training
_ALIKE = 0.15  # of the longer text's words


def check_learned_writers(data: Path | None) -> Iterator[CheckResult]:
    """Compare what readers said of unseen paragraphs with the scores, and with readers' votes."""
    try:
        scored, unseen = load_below("lamp", data), read_unseen(_WEIGHTS)
        stories, gold = find_scored(scored, unseen)
        columns = {_SCALE: _read(unseen, stories), **score_baselines(stories)}
        yield from _check_scores(stories, gold, columns)
        yield from _check_edits(stories, gold, columns)
    except UserError as error:
        yield skip(_PART, _CLAIM, str(error))
        return
    try:
        yield _check_votes(StoryPairs.of(pairs_of(load_below("storyer", data))), unseen)
    except UserError as error:
        yield skip(_PART, _VOTES, str(error))


def find_scored(scored: Dataset, unseen: UnseenValues) -> tuple[list[Story], Values]:
    """Give the paragraphs that were scored and learned from by others' folds, and their scores."""
    known = {*unseen.ids(_TASK)}
    stories = [story for story in scored.stories if f"{scored.name}:{story.id}" in known]
    if not stories:
        problem = f"the weights {_WEIGHTS!r} were measured on no paragraph of {scored.name}"
        raise InputError(problem, "take the release that they were trained on")
    return stories, mean_ratings(scored, stories, "overall")


def _read(unseen: UnseenValues, stories: Sequence[Story]) -> Values:
    return unseen.by_seed(_SCALE, _TASK, [f"lamp:{story.id}" for story in stories])


def _check_scores(
    stories: Sequence[Story], gold: Values, columns: Columns
) -> Iterator[CheckResult]:
    measured = correlate_columns(columns, gold, story_items(stories))
    gain = measured.gain(_SCALE, BASELINES)
    ours = f"ρ {measured.words(_SCALE)} ({measured.each_seed(_SCALE)}), {measured.n:,} paragraphs"
    found = f"{ours} of {measured.items} items; {gain}"
    wanted = "ρ above the best trivial baseline's, with its interval"
    yield judge(_PART, _CLAIM, wanted=wanted, found=found, good=gain.is_sure)
    yield report(_PART, "trivial baselines on the same paragraphs", measured.plain(BASELINES))
    ours_alone, items = {_SCALE: columns[_SCALE]}, story_items(stories)
    given = correlate_columns(ours_alone, gold, items, given=columns["words"])
    yield report(_PART, "ρ given the number of words", given.words(_SCALE))


def _check_edits(stories: Sequence[Story], gold: Values, columns: Columns) -> Iterator[CheckResult]:
    """Look at a paragraph beside its own edit, and at those whose lengths tell nothing."""
    better, worse = find_edits(stories, gold)
    words = columns["words"]
    gaps = np.abs(words[better] - words[worse])
    alike = gaps < _ALIKE * np.maximum(words[better], words[worse])
    items = story_items(stories)
    for claim, chosen in (
        (
            "of a paragraph and its edit, the one that writers score higher",
            np.full(len(gaps), True),
        ),
        (f"the same, of lengths that differ by less than {_ALIKE:.0%}", alike),
    ):
        places = np.flatnonzero(chosen)
        if not len(places):
            yield skip(_PART, claim, "there are none")
            continue
        sides = better[places], worse[places]
        measured = measure_pairs(columns, *sides, [items[place] for place in sides[0].tolist()])
        gain = measured.gain(_SCALE, BASELINES)
        found = f"{measured.words(_SCALE)} of {measured.n:,} pairs; {gain}; "
        yield report(_PART, claim, found + measured.plain(BASELINES))


def find_edits(stories: Sequence[Story], gold: Values) -> tuple[Places, Places]:
    """Give the places of paragraphs of one item of which the first has the higher score."""
    by_item: dict[str, list[int]] = {}
    for place, item in enumerate(story_items(stories)):
        by_item.setdefault(item, []).append(place)
    pairs = [
        pair
        for places in by_item.values()
        for pair in permutations(places, 2)
        if gold[pair[0]] > gold[pair[1]]
    ]
    sides = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return sides[:, 0], sides[:, 1]


def _check_votes(pairs: StoryPairs, unseen: UnseenValues) -> CheckResult:
    """Say how often writers' favourite of two stories is also that of readers.

    Weights that never met the votes are asked about the stories themselves.
    """
    if _MET_VOTES in unseen.arrays:
        raise InputError(f"the weights {_WEIGHTS!r} learned from votes", "ask others")
    columns = {
        _SCALE: score_stories(pairs.stories, f"{_SCALE}(weights={_WEIGHTS!r})"),
        **score_baselines(pairs.stories),
    }
    every = pairs.measure(columns)
    words = columns["words"]
    gaps = np.abs(words[pairs.better] - words[pairs.worse])
    longer = np.maximum(words[pairs.better], words[pairs.worse])
    alike = pairs.measure(columns, np.flatnonzero(gaps < _ALIKE * longer))
    found = f"{every.words(_SCALE)} of {every.n:,} pairs (chance .5); {every.plain(BASELINES)}; "
    found += (
        f"of lengths that differ by less than {_ALIKE:.0%} {alike.words(_SCALE)} of {alike.n:,}"
    )
    return report(_PART, _VOTES, found)
