"""The plan of a run in shards: what is cut how, and what a folder must hold to go on with it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from fabula._version import __version__
from fabula.core.addresses import Place, stamp_file
from fabula.core.errors import InputError, UserError
from fabula.core.metric import Metric, needs_batch
from fabula.core.table import json_text
from fabula.datasets.tables.shards import Shard, cut_files, list_files
from fabula.datasets.tables.stories import StoryColumns, StoryLayout
from fabula.scoring.engine import BATCH
from fabula.scoring.folder import BEGUN, INSTEAD, RUN, KeptMetrics, list_differences
from fabula.scoring.shards.parts import HIDDEN, digest_lines

PLAN = f"{HIDDEN}/plan.json"
# Of Parquet a multiple of what the engine reads at once: a run of one file has the same batches.
SHARD_STORIES = 8192
# CIDEr gathers some 55 MB of a shard of 8,192 stories, and merging takes several times as much.
_SHARDS_PER_PART, _MOST_PARTS = 2, 64
_FOLDERS = ("stories", "scores", HIDDEN)


@dataclass(frozen=True)
class Plan:
    """All that a worker has to know."""

    place: str
    files: tuple[str, ...]
    shards: tuple[Shard, ...]
    columns: StoryColumns
    layout: StoryLayout
    metrics: tuple[Metric, ...]
    stamps: str
    stories: int = SHARD_STORIES
    strict: bool = False
    at_once: int = BATCH
    kept: KeptMetrics = field(default_factory=KeptMetrics)
    """Metrics of a finished run in the folder, to which those of this plan are added."""

    @property
    def adds(self) -> bool:
        """Whether there is a finished run that metrics are added to."""
        return bool(self.kept.stamp)

    @property
    def input(self) -> str:
        """What is scored, in a few words."""
        first, last = self.files[0], self.files[-1]
        return first if first == last else f"{first} … {last}"

    @property
    def numbered(self) -> bool:
        """Whether stories have no ids, and are numbered instead."""
        return "id" not in self.columns.names

    @property
    def parts(self) -> int:
        """In how many parts what is gathered is merged, so that none of many shards is large."""
        gathered = [metric.empty_statistics() for metric in self.metrics if needs_batch(metric)]
        if not any(hasattr(statistics, "split") for statistics in gathered):
            return 1
        return min(_MOST_PARTS, -(-len(self.shards) // _SHARDS_PER_PART))

    @property
    def gathers(self) -> bool:
        """Whether a metric has to know its batch."""
        return any(needs_batch(metric) for metric in self.metrics)

    def name_shard(self, number: int, stories: str = "") -> str:
        """Say which shard, which part of which file it is, and which stories it holds."""
        told = [self.shards[number].describe(), *([stories] if stories else [])]
        return f"shard {number} ({'; '.join(told)})"

    def question(self) -> dict[str, Any]:
        """What is scored, and how it is cut; another question is another run."""
        return {
            "files": self.stamps,
            "format": "+".join(dict.fromkeys(shard.kind for shard in self.shards)),
            "encoding": self.layout.encoding or "utf-8",
            "columns": {role: list(names) for role, names in self.columns.names.items()},
            "skip_bad": self.layout.skip_bad,
            "shard_stories": self.stories,
            "at_once": self.at_once,
            "metrics": [*self.kept.identities, *(metric.identity for metric in self.metrics)],
        }


def make_plan(
    names: Sequence[str], layout: StoryLayout, metrics: Sequence[Metric], place: Place, **how: Any
) -> Plan:
    """Say which files, how they are cut, and which columns are taken."""
    files = list_files(names)
    columns, shards = cut_files(files, layout, how.get("stories", SHARD_STORIES))
    if not shards:
        raise InputError("there are no stories", "give at least one")
    stamps = digest_lines("\t".join([file, *map(str, stamp_file(file))]) for file in files)
    # What listens cannot travel to other processes.
    plain = replace(layout, say=None)
    return Plan(
        place.name, tuple(files), tuple(shards), columns, plain, tuple(metrics), stamps, **how
    )


def read_record(place: Place) -> dict[str, Any] | None:
    """Give what the run.json of a finished run says; nothing where there is none."""
    try:
        record = json.loads(place.read(RUN))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        raise InputError(f"{place.name}/{RUN} is not the record of a run", INSTEAD) from None
    return record if isinstance(record, dict) else {}


def find_finished(place: Place, plan: Plan) -> dict[str, Any] | None:
    """Give the record of a run of the same stories, if it is there whole; others are refused."""
    record = read_record(place)
    if record is None:
        return None
    differences = list_differences(record.get("question") or {}, plan.question())
    if "parts" not in record or differences:
        what = ", ".join(differences) if "parts" in record else "not in shards"
        raise UserError(f"{place.name} holds another run ({what})", INSTEAD)
    return record


def keep_plan(place: Place, plan: Plan) -> None:
    """Write the plan down before anything else; a folder that holds another is refused."""
    question = plan.question()
    shards = [asdict(shard) for shard in plan.shards]
    told = json.loads(json_text({"question": question, "shards": shards}))
    try:
        before = json.loads(place.read(PLAN))
    except FileNotFoundError:
        if not plan.adds:
            _refuse_foreign(place)
        data = {"fabula": __version__, **told}
        place.write(PLAN, (json_text(data, indent=1) + "\n").encode())
        return
    except ValueError:
        before = {}
    asked = before.get("question") or {}
    if differences := [
        f"other {key}" for key in question if asked.get(key) != told["question"][key]
    ]:
        problem = f"{place.name} holds another run that was begun ({', '.join(differences)})"
        raise UserError(problem, INSTEAD)
    if before.get("shards") != told["shards"]:
        raise UserError(f"{place.name} holds a run that was cut otherwise", INSTEAD)


def note_begun(place: Place, plan: Plan, stories: int | None) -> None:
    """Say beside the marks what is being done, for those who look on."""
    told = {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "input": plan.input,
        "stories": stories,
        "metrics": [metric.spec for metric in plan.metrics],
    }
    place.write(f"{HIDDEN}/{BEGUN}", (json_text(told) + "\n").encode())


def _refuse_foreign(place: Place) -> None:
    """Refuse a folder that holds parts of which no plan speaks."""
    for folder in _FOLDERS[:2]:
        if parts := _list_parts(place, folder):
            raise UserError(f"{place.name}/{parts[0]} is there, and not by this run", INSTEAD)


def clear_place(place: Place) -> None:
    """Take away what a run in shards leaves: its record first, so that nothing half is a run."""
    place.remove(RUN)
    for folder in _FOLDERS[:2]:
        for name in _list_parts(place, folder):
            place.remove(name)
    clear_hidden(place)


def _list_parts(place: Place, folder: str) -> list[str]:
    names = sorted(place.sizes(folder))
    return [f"{folder}/{name}" for name in names if re.fullmatch(r"part-\d+\.parquet", name)]


def clear_hidden(place: Place) -> None:
    """Take away what is only needed while a run is made; the plan last."""
    names = place.sizes(HIDDEN)
    for name in sorted(names, key=lambda name: name == PLAN.rpartition("/")[2]):
        place.remove(f"{HIDDEN}/{name}")
