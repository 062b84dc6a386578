"""Stories and scores of a run as Parquet: their columns, how rows are written, a run in parts.

One schema for `scores.parquet`, the parts of a run in shards (docs/scale.md), and the copy that is
made of a run of one file to read it lazily. Each part holds whole stories.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.story import Story
from fabula.core.table import (
    COLUMNS,
    part_name,
    plain_row,
    read_scores,
    read_stories,
    score_row,
    without_halves,
)
from fabula.datasets.tables.workbook import need_arrow

if TYPE_CHECKING:
    import pyarrow as pa

# Rows that are held in memory until they are written as one group.
SCORE_ROWS, STORY_ROWS = 50_000, 2_048
PART_STORIES = 10_000
_GROUP_ROWS = 100_000  # of scores, read at once
_LISTS, _NUMBERS = ("references", "images"), ("value", "coverage")


def story_schema() -> pa.Schema:
    """Give Arrow's schema of stories: the fields of a story."""
    pa = need_arrow()
    names = [one.name for one in fields(Story)]
    texts = pa.list_(pa.string())
    return pa.schema([(name, texts if name in _LISTS else pa.string()) for name in names])


def score_schema() -> pa.Schema:
    """Give Arrow's schema of scores, which does not depend on what they hold."""
    import pyarrow as pa

    numbers = pa.float64()
    return pa.schema([(name, numbers if name in _NUMBERS else pa.string()) for name in COLUMNS])


def story_cells(story: Story) -> list[Any]:
    """Give the cells of a story's row."""
    return [getattr(story, one.name) for one in fields(Story)]


class ParquetColumns:
    """Rows on their way into a Parquet file, column by column, in groups of at most so many."""

    def __init__(self, path: Path, schema: pa.Schema, most: int) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._pa, self._schema, self._most, self.rows = pa, schema, most, 0
        self._writer = pq.ParquetWriter(path, schema, compression="zstd")
        self._held: list[list[Any]] = [[] for _ in schema]

    def add(self, cells: Iterable[Any]) -> None:
        """Take a row in."""
        for column, cell in zip(self._held, cells, strict=True):
            column.append(_clean(cell))
        self.rows += 1
        if len(self._held[0]) >= self._most:
            self._flush()

    def _flush(self) -> None:
        arrays = list(map(self._pa.array, self._held, self._schema.types))
        self._writer.write_table(self._pa.Table.from_arrays(arrays, schema=self._schema))
        for column in self._held:
            column.clear()

    def close(self) -> None:
        """Write what is held; the file is whole then."""
        if self._writer.is_open:
            self._flush()
            self._writer.close()


def part_stories(folder: Path, into: Path) -> list[Path]:
    """Write the stories of a run folder in parts."""
    stories = read_stories(folder)
    paths: list[Path] = []
    while group := list(islice(stories, PART_STORIES)):
        path = _name_part(into, len(paths))
        rows = ParquetColumns(path, story_schema(), STORY_ROWS)
        for story in group:
            rows.add(story_cells(story))
        rows.close()
        paths.append(path)
    return paths


def part_scores(folder: Path, parquet: Path | None, into: Path) -> list[Path]:
    """Write the scores of a run folder in parts, the scores of a story in one of them."""
    import pyarrow as pa

    groups = _read_groups(parquet) if parquet else _make_groups(folder)
    paths: list[Path] = []
    held: list[pa.Table] = []
    for group in groups:
        # The last story's scores may go on in the next group.
        whole = _find_last(group)
        if whole:
            table = pa.concat_tables([*held, group.slice(0, whole)])
            paths.append(_write_part(into, len(paths), table))
            held = []
        held.append(group.slice(whole))
    if held:
        paths.append(_write_part(into, len(paths), pa.concat_tables(held)))
    return paths


def _find_last(group: pa.Table) -> int:
    """Where the scores of the last story of a group begin."""
    names = group.column("story").to_pylist()
    place = len(names)
    while place and names[place - 1] == names[-1]:
        place -= 1
    return place


def _read_groups(path: Path) -> Iterator[pa.Table]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=_GROUP_ROWS):
            yield pa.Table.from_batches([batch])


def _make_groups(folder: Path) -> Iterator[pa.Table]:
    """Make groups of a run's lines, for where no Parquet was written."""
    import pyarrow as pa

    rows = (
        {
            name: _clean(cell)
            for name, cell in plain_row(score_row(Story(score.story, ""), score)).items()
        }
        for score in read_scores(folder)
    )
    while group := list(islice(rows, _GROUP_ROWS)):
        yield pa.Table.from_pylist(group, schema=score_schema())


def _clean(cell: Any) -> Any:
    """Give a cell without halves of characters, which Parquet cannot hold."""
    if isinstance(cell, tuple | list):
        return [_clean(part) for part in cell]
    return without_halves(cell) if isinstance(cell, str) else cell


def _write_part(into: Path, number: int, table: pa.Table) -> Path:
    import pyarrow.parquet as pq

    path = _name_part(into, number)
    pq.write_table(table, path, compression="zstd")
    return path


def _name_part(into: Path, number: int) -> Path:
    path = into / part_name("", number).lstrip("/")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
