"""A run folder: stories and scores written as they come, put in place only when whole."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from fabula.core.errors import InputError, UserError
from fabula.core.files import unwritable
from fabula.core.machine import is_alive
from fabula.core.story import Story
from fabula.core.table import (
    COLUMNS,
    SCORES,
    STORIES,
    json_line,
    json_text,
    plain_row,
    story_line,
    without_halves,
)

PARQUET, RUN = "scores.parquet", "run.json"
_FILES = (STORIES, SCORES, PARQUET)
_HEAD = f".partial-{platform.node()}-"
_GROUP_ROWS = 50_000  # of Parquet, held in memory until there are so many


class RunFolder:
    """Writes a run into hidden files of its own and renames them at the end, run.json last."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def refuse_another(self, question: dict[str, Any]) -> None:
        """Refuse a folder that holds the answer to another question, so that none is lost."""
        earlier = self._earlier()
        if earlier is not None and earlier.get("question") != question:
            differences = ", ".join(_list_differences(earlier, question))
            raise UserError(
                f"{self.path} holds another run ({differences})",
                "choose another folder with -o, or pass --overwrite",
            )

    def _earlier(self) -> dict[str, Any] | None:
        try:
            return _load_record(self.path / RUN)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise UserError(f"{self.path / RUN} cannot be read ({error})", "move it") from None

    @contextmanager
    def partial(self) -> Iterator[Path]:
        """Give a hidden folder to write into; it goes when the run ends, well or not."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._sweep()
            head = f"{_HEAD}{os.getpid()}-"
            partial = Path(tempfile.mkdtemp(prefix=head, dir=self.path))
        except OSError as error:
            raise unwritable(self.path, error) from error
        try:
            yield partial
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def _sweep(self) -> None:
        """Take away what killed runs of this machine left."""
        for folder in self.path.glob(f"{_HEAD}*"):
            pid = folder.name.removeprefix(_HEAD).partition("-")[0]
            # Our own number is that of a killed run as well: in a container it may always be 1.
            if not pid.isdigit() or int(pid) == os.getpid() or not is_alive(int(pid)):
                shutil.rmtree(folder, ignore_errors=True)

    def publish(self, partial: Path, run: dict[str, Any]) -> None:
        """Put the files in place; run.json, which holds their checksums, comes last."""
        try:
            self._put_in_place(partial, run)
        except OSError as error:
            raise unwritable(self.path, error) from error

    def _put_in_place(self, partial: Path, run: dict[str, Any]) -> None:
        files = [name for name in _FILES if (partial / name).exists()]
        run["files"] = {name: _checksum(partial / name) for name in files}
        text = json_text(run, indent=2)
        (partial / RUN).write_text(text + "\n", encoding="utf-8")
        for name in _FILES:
            if name not in files:
                (self.path / name).unlink(missing_ok=True)
        for name in [*files, RUN]:
            (partial / name).replace(self.path / name)


def read_run(path: Path) -> dict[str, Any]:
    """Read a run folder's run.json."""
    try:
        return _load_record(path / RUN)
    except (OSError, ValueError):
        raise InputError(f"{path} is no run folder", "make one with: fabula score -o") from None


class RowWriter:
    """Writes rows into a folder, a group at a time, so that memory stays bounded."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with self._explain_errors():
            self._stories: IO[str] = (folder / STORIES).open("w", encoding="utf-8")
            self._jsonl: IO[str] = (folder / SCORES).open("w", encoding="utf-8")
            self._parquet = (
                _ParquetRows(folder / PARQUET) if importlib.util.find_spec("pyarrow") else None
            )

    def write_story(self, story: Story) -> None:
        """Write a story, so that the folder says by itself what was scored."""
        with self._explain_errors():
            self._stories.write(story_line(story))

    def write(self, row: dict[str, Any]) -> None:
        """Write one row."""
        try:
            self._jsonl.write(json_line(row))
            if self._parquet:
                self._parquet.write(row)
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


class _ParquetRows:
    """Rows as Parquet, with a schema that does not depend on what they hold."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        kinds = {name: pa.string() for name in COLUMNS}
        kinds |= {"value": pa.float64(), "coverage": pa.float64()}
        self._pa = pa
        self._schema = pa.schema(list(kinds.items()))
        self._writer = pq.ParquetWriter(path, self._schema)
        self._rows: list[dict[str, Any]] = []

    def write(self, row: dict[str, Any]) -> None:
        self._rows.append(
            {
                # Parquet cannot hold halves of characters.
                key: without_halves(value) if isinstance(value, str) else value
                for key, value in plain_row(row).items()
            }
        )
        if len(self._rows) >= _GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        table = self._pa.Table.from_pylist(self._rows, schema=self._schema)
        self._writer.write_table(table)
        self._rows.clear()

    def close(self) -> None:
        self._flush()
        self._writer.close()


def _load_record(path: Path) -> dict[str, Any]:
    record = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(record, dict):
        raise ValueError("not the record of a run")
    return record


def _list_differences(earlier: dict[str, Any], question: dict[str, Any]) -> list[str]:
    before = earlier.get("question") or {}
    return [f"other {key}" for key in question if before.get(key) != question[key]] or ["unknown"]


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
