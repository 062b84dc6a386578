"""The cache: what metrics said, by content. Safe to kill, and to share between runs."""

from __future__ import annotations

import json
import math
import shlex
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

from fabula.core.errors import UserError
from fabula.core.files import cache_home, is_busy, write_ahead
from fabula.core.score import Reading, Status

_SCHEMA = 2
# SQLite's application_id ("Fabu"), by which a file is known to be a cache of ours.
_OURS = 0x46616275
_MAGIC = b"SQLite format 3\0"
_MOST_VARIABLES = 500
_WAIT_S = 120.0
_CHECKSUM = 8  # characters of a row


class ScoreCache:
    """Readings by key, in one SQLite file that several runs may use at once.

    Every `put` is one transaction in write-ahead mode: a run that is killed loses what it had not
    put yet and nothing else. A row carries a checksum of its key and its words; one that a failing
    disk has altered, or that an older Fabula wrote without, is not found and is made again.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_path()
        with self._explain_errors():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if not (is_blank(self.path) or _is_usual(self.path) or is_cache(self.path)):
                remedy = "name another file with --cache, or pass --no-cache"
                raise UserError(f"{self.path} is no cache of Fabula and is left alone", remedy)
            self._database = sqlite3.connect(self.path, timeout=_WAIT_S, isolation_level=None)
            if is_blank(self.path):
                self._database.execute(f"PRAGMA application_id={_OURS}")
            write_ahead(self._database, _WAIT_S)
            self._database.execute("PRAGMA synchronous=NORMAL")
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS readings"
                " (key BLOB PRIMARY KEY, reading TEXT NOT NULL) WITHOUT ROWID"
            )

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Reading]:
        """Find what is known under the keys."""
        readings: dict[bytes, Reading] = {}
        with self._explain_errors():
            for start in range(0, len(keys), _MOST_VARIABLES):
                batch = keys[start : start + _MOST_VARIABLES]
                marks = ",".join("?" * len(batch))
                query = f"SELECT key, reading FROM readings WHERE key IN ({marks})"
                for key, raw in self._database.execute(query, batch):
                    words = raw[_CHECKSUM:]
                    if raw == _checksum(key, words) + words:
                        readings[key] = _decode(words)
        return readings

    def put(self, readings: Mapping[bytes, Reading]) -> None:
        """Keep readings that will be the same tomorrow, all of them or none."""
        lasting = [
            (key, _checksum(key, words := _encode(reading)) + words)
            for key, reading in readings.items()
            if reading.status.lasting
        ]
        if not lasting:
            return
        with self._explain_errors():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                self._database.executemany("INSERT OR REPLACE INTO readings VALUES (?, ?)", lasting)
                self._database.execute("COMMIT")
            except BaseException:
                self._database.execute("ROLLBACK")
                raise

    def __len__(self) -> int:
        with self._explain_errors():
            return int(self._database.execute("SELECT count(*) FROM readings").fetchone()[0])

    def size(self) -> int:
        """Bytes on disk, the write-ahead log included."""
        return sum(path.stat().st_size for path in cache_files(self.path))

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def __enter__(self) -> ScoreCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        """Say in one line what is wrong with the file and what to do."""
        try:
            yield
        except (sqlite3.Error, OSError, ValueError) as error:
            clear = "fabula cache clear"
            if not _is_usual(self.path):
                clear += f" --cache {shlex.quote(str(self.path))}"
            remedy = f"free some space, run: {clear}, or pass --no-cache"
            raise UserError(f"the cache {self.path} cannot be used ({error})", remedy) from error


def open_cache(
    cache: bool | str | Path | ScoreCache | None,
) -> nullcontext[ScoreCache | None] | ScoreCache:
    """Give a cache to use in a `with`: the one given, that of a file, the user's own, or none."""
    if isinstance(cache, ScoreCache):
        return cache
    if isinstance(cache, str | Path):
        return ScoreCache(Path(cache))
    return ScoreCache() if cache else nullcontext(None)


def default_path() -> Path:
    """Where the cache lies unless told otherwise."""
    return cache_home() / f"scores-v{_SCHEMA}.sqlite"


def cache_files(path: Path) -> list[Path]:
    """Files a cache consists of, those that are there."""
    files = [path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))]
    return [file for file in files if file.is_file()]


def is_blank(path: Path) -> bool:
    """Whether there is no file yet, or one that holds nothing."""
    return not path.exists() or (path.is_file() and not path.stat().st_size)


def is_cache(path: Path) -> bool:
    """Whether a file is a cache of ours: by its mark, or, as it had none once, by its one table."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(72)
    if not head.startswith(_MAGIC):
        return False
    if int.from_bytes(head[68:72], "big") == _OURS:
        return True
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            names = database.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
            ).fetchall()
            columns = database.execute("SELECT name FROM pragma_table_info('readings')").fetchall()
    except sqlite3.DatabaseError:
        return False
    return names == [("readings",)] and columns == [("key",), ("reading",)]


def _is_usual(path: Path) -> bool:
    """Whether a file is a cache by its place and name, whatever it holds."""
    home = cache_home().resolve()
    return path.parent.resolve() == home and path.match("scores-v*.sqlite")


def clear_cache(path: Path) -> int:
    """Forget everything; give the number of readings forgotten.

    Rows are deleted rather than files, for another run may have them open; only a cache that is
    no database any more is taken away. What is no cache of ours is refused and left as it is.
    """
    if is_blank(path):
        return 0
    if not (is_cache(path) or (path.is_file() and _is_usual(path))):
        raise UserError(
            f"{path} is no cache of Fabula; nothing was deleted",
            "fabula cache info says where the cache is; a file of your own you can delete yourself",
        )
    try:
        with closing(sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)) as database:
            count = int(database.execute("SELECT count(*) FROM readings").fetchone()[0])
            database.execute("DELETE FROM readings")
            database.execute("VACUUM")
            return count
    except sqlite3.DatabaseError as error:
        if is_busy(error):
            raise UserError(f"the cache {path} is in use", "wait for the other run") from None
        for file in cache_files(path):
            file.unlink(missing_ok=True)
        return 0


def _checksum(key: bytes, words: str) -> str:
    return f"{zlib.crc32(words.encode(), zlib.crc32(key)):08x}"


def _encode(reading: Reading) -> str:
    values = [None if math.isnan(value) else value for value in reading.values]
    statuses = [reading.statuses] if reading.statuses else []
    return json.dumps([values, reading.status, reading.coverage, reading.note, *statuses])


def _decode(raw: str) -> Reading:
    values, status, coverage, note, *others = json.loads(raw)
    numbers = tuple(math.nan if value is None else value for value in values)
    statuses = tuple(map(Status, others[0])) if others else ()
    return Reading(numbers, Status(status), coverage, note, statuses)
