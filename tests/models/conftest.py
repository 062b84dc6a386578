"""A toy asset: its TOML file, its wheel, and a store of its own, all in a temporary folder."""

from __future__ import annotations

import hashlib
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from fabula.models._runtime import runs_precision
from fabula.models.store import asset, fetch

FILES = {"pkg/data/a.txt": b"once", "pkg/data/deep/b.txt": b"upon", "pkg/code.py": b"a time"}
CONTENT = {"data/a.txt": b"once", "data/deep/b.txt": b"upon"}


@dataclass
class Toy:
    """What a test changes: the wheel that pip would give, and what is pinned of it."""

    root: Path
    downloads: int = 0

    @property
    def wheel(self) -> Path:
        return self.root / "toy-1.0-py3-none-any.whl"

    @property
    def assets(self) -> Path:
        return self.root / "declared"

    @property
    def store(self) -> Path:
        return self.root / "home" / "assets"

    def make_wheel(self, files: Mapping[str, bytes] = FILES) -> None:
        with zipfile.ZipFile(self.wheel, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)

    def declare(
        self,
        name: str = "toy",
        *,
        content: Mapping[str, bytes] = CONTENT,
        members: str = '[{ from = "pkg/data/", to = "data/" }]',
        more: str = "",
    ) -> None:
        """Write the TOML file, pinning the wheel as it is now."""
        hashes = {path: hashlib.sha256(data).hexdigest() for path, data in content.items()}
        wheel_sha256 = hashlib.sha256(self.wheel.read_bytes()).hexdigest()
        text = f"""
name = "{name}"
title = "A toy"
licence = "CC0-1.0"
source = "this test"
used_for = "tests"
tree_sha256 = "{asset.tree_sha256(hashes)}"
size = {sum(map(len, content.values()))}

[[places]]
kind = "wheel"
package = "toy"
version = "1.0"
sha256 = "{wheel_sha256}"
members = {members}
{more}
"""
        (self.assets / f"{name}.toml").write_text(text, encoding="utf-8")

    def fetch_wheel(self, place: object, work: Path) -> Path:
        """Stand in for pip."""
        self.downloads += 1
        return Path(shutil.copy(self.wheel, work))

    def left_in_store(self) -> list[str]:
        return sorted(path.name for path in self.store.glob("*")) if self.store.exists() else []


@pytest.fixture
def bf16() -> str:
    """The reduced precision, where this processor computes in it."""
    if not runs_precision("bf16"):
        pytest.skip("this processor does not compute in bf16")
    return "bf16"


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toy:
    """The toy asset, declared and ready to be pulled."""
    made = Toy(tmp_path)
    made.assets.mkdir()
    made.make_wheel()
    made.declare()
    for variable in ("FABULA_OFFLINE", "FABULA_ASSETS", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(asset, "FOLDER", made.assets)
    monkeypatch.setattr(fetch, "fetch_wheel", made.fetch_wheel)
    return made
