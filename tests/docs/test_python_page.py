"""The page on Fabula in Python: every block of it runs, from top to bottom."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def test_every_block_runs_after_those_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    page = PAGE.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for found in BLOCK.finditer(page):
        line = page.count("\n", 0, found.start(1))
        exec(compile("\n" * line + found[1], str(PAGE), "exec"), names)
    said = capsys.readouterr().out
    assert "repetition(n=1) < 0.2 does not hold: the value is 1" in said
    assert "did you mean 'rouge'?" in said


def test_the_page_shows_what_it_promises() -> None:
    blocks = "\n".join(found[1] for found in BLOCK.finditer(PAGE.read_text(encoding="utf-8")))
    for name in ("Story(", "evaluate(", "ScoreTable", "assert_story(", "as_evaluate(", "compare("):
        assert name in blocks
