"""A run folder: scores.jsonl, scores.parquet and run.json, put in place only when whole."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError, UserError
from fabula.core.process import is_alive

SCORES, PARQUET, RUN = "scores.jsonl", "scores.parquet", "run.json"


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
            found: dict[str, Any] = json.loads((self.path / RUN).read_text(encoding="utf-8"))
            return found
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
            partial = self.path / f".partial-{platform.node()}-{os.getpid()}"
            partial.mkdir()
        except OSError as error:
            raise UserError(f"{self.path} cannot be written ({error})", "choose another") from None
        try:
            yield partial
        except OSError as error:
            raise UserError(f"{self.path} cannot be written ({error})", "free space") from error
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def _sweep(self) -> None:
        """Take away what killed runs of this machine left."""
        head = f".partial-{platform.node()}-"
        for left in self.path.glob(f"{head}*"):
            pid = left.name.removeprefix(head)
            if not pid.isdigit() or not is_alive(int(pid)):
                shutil.rmtree(left, ignore_errors=True)

    def publish(self, partial: Path, run: dict[str, Any]) -> None:
        """Put the files in place; run.json, which holds their checksums, comes last."""
        files = [name for name in (SCORES, PARQUET) if (partial / name).exists()]
        run["files"] = {name: _checksum(partial / name) for name in files}
        text = json.dumps(run, indent=2, ensure_ascii=False, allow_nan=False)
        (partial / RUN).write_text(text + "\n", encoding="utf-8")
        for name in (SCORES, PARQUET):
            if name not in files:
                (self.path / name).unlink(missing_ok=True)
        for name in [*files, RUN]:
            (partial / name).replace(self.path / name)


def read_run(path: Path) -> dict[str, Any]:
    """Read a run folder's run.json."""
    try:
        found: dict[str, Any] = json.loads((path / RUN).read_text(encoding="utf-8"))
        return found
    except (OSError, ValueError):
        raise InputError(f"{path} is no run folder", "make one with: fabula score -o") from None


def has_parquet() -> bool:
    """Whether Parquet can be written here."""
    return importlib.util.find_spec("pyarrow") is not None


def _different(earlier: dict[str, Any], question: dict[str, Any]) -> list[str]:
    before = earlier.get("question") or {}
    return [f"other {key}" for key in question if before.get(key) != question[key]] or ["unknown"]


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
