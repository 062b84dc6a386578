"""The editor's scripts, tried in node; and its rules of authorship beside the studio's."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from fabula.studio.authorship import Marks, Run, mark_edit, plain_marks
from fabula.studio.edits import Edit

FRONTEND = Path(__file__).resolve().parents[2] / "frontend"
NODE = shutil.which("node")
# What sentences are made of, with characters that a browser counts as two.
PARTS = (
    "The ford", " rose", ".", "! ", "?” ", "。", " ", "\n", "\n\n", "😀", "e\u0301", "…  ", "It",
    "\x1f", "\u2028", ")", "a", "b",
)  # fmt: skip
SOURCES = (None, None, None, "1" * 32, "2" * 32)

pytestmark = [
    pytest.mark.skipif(NODE is None, reason="there is no node here"),
    pytest.mark.skipif(
        not (FRONTEND / "node_modules").is_dir(),
        reason="the editor's packages are not installed: make web",
    ),
]


def make_edit(chance: random.Random, text: str) -> Edit:
    """An edit of a text: typed, deleted, replaced, put back in part, or a machine's."""
    start = chance.randint(0, len(text))
    stop = min(len(text), start + chance.choice((0, 0, 1, 3, 8)))
    inserted = "".join(chance.choices(PARTS, k=chance.randint(0, 4)))
    if chance.random() < 0.3:
        # As when a word is typed anew with one letter changed.
        inserted = text[start:stop][:2] + inserted + text[start:stop][2:]
    suggestion = chance.choice(SOURCES)
    source = "machine" if suggestion else "person"
    return Edit(start, stop, inserted, source, suggestion)  # type: ignore[arg-type]


def make_case(seed: int) -> dict[str, object]:
    """A text, edits that follow each other, and the studio's marks after each."""
    chance = random.Random(seed)
    begun = text = "".join(chance.choices(PARTS, k=chance.randint(0, 6)))
    marks: Marks = (Run(len(text), "person"),) if text else ()
    rows = []
    for _ in range(12):
        edit = make_edit(chance, text)
        marks = mark_edit(marks, text, edit)
        text = text[: edit.start] + edit.inserted + text[edit.stop :]
        fields = ("start", "stop", "inserted", "source", "suggestion_id")
        row = {name: getattr(edit, name) for name in fields}
        rows.append(row | {"marks": plain_marks(marks)})
    return {"text": begun, "edits": rows}


def test_the_scripts_do_what_their_tests_say_and_mark_as_the_studio_does(tmp_path: Path) -> None:
    cases = tmp_path / "cases.json"
    cases.write_text(json.dumps([make_case(seed) for seed in range(400)]))
    scripts = sorted(str(path) for path in (FRONTEND / "test").glob("*.test.mjs"))
    done = subprocess.run(
        # The script that pages share is a module without a package that says so.
        [str(NODE), "--experimental-detect-module", "--test", *scripts],
        cwd=FRONTEND,
        env=os.environ | {"FABULA_MARKS": str(cases)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert "# skipped 0" in done.stdout and "# fail 0" in done.stdout
