"""What a worker does with a shard: survey it, merge what was gathered, score it.

Everything it needs lies in the plan and in the run's folder, and everything it leaves is put there
whole, a mark last: whoever comes after a worker that died does the same again.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.addresses import is_address, open_place
from fabula.core.errors import UserError
from fabula.core.metric import needs_batch
from fabula.core.protocols import Watch, watch
from fabula.core.score import Score
from fabula.core.story import Story, count_text
from fabula.core.table import json_text
from fabula.datasets.tables.shards import ShardStories
from fabula.scoring.engine import Engine, changed_error
from fabula.scoring.shards.adding import join_kept
from fabula.scoring.shards.parts import HIDDEN, PartWriter
from fabula.scoring.shards.plan import Plan
from fabula.scoring.shards.states import (
    State,
    merge_states,
    read_state,
    seal_state,
    split_state,
    write_state,
)
from fabula.scoring.survey import Batches, SetDigest, Survey, digest_whole

Mark = dict[str, Any]
STATE = f"{HIDDEN}/batches.state"
# Of what was found in files, which may be very many.
_MOST_LINES = 10


@dataclass(frozen=True)
class Call:
    """Something to do: `survey` a shard, `merge` states into another, `score` a shard.

    `number` is that of the shard, `first` the number of its first story, `about` names its stories.
    `names` are the states to merge, into the last of them. `kept` is the checksum of the scores
    that are there, where others are added.
    """

    verb: str
    number: int
    first: int = 1
    names: tuple[str, ...] = ()
    digest: str = ""
    about: str = ""
    kept: str = ""


def mark_name(verb: str, number: int) -> str:
    """Name the mark that says that a shard was surveyed or scored."""
    return f"{HIDDEN}/{verb}-{number:05d}.json"


def ids_name(number: int) -> str:
    """Name the file of the hashes of a shard's ids."""
    return f"{HIDDEN}/ids-{number:05d}.npy"


def state_name(level: int, number: int, part: int) -> str:
    """Name a part of what was gathered of a shard (level 0), or merged of several."""
    return f"{HIDDEN}/batches-{part:02d}-{level}-{number:05d}.state"


def sealed_name(part: int) -> str:
    """Name a part of what was gathered of all shards, without what nobody will ask for."""
    return f"{HIDDEN}/batches-{part:02d}.state"


class ShardWorker:
    """Does what is called for; loads models once."""

    def __init__(
        self, plan: Plan, threads: int | None = None, device: str = "", folder: str = ""
    ) -> None:
        # Models read these when they are loaded, which is later.
        if threads:
            os.environ["FABULA_THREADS"] = str(threads)
        if device:
            os.environ["FABULA_DEVICE"] = device
        self.plan = plan
        self.place = open_place(plan.place)
        self._batches: State | None = None
        self._refusal = self._enter(folder) if folder else None

    def _enter(self, folder: str) -> UserError | None:
        """Go to the driver's folder: what it named relative to that is the same file here."""
        try:
            os.chdir(folder)
        except OSError as error:
            names = [self.plan.place, *(shard.file for shard in self.plan.shards)]
            if all(is_address(name) or Path(name).is_absolute() for name in names):
                return None
            problem = f"{folder} is not on {socket.gethostname()} ({error.strerror})"
            remedy = "name files and -o by addresses, or work in a folder that all machines see"
            return UserError(problem, remedy)
        return None

    def has_started(self) -> bool:
        """Answer, which a worker can only do once it has started."""
        return True

    def answer(self, call: Call) -> Mark | Exception:
        """Do it and give the mark, or what went wrong, in a form that travels."""
        if self._refusal:
            return self._refusal
        before = watch.set(Watch())
        try:
            return {"survey": self.survey, "merge": self.merge, "score": self.score}[call.verb](
                call
            )
        except UserError as error:
            return error
        except Exception as error:
            return self._make_sendable(error, call)
        finally:
            watch.reset(before)

    def survey(self, call: Call) -> Mark:
        """Go over the stories of a shard: are they sound, which ids, what of their batches?"""
        said: list[str] = []
        layout = replace(self.plan.layout, say=said.append)
        source = ShardStories(self.plan.shards[call.number], self.plan.columns, layout)
        gathering = [metric for metric in self.plan.metrics if needs_batch(metric)]
        state = {metric.spec: Batches() for metric in gathering}
        digest, ids, hashes = SetDigest(), ["", ""], []
        for story in source:
            digest.add(digest_whole(story))
            ids = [ids[0] or story.id, story.id]
            if not self.plan.numbered:
                hashes.append(hash_id(story.id))
            for metric in gathering:
                state[metric.spec].add(metric, story)
        if hashes:
            file = io.BytesIO()
            np.save(file, np.sort(np.array(hashes, dtype=np.uint64)))
            self.place.write(ids_name(call.number), file.getvalue())
        source.reading.say_notes()
        source.reading.say_left_out()
        for part, own in enumerate(split_state(state, self.plan.parts) if gathering else ()):
            self.place.write(state_name(0, call.number, part), write_state(own))
        return self._leave_mark(
            call,
            {
                "stories": digest.count,
                "digest": digest.hex(),
                "ids": ids,
                "names": sorted(source.names),
                "left_out": source.left_out,
                "said": said,
            },
        )

    def merge(self, call: Call) -> Mark:
        """Merge states into one; one of all shards is sealed."""
        *sources, target = call.names
        states = (read_state(self.place.read(name), self.plan.metrics) for name in sources)
        merged = merge_states(states)
        if target in (STATE, *map(sealed_name, range(self.plan.parts))):
            merged = seal_state(merged, self.plan.metrics)
        self.place.write(target, write_state(merged))
        return {}

    def score(self, call: Call) -> Mark:
        """Score the stories of a shard and put its part in place."""
        shard = self.plan.shards[call.number]
        source = ShardStories(shard, self.plan.columns, self.plan.layout, first=call.first)
        engine = Engine(
            self.plan.metrics,
            Survey(batches=self._gathered()),
            strict=self.plan.strict,
            at_once=self.plan.at_once,
            check=False,
        )
        scores: Iterator[tuple[Story, Score]] = engine.run(self._check(source, call.digest))
        if self.plan.adds:
            scores = join_kept(self.place, call.number, self.plan.kept, call.kept, scores)
        with PartWriter(self.place, call.number, adds=self.plan.adds) as writer:
            for story, score in scores:
                writer.add(story, score)
            part = writer.publish(engine.seconds)
        return self._leave_mark(call, part.plain())

    def _gathered(self) -> State:
        """Give what is known of batches, read once."""
        if self._batches is None:
            read = self.plan.gathers
            self._batches = read_state(self.place.read(STATE), self.plan.metrics) if read else {}
        return self._batches

    def _check(self, source: ShardStories, wanted: str) -> _CheckedStories:
        return _CheckedStories(source, wanted, numbered=self.plan.numbered)

    def _leave_mark(self, call: Call, mark: Mark) -> Mark:
        self.place.write(mark_name(call.verb, call.number), (json_text(mark) + "\n").encode())
        return mark

    def _make_sendable(self, error: Exception, call: Call) -> Exception:
        """Give an error that arrives whole and says at which shard it was."""
        if call.verb != "merge":
            error.add_note(f"in {self.plan.name_shard(call.number, call.about)}")
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            return RuntimeError(f"{type(error).__name__}: {error}", *error.__notes__)
        return error


class _CheckedStories:
    """Stories of a shard that must be those of the survey."""

    def __init__(self, source: ShardStories, wanted: str, *, numbered: bool) -> None:
        self._source, self._wanted, self._numbered = source, wanted, numbered

    def __iter__(self) -> Iterator[Story]:
        digest = SetDigest()
        for number, story in enumerate(self._source, 1):
            # When they were surveyed, nobody knew how many stories come before.
            told = replace(story, id=str(number)) if self._numbered else story
            digest.add(digest_whole(told))
            yield story
        if digest.hex() != self._wanted:
            raise changed_error()


def hash_id(name: str) -> int:
    """Give 64 bits for an id, the same in every process."""
    raw = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(raw, "big")


def read_mark(data: bytes) -> Mark:
    """Read a mark."""
    mark: Mark = json.loads(data)
    return mark


def say_found(say: Callable[[str], None] | None, surveyed: Sequence[Mark]) -> None:
    """Say which rows were left out, and what is not ordinary of files; of very many the first."""
    if say is None:
        return
    lines = list(dict.fromkeys(line for mark in surveyed for line in mark.get("said", ())))
    for line in lines[:_MOST_LINES]:
        say(line)
    if more := len(lines[_MOST_LINES:]):
        left_out = count_text(sum(mark["left_out"] for mark in surveyed), "row")
        say(f"… and {count_text(more, 'such line')} more; {left_out} left out in all")
