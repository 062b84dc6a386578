"""`fabula train storyer` on a backbone, as a user would: train, average, score, review."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fabula.cli import cli
from fakes.tiny_joint import BETTER, COMMENTS, WORSE, one_thread, save_led

pytest.importorskip("torch")
pytest.importorskip("transformers")

RECIPE = """
backbone = "HERE/led"
pairs = ["HERE/pairs.pkl"]
items = ["HERE/ratings.json"]
max_tokens = 48
comment_tokens = 16
rows = 2
rate = 0.01
epochs = 1.0
held_out = 0.3
evaluate_every = 1
"""


@pytest.fixture(scope="module", autouse=True)
def _quick() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backbone, a recipe, and pairs and ratings in the form of StoryER's release."""
    place = tmp_path_factory.mktemp("joint")
    save_led(place / "led")
    pairs = [
        [f"[WP] Prompt {n}", f"{n}. {BETTER[n % 4]}", f"{n}. {WORSE[n % 4]}", 1, 1]
        for n in range(6)
    ]
    (place / "pairs.pkl").write_bytes(pickle.dumps(pairs))
    ratings = [
        {
            "story": f"{n}. {BETTER[n % 4]}", "score": n, "prompt": f"[WP] Prompt {n}",
            "comments": [[1 + n, 1 + n % 5, COMMENTS[n % 3]], *[[-1, -1, None]] * 4],
        }
        for n in range(6)
    ]  # fmt: skip
    (place / "ratings.json").write_text(json.dumps(ratings))
    (place / "recipe.toml").write_text(RECIPE.replace("HERE", str(place)))
    return place


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, [*map(str, words)])


def train(folder: Path, out: Path, *more: str | Path) -> Result:
    asked = ["train", "storyer", "--recipe", folder / "recipe.toml"]
    return run(*asked, "--device", "cpu", "-q", "-o", out, *more)


def test_seeds_are_averaged_and_the_best_is_named(folder, tmp_path):
    done = train(folder, tmp_path / "out", "--seeds", "2")
    assert done.exit_code == 0, done.output
    assert "mean of 2 seeds ± standard deviation" in done.stderr
    assert "accuracy" in done.stderr and "recall@3 of aspects" in done.stderr
    spec = done.stdout.strip().splitlines()[-1]
    assert spec.startswith(f"storyer(weights='{tmp_path / 'out' / 'seed-'}")
