"""`fabula train rovist_vg`, from a table of regions to a grounder that looks at pictures."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from fabula.cli.train import command
from fabula.learned.grounding.opening import open_grounder
from fakes.drawings import draw_stop_sign
from fakes.tiny_models import torch

RECIPE = """
encoder = "fake(width=16)"
text = "fake()"
joint = 4
rows = 4
epochs = 2
held_out = 0.25
"""
COLOURS = {"apple": (220, 20, 20), "sea": (20, 20, 220), "sun": (230, 230, 20)}


@pytest.fixture
def train(tmp_path):
    torch()
    image = pytest.importorskip("PIL.Image")
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    (tmp_path / "crops").mkdir()
    lines = ["file,noun"]
    for number in range(12):
        noun, colour = list(COLOURS.items())[number % 3]
        image.new("RGB", (4, 4 + number), colour).save(tmp_path / "crops" / f"{number}.png")
        lines.append(f"{number}.png,an {noun}")
    (tmp_path / "regions.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def run(*more: str):
        words = ["rovist_vg", "--regions", str(tmp_path / "regions.csv"), "--device", "cpu"]
        words += ["--recipe", str(tmp_path / "recipe.toml"), "-o", str(tmp_path / "out"), *more]
        return CliRunner().invoke(command, words)

    return run


def test_a_table_becomes_a_grounder(train, tmp_path):
    done = train("--images", str(tmp_path / "crops"))
    assert done.exit_code == 0, done.output
    assert done.stdout == f"rovist_vg(grounder={str(tmp_path / 'out')!r})\n"
    assert "9 to learn from, 3 held out" in done.stderr
    assert "nouns of held-out regions, ranked among one another: recall at 1" in done.stderr
    record = json.loads((tmp_path / "out" / "training.json").read_text(encoding="utf-8"))
    assert len(record["history"]) == 2
    [sight] = open_grounder(str(tmp_path / "out"), detector="fake()").look(
        [draw_stop_sign()], ["apple"]
    )
    assert sight.similarities.shape == (len(sight.regions), 1)


def test_pictures_that_are_not_beside_the_table_are_asked_for(train):
    done = train()
    assert done.exit_code == 1
    assert "--images" in str(done.exception)
    assert "regions.csv" in str(done.exception)
