"""The map names files that are there, and every room."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
PACKAGE = REPO / "src" / "fabula"
PAGES = ("docs/architecture.md", "CONTRIBUTING.md", "docs/decisions.md", "README.md")


def is_there(name: str) -> bool:
    """Whether a file or folder lies in the project, in the package, or in a folder of it."""
    near = [root / name for root in (REPO, PACKAGE)]
    return any(path.exists() for path in near) or any(PACKAGE.rglob(name))


def test_the_files_that_the_pages_name_are_there():
    offenders = []
    for page in PAGES:
        text = (REPO / page).read_text(encoding="utf-8")
        named = re.findall(r"`((?:[\w.]+/)*[\w.]+(?:\.py|/))`", text)
        offenders += [
            f"{page}: {name}" for name in named if "NAME" not in name and not is_there(name)
        ]
    assert offenders == []


def test_the_map_names_every_room():
    text = (REPO / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert {room for room in rooms if f"| `{room}` |" not in text} == set()


def is_importable(name: str) -> bool:
    """Whether a dotted name is a module, or something that a module holds."""
    module, _, last = name.rpartition(".")
    try:
        return hasattr(importlib.import_module(module), last) or bool(importlib.import_module(name))
    except ModuleNotFoundError:
        return False


def test_the_names_that_the_pages_of_commands_give_can_be_imported():
    offenders = []
    for page in sorted((REPO / "docs").rglob("*.md")):
        named = re.findall(r"`(fabula(?:\.\w+){2,})", page.read_text(encoding="utf-8"))
        offenders += [f"{page.name}: {name}" for name in named if not is_importable(name)]
    assert offenders == []
