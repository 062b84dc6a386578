"""The driver of a run in shards: survey all, merge what was gathered, score all, and say so.

It holds marks and never stories. Whatever is killed, the same command goes on with the shards that
have no mark yet, and comes to the same files.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from fabula._version import __version__
from fabula.core.addresses import Folder, Place, is_address, open_place
from fabula.core.errors import InputError
from fabula.core.files import refuse_input
from fabula.core.metric import Metric
from fabula.core.protocols import Progress, watch
from fabula.core.score import Summary
from fabula.core.story import count_text
from fabula.core.table import json_text, part_name
from fabula.datasets.tables.shards import ShardStories
from fabula.datasets.tables.stories import StoryColumns, StoryLayout
from fabula.scoring.engine import BATCH
from fabula.scoring.folder import INSTEAD, RUN, STAGED_RUN, RunFolder, digest_record
from fabula.scoring.run import RunResult, describe_metrics, list_versions
from fabula.scoring.shards.adding import add_to_run, merge_records, put_in_place
from fabula.scoring.shards.crew import Crew, OwnCrew, ProcessCrew, do_calls
from fabula.scoring.shards.parts import HIDDEN, Part, digest_lines, staged_name
from fabula.scoring.shards.plan import (
    SHARD_STORIES,
    Plan,
    clear_hidden,
    clear_place,
    find_finished,
    keep_plan,
    make_plan,
    note_begun,
)
from fabula.scoring.shards.ray_crew import Cluster, RayCrew
from fabula.scoring.shards.states import refuse_unmergeable
from fabula.scoring.shards.worker import (
    STATE,
    Call,
    Mark,
    hash_id,
    ids_name,
    mark_name,
    read_mark,
    say_found,
    sealed_name,
    state_name,
)
from fabula.scoring.survey import SetDigest

_MERGED_AT_ONCE = 8
# Hashes of ids that are held at once to find doubled ones: 256 MiB.
_MOST_HASHES = 32 * 1024 * 1024
_READ_AT_ONCE = 16


@dataclass(frozen=True)
class ShardOptions:
    """How to run: where to, who works, how much a shard holds, whom to tell."""

    output: str
    overwrite: bool = False
    jobs: int = 1
    cluster: Cluster | None = None
    stories: int = SHARD_STORIES
    strict: bool = False
    at_once: int = BATCH
    progress: Progress | None = None
    on_plan: Callable[[Plan], None] | None = None


def run_shards(
    names: Sequence[str], layout: StoryLayout, metrics: Sequence[Metric], options: ShardOptions
) -> RunResult:
    """Score files in shards, by processes of this machine or by actors of a cluster."""
    started = time.monotonic()
    refuse_unmergeable(metrics)
    place = open_place(options.output)
    folder = place.path if isinstance(place, Folder) else None
    how = {"stories": options.stories, "strict": options.strict, "at_once": options.at_once}
    plan = make_plan(names, layout, metrics, place, **how)
    if options.on_plan:
        options.on_plan(plan)
    with _lock(folder):
        earlier: dict[str, Any] | None = None
        if options.overwrite:
            _refuse_inputs(folder, plan)
            clear_place(place)
        else:
            put_in_place(place)
            earlier = find_finished(place, plan)
        if earlier:
            plan = add_to_run(place, plan, earlier)
            if not plan.metrics:
                known = Summary.from_rows(earlier["summary"])
                return RunResult(earlier, known, folder, tuple(plan.kept.specs))
        # Where nobody can be had to do it, nothing is left that another command would stumble over.
        with closing(_open_crew(plan, options)) as crew:
            keep_plan(place, plan)
            clock = [started, time.monotonic()]
            surveyed = _survey(plan, place, crew, earlier)
            say_found(layout.say, surveyed)
            clock.append(time.monotonic())
            parts = _score(plan, place, crew, surveyed, options.progress, earlier)
            clock.append(time.monotonic())
        summary = _summarise(parts)
        record = _record(plan, surveyed, parts, clock, summary, earlier)
        place.write(STAGED_RUN if earlier else RUN, (json_text(record, indent=1) + "\n").encode())
        put_in_place(place)
        clear_hidden(place)
    return RunResult(record, summary, folder, tuple(plan.kept.specs))


def _lock(folder: Path | None) -> AbstractContextManager[None]:
    """Keep others out of a folder; an object store has no locks."""
    return RunFolder(folder).lock() if folder else nullcontext()


def _refuse_inputs(folder: Path | None, plan: Plan) -> None:
    """Refuse to write over what is being read."""
    if folder:
        inputs = [Path(file) for file in plan.files if not is_address(file)]
        for number in range(len(plan.shards)):
            refuse_input(folder / part_name("stories", number), inputs)
            refuse_input(folder / part_name("scores", number), inputs)


def _open_crew(plan: Plan, options: ShardOptions) -> Crew:
    jobs = min(options.jobs, len(plan.shards))
    if options.cluster:
        return RayCrew(plan, replace(options.cluster, workers=jobs))
    return ProcessCrew(plan, jobs) if jobs > 1 else OwnCrew(plan)


def _survey(plan: Plan, place: Place, crew: Crew, earlier: Mapping[str, Any] | None) -> list[Mark]:
    """Go over all stories; where they will not do, what was written down of them goes again."""
    note_begun(place, plan, None)
    try:
        surveyed = _survey_shards(plan, place, crew)
        if earlier and _digest_stories(surveyed) != earlier["question"]["input"]:
            problem = f"the stories are not those that the run in {place.name} has scored"
            raise InputError(problem, INSTEAD)
    except InputError:
        # A worker that is at another shard would leave its mark behind us.
        crew.close()
        clear_hidden(place)
        raise
    note_begun(place, plan, sum(mark["stories"] for mark in surveyed))
    return surveyed


def _survey_shards(plan: Plan, place: Place, crew: Crew) -> list[Mark]:
    """Go over all shards that were not surveyed yet; then look at what concerns all together."""
    marks = _read_marks(place, "survey", range(len(plan.shards)))
    todo = [Call("survey", number) for number in range(len(plan.shards)) if number not in marks]
    done = sum(mark["stories"] for mark in marks.values())
    for call, mark in do_calls(crew, todo, plan):
        marks[call.number] = mark
        done += mark["stories"]
        watch.get().tell(f"going over the stories, {done:,} so far")
    surveyed = [marks[number] for number in range(len(plan.shards))]
    if not done:
        raise InputError("there are no stories", "give at least one")
    _check_columns(plan, surveyed)
    if not plan.numbered:
        _refuse_doubled(plan, place, surveyed)
    if plan.gathers:
        _merge(plan, place, crew)
    return surveyed


def _read_marks(
    place: Place, verb: str, numbers: Iterable[int], *, adds: bool = False
) -> dict[int, Mark]:
    """Give the marks that are there; of a part that is not as its mark says, none."""
    there = place.sizes(HIDDEN)
    names = {number: mark_name(verb, number) for number in numbers}
    marked = [number for number, name in names.items() if name.rpartition("/")[2] in there]
    with ThreadPoolExecutor(_READ_AT_ONCE) as pool:
        read = pool.map(lambda number: read_mark(place.read(names[number])), marked)
        marks = dict(zip(marked, read, strict=True))
    if verb == "survey":
        return marks
    sizes = [place.sizes(folder) if marks else {} for folder in ("stories", "scores")]

    def is_whole(number: int) -> bool:
        if adds:
            size = there.get(staged_name(number).rpartition("/")[2])
            return bool(size == marks[number]["bytes"][1])
        name = part_name("", number).lstrip("/")
        return bool([known.get(name) for known in sizes] == marks[number]["bytes"])

    return {number: mark for number, mark in marks.items() if is_whole(number)}


def _check_columns(plan: Plan, surveyed: Sequence[Mark]) -> None:
    """Refuse files in which a later row has a field that would have been taken for a role."""
    names = {name for mark in surveyed for name in mark["names"]}
    known = {name for own in plan.columns.names.values() for name in own}
    later = StoryColumns.choose(sorted(names | known), plan.layout.columns, plan.files[0])
    for role, own in later.names.items():
        if own != plan.columns.names.get(role):
            problem = f"{plan.files[0]}: the first rows have no {own[0]!r}, and later ones do"
            remedy = f"write it in the first row too, empty or null; or leave it out: -c {role}="
            raise InputError(problem, remedy)


def _refuse_doubled(plan: Plan, place: Place, surveyed: Sequence[Mark]) -> None:
    """Refuse ids that two shards have, by their hashes, so many at a time as may be held."""
    numbers = [number for number, mark in enumerate(surveyed) if mark["stories"]]
    count = sum(surveyed[number]["stories"] for number in numbers)
    passes = -(-count // _MOST_HASHES)
    bounds = [(part << 64) // passes for part in range(passes + 1)]
    for low, high in pairwise(bounds):
        held = []
        for number in numbers:
            hashes = np.load(io.BytesIO(place.read(ids_name(number))), allow_pickle=False)
            first = np.searchsorted(hashes, np.uint64(low))
            last = np.searchsorted(hashes, np.uint64(high)) if high < 1 << 64 else len(hashes)
            held.append(hashes[first:last])
        together = np.sort(np.concatenate(held))
        doubled = together[1:][together[1:] == together[:-1]]
        if len(doubled):
            _name_doubled(plan, {int(one) for one in doubled[:1000]})


def _name_doubled(plan: Plan, hashes: set[int]) -> None:
    """Read again which ids they are; two that share a hash by chance are no fault."""
    seen: dict[str, int] = {}
    for shard in plan.shards:
        for story in ShardStories(shard, plan.columns, plan.layout):
            if hash_id(story.id) not in hashes:
                continue
            if story.id in seen:
                raise InputError(
                    f"the id {story.id!r} is in {plan.name_shard(seen[story.id])} "
                    f"and in {plan.name_shard(shard.number)}",
                    "give every story an id of its own",
                )
            seen[story.id] = shard.number


def _merge(plan: Plan, place: Place, crew: Crew) -> None:
    """Merge what was gathered part by part; what is left of the parts fits into one process."""
    if STATE.rpartition("/")[2] in place.sizes(HIDDEN):
        return
    numbers = range(len(plan.shards))
    names = {part: [state_name(0, at, part) for at in numbers] for part in range(plan.parts)}
    level = 0
    while any(own != [sealed_name(part)] for part, own in names.items()):
        count = sum(map(len, names.values()))
        watch.get().tell(f"merging {count_text(count, 'part')} of what was gathered")
        level += 1
        calls = []
        for part, own in names.items():
            groups = [own[at : at + _MERGED_AT_ONCE] for at in range(0, len(own), _MERGED_AT_ONCE)]
            targets = [state_name(level, at, part) for at in range(len(groups))]
            names[part] = targets if groups[1:] else [sealed_name(part)]
            calls += [
                Call("merge", at, names=(*group, target))
                for at, (group, target) in enumerate(zip(groups, names[part], strict=True))
            ]
        for _ in do_calls(crew, calls, plan):
            pass
    whole = Call("merge", 0, names=(*(sealed_name(part) for part in names), STATE))
    for _ in do_calls(crew, [whole], plan):
        pass


def _score(
    plan: Plan,
    place: Place,
    crew: Crew,
    surveyed: Sequence[Mark],
    progress: Progress | None,
    earlier: Mapping[str, Any] | None,
) -> list[Part]:
    """Score all shards that were not scored yet."""
    marks = _read_marks(place, "score", range(len(plan.shards)), adds=plan.adds)
    files = earlier["files"] if earlier else {}
    counts = [mark["stories"] for mark in surveyed]
    before = [0, *accumulate(counts)]
    calls = [
        Call(
            "score",
            number,
            first=before[number] + 1,
            digest=mark["digest"],
            about=f"stories {mark['ids'][0]!r} to {mark['ids'][1]!r}",
            kept=files.get(part_name("scores", number), ""),
        )
        for number, mark in enumerate(surveyed)
        if number not in marks
    ]
    done = sum(counts[number] for number in marks)
    if progress:
        progress.start(sum(counts))
        progress.advance(done)
    watch.get().tell("scoring shards")
    for call, mark in do_calls(crew, calls, plan):
        marks[call.number] = mark
        done += counts[call.number]
        if progress:
            progress.advance(counts[call.number])
        kept = f"{done:,} of {count_text(sum(counts), 'story', 'stories')} are kept"
        watch.get().tell_kept(f"{kept}; the same command goes on from there")
    if progress:
        progress.finish()
    return [Part.from_plain(marks[number]) for number in range(len(plan.shards))]


def _digest_stories(surveyed: Sequence[Mark]) -> str:
    digest = SetDigest()
    for mark in surveyed:
        digest.merge(SetDigest.parse(mark["digest"]))
    return digest_lines([digest.hex()])


def _summarise(parts: Sequence[Part]) -> Summary:
    summary = Summary()
    for part in parts:
        summary.merge(part.summarise())
    return summary


def _record(
    plan: Plan,
    surveyed: Sequence[Mark],
    parts: Sequence[Part],
    clock: Sequence[float],
    summary: Summary,
    earlier: Mapping[str, Any] | None,
) -> dict[str, Any]:
    question = plan.question()
    record: dict[str, Any] = {
        "fabula": __version__,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(clock[-1] - clock[0], 3),
        "cpu_s": round(sum(part.cpu_s for part in parts), 3),
        # Of this command: of a run that was resumed, less than it took.
        "phases": dict(zip(("start", "survey", "score"), _list_spans(clock), strict=True)),
        "input": {"format": question["format"], **_describe_input(plan, surveyed)},
        "question": {"input": _digest_stories(surveyed), **question},
        "metrics": describe_metrics(
            plan.metrics,
            {m.spec: sum(part.seconds[m.spec] for part in parts) for m in plan.metrics},
        ),
        "versions": list_versions(),
        "summary": summary.rows(),
        "parts": [
            {"stories": part.stories, "scores": part.scores, "bytes": list(part.bytes)}
            for part in parts
        ],
        "files": {
            part_name(folder, number): part.sha256[at]
            for number, part in enumerate(parts)
            for at, folder in enumerate(("stories", "scores"))
        },
    }
    if earlier:
        merge_records(record, earlier, plan.kept)
    return record | {"checksum": digest_record(record)}


def _list_spans(clock: Sequence[float]) -> list[float]:
    return [round(end - start, 3) for start, end in pairwise(clock)]


def _describe_input(plan: Plan, surveyed: Sequence[Mark]) -> dict[str, Any]:
    left_out = sum(mark["left_out"] for mark in surveyed)
    return {
        "path": plan.input,
        "stories": sum(mark["stories"] for mark in surveyed),
        **({"left_out": left_out} if left_out else {}),
    }
