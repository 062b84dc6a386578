"""Stories and scores of a run as Parquet in parts, each with whole stories and a fixed schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.story import Story
from fabula.core.table import (
    COLUMNS,
    plain_row,
    read_scores,
    read_stories,
    score_row,
    without_halves,
)

if TYPE_CHECKING:
    import pyarrow as pa

PART_STORIES = 10_000
_GROUP_ROWS = 100_000  # of scores, read at once


def story_schema() -> pa.Schema:
    """Columns of a part of stories."""
    import pyarrow as pa

    texts = pa.list_(pa.string())
    kinds = {name: pa.string() for name in ("id", "text", "prompt", "system", "item")}
    kinds |= {"references": texts, "images": texts}
    order = ("id", "text", "prompt", "references", "images", "system", "item")
    return pa.schema([(name, kinds[name]) for name in order])


def score_schema() -> pa.Schema:
    """Columns of a part of scores: those of `scores.parquet`."""
    import pyarrow as pa

    kinds = {name: pa.string() for name in COLUMNS}
    kinds |= {"value": pa.float64(), "coverage": pa.float64()}
    return pa.schema(list(kinds.items()))


def part_stories(folder: Path, into: Path) -> list[Path]:
    """Write the stories of a run folder in parts."""
    return write_parts(into, read_stories(folder), size=PART_STORIES)


def write_parts(into: Path, stories: Iterable[Story], *, size: int) -> list[Path]:
    """Write stories in parts of so many."""
    import pyarrow as pa

    rows = ({name: _clean(cell) for name, cell in asdict(story).items()} for story in stories)
    paths: list[Path] = []
    while group := list(islice(rows, size)):
        table = pa.Table.from_pylist(group, schema=story_schema())
        paths.append(_write_part(into, len(paths), table))
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

    path = into / f"part-{number:05d}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, compression="zstd")
    return path
