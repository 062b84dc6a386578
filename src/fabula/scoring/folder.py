"""A run folder: stories, scores and run.json, put in place only when whole."""

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
from typing import Any

from fabula.core.errors import InputError, UserError
from fabula.core.machine import is_alive
from fabula.core.table import SCORES, STORIES, json_text

PARQUET, RUN = "scores.parquet", "run.json"
_FILES = (STORIES, SCORES, PARQUET)
_HEAD = f".partial-{platform.node()}-"


class RunFolder:
    """Writes a run into hidden files of its own and renames them at the end, run.json last."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def refuse_another(self, question: dict[str, Any]) -> None:
        """Refuse a folder that holds the answer to another question, so that none is lost."""
        earlier = self._earlier()
        if earlier is not None and earlier.get("question") != question:
            raise UserError(
                f"{self.path} holds another run ({', '.join(_different(earlier, question))})",
                "choose another folder with -o, or pass --overwrite",
            )

    def _earlier(self) -> dict[str, Any] | None:
        try:
            return _load(self.path / RUN)
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
        for left in self.path.glob(f"{_HEAD}*"):
            pid = left.name.removeprefix(_HEAD).partition("-")[0]
            # Our own number is that of a killed run as well: in a container it may always be 1.
            if not pid.isdigit() or int(pid) == os.getpid() or not is_alive(int(pid)):
                shutil.rmtree(left, ignore_errors=True)

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
        return _load(path / RUN)
    except (OSError, ValueError):
        raise InputError(f"{path} is no run folder", "make one with: fabula score -o") from None


def unwritable(path: Path, error: OSError) -> UserError:
    """Give the error for a folder that cannot be written into."""
    reason = error.strerror or error
    return UserError(f"{path} cannot be written ({reason})", "make room or choose another folder")


def has_parquet() -> bool:
    """Whether Parquet can be written here."""
    return importlib.util.find_spec("pyarrow") is not None


def _load(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise ValueError("not the record of a run")
    return found


def _different(earlier: dict[str, Any], question: dict[str, Any]) -> list[str]:
    before = earlier.get("question") or {}
    return [f"other {key}" for key in question if before.get(key) != question[key]] or ["unknown"]


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
