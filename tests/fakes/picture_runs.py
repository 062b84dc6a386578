"""A run over made-up stories of pictures, for the pages that draw it."""

from __future__ import annotations

from pathlib import Path

from fabula.core.table import json_text
from fakes.grounding import ToldGrounder, save_picture

TEXTS = {"ann": "A dog ran to the sea. The dog swam.", "bob": "The sea was calm. A wuwi slept."}


def write_picture_run(folder: Path, told: ToldGrounder) -> Path:
    """Score two systems on two sequences of pictures, the second a part of the first."""
    from fabula.datasets.tables.stories import StoryFile
    from fabula.learned.grounding.chance import choose_blind
    from fabula.scoring.catalogue import choose_metrics
    from fabula.scoring.run import RunOptions, run

    blind = {noun: [0.3] for noun in choose_blind()}
    told.told = {f"{name}.png": {**blind, "dog": [0.8], "sea": [0.2]} for name in "ab"}
    pictures = {
        name: save_picture(folder / f"{name}.png", (number, 99, 9))
        for number, name in enumerate("ab")
    }
    rows = [
        {"id": f"{system}-{names}", "system": system, "item": names, "text": text}
        | {"images": [pictures[name] for name in names]}
        for names in ("ab", "b")
        for system, text in TEXTS.items()
    ]
    source = folder / "tales.jsonl"
    source.write_text("".join(f"{json_text(row)}\n" for row in rows), encoding="utf-8")
    metrics = choose_metrics("rovist_vg, rovist_c(weights='fake'), rovist_nr")
    run(StoryFile(source), metrics, RunOptions(folder / "run", cache=False))
    return folder / "run"
