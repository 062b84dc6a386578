"""Metrics that are added to a finished run in shards.

Each shard's scores, those that were there and the new ones behind them, are written beside the run,
hidden, with a mark; the run stays as it is and can be read meanwhile. When all are there the new
record is written down, hidden too, and only then are the files put in place, the record last.
Whoever finds that hidden record goes on with putting in place: it may be begun again at any point.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from fabula.core.addresses import Place
from fabula.core.errors import InputError, UserError
from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.core.table import parse_score, part_name
from fabula.datasets.tables.workbook import need_arrow
from fabula.scoring.folder import RUN, STAGED_RUN, KeptMetrics, choose_kept
from fabula.scoring.run import join_scores
from fabula.scoring.shards.parts import HIDDEN
from fabula.scoring.shards.plan import PLAN, Plan, clear_hidden

_STAGED = re.compile(r"scores-(\d+)\.parquet")


def put_in_place(place: Place) -> None:
    """Put the files of added metrics in place, where all of them were ready."""
    hidden = place.sizes(HIDDEN)
    if STAGED_RUN.rpartition("/")[2] not in hidden:
        return
    for name in sorted(hidden):
        if staged := _STAGED.fullmatch(name):
            place.move(f"{HIDDEN}/{name}", part_name("scores", int(staged[1])))
    place.write(RUN, place.read(STAGED_RUN))
    clear_hidden(place)


def add_to_run(place: Place, plan: Plan, record: Mapping[str, Any]) -> Plan:
    """Give the plan for what a finished run has not yet: one without metrics if there is nothing.

    What another command has begun to add is not lost: it has to be finished first.
    """

    def list_unfinished(specs: Iterable[str]) -> set[str]:
        rows = [row for row in record["summary"] if row["scorer"] in specs]
        return {row["scorer"] for row in rows if not all(Status(why).lasting for why in row["why"])}

    stamp = hashlib.sha256(place.read(RUN)).hexdigest()
    kept = choose_kept(record, plan.metrics, place.name, stamp=stamp, unfinished=list_unfinished)
    new = tuple(metric for metric in plan.metrics if metric.spec not in kept.specs)
    adding = replace(plan, metrics=new, kept=kept)
    begun = _read_begun(place)
    # What the run itself left when it was killed at its very end.
    if begun == record["question"]["metrics"]:
        clear_hidden(place)
    elif new and begun and begun != adding.question()["metrics"]:
        before = set(record["question"]["metrics"])
        specs = ", ".join(name.partition("|")[0] for name in begun if name not in before)
        problem = f"other metrics are being added to {place.name} ({specs})"
        remedy = f"add those first, with the same command; or take {place.name}/{HIDDEN} away"
        raise UserError(problem, remedy)
    return adding


def _read_begun(place: Place) -> list[str]:
    """Give the metrics that a plan in the folder speaks of."""
    try:
        begun = json.loads(place.read(PLAN))["question"]["metrics"]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return []
    return begun if isinstance(begun, list) else []


def join_kept(
    place: Place, number: int, kept: KeptMetrics, sha256: str, scores: Iterable[tuple[Story, Score]]
) -> Iterator[tuple[Story, Score]]:
    """Give the scores of a shard: those that its part holds, then the new ones, by story."""
    name = part_name("scores", number)
    data = place.read(name)
    if hashlib.sha256(data).hexdigest() != sha256:
        problem = f"{place.name}/{name} was altered since the run wrote it"
        raise InputError(problem, "put back what was there, or score again with --overwrite")
    earlier = (score for score in _read_scores(data) if score.scorer in set(kept.specs))
    fresh = groupby(scores, key=itemgetter(0))
    yield from join_scores(fresh, earlier, f"{place.name}/{name}") if kept.specs else scores


def _read_scores(data: bytes) -> Iterator[Score]:
    with need_arrow().parquet.ParquetFile(io.BytesIO(data)) as file:
        for batch in file.iter_batches():
            yield from map(parse_score, batch.to_pylist())


def merge_records(record: dict[str, Any], earlier: Mapping[str, Any], kept: KeptMetrics) -> None:
    """Put into the record of added metrics what stays of the earlier run."""
    record["metrics"] = [*kept.entries, *record["metrics"]]
    record["cpu_s"] = round(record["cpu_s"] + earlier.get("cpu_s", 0.0), 3)
    for number, (part, before) in enumerate(zip(record["parts"], earlier["parts"], strict=True)):
        part["bytes"][0] = before["bytes"][0]
        name = part_name("stories", number)
        record["files"][name] = earlier["files"][name]
