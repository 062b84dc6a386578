"""What commands on stories take: a file, a folder, a data set's name, or - for stdin."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from fabula.cli._dataset import columns_of
from fabula.core.errors import InputError

if TYPE_CHECKING:
    from fabula.datasets.tables.stories import StoryFile

INPUT_FORMATS = ("jsonl", "json", "csv", "tsv", "parquet", "txt", "folder")


@contextmanager
def story_source(file: str, options: dict[str, Any]) -> Iterator[StoryFile]:
    """Open what FILE names; what is no plain file is put aside first, to be read more than once."""
    from fabula.datasets.tables.stories import StoryFile

    kind = options["input_format"] or ""
    settings = {"columns": columns_of(options["column"], "text"), "encoding": options["encoding"]}
    path = _plain_path(file)
    if path and (path.is_file() or path.is_dir()):
        yield StoryFile(path, kind=kind, label=file, **settings)
        return
    with tempfile.TemporaryDirectory(prefix="fabula-") as folder:
        aside = Path(folder) / "stories.jsonl"
        if _is_dataset(file):
            _write_stories(file, aside)
            yield StoryFile(aside, label=file)
            return
        with path.open("rb") if path else nullcontext(sys.stdin.buffer) as pipe:
            _put_aside(pipe, aside)
        label = file if path else "stdin"
        yield StoryFile(aside, kind=kind or "jsonl", label=label, **settings)


def _plain_path(file: str) -> Path | None:
    """Path of a file, or of a data set that is one; None for others and for stdin."""
    from fabula.datasets import DATASETS, list_added
    from fabula.datasets.tables.stories import is_there

    if _is_dataset(file):
        return getattr(DATASETS.get(file), "FILE", None) if file in DATASETS else None
    if file == "-":
        return None
    if not is_there(Path(file)):
        names = ", ".join(sorted({*DATASETS.names(), *list_added()} - {"table"}))
        raise InputError(f"{file}: no such file or data set", f"check it; data sets: {names}")
    return Path(file)


def _is_dataset(file: str) -> bool:
    from fabula.datasets import DATASETS, is_added

    return (file in DATASETS and file != "table") or is_added(file)


def _write_stories(name: str, path: Path) -> None:
    from fabula.core.table import story_line
    from fabula.datasets import load_dataset

    with path.open("w", encoding="utf-8") as file:
        file.writelines(map(story_line, load_dataset(name).stories))


def _put_aside(pipe: IO[bytes], path: Path) -> None:
    with path.open("wb") as spool:
        while block := pipe.read(1 << 20):
            spool.write(block)
