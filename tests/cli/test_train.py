from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fabula.cli.train import command
from fabula.core.errors import InputError
from fabula.learned.training.corpus import save_corpus
from fakes.tiny_encoder import made_up_corpus, write_encoder

pytest.importorskip("torch")
RECIPE = """
sources = ["made_up"]
left_out = []
steps = 4
rows = 4
window = 32
evaluate_every = 2
report_every = 2
[held_out]
made_up = 8
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_encoder(tmp_path / "start")
    save_corpus(made_up_corpus(), tmp_path / "tokens.npz")
    (tmp_path / "recipe.toml").write_text(RECIPE)
    return tmp_path


def train(folder: Path, *more: str) -> Result:
    places = {"start": "start", "tokens": "tokens.npz", "recipe": "recipe.toml", "out": "out"}
    words = [word for name, file in places.items() for word in (f"--{name}", str(folder / file))]
    return CliRunner().invoke(
        command, ["encoder", *words, "--device", "cpu", *more], catch_exceptions=False
    )


def test_training_prints_the_folder_and_its_progress_goes_to_stderr(folder):
    done = train(folder, "--steps", "2", "--seed", "5")
    assert done.stdout == f"{folder / 'out'}\n"
    assert "made_up: 60 trained on" in done.stderr
    assert "held out, top-1/top-5: made_up" in done.stderr
    record = json.loads((folder / "out" / "training.json").read_text())
    assert (record["steps"], record["seed"]) == (2, 5)


def test_a_folder_that_holds_a_training_is_refused_unless_it_goes_on(folder):
    assert train(folder, "--quiet").stderr == ""
    with pytest.raises(InputError, match="holds a training; say --resume"):
        train(folder)
    assert train(folder, "--resume", "-q").stdout == f"{folder / 'out'}\n"
