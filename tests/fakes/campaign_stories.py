"""Stories that a campaign can ask about: made up, with all that its definition shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fabula.studio.campaigns.definition import Definition

SYSTEMS = ("ann", "bob", "cyd", "dot", "eve")
_EVENTS = ("lost a glove", "met a goose", "missed the ferry", "found a key", "heard a song")


def make_rows(definition: Definition, items: int = 4) -> list[dict[str, Any]]:
    """Rows of a file: a story of every system for every item."""
    show = definition.show
    rows = []
    for item in range(items):
        for number, system in enumerate(SYSTEMS):
            event = _EVENTS[(item + number) % len(_EVENTS)]
            row = {
                "id": f"{item}-{system}",
                "item": f"item {item}",
                "system": system,
                "prompt": f"Something happens on day {item}.",
                "text": f"On day {item} Mira {event}. By evening {system.title()} knew of it.",
                "reference": f"On day {item} nothing happened, and Mira was glad of it.",
            }
            row |= {name: f"{name} of {item}-{system}" for name in show.fields}
            row |= {"input": f"Mira, day {item}."} if show.input else {}
            row |= {"images": [f"{item}-{n}.png" for n in range(2)]} if show.pictures else {}
            rows.append(row)
    return rows


def write_campaign_stories(folder: Path, definition: Definition, items: int = 4) -> Path:
    """Write such rows, and the pictures that they name, into a folder."""
    rows = make_rows(definition, items)
    path = folder / "stories.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    for number, name in enumerate(sorted({n for row in rows for n in row.get("images", ())})):
        from PIL import Image

        Image.new("RGB", (32, 24), (number * 9 % 256, 90, 120)).save(folder / name)
    return path
