"""Two writers beside each other (benchmarks/liked_writers.py), tiny ones on made-up pairs."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks import liked_writers

from fabula.core.errors import InputError, SettingError
from fabula.learned.training.author import AuthorRecipe, train_author
from fabula.learned.training.author_data import prepare_author
from fakes.liked_pairs import write_liked_pairs
from fakes.tiny_models import save_llama, torch

pytest.importorskip("peft")

Writers = tuple[dict[liked_writers.Side, Path], dict[str, dict[str, Any]], Path]


@pytest.fixture(scope="module")
def writers(tmp_path_factory: pytest.TempPathFactory) -> Writers:
    """Folders of both writers, what their trainings recorded, and the data."""
    torch()
    root = tmp_path_factory.mktemp("writers")
    (root / "data").mkdir()
    data = write_liked_pairs(root / "data")
    model = f"huggingface({str(save_llama(root, positions=256))!r})"
    folders, records = {}, {}
    for side in liked_writers.SIDES:
        recipe = AuthorRecipe(
            sources=("storyer",), model=model, on=side, held_out=0.3, rank=4, rate=5e-3,
            window=64, rows=8, at_once=4, epochs=4.0, evaluate_every=2,
        )  # fmt: skip
        stories = prepare_author(recipe, [str(data)])
        folders[side] = root / side
        records[side] = train_author(
            stories.settle(recipe), stories, out=root / side, report=lambda line: None
        )
    return folders, records, data


def test_it_prints_what_the_trainings_measured_and_the_other_side_beside_it(
    writers: Writers, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folders, records, data = writers
    words = [*map(str, folders.values()), "--data", str(data), "--device", "cpu"]
    monkeypatch.setattr(sys, "argv", ["liked_writers.py", *words])
    liked_writers.main()
    head, *lines = capsys.readouterr().out.splitlines()
    counts = [records[side]["best"]["stories"] for side in liked_writers.SIDES]
    assert head.split() == ["perplexity", f"{counts[0]}", "liked", "stories", f"{counts[1]}",
                            "disliked", "stories"]  # fmt: skip
    printed = [[float(number) for number in re.findall(r"[\d.]+", line)] for line in lines]
    assert all(low < value < high for row in printed for value, low, high in [row[:3], row[3:]])
    before, liked, disliked = ((row[0], row[3]) for row in printed)
    recorded = [records[side]["before"]["perplexity"] for side in liked_writers.SIDES]
    assert before == pytest.approx(recorded, abs=0.01)
    # What is kept is in half precision.
    assert liked[0] == pytest.approx(records["liked"]["best"]["perplexity"], rel=0.01)
    assert disliked[1] == pytest.approx(records["disliked"]["best"]["perplexity"], rel=0.01)
    # The two kinds have no sentence in common: each writer foresees its own better.
    assert liked[0] < disliked[0] and disliked[1] < liked[1]


def test_writers_the_wrong_way_round_are_refused(writers: Writers) -> None:
    folders, _, data = writers
    with pytest.raises(SettingError, match="has learned from disliked stories"):
        liked_writers.show(
            {"liked": folders["disliked"], "disliked": folders["liked"]}, data, "cpu"
        )


def test_data_whose_held_out_stories_are_others_are_refused(
    writers: Writers, tmp_path: Path
) -> None:
    folders, _, _ = writers
    data = write_liked_pairs(tmp_path)
    file = data / "storyer" / "rank_more.jsonl"
    rows = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(rows[:2]), encoding="utf-8")
    with pytest.raises(InputError, match="does not hold the stories that were held out"):
        liked_writers.show(folders, data, "cpu")


def test_writers_of_different_recipes_are_refused(writers: Writers, tmp_path: Path) -> None:
    folders, _, data = writers
    record = json.loads((folders["disliked"] / "training.json").read_text(encoding="utf-8"))
    record["recipe"]["tag"] = "~"
    (tmp_path / "training.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(SettingError, match="different recipes"):
        liked_writers.show({"liked": folders["liked"], "disliked": tmp_path}, data, "cpu")
