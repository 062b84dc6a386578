"""What the report of a large run is made of: means of all stories, and a page with some of them.

The page holds the stories that tell most (the best, the worst and the middle one by metric and
system) and others at random, as many of each system, so that every system can be looked into.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fabula.core.errors import SettingError
from fabula.core.story import Story, count_text
from fabula.reports._embedded import Budget, first_places, rank_stories, texts_of
from fabula.reports.run_data import Array, ReportColumn, ReportData, make_columns
from fabula.scoring.filtering.steps import share_out
from fabula.scoring.lazy_run import LazyRun

# Stories whose scores a page holds; it opens in a second or two with so many.
PAGE_STORIES = 20_000
# Share of the stories with texts that is drawn at random.
_RANDOM_SHARE = 0.25
_TEXTS_AT_ONCE = 200


def read_large(run: LazyRun, budget: Budget, *, seed: int) -> tuple[ReportData, list[int]]:
    """Read what the report of a large run shows, and which of its stories have their texts.

    The stories of the data are those in the page, and values and statuses are theirs; means,
    intervals and figures are had from the whole run.
    """
    if budget.stories > PAGE_STORIES:
        count = count_text(min(budget.stories, run.count), "story", "stories")
        problem = f"a page cannot hold the texts of {count}"
        raise SettingError(problem, f"give --stories up to {PAGE_STORIES:,}; fabula view has all")
    metrics = run.record["metrics"]
    columns = make_columns(run.keys, {metric["spec"]: metric for metric in metrics})
    telling = list(dict.fromkeys(_find_telling(run, columns)))
    most = int(budget.stories * (1 - _RANDOM_SHARE))
    with_text = _fill_up(run, first_places(iter(telling), most), budget.stories, seed)
    texts = _read_texts(run, with_text, budget)
    first = list(dict.fromkeys([*with_text, *telling]))
    places = sorted(_fill_up(run, first, PAGE_STORIES, seed))
    stories = _read_labels(run, places, texts)
    numbers = [run.keys.index((column.scorer, column.aspect)) for column in columns]
    values, statuses = run.read_values(places)
    data = ReportData(
        run.record,
        metrics,
        stories,
        columns,
        values[:, numbers],
        statuses[:, numbers],
        run.summarise(),
        run,
    )
    return data, [number for number, place in enumerate(places) if place in texts]


def _find_telling(run: LazyRun, columns: Sequence[ReportColumn]) -> Iterator[int]:
    """Best, worst and middle story by metric and system, as in the report of a small run."""
    systems = list(run.places().values())
    for column in columns:
        if not column.main:
            continue
        values = run.values(run.keys.index((column.scorer, column.aspect)))
        ranked = [rank_stories(places, values, column) for places in systems]
        for pick in (0, -1, None):
            for order in ranked:
                if len(order):
                    yield int(order[len(order) // 2 if pick is None else pick])


def _fill_up(run: LazyRun, first: Sequence[int], most: int, seed: int) -> list[int]:
    """Add stories at random to the first ones, as many of each system as of the others."""
    chosen = list(first[:most])
    rng = np.random.default_rng(seed)
    known = set(chosen)
    rest = [own[~np.isin(own, chosen)] for own in run.places().values()]
    quotas = share_out(most - len(known), [len(own) for own in rest])
    for own, quota in zip(rest, quotas, strict=True):
        chosen += rng.permutation(own)[:quota].tolist()
    return chosen


def _read_texts(run: LazyRun, places: Sequence[int], budget: Budget) -> dict[int, Story]:
    """Read the stories that are to have their texts, until there are too many characters."""
    taken: dict[int, Story] = {}
    counted: set[str] = set()
    chars = 0
    for start in range(0, len(places), _TEXTS_AT_ONCE):
        some = places[start : start + _TEXTS_AT_ONCE]
        for place, story in zip(some, run.read_stories(some), strict=True):
            new = set(texts_of(story)) - counted
            size = sum(map(len, new))
            if chars + size <= budget.chars:
                taken[place] = story
                counted |= new
                chars += size
    return taken


def _read_labels(run: LazyRun, places: Sequence[int], texts: dict[int, Story]) -> list[Story]:
    """Give the stories of the page; those that are not shown have no text."""
    wanted: Array = np.zeros(run.count, dtype=bool)
    wanted[list(places)] = True
    stories = []
    for place, name, system, item in run.read_labels(wanted):
        stories.append(texts.get(place) or Story(name, "", system=system or None, item=item))
    return stories
