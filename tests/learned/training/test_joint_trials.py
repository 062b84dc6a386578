"""Joint trainings side by side: seeds and their mean, grids, ablations by the recipe's switches."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import InputError, SettingError
from fabula.learned.training import joint_trials
from fabula.learned.training.grid import apply_settings, read_grid
from fabula.learned.training.joint_recipe import JointRecipe
from fabula.learned.training.joint_trials import average_figures, train_seeds, try_joints
from fabula.learned.training.recipe import read_recipe
from fakes.tiny_joint import joint_recipe, made_up_data, one_thread
from fakes.tiny_models import save_bart

pytest.importorskip("torch")
pytest.importorskip("transformers")

RECIPES = Path(__file__).resolve().parents[3] / "recipes"
QUIET: dict[str, Any] = {"device": "cpu", "report": lambda line: None}


@pytest.fixture(scope="module", autouse=True)
def _quick() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_bart(tmp_path_factory.mktemp("backbone"))


def test_several_seeds_are_trained_beside_one_another_and_averaged(backbone, tmp_path):
    recipe = joint_recipe(backbone, epochs=2.0, rows=2, held_out=0.4, seed=3)
    found = train_seeds(recipe, made_up_data(), out=tmp_path, seeds=2, **QUIET)
    records = [
        json.loads((tmp_path / f"seed-{seed}" / "training.json").read_text()) for seed in (3, 4)
    ]
    assert [record["seed"] for record in records] == found["seeds"] == [3, 4]
    figures = [record["best"]["figure"] for record in records]
    assert found["figure"] == pytest.approx(sum(figures) / 2)
    assert found["best"] == str(tmp_path / f"seed-{3 + figures.index(max(figures))}")
    told = json.loads((tmp_path / "seeds.json").read_text())
    assert told["folders"] == ["seed-3", "seed-4"]
    with pytest.raises(InputError, match="holds a training"):
        train_seeds(recipe, made_up_data(), out=tmp_path, seeds=2, **QUIET)
    assert train_seeds(recipe, made_up_data(), out=tmp_path, seeds=2, resume=True, **QUIET) == found


def test_figures_are_means_over_seeds_with_their_deviation():
    rows = [{"accuracy": 0.5, "loss": 2.0, "rating": 0.1}, {"accuracy": 0.7, "loss": 1.0}]
    found = average_figures(rows)
    assert [*found] == ["accuracy", "loss"]
    assert found["accuracy"].mean == pytest.approx(0.6)
    # Of 0.5 and 0.7: the root of (0.1² + 0.1²) / 1.
    assert found["accuracy"].deviation == pytest.approx(math.sqrt(0.02))
    assert math.isnan(average_figures(rows[:1])["loss"].deviation)
    assert average_figures([]) == {}


def write_recipe(path: Path, backbone: Path, **changes: object) -> Path:
    settings = {
        "backbone": str(backbone), "max_tokens": 48, "comment_tokens": 16, "rows": 2,
        "rate": 0.02, "epochs": 1.0, "held_out": 0.4, "evaluate_every": 1, **changes,
    }  # fmt: skip
    path.write_text("".join(f"{name} = {json.dumps(one)}\n" for name, one in settings.items()))
    return path


def test_a_grid_trains_every_setting_with_every_seed(backbone, tmp_path, monkeypatch):
    monkeypatch.setattr(joint_trials, "prepare_joint", lambda *given, **how: made_up_data())
    recipe = write_recipe(tmp_path / "recipe.toml", backbone)
    grid = tmp_path / "grid.toml"
    grid.write_text("[[variants]]\n[[variants]]\naspects = false\ncomments = false\n")
    how: Any = {"out": tmp_path / "out", "seeds": 2, **QUIET}
    trials = try_joints(recipe, grid, None, **how)
    assert sorted(trial.folder.name for trial in trials) == ["01", "02"]
    assert trials[0].figure >= trials[1].figure
    by_name = {trial.folder.name: trial for trial in trials}
    assert by_name["01"].settings == {}
    assert "rating" not in average_figures(by_name["02"].record["figures"])
    for name in ("01", "02"):
        assert (tmp_path / "out" / name / "seed-1" / "model.safetensors").exists()
    again = try_joints(recipe, grid, None, **how, resume=True)
    assert [trial.figure for trial in again] == [trial.figure for trial in trials]
    write_recipe(recipe, backbone, held_out=0.0)
    with pytest.raises(SettingError, match="held_out"):
        try_joints(recipe, grid, None, **how, resume=True)


def test_the_papers_grid_and_ablations_are_settings_of_its_recipe():
    import tomllib

    plain = tomllib.loads((RECIPES / "storyer_led.toml").read_text())

    def recipes(name: str) -> list[JointRecipe]:
        return [
            read_recipe(JointRecipe, apply_settings(plain, settings))
            for settings in read_grid(RECIPES / f"storyer_led_{name}.toml")
        ]

    grid = recipes("grid")
    assert len(grid) == 9 * 4
    assert {one.margin for one in grid} == {n / 10 for n in range(2, 11)}
    assert {one.rate for one in grid} == {4e-4, 4e-5, 4e-6, 4e-7}
    whole, *others = recipes("ablation")
    assert whole == read_recipe(JointRecipe, RECIPES / "storyer_led.toml")
    assert len({*others, whole}) == len(others) + 1
    switches = ("ranking", "aspects", "comments", "augmentation", "negatives", "loss")
    for other in others:
        assert any(getattr(other, name) != getattr(whole, name) for name in switches)


def test_variants_stand_alone_and_combine_with_nothing(tmp_path):
    file = tmp_path / "grid.toml"
    file.write_text("rate = [1.0]\n[[variants]]\nmargin = 0.2\n")
    with pytest.raises(SettingError, match="rate stands beside"):
        read_grid(file)
    file.write_text("variants = [1]\n")
    with pytest.raises(SettingError, match="are no tables"):
        read_grid(file)
