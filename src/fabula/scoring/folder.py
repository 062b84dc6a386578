"""A run folder: stories and scores written as they come, put in place only when whole."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from fabula.core.addresses import refuse_address
from fabula.core.card import Direction
from fabula.core.errors import InputError, UserError
from fabula.core.files import checksum_file, lock_file, refuse_foreign, unwritable, write_text
from fabula.core.machine import is_alive
from fabula.core.metric import Metric
from fabula.core.plain import from_plain
from fabula.core.story import Story
from fabula.core.table import (
    SCORES,
    STORIES,
    check_parts,
    json_line,
    json_text,
    plain_row,
    read_scores,
    story_line,
)
from fabula.scoring.run_parts import SCORE_ROWS, ParquetColumns, score_schema

PARQUET, RUN = "scores.parquet", "run.json"
# What lies in the hidden folder of a run that is being written, for those who look on.
BEGUN = "begun.json"
# The record of a run in shards to which metrics were added, until its parts are in place.
STAGED_RUN = f".shards/{RUN}"
_FILES = (STORIES, SCORES, PARQUET)
LOCK = ".lock"
_HEAD = f".partial-{platform.node()}-"
INSTEAD = "choose another folder with -o, or pass --overwrite"
_AGAIN = "put back what was there, or score again with --overwrite"


@dataclass(frozen=True)
class _MetricEntry:
    """What run.json says of a metric; here to hold what is read to it."""

    spec: str
    direction: Direction
    family: str
    signature: str
    short_signature: str


@dataclass(frozen=True)
class _InputEntry:
    path: str
    stories: int


@dataclass(frozen=True)
class _QuestionEntry:
    input: str
    metrics: tuple[str, ...]


@dataclass(frozen=True)
class _Record:
    """What every run.json holds that others read."""

    fabula: str
    finished: str
    seconds: float
    input: _InputEntry
    question: _QuestionEntry
    metrics: tuple[_MetricEntry, ...]
    versions: Mapping[str, str]
    files: Mapping[str, str]


@dataclass(frozen=True)
class KeptMetrics:
    """Metrics of an earlier run over the same stories whose scores stay as they are."""

    identities: tuple[str, ...] = ()
    entries: tuple[dict[str, Any], ...] = ()
    stamp: str = ""
    """Checksum of the run.json that says so."""
    pictures: str = ""
    """Digest of the pictures that some of them have looked at."""

    @property
    def specs(self) -> list[str]:
        """Their specs, in the order of the earlier run."""
        return [entry["spec"] for entry in self.entries]


class RunFolder:
    """Writes a run into hidden files of its own and renames them at the end, run.json last."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def refuse_foreign(self, inputs: Iterable[Path] = (), *, overwrite: bool = False) -> None:
        """Refuse a folder where a file would be lost that no run of ours wrote, or an input."""
        known: dict[str, str] = {}
        if not overwrite and (record := self.read_earlier()) is not None:
            known = {**record["files"], RUN: checksum_file(self.path / RUN)}
        refuse_foreign(self.path, (*_FILES, RUN), inputs=inputs, known=known, overwrite=overwrite)

    def keep_metrics(self, question: dict[str, Any], metrics: Sequence[Metric]) -> KeptMetrics:
        """Say what the folder holds already; other stories are refused, so that none is lost.

        A metric that is asked for again is kept too, unless something was missing that may be at
        hand by now.
        """
        record = self.read_earlier()
        if record is None:
            return KeptMetrics()
        if differences := list_differences(record["question"], question):
            raise UserError(f"{self.path} holds another run ({', '.join(differences)})", INSTEAD)
        return choose_kept(
            record, metrics, str(self.path), stamp=self._stamp(), unfinished=self._list_unfinished
        )

    def _stamp(self) -> str:
        return checksum_file(self.path / RUN) if (self.path / RUN).is_file() else ""

    def _list_unfinished(self, specs: Collection[str]) -> set[str]:
        """Metrics of which a value was missing for a reason that may be gone tomorrow."""
        scores = (score for score in read_scores(self.path) if score.scorer in specs)
        return {score.scorer for score in scores if not score.status.lasting}

    def read_earlier(self) -> dict[str, Any] | None:
        """Give the record of the run that lies here, once one that was being put in place is."""
        if begun := list(self.path.glob(f".partial-*/{RUN}")):
            with self.lock():
                for record in begun:
                    if record.is_file():
                        self._rename(record.parent)
        return read_run(self.path) if os.path.lexists(self.path / RUN) else None

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other runs out of the folder; a second one is refused."""
        absent = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        with ExitStack() as stack:
            # Folders that were made for a run that came to nothing go again, the inner one first.
            for folder in reversed(absent):
                stack.callback(_remove_empty, folder)
            try:
                self.path.mkdir(parents=True, exist_ok=True)
                stack.enter_context(lock_file(self.path / LOCK, wait=False))
            except BlockingIOError as error:
                raise UserError(
                    f"another run is being written to {self.path} (process {error.strerror})",
                    "wait for it, or choose another folder with -o",
                ) from None
            except OSError as error:
                raise unwritable(self.path, error) from error
            yield

    @contextmanager
    def partial(self, stamp: str | None = None) -> Iterator[Path]:
        """Give a hidden folder to write a run into, and keep other runs out meanwhile.

        It goes when the run ends, well or not. `stamp` is that of the run that was found here;
        where another has been put in its place since, nothing is done.
        """
        with self.lock():
            if stamp is not None and stamp != self._stamp():
                raise UserError(f"another run was written to {self.path} meanwhile", "run it again")
            with make_partial(self.path) as partial:
                try:
                    yield partial
                finally:
                    if (partial / RUN).is_file():  # interrupted while files were put in place
                        with suppress(OSError):
                            self._rename(partial)

    def note_begun(self, partial: Path, told: dict[str, Any]) -> None:
        """Say in the hidden folder what is being done, for those who look on."""
        try:
            write_text(partial / BEGUN, json_text(told) + "\n")
        except OSError as error:
            raise unwritable(self.path, error) from error

    def publish(self, partial: Path, run: dict[str, Any]) -> None:
        """Put the files in place; run.json, which holds their checksums, comes last."""
        try:
            files = [name for name in _FILES if (partial / name).exists()]
            run["files"] = {name: checksum_file(partial / name) for name in files}
            run["checksum"] = digest_record(run)
            write_text(partial / RUN, json_text(run, indent=2) + "\n")
            self._rename(partial)
        except OSError as error:
            raise unwritable(self.path, error) from error

    def _rename(self, partial: Path) -> None:
        """Put whole files in place. It may be begun again: what a kill left undone is done then."""
        files = load_record(partial / RUN)["files"]
        for name in _FILES:
            if name not in files:
                (self.path / name).unlink(missing_ok=True)
            elif (partial / name).exists():
                (partial / name).replace(self.path / name)
        (partial / RUN).replace(self.path / RUN)


def choose_kept(
    record: Mapping[str, Any],
    metrics: Sequence[Metric],
    where: str,
    *,
    stamp: str,
    unfinished: Callable[[Collection[str]], set[str]],
) -> KeptMetrics:
    """Say which metrics of a finished run stay as they are, when these are asked for.

    `unfinished` says which of some specs lack values that may be had by now.
    """
    identities, entries = record["question"]["metrics"], record["metrics"]
    asked = {metric.spec: metric.identity for metric in metrics}
    for entry, identity in zip(entries, identities, strict=True):
        if asked.get(entry["spec"], identity) != identity:
            raise UserError(f"{where} holds {entry['spec']} in another version", INSTEAD)
    shared = {entry["spec"] for entry in entries if entry["spec"] in asked}
    again = unfinished(shared) if shared else set()
    kept = [pair for pair in zip(identities, entries, strict=True) if pair[1]["spec"] not in again]
    pictures = record["question"].get("pictures", "")
    return KeptMetrics(
        tuple(identity for identity, _ in kept), tuple(entry for _, entry in kept), stamp, pictures
    )


@contextmanager
def make_partial(path: Path) -> Iterator[Path]:
    """Give a hidden folder within a folder to write into; it goes when the block ends."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        _sweep(path)
        partial = Path(tempfile.mkdtemp(prefix=f"{_HEAD}{os.getpid()}-", dir=path))
    except OSError as error:
        raise unwritable(path, error) from error
    try:
        yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _sweep(path: Path) -> None:
    """Take away what killed runs of this machine left."""
    for folder in path.glob(f"{_HEAD}*"):
        pid = folder.name.removeprefix(_HEAD).partition("-")[0]
        # Our own number is that of a killed run as well: in a container it may always be 1.
        if not pid.isdigit() or int(pid) == os.getpid() or not is_alive(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)


def read_run(path: Path) -> dict[str, Any]:
    """Read a run folder's run.json; it and the files it speaks of must be as they were written."""
    # What is no plain file may have no end.
    if not (path / RUN).is_file():
        refuse_address(path)
        if (path / STAGED_RUN).parent.is_dir():
            remedy = "the same command (fabula score) goes on with it"
            raise InputError(f"{path} holds a run in shards that is not finished", remedy)
        raise InputError(f"{path} is no run folder", "make one with: fabula score -o")
    record = load_record(path / RUN)
    if record.get("parts") is not None:
        _check_parts(path, record["parts"])
        return record
    for name in (STORIES, SCORES):
        file, checksum = path / name, record["files"].get(name)
        if not file.is_file():
            raise InputError(f"{file} is missing from the run", _AGAIN)
        if checksum_file(file) != checksum:
            raise InputError(f"{file} was altered since the run wrote it", _AGAIN)
    return record


def _check_parts(path: Path, parts: Iterable[Mapping[str, Any]]) -> None:
    try:
        check_parts(path, parts)
    except InputError:
        if (path / STAGED_RUN).is_file():
            problem = f"metrics that were added to {path} are just being put in place"
            remedy = "wait for it; where that was ended, run the same fabula score again"
            raise InputError(problem, remedy) from None
        raise


def load_record(path: Path) -> dict[str, Any]:
    """Read run.json, naming what in it is not as a run writes it."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(record, dict):
            raise ValueError("no object")
        plain = _pick_known(_Record, record)
        plain["input"] = _pick_known(_InputEntry, plain.get("input"))
        plain["question"] = _pick_known(_QuestionEntry, plain.get("question"))
        if isinstance(entries := plain.get("metrics"), list):
            plain["metrics"] = [_pick_known(_MetricEntry, entry) for entry in entries]
        from_plain(_Record, plain, str(path), error=InputError, remedy=_AGAIN)
        datetime.fromisoformat(record["finished"])
        if len(record["question"]["metrics"]) != len(record["metrics"]):
            raise ValueError("other metrics than were asked for")
        whole = record.get("checksum") in (None, digest_record(record))
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error})", "check it") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not the record of a run ({error})", _AGAIN) from None
    if not whole:
        raise InputError(f"{path} was altered since the run wrote it", _AGAIN)
    return record


def _pick_known(kind: Any, value: Any) -> Any:
    """Leave out what a later version may have added."""
    if not isinstance(value, dict):
        return value
    known = {field.name: field.type for field in fields(kind)}
    return {name: part for name, part in value.items() if name in known}


def digest_record(record: dict[str, Any]) -> str:
    """Digest of a record without its checksum, which this is."""
    rest = {name: part for name, part in record.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


class RowWriter:
    """Writes rows into a folder, a group at a time, so that memory stays bounded."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with self._explain_errors():
            self._stories: IO[str] = (folder / STORIES).open("w", encoding="utf-8")
            self._jsonl: IO[str] = (folder / SCORES).open("w", encoding="utf-8")
            self._parquet = (
                ParquetColumns(folder / PARQUET, score_schema(), SCORE_ROWS)
                if importlib.util.find_spec("pyarrow")
                else None
            )

    def write_story(self, story: Story) -> None:
        """Write a story, so that the folder says by itself what was scored."""
        with self._explain_errors():
            # What is written into a hidden folder will lie in the one around it.
            self._stories.write(story_line(story, self._folder.parent))

    def write(self, row: dict[str, Any]) -> None:
        """Write one row."""
        try:
            self._jsonl.write(json_line(row))
            if self._parquet:
                self._parquet.add(plain_row(row).values())
        except OSError as error:
            raise unwritable(self._folder.parent, error) from error

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, *_: object) -> None:
        with self._explain_errors():
            self._stories.close()
            self._jsonl.close()
            if self._parquet:
                self._parquet.close()

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise unwritable(self._folder.parent, error) from error


def list_differences(before: Mapping[str, Any], question: Mapping[str, Any]) -> list[str]:
    """What is asked of other stories, or of the same read otherwise; metrics may be added."""
    # Where no metric has looked at a picture yet, they may be any.
    keys = [key for key in question if key != "metrics" and (key != "pictures" or key in before)]
    return [f"other {key}" for key in keys if before.get(key) != question[key]]
