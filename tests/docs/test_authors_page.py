"""The page on co-authors: its code runs as it stands, in order."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "authors.md"


def test_every_block_runs_after_those_before_it(capsys) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 4
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert len(capsys.readouterr().out.split()) > 3


def test_the_page_names_the_minimums_that_are_declared() -> None:
    from fabula.text.context.segments import SHARES

    row = " | ".join(f"{share.minimum} ({share.priority})" for share in SHARES.values())
    assert f"| {row} |" in PAGE.read_text(encoding="utf-8")
