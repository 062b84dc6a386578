"""The database that a run's stories and scores are laid out in, and that nobody keeps.

Stories have a row each, with their place in the run; scores become columns, part by part. DuckDB is
held to a part of the memory and writes to a temporary folder beyond it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.errors import InputError
from fabula.core.score import STATUSES, Status
from fabula.core.table import list_parts
from fabula.scoring.folder import PARQUET

if TYPE_CHECKING:
    import duckdb

# What DuckDB may hold; beyond it, it writes to the temporary folder.
_MEMORY = "512MB"
_MOST_THREADS = 4
_PARTS_AT_ONCE = 8
_AGAIN = "score again with --overwrite"


@dataclass(frozen=True)
class StoryPart:
    """A file of stories, and the place of its first among all."""

    path: Path
    start: int
    rows: int


class RunDatabase:
    """Stories and scores of a run as tables: `stories`, `scores`, and `run`, which is both.

    `keys` are scorers and aspects in the order in which they came; `coverages` the least share that
    was read, by scorer, aspect and system; `notes` the first of each scorer and status.
    """

    def __init__(self, folder: Path, home: Path) -> None:
        self._folder = folder
        self.connection = _connect(home)
        stories, self.score_parts = _find_parts(folder, home)
        self.story_parts = self._take_stories(stories)
        self.keys, self.coverages, self.notes = self._survey(self.score_parts)
        self._take_scores(self.score_parts)

    def query(self, sql: str, given: Sequence[Any] = ()) -> duckdb.DuckDBPyConnection:
        """Ask in SQL; every question has a cursor of its own, so that several may ask at once."""
        return self.connection.cursor().execute(sql, list(given))

    def _take_stories(self, paths: Sequence[Path]) -> list[StoryPart]:
        self.connection.execute(
            "CREATE TABLE stories (place BIGINT, id VARCHAR, system VARCHAR, item VARCHAR)"
        )
        parts, start = [], 0
        for path in paths:
            sql = (
                "INSERT INTO stories SELECT ? + file_row_number, id, coalesce(system, ''), item"
                " FROM read_parquet(?, file_row_number = true)"
            )
            with _explain(path):
                rows = self.connection.execute(sql, [start, str(path)]).fetchall()[0][0]
            parts.append(StoryPart(path, start, int(rows)))
            start += int(rows)
        twice = "SELECT id FROM stories GROUP BY id HAVING count(*) > 1 LIMIT 1"
        for (name,) in self.query(twice).fetchall():
            raise InputError(f"{self._folder}: two stories share the id {name!r}", _AGAIN)
        return parts

    def _survey(
        self, paths: Sequence[Path]
    ) -> tuple[list[tuple[str, str]], dict[tuple[str, str, str], float], dict[Any, str]]:
        """Find the columns in their order, the least coverage of each system, and first notes."""
        keys: dict[tuple[str, str], None] = {}
        coverages: dict[tuple[str, str, str], float] = {}
        notes: dict[tuple[str, str], str] = {}
        for path in paths:
            source = "read_parquet(?, file_row_number = true)"
            by_system = (
                "SELECT scorer, coalesce(aspect, ''), coalesce(system, ''),"
                " min(coverage) FILTER (status = 'ok'), min(file_row_number) AS first"
                f" FROM {source} GROUP BY ALL ORDER BY first"
            )
            missing = (
                "SELECT scorer, status, coalesce(arg_min(note, file_row_number), '')"
                f" FROM {source} WHERE status <> 'ok' GROUP BY ALL ORDER BY min(file_row_number)"
            )
            with _explain(path):
                for scorer, aspect, system, coverage, _ in self.query(
                    by_system, [str(path)]
                ).fetchall():
                    keys.setdefault((scorer, aspect))
                    least = coverages.get((scorer, aspect, system), 1.0)
                    coverages[scorer, aspect, system] = min(
                        least, 1.0 if coverage is None else coverage
                    )
                for scorer, status, note in self.query(missing, [str(path)]).fetchall():
                    notes.setdefault((scorer, status), note)
        return list(keys), coverages, notes

    def _take_scores(self, paths: Sequence[Path]) -> None:
        """Lay scores out as columns, part by part; a story's may lie in several of them."""
        self.connection.execute("CREATE TABLE keys (scorer VARCHAR, aspect VARCHAR, k INTEGER)")
        if self.keys:
            rows = [[*key, number] for number, key in enumerate(self.keys)]
            self.connection.executemany("INSERT INTO keys VALUES (?, ?, ?)", rows)
        numbers = range(len(self.keys))
        columns = "".join(f", c{number} DOUBLE, s{number} UTINYINT" for number in numbers)
        self.connection.execute(f"CREATE TABLE pieces (place BIGINT{columns})")
        total = 0
        for start in range(0, len(paths), _PARTS_AT_ONCE):
            some = paths[start : start + _PARTS_AT_ONCE]
            with _explain(some[0]):
                counted = "SELECT count(*) FROM read_parquet(?)"
                total += self.query(counted, [list(map(str, some))]).fetchall()[0][0]
                self.connection.execute(_lay_out(len(self.keys)), [list(map(str, some))])
        whole, unique = self.query("SELECT count(*), count(DISTINCT place) FROM pieces").fetchall()[
            0
        ]
        if whole != unique:
            tops = "".join(f", max(c{n}) AS c{n}, max(s{n}) AS s{n}" for n in numbers)
            self.connection.execute(
                f"CREATE TABLE scores AS SELECT place{tops} FROM pieces"
                " GROUP BY place ORDER BY place"
            )
        else:
            self.connection.execute("ALTER TABLE pieces RENAME TO scores")
        self._refuse_odd(paths, total)
        columns = "".join(f", c{number}, s{number}" for number in numbers)
        self.connection.execute(
            f"CREATE VIEW run AS SELECT place, id, system, item{columns}"
            " FROM stories LEFT JOIN scores USING (place)"
        )

    def _refuse_odd(self, paths: Sequence[Path], total: int) -> None:
        """Refuse scores of stories that are not there, and two of one story and column."""
        counts = [f"count(s{number})" for number in range(len(self.keys))]
        laid = sum(self.query(f"SELECT {', '.join(counts or ['0'])} FROM scores").fetchall()[0])
        if laid == total:
            return
        for path in paths:
            strange = (
                "SELECT story FROM read_parquet(?) WHERE story NOT IN (SELECT id FROM stories)"
            )
            for (name,) in self.query(f"{strange} LIMIT 1", [str(path)]).fetchall():
                raise InputError(f"a score is about {name!r}, which is not a story here", _AGAIN)
        raise InputError(f"{self._folder}: two scores of one scorer for one story", _AGAIN)


def _connect(home: Path) -> duckdb.DuckDBPyConnection:
    import duckdb

    settings: dict[str, Any] = {
        "memory_limit": _MEMORY,
        "threads": min(_MOST_THREADS, os.cpu_count() or 1),
        "temp_directory": str(home / "spill"),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    # Not a file: nobody needs it after a crash, and every change to a file waits for the disk.
    return duckdb.connect(":memory:", config=settings)


def _lay_out(columns: int) -> str:
    """Write the question that lays the scores of one part out as columns."""
    codes = " ".join(f"WHEN '{status}' THEN {code}" for code, status in enumerate(STATUSES) if code)
    # As a Score has it: what is ok has a finite value, and nothing else has one.
    undefined = STATUSES.index(str(Status.UNDEFINED))
    known = "status = 'ok' AND isfinite(value)"
    cells = "".join(
        f", max(v) FILTER (k = {number}), max(code) FILTER (k = {number})"
        for number in range(columns)
    )
    return (
        f"INSERT INTO pieces SELECT place{cells} FROM (SELECT place, k,"
        f" CASE WHEN {known} THEN value END AS v,"
        f" CASE WHEN coalesce(status, 'ok') = 'ok' AND NOT coalesce({known}, false)"
        f" THEN {undefined} ELSE CASE status {codes} END END AS code"
        " FROM read_parquet(?) AS part JOIN stories ON stories.id = part.story"
        " JOIN keys ON keys.scorer = part.scorer AND keys.aspect = coalesce(part.aspect, ''))"
        " GROUP BY place ORDER BY place"
    )


@contextmanager
def _explain(path: Path) -> Iterator[None]:
    """Turn what DuckDB says of a damaged file into what a user can mend."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path} cannot be read ({reason})", _AGAIN) from None


def _find_parts(folder: Path, home: Path) -> tuple[list[Path], list[Path]]:
    """Find the parts of stories and scores; those of a run in one file each are made."""
    stories, scores = list_parts(folder, "stories"), list_parts(folder, "scores")
    if stories:
        return stories, scores
    from fabula.scoring.run_parts import part_scores, part_stories

    parquet = folder / PARQUET
    return (
        part_stories(folder, home / "stories"),
        part_scores(folder, parquet if parquet.is_file() else None, home / "scores"),
    )
