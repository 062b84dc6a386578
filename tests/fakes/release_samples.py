"""Made-up releases in the form of the published ones: by data set, the text of each file.

They lie in `releases`, a folder a data set: the contract tests find a new one by its name.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def lines(*rows: Any) -> str:
    """Write rows as JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def put(folder: Path, files: dict[str, str]) -> Path:
    """Write the files of a release into a folder, which is given back."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder


UNUSED = [-1, -1, float("nan")]
LAMP = "[WP] A lamp that grants half a wish ."
HALF = r"She asked for a boat. <\newline>  <\newline> She got a bow."
GOLD = "He asked for gold and got a go."
SHRUG = "The lamp shrugged."


def pair(prompt: str, good: str, poor: str) -> dict[str, Any]:
    """Make a row of StoryER's ranking file."""
    return {"prompt": prompt, "good": good, "poor": poor, "c3": 1, "c4": 1}


def submission(
    story: str, votes: float | None, *comments: Any, prompt: str = LAMP
) -> dict[str, Any]:
    """Make a row of StoryER's rating file; slots that are not given are unused."""
    slots = [*comments, *[UNUSED] * (5 - len(comments))]
    return {"story": story, "score": votes, "prompt": prompt, "comments": slots}


def task(name: str) -> dict[str, Any]:
    """Make an item of MANS with two systems."""
    return {
        "prompt": f"{name} opened the door .",
        "gold_response": "outside stood spring .",
        "gen": {
            "gpt": {"text": "the door said no .", "score": [1, 2, 3, 4, 5]},
            "fusion": {"text": "door door door .", "score": [1, 1, 1, 2, 2]},
        },
    }


def read_sample(folder: Path) -> dict[str, str]:
    """Read the files of a made-up release, by their names below its folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes().decode()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


SAMPLES = {
    folder.name: read_sample(folder)
    for folder in sorted(Path(__file__).with_name("releases").iterdir())
}
# Where the whole releases lie beside the repository, if not in a folder of their name.
FOLDERS = {name: name for name in SAMPLES} | {
    "storyer_ratings": "storyer",
    "union": "union_roc",
    "rovist": "rovist_scores",
}
