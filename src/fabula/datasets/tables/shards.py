"""Shards: pieces of files of stories, each read by itself, by whoever has time.

A Parquet file is cut by rows, of which only the row groups and columns are read that are wanted; a
JSONL file by bytes, where a line belongs to the piece in which it begins. Other files, and those
that are zipped, are one shard each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from fabula.core.addresses import (
    RangeFile,
    drop_scheme,
    fetch_file,
    is_address,
    is_pattern,
    list_matches,
    read_range,
    stamp_file,
)
from fabula.core.errors import InputError
from fabula.core.images import find_images
from fabula.core.story import Story
from fabula.datasets.tables.rows import TEXTS, Rows, detect_format, parse_line, read_rows
from fabula.datasets.tables.stories import StoryColumns, StoryLayout
from fabula.datasets.tables.text_file import (
    MOST_LINE_BYTES,
    FileForm,
    Reading,
    TextFile,
    decode_text,
    name_path,
)
from fabula.datasets.tables.workbook import iter_parquet, need_arrow

# Of text that one worker holds at once, however many stories that are.
MOST_SHARD_BYTES = 64 * 1024 * 1024
# Rows by which columns are chosen where every row may have its own.
HEAD_ROWS = 1000
_HEAD_BYTES = 1024 * 1024
_LINE_STEP = 1024 * 1024
_FOOTERS_AT_ONCE = 16


@dataclass(frozen=True)
class Shard:
    """Rows (Parquet) or bytes (JSONL) of a file, or with `stop` 0 all of it."""

    number: int
    file: str
    kind: str
    start: int = 0
    stop: int = 0

    def describe(self) -> str:
        """Say which part of which file it is."""
        if not self.stop:
            return self.file
        what = "rows" if self.kind == "parquet" else "bytes"
        return f"{self.file}, {what} {self.start + 1:,} to {self.stop:,}"


def list_files(names: Sequence[str]) -> list[str]:
    """Give the files that names, addresses, patterns and data sets stand for; each once."""
    files: dict[str, None] = {}
    for name in map(drop_scheme, names):
        if name == "-":
            raise InputError("stdin (-) cannot be cut into shards", "write it to a file first")
        found = list_matches(name) if is_pattern(name) else [_find_file(name)]
        if not found:
            raise InputError(f"{name}: no file is called so", "check the pattern")
        files.update(dict.fromkeys(found))
    return list(files)


def _find_file(name: str) -> str:
    """Give the file that a name stands for: an address, a file here, or one of a data set."""
    from fabula.datasets import DATASETS, is_added

    path = getattr(DATASETS.get(name), "FILE", None) if name in DATASETS else None
    if is_address(name) or path:
        return str(path or name)
    if Path(name).is_file():
        return name
    if Path(name).is_dir():
        raise _refuse_folder(name)
    if name in DATASETS or is_added(name):
        problem = f"{name} is a data set, and shards are cut of files alone"
        raise InputError(problem, "score it without shards, or name its files")
    raise InputError(f"{name}: no such file", "check the path")


def _refuse_folder(name: str) -> InputError:
    plain = name.rstrip("/")
    problem = f"{name}: a folder, and shards are cut of files alone"
    return InputError(problem, f"name its files by a pattern: '{plain}/*.parquet'")


def tell_kind(file: str, layout: StoryLayout) -> str:
    """Tell the format of a file by its name, unless that was told."""
    last = file.rsplit("/", 1)[-1]
    if is_address(file) and not layout.kind and "." not in last:
        raise _refuse_folder(file)
    kind = layout.kind or detect_format(Path(last))
    if kind in (*TEXTS, "folder"):
        problem = f"{file}: one text and no table, which has nothing to cut"
        raise InputError(problem, "write the stories as Parquet or JSONL")
    return kind


@dataclass(frozen=True)
class _Footer:
    """What the end of a Parquet file says of it: its columns, rows and bytes of text."""

    names: tuple[str, ...]
    rows: int
    held: int


def cut_files(
    files: Sequence[str], layout: StoryLayout, stories: int
) -> tuple[StoryColumns, list[Shard]]:
    """Choose the columns, and cut files into shards of about so many stories.

    No shard has more bytes than one may have. Columns are those of all Parquet files together, and
    of the first rows where the first file is none.
    """
    parquet = [file for file in files if tell_kind(file, layout) == "parquet"]
    with ThreadPoolExecutor(_FOOTERS_AT_ONCE) as pool:
        footers = dict(zip(parquet, pool.map(_read_footer, parquet), strict=True))
        names = {} if files[0] in footers else _read_names(files[0], layout)
        for footer in footers.values():
            names.update(dict.fromkeys(footer.names))
        columns = StoryColumns.choose(list(names), layout.columns, files[0])
        pieces = pool.map(lambda file: _cut_file(file, layout, stories, footers.get(file)), files)
        cut = [shard for shards in pieces for shard in shards]
    return columns, [replace(shard, number=number) for number, shard in enumerate(cut)]


def _read_footer(file: str) -> _Footer:
    with _explain_parquet(file):
        table = need_arrow().parquet.ParquetFile(RangeFile(file))
        told = table.metadata
        held = sum(told.row_group(group).total_byte_size for group in range(told.num_row_groups))
        return _Footer(tuple(table.schema_arrow.names), told.num_rows, held)


def _read_names(file: str, layout: StoryLayout) -> dict[str, None]:
    """Give the fields of a file's first rows."""
    names: dict[str, None] = {}
    kind = tell_kind(file, layout)
    stop = min(_HEAD_BYTES, stamp_file(file)[0]) if _is_cut_by_bytes(file, kind) else 0
    head = Shard(0, file, kind, 0, stop)
    with _open_rows(head, None, Reading(file, _make_form(layout))) as read:
        for _, row in islice(read, HEAD_ROWS):
            names.update(dict.fromkeys(row))
    if not names:
        raise InputError(f"{file}: holds no stories", "check that it is the right file")
    return names


def _cut_file(file: str, layout: StoryLayout, stories: int, footer: _Footer | None) -> list[Shard]:
    kind = tell_kind(file, layout)
    if footer:
        count = footer.rows
        step = max(1, min(stories, MOST_SHARD_BYTES * count // max(footer.held, 1)))
    elif _is_cut_by_bytes(file, kind):
        count, _ = stamp_file(file)
        head = read_range(file, 0, min(count, _HEAD_BYTES))
        line = len(head) / max(head.count(b"\n"), 1)
        step = max(1, min(int(stories * line), MOST_SHARD_BYTES))
    else:
        return [Shard(0, file, kind)]
    return [
        Shard(0, file, kind, start, min(start + step, count)) for start in range(0, count, step)
    ]


def _is_cut_by_bytes(file: str, kind: str) -> bool:
    return kind == "jsonl" and not file.endswith(".gz")


@contextmanager
def _explain_parquet(file: str) -> Iterator[None]:
    pa = need_arrow()
    try:
        yield
    except (pa.ArrowException, ValueError, OSError) as error:
        problem = " ".join(str(error).split())
        remedy = "write it again"
        raise InputError(
            f"{file}: not a Parquet file that can be read ({problem})", remedy
        ) from None


class ShardStories:
    """Stories of a shard; without a column of ids they are numbered from `first` on.

    What a pass over them has found out is in `names` (of fields, where every row may have its own)
    and `left_out`.
    """

    def __init__(
        self, shard: Shard, columns: StoryColumns, layout: StoryLayout, *, first: int = 1
    ) -> None:
        self.shard, self._columns, self._first = shard, columns, first
        self._layout = layout
        self.reading = Reading(shard.file, _make_form(layout))
        self.names: set[str] = set()

    def __iter__(self) -> Iterator[Story]:
        """Go through the stories from the first; a doubled id names its row."""
        wanted = {name for names in self._columns.names.values() for name in names}
        seen: set[str] = set()
        number = self._first
        with _open_rows(self.shard, wanted, self.reading) as rows:
            for where, row in rows:
                self.names.update(row)
                try:
                    story = self._make_story(row, number, where)
                    if story.id in seen:
                        remedy = "give every story an id of its own"
                        raise InputError(f"{where}: id {story.id!r} was used before", remedy)
                except InputError as error:
                    self.reading.refuse(where, error)
                    continue
                seen.add(story.id)
                number += 1
                yield story

    def _make_story(self, row: Mapping[str, object], number: int, where: str) -> Story:
        story = self._columns.make_story(row, number, where)
        if story.images and not is_address(self.shard.file):
            folder = Path(self.shard.file).parent
            story = replace(story, images=find_images(story.images, folder))
        return story

    @property
    def left_out(self) -> int:
        """How many rows were left out in the last pass, because they cannot be used."""
        return len(self.reading.left_out)


def _make_form(layout: StoryLayout) -> FileForm:
    return FileForm(layout.encoding, layout.delimiter, layout.sheet, layout.skip_bad, layout.say)


@contextmanager
def _open_rows(shard: Shard, wanted: set[str] | None, reading: Reading) -> Iterator[Rows]:
    """Open the rows of a shard, of Parquet with the columns wanted alone."""
    if shard.kind == "parquet":
        yield _read_parquet(shard, wanted)
    elif _is_cut_by_bytes(shard.file, shard.kind):
        yield _read_lines(shard, reading)
    else:
        with fetch_file(shard.file) as path:
            file = TextFile(path, name_path(shard.file), reading.form.encoding)
            yield read_rows(file, shard.kind, reading)


def _read_parquet(shard: Shard, wanted: set[str] | None) -> Rows:
    """Go through the rows of a shard; where a page is damaged, its rows are named."""
    file = RangeFile(shard.file)
    with _explain_parquet(shard.describe()):
        yield from iter_parquet(
            file, shard.file, columns=wanted, start=shard.start, stop=shard.stop
        )


def _read_lines(shard: Shard, reading: Reading) -> Rows:
    """Go through the lines that begin in a shard; of each the place of its first byte is known."""
    encoding = reading.form.encoding or "utf-8"
    if "\n".encode(encoding) != b"\n":
        problem = f"{shard.file}: a file in {encoding} cannot be cut into shards"
        raise InputError(problem, "write it as UTF-8")
    # One byte earlier: where that ends a line, the first line is ours.
    begin = max(shard.start - 1, 0)
    data = read_range(shard.file, begin, shard.stop)
    at = data.find(b"\n") + 1 if shard.start else 0
    if shard.start and not at:
        return  # a line that began before, and goes on behind
    data += _read_line_end(shard, data)
    while at < len(data):
        stop = data.find(b"\n", at) + 1 or len(data)
        where = f"{shard.file}, line at byte {begin + at + 1:,}"
        raw, at = data[at:stop], stop
        try:
            line = decode_text(raw, encoding, where).removeprefix("\ufeff")
            if line.strip():
                yield where, parse_line(line, where)
        except InputError as error:
            reading.refuse(where, error)


def _read_line_end(shard: Shard, data: bytes) -> bytes:
    """Give what a shard's last line has behind the shard."""
    rest = b""
    if data.endswith(b"\n"):
        return rest
    size, _ = stamp_file(shard.file)
    while not rest.endswith(b"\n") and (start := shard.stop + len(rest)) < size:
        head, sign, _ = read_range(shard.file, start, min(start + _LINE_STEP, size)).partition(
            b"\n"
        )
        rest += head + sign
        if len(rest) > MOST_LINE_BYTES:
            most = MOST_LINE_BYTES // 1024**2
            problem = f"{shard.file}: a line that is longer than {most} MiB"
            raise InputError(problem, "check that the file has one story a line")
    return rest
