"""The example of a story in pictures: small, drawn here, and told apart by the metrics."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fabula.datasets.tables.stories import StoryFile
from fabula.scoring.evaluate import evaluate
from fakes.crafted_pictures import pillow

FOLDER = Path(__file__).parents[2] / "examples" / "pictures"


def test_it_is_small_and_every_story_has_its_five_pictures_in_order():
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 50_000
    stories = list(StoryFile(FOLDER / "stories.jsonl"))
    assert {story.system for story in stories} == {"seen", "elsewhere", "vague"}
    for story in stories:
        assert [Path(name).name for name in story.images] == [f"{n}.png" for n in range(1, 6)]
    [alone] = StoryFile(FOLDER / "late_train")
    assert alone.images == stories[0].images
    assert alone.text.split() == stories[0].text.split()


def test_the_script_draws_the_pictures_that_lie_there(tmp_path):
    pillow()
    subprocess.run([sys.executable, FOLDER / "draw.py", tmp_path], check=True)
    for path in (FOLDER / "late_train").glob("*.png"):
        one, other = (
            np.asarray(pillow().open(place).convert("RGB").resize((8, 6)), dtype=int)
            for place in (path, tmp_path / path.name)
        )
        # Another version of Pillow may smooth an edge otherwise.
        assert np.abs(one - other).max() < 40


@pytest.mark.assets
@pytest.mark.usefixtures("spacy_small")
def test_the_story_of_the_pictures_is_better_grounded_than_the_others():
    table = evaluate(FOLDER / "stories.jsonl", "rovist_vg")
    assert all(score.ok for score in table)
    means = {name: table.means(name)["rovist_vg"] for name in ("seen", "elsewhere", "vague")}
    assert means["seen"] > means["elsewhere"] and means["seen"] > means["vague"]
