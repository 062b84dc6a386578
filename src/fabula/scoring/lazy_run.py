"""A run folder as tables that are read where they lie: past what memory holds.

Stories and scores stay in Parquet. What is made of them is a table of values, a row a story and a
column a scorer and aspect, in a DuckDB database that nobody keeps, which is held to a part of
the memory and goes to disk beyond it. Texts are fetched by the places of stories, or gone through
a batch at a time. A run in one file each is brought into parts first.
"""

from __future__ import annotations

import math
import shutil
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import finalize

import numpy as np

from fabula.core.errors import PackageMissing
from fabula.core.images import find_images
from fabula.core.score import STATUSES, Score, Status, Summary, SummaryCell
from fabula.core.story import Story, count_text
from fabula.core.table import COLUMNS, parse_score
from fabula.scoring.folder import RUN, load_record, read_run
from fabula.scoring.run_database import RunDatabase

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

Array = np.ndarray[Any, np.dtype[Any]]

# Runs of more stories are not held in memory.
MOST_STORIES = 50_000
EXTRA = "large"
# Stories that are held at once while all are gone through.
BATCH_ROWS = 1000
_FIELDS = ("id", "text", "prompt", "references", "images", "system", "item")


def is_large(record: dict[str, Any]) -> bool:
    """Whether a run has more stories than are held in memory."""
    return int(record["input"]["stories"]) > MOST_STORIES


def is_read_lazily(folder: Path) -> bool:
    """Whether a run folder is to be read where it lies: it is large, and the packages are there."""
    return _is_large_run(folder) and _has_packages()


def say_held(folder: Path) -> str:
    """Say what to install where a large run will be held in memory; nothing where it will not."""
    if _has_packages() or not _is_large_run(folder):
        return ""
    from fabula.core.installation import spell_install

    most = count_text(MOST_STORIES, "story", "stories")
    words = f"{folder} has more than {most} and is held in memory"
    return f"{words}; to read it where it lies, run: {spell_install(EXTRA)}"


def _is_large_run(folder: Path) -> bool:
    return (folder / RUN).is_file() and is_large(load_record(folder / RUN))


def _has_packages() -> bool:
    return all(find_spec(name) is not None for name in ("duckdb", "pyarrow"))


@contextmanager
def open_lazily(folder: Path) -> Iterator[LazyRun]:
    """Open a run folder; what was made beside it goes when the block ends."""
    run = LazyRun(folder)
    try:
        yield run
    finally:
        run.close()


class LazyRun:
    """A run's record, its stories by place, and its scores by column.

    `keys` are scorers and aspects in the order in which they came; the number of a column is its
    place there. In SQL, `run` has a row a story: place, id, system (never null), item, and of each
    column its value `c0`, `c1` … (null where it is missing) and the number of its status `s0` ….
    """

    def __init__(self, folder: Path) -> None:
        for package in ("duckdb", "pyarrow"):
            if find_spec(package) is None:
                raise PackageMissing(package, EXTRA)
        self.folder = folder
        self._hashes: dict[str, Array] = {}
        self._found, self._searching = "", Lock()
        self.record = read_run(folder)
        self.home = Path(mkdtemp(prefix="fabula-run-"))
        # It goes with the run, at the latest when the process ends.
        self._sweep = finalize(self, shutil.rmtree, self.home, ignore_errors=True)
        try:
            self._database = RunDatabase(folder, self.home)
        except BaseException:
            self.close()
            raise

        self._parts = self._database.story_parts
        self.keys = self._database.keys
        self.count = sum(part.rows for part in self._parts)

    def close(self) -> None:
        """Let go of the temporary folder."""
        if hasattr(self, "_database"):
            self._database.connection.close()
        self._sweep()

    def query(self, sql: str, given: Sequence[Any] = ()) -> duckdb.DuckDBPyConnection:
        """Ask in SQL; every question has a cursor of its own, so that several may ask at once."""
        return self._database.query(sql, given)

    def insert(self, table: str, rows: pa.Table) -> None:
        """Put rows of Arrow into a table of our own."""
        cursor = self._database.connection.cursor()
        cursor.register("given_rows", rows)
        cursor.execute(f"INSERT INTO {table} SELECT * FROM given_rows")
        cursor.unregister("given_rows")

    @cached_property
    def systems(self) -> list[str]:
        """Systems, in the order they came."""
        sql = "SELECT system FROM stories GROUP BY system ORDER BY min(place)"
        return [system for (system,) in self.query(sql).fetchall()]

    @cached_property
    def items(self) -> int:
        """How many items there are."""
        sql = "SELECT count(DISTINCT item) FROM stories WHERE item <> ''"
        return int(self.query(sql).fetchall()[0][0])

    @cached_property
    def item_codes(self) -> Array:
        """The number of each story's item, by place; those without share one."""
        sql = (
            "WITH items AS (SELECT coalesce(item, '') AS name, min(place) AS first FROM stories"
            " GROUP BY name) SELECT place, first FROM stories JOIN items"
            " ON items.name = coalesce(stories.item, '')"
        )
        return self.read_column(sql, np.int64)

    @cached_property
    def system_codes(self) -> Array:
        """The number of each story's system, by place."""
        names = ", ".join(f"(?, {number})" for number in range(len(self.systems)))
        sql = f"SELECT place, n FROM stories JOIN (VALUES {names}) names(system, n) USING (system)"
        return self.read_column(sql, np.int32, self.systems)

    def places(self) -> dict[str, Array]:
        """Where the stories of each system are."""
        return {
            system: np.flatnonzero(self.system_codes == number)
            for number, system in enumerate(self.systems)
        }

    @cached_property
    def by_item(self) -> bool:
        """Whether every story has an item."""
        sql = "SELECT count(*) FROM stories WHERE coalesce(item, '') = ''"
        return bool(self.count) and self.query(sql).fetchall()[0][0] == 0

    @cached_property
    def units(self) -> Array:
        """What is drawn of a system, as numbers in the order of names: its items, or its stories
        where some have no item."""
        sql = (
            "WITH whole AS (SELECT system FROM stories GROUP BY system"
            " HAVING count(*) FILTER (coalesce(item, '') = '') = 0),"
            " named AS (SELECT place,"
            " CASE WHEN system IN (FROM whole) THEN item ELSE id END AS name"
            " FROM stories)"
            " SELECT place, dense_rank() OVER (ORDER BY name) - 1 FROM named"
        )
        return self.read_column(sql, np.int64)

    def values(self, number: int) -> Array:
        """Values of a column by place; NaN where there is none."""
        sql = f"SELECT place, c{number} FROM scores WHERE c{number} IS NOT NULL"
        return self.read_column(sql, np.float64, fill=math.nan)

    def statuses(self, number: int) -> Array:
        """Numbers of the statuses of a column by place."""
        sql = f"SELECT place, s{number} FROM scores WHERE s{number} IS NOT NULL"
        return self.read_column(sql, np.uint8)

    def read_column(
        self, sql: str, kind: type[np.generic], given: Sequence[Any] = (), fill: float = 0
    ) -> Array:
        """Ask for place and value, and give the values by place; `fill` where there is none."""
        array = np.full(self.count, fill, dtype=kind)
        places, values = self.query(sql, given).fetchnumpy().values()
        array[places] = values
        return array

    def hash_field(self, name: str) -> Array:
        """Number the id, item, prompt or reference of every story; 0 where it has none."""
        if name not in self._hashes:
            array = np.zeros(self.count, dtype=np.uint64)
            column = 'array_to_string("references", chr(10))' if name == "reference" else name
            for part in self._parts:
                sql = (
                    f"SELECT file_row_number, CASE WHEN coalesce({column}, '') = '' THEN 0"
                    f" ELSE greatest(hash({column}), 2) END"
                    " FROM read_parquet(?, file_row_number = true)"
                )
                rows, hashes = self.query(sql, [str(part.path)]).fetchnumpy().values()
                array[part.start + rows] = hashes
            self._hashes[name] = array
        return self._hashes[name]

    def find_words(self, words: str) -> str:
        """Name a table with the places of the stories in whose text, prompt or id words stand.

        Those that were asked for last are kept.
        """
        with self._searching:
            if words != self._found:
                self.query("CREATE OR REPLACE TABLE found (place BIGINT)")
                for part in self._parts:
                    within = " OR ".join(
                        f"contains(lower({name}), lower(?))" for name in ("text", "prompt", "id")
                    )
                    sql = (
                        "INSERT INTO found SELECT ? + file_row_number FROM"
                        f" read_parquet(?, file_row_number = true) WHERE {within}"
                    )
                    self.query(sql, [part.start, str(part.path), *[words.strip()] * 3])
                self._found = words
            return "found"

    def read_values(self, places: Sequence[int]) -> tuple[Array, Array]:
        """Values and statuses of some stories, stories × columns."""
        values = np.full((len(places), len(self.keys)), math.nan)
        statuses = np.zeros((len(places), len(self.keys)), dtype=np.uint8)
        chosen = np.asarray(places, dtype=np.int64)
        for number in range(len(self.keys)):
            values[:, number] = self.values(number)[chosen]
            statuses[:, number] = self.statuses(number)[chosen]
        return values, statuses

    def read_labels(self, wanted: Array) -> list[tuple[int, str, str, str | None]]:
        """Place, id, system and item of the stories that are wanted, by place."""
        import pyarrow as pa

        self.query("CREATE OR REPLACE TABLE wanted (place BIGINT)")
        self.insert("wanted", pa.table({"place": np.flatnonzero(wanted)}))
        sql = "SELECT place, id, system, item FROM stories SEMI JOIN wanted USING (place)"
        rows: list[tuple[int, str, str, str | None]] = self.query(
            f"{sql} ORDER BY place"
        ).fetchall()
        return rows

    def read_stories(self, places: Iterable[int]) -> list[Story]:
        """Read the stories at some places, in the order asked for."""
        asked = list(map(int, places))
        starts = [part.start for part in self._parts]
        by_part: dict[int, list[int]] = {}
        for place in dict.fromkeys(asked):
            by_part.setdefault(bisect_right(starts, place) - 1, []).append(place)
        stories: dict[int, Story] = {}
        for number, own in by_part.items():
            part = self._parts[number]
            rows = [place - part.start for place in own]
            sql = (
                f"SELECT file_row_number, {_list_fields()} FROM"
                " read_parquet(?, file_row_number = true)"
                " WHERE file_row_number IN (SELECT unnest(?))"
            )
            for row, *fields in self.query(sql, [str(part.path), rows]).fetchall():
                stories[part.start + row] = self._make_story(*fields)
        return [stories[place] for place in asked]

    def _make_story(
        self,
        id: str,
        text: str,
        prompt: str | None,
        references: list[str] | None,
        images: list[str] | None,
        system: str | None,
        item: str | None,
    ) -> Story:
        found = find_images(images, self.folder) if images else ()
        return Story(id, text, prompt, tuple(references or ()), tuple(found), system, item)

    def scan_texts(self) -> Iterator[tuple[int, list[str]]]:
        """Go through all texts, a batch at a time, each with the place of its first."""
        for start, batch in self._scan(["text"]):
            yield start, batch.column("text").to_pylist()

    def scan_stories(self, wanted: Array) -> Iterator[tuple[Array, list[Story]]]:
        """Go through the stories that are wanted, a batch at a time, with their places."""
        import pyarrow as pa

        for start, batch in self._scan(list(_FIELDS)):
            mask = wanted[start : start + len(batch)]
            if mask.any():
                rows = batch.filter(pa.array(mask)).to_pylist()
                stories = [self._make_story(*map(row.get, _FIELDS)) for row in rows]
                yield start + np.flatnonzero(mask), stories

    def _scan(self, fields: list[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
        import pyarrow.parquet as pq

        for part in self._parts:
            start = part.start
            with pq.ParquetFile(part.path) as file:
                for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=fields):
                    yield start, batch
                    start += len(batch)

    def read_block(self, start: int, end: int) -> Array:
        """Values of all columns from one place to another, stories × columns."""
        columns = "".join(f", c{number}" for number in range(len(self.keys)))
        sql = f"SELECT place{columns} FROM scores WHERE place BETWEEN ? AND ?"
        places, *values = self.query(sql, [start, end - 1]).fetchnumpy().values()
        block = np.full((end - start, len(self.keys)), math.nan)
        for number, column in enumerate(values):
            block[places - start, number] = np.ma.filled(column, math.nan)
        return block

    def read_scores(self, wanted: Array) -> Iterator[Score]:
        """Go through the scores of the stories that are wanted, as they lie in the run."""
        self.read_labels(wanted)
        columns = ", ".join(f"part.{name}" for name in COLUMNS)
        for path in self._database.score_parts:
            sql = (
                f"SELECT {columns} FROM read_parquet(?, file_row_number = true) AS part"
                " JOIN stories ON stories.id = part.story JOIN wanted USING (place)"
                " ORDER BY part.file_row_number"
            )
            cursor = self.query(sql, [str(path)])
            while rows := cursor.fetchmany(BATCH_ROWS):
                yield from (parse_score(dict(zip(COLUMNS, row, strict=True))) for row in rows)

    def summarise(self) -> Summary:
        """Give the means by scorer, aspect and system, as a run makes them."""
        rows: list[dict[str, Any]] = []
        places = self.places()
        for number, (scorer, aspect) in enumerate(self.keys):
            values, statuses = self.values(number), self.statuses(number)
            for system, own in places.items():
                cell = _summarise(values[own], statuses[own])
                if cell.count or cell.left_out:
                    coverage = self._database.coverages.get((scorer, aspect, system), 1.0)
                    rows.append(_summary_row((scorer, aspect, system), cell, coverage))
        summary = Summary.from_rows(rows)
        summary.notes = dict(self._database.notes)
        return summary


def _list_fields() -> str:
    return ", ".join(f'"{name}"' for name in _FIELDS)


def _summarise(values: Array, statuses: Array) -> SummaryCell:
    known = values[~np.isnan(values)]
    counts = np.bincount(statuses, minlength=len(STATUSES))
    left_out = {
        STATUSES[code]: int(count)
        for code, count in enumerate(counts)
        if code and count and STATUSES[code] != Status.OK
    }
    mean = float(known.mean()) if len(known) else 0.0
    squares = float(((known - mean) ** 2).sum())
    return SummaryCell(len(known), mean, squares, left_out=Counter(left_out))


def _summary_row(key: tuple[str, str, str], cell: SummaryCell, coverage: float) -> dict[str, Any]:
    scorer, aspect, system = key
    return {
        "scorer": scorer,
        "aspect": aspect,
        "system": system,
        "mean": cell.mean if cell.count else None,
        "deviation": cell.deviation if cell.count > 1 else None,
        "scored": cell.count,
        "why": dict(cell.left_out),
        "least_coverage": coverage if cell.count else None,
    }
