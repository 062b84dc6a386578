"""What is done to a run, step by step, until the stories that are wanted are left.

Conditions come first, then duplicates go, then the best are taken or a sample is drawn. Every step
says how many stories came in and how many went on, and how many it could not judge because a value
is missing: none is lost in silence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from fabula.core.errors import SettingError
from fabula.core.protocols import Progress
from fabula.scoring.column_names import ColumnNames
from fabula.scoring.filtering.conditions import Condition, parse_conditions
from fabula.scoring.filtering.duplicates import RUN_WORDS, SIGNATURE, find_duplicates
from fabula.scoring.lazy_run import Array, LazyRun

Missing = Literal["drop", "keep"]
Grouping = Literal["system", "item"]


@dataclass(frozen=True)
class FilterPlan:
    """What to keep of a run.

    `keep` is a condition on scores; where it is undecided because a value is missing, `missing`
    says what becomes of the story. Of stories that overlap by `dedupe` the best by `best` stays, or
    the first. `top` is a number of stories or a share of them (0 < top < 1), the best by `by`;
    `sample` a number drawn at random, as many from each of `quantiles` parts by `by`, if given.
    With `per`, both count for each system, or each item, by itself.
    """

    keep: str = ""
    missing: Missing = "drop"
    dedupe: float | None = None
    best: str = ""
    top: float | None = None
    sample: int | None = None
    by: str = ""
    quantiles: int = 10
    per: Grouping | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be done, or means nothing."""
        if self.dedupe is not None and not 0 < self.dedupe <= 1:
            raise SettingError(f"--dedupe {self.dedupe:g} will not do", "give more than 0, up to 1")
        if self.top is not None and self.sample is not None:
            raise SettingError("--top and --sample are two ways to choose", "give one of them")
        if self.top is not None and not self.by:
            raise SettingError("--top needs to know by what", "name a column with --by")
        for given, option, needs in (
            (self.best, "--best", self.dedupe is not None),
            (self.by, "--by", self.top is not None or self.sample is not None),
            (self.per, "--per", self.top is not None or self.sample is not None),
        ):
            if given and not needs:
                remedy = "add --dedupe" if option == "--best" else "add --top or --sample"
                raise SettingError(f"{option} does nothing by itself", remedy)
        if self.quantiles != FilterPlan.quantiles and not (self.by and self.sample is not None):
            problem = "--quantiles cuts the values of --by for a --sample"
            raise SettingError(problem, "add both, or leave it out")


@dataclass(frozen=True)
class Step:
    """One step: what it did, how many stories came in and went on.

    `no_value` counts those that it could not judge, for a value is missing.
    """

    name: str
    before: int
    after: int
    no_value: int = 0
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Filtered:
    """The places of the stories that are left, in the order of the run, and the steps."""

    places: Array
    steps: tuple[Step, ...]
    remarks: tuple[str, ...] = ()


def filter_run(run: LazyRun, plan: FilterPlan, progress: Progress | None = None) -> Filtered:
    """Take the steps of a plan, one after the other."""
    names = ColumnNames(run.keys)
    # All names are looked up before anything is done.
    conditions = parse_conditions(plan.keep, names) if plan.keep else []
    columns = {name: names.find(name) for name in (plan.best, plan.by) if name}
    places = np.arange(run.count)
    steps: list[Step] = []
    for condition in conditions:
        places, step = _keep(run, condition, places, plan.missing)
        steps.append(step)
    if plan.dedupe is not None:
        places, step = _dedupe(run, plan, columns.get(plan.best), places, progress)
        steps.append(step)
    column = columns.get(plan.by)
    if plan.top is not None and column is not None:
        places, step = _take_top(run, plan, plan.top, column, places)
        steps.append(step)
    if plan.sample is not None:
        places, step = _draw_sample(run, plan, plan.sample, column, places)
        steps.append(step)
    remarks = [_say_descriptive(run, names, columns[plan.best])] if plan.best else []
    remarks += [_say_descriptive(run, names, columns[plan.by])] if plan.top is not None else []
    if not steps:
        remarks.append(f"nothing was asked for; the run's columns: {', '.join(names.dotted)}")
    return Filtered(places, tuple(steps), tuple(filter(None, remarks)))


def _keep(
    run: LazyRun, condition: Condition, places: Array, missing: Missing
) -> tuple[Array, Step]:
    """Keep the stories of which a condition is true; where it is undecided, as is asked for."""
    # 0 is false, 1 true, 2 undecided.
    verdict = f"CASE WHEN {condition.sql} THEN 1 WHEN {condition.sql} IS NULL THEN 2 ELSE 0 END"
    given = [*condition.given, *condition.given]
    verdicts = run.read_column(f"SELECT place, {verdict} FROM run", np.uint8, given)[places]
    undecided = int((verdicts == 2).sum())
    stay = verdicts > 0 if missing == "keep" else verdicts == 1
    details = {
        "condition": condition.text,
        "undecided": missing,
        "false": int((verdicts == 0).sum()),
    }
    step = Step("keep", len(places), int(stay.sum()), undecided, details)
    return places[stay], step


def _dedupe(
    run: LazyRun, plan: FilterPlan, best: int | None, places: Array, progress: Progress | None
) -> tuple[Array, Step]:
    assert plan.dedupe is not None
    ranks, no_value = np.arange(len(places)), 0
    if best is not None:
        order, no_value = _rank(run, best, places)
        ranks = np.empty(len(places), dtype=np.int64)
        ranks[order] = np.arange(len(places))
    found = find_duplicates(
        run, places, threshold=plan.dedupe, ranks=ranks, seed=plan.seed, progress=progress
    )
    details = {
        "overlap": plan.dedupe,
        "stays": f"the best by {plan.best}" if plan.best else "the first",
        **({"best": plan.best} if plan.best else {}),
        "of": f"MinHash of {SIGNATURE} over runs of {RUN_WORDS} words, seed {plan.seed}",
        "clusters": len(set(found.near.values())),
    }
    return found.stay, Step("dedupe", len(places), len(found.stay), no_value, details)


def _rank(run: LazyRun, column: int, places: Array) -> tuple[Array, int]:
    """Order stories from best to worst, those without a value last; say how many these are."""
    lower = _direction(run, column) == "lower"
    values = run.values(column)[places]
    keys = values if lower else -values
    order = np.argsort(keys, kind="stable")  # NaN comes last
    return order, int(np.isnan(values).sum())


def _direction(run: LazyRun, column: int) -> str:
    scorer = run.keys[column][0]
    directions = {metric["spec"]: metric["direction"] for metric in run.record["metrics"]}
    return str(directions.get(scorer, "descriptive"))


def _say_descriptive(run: LazyRun, names: ColumnNames, column: int) -> str:
    if _direction(run, column) != "descriptive":
        return ""
    return f"{names.dotted[column]} has no better end: the highest value counts as best"


def _take_top(
    run: LazyRun, plan: FilterPlan, top: float, column: int, places: Array
) -> tuple[Array, Step]:
    """Take the best, or the best of each group; what has no value is never among them."""
    values = run.values(column)
    no_value = int(np.isnan(values[places]).sum())

    def take(own: Array) -> Array:
        order, missing = _rank(run, column, own)
        # A share is of all that came in, whether they have a value or not.
        most = math.ceil(top * len(own) - 1e-9) if top < 1 else int(top)
        return own[order[: min(most, len(own) - missing)]]

    taken = _take_each(run, plan.per, places, take)
    share = f"{100 * top:g} %" if top < 1 else f"{int(top):,}"
    details = {"top": share, "by": plan.by, **_tell_per(plan)}
    return taken, Step("top", len(places), len(taken), no_value, details)


def _draw_sample(
    run: LazyRun, plan: FilterPlan, size: int, column: int | None, places: Array
) -> tuple[Array, Step]:
    """Draw stories at random, as many from each part of the values where there is a column."""
    rng = np.random.default_rng(plan.seed)
    values = run.values(column) if column is not None else None
    no_value = int(np.isnan(values[places]).sum()) if values is not None else 0

    def draw(own: Array) -> Array:
        if values is None:
            return own[_draw(len(own), size, rng)]
        there = own[~np.isnan(values[own])]
        strata = np.array_split(there[np.argsort(values[there], kind="stable")], plan.quantiles)
        quotas = share_out(size, [len(stratum) for stratum in strata])
        drawn = [s[_draw(len(s), quota, rng)] for s, quota in zip(strata, quotas, strict=True)]
        return np.concatenate(drawn) if drawn else there

    taken = _take_each(run, plan.per, places, draw)
    details: dict[str, Any] = {"sample": size, "seed": plan.seed, **_tell_per(plan)}
    if column is not None:
        details |= {"by": plan.by, "quantiles": plan.quantiles}
    return taken, Step("sample", len(places), len(taken), no_value, details)


def _draw(count: int, size: int, rng: np.random.Generator) -> Array:
    return rng.permutation(count)[:size]


def share_out(size: int, rooms: list[int]) -> list[int]:
    """Give each of several as many as the others, but none more than it has room for.

    What is left over where some have too little goes to the others; the first get one more.
    """
    quotas = [0] * len(rooms)
    while left := min(size, sum(rooms)) - sum(quotas):
        open_ones = [place for place, room in enumerate(rooms) if quotas[place] < room]
        each, more = divmod(left, len(open_ones))
        for number, place in enumerate(open_ones):
            quotas[place] += min(each + (number < more), rooms[place] - quotas[place])
    return quotas


def _tell_per(plan: FilterPlan) -> dict[str, Any]:
    return {"per": plan.per} if plan.per else {}


def _take_each(
    run: LazyRun, per: Grouping | None, places: Array, take: Callable[[Array], Array]
) -> Array:
    """Take some of the stories of every group, and give all of them in the order of the run."""
    groups = list(_group(run, per, places)) if per else [places]
    taken = [take(own) for own in groups]
    return np.sort(np.concatenate(taken)) if taken else places


def _group(run: LazyRun, per: Grouping, places: Array) -> Iterator[Array]:
    """Give the places of each group, in the order in which groups came."""
    codes = (run.system_codes if per == "system" else run.item_codes)[places]
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        yield places[order[start:end]]
