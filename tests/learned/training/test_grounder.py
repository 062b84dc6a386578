from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from fabula.core.errors import InputError, SettingError
from fabula.learned.grounding.opening import open_grounder
from fabula.learned.training.grounder import GrounderRecipe, train_grounder
from fabula.learned.training.grounder_model import contrast
from fabula.learned.training.recipe import find_recipe, read_recipe
from fabula.learned.training.regions import read_regions
from fakes.drawings import draw_clock
from fakes.tiny_models import torch
from fakes.tiny_vision import save_vit

COLOURS = {
    "apple": (220, 20, 20), "sea": (20, 20, 220), "sun": (230, 230, 20), "tree": (10, 120, 20),
    "snow": (240, 240, 240), "night": (15, 15, 15), "rose": (230, 80, 120),
    "stone": (125, 125, 125),
}  # fmt: skip
SMALL = GrounderRecipe(
    encoder="fake(width=32)", text="fake()", joint=8, rows=8, epochs=4, rate=0.05, flips=True,
    dropout=0.0, noun_dropout=0.0, label_weights=(0.2, 0.5), classes=2, background=8,
)  # fmt: skip


@pytest.fixture(scope="module")
def regions(tmp_path_factory):
    """Forty-eight spots of eight colours, each a little other, six a colour."""
    image = pytest.importorskip("PIL.Image")
    folder = tmp_path_factory.mktemp("regions")
    rng, rows = np.random.default_rng(0), []
    for number in range(48):
        noun = list(COLOURS)[number % len(COLOURS)]
        spot = np.array(COLOURS[noun]) + rng.integers(-15, 15, (4, 4, 3))
        image.fromarray(np.clip(spot, 0, 255).astype(np.uint8)).save(folder / f"{number}.png")
        rows.append({"crop": f"{number}.png", "noun": f"the {noun}"})
    (folder / "regions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / "regions.jsonl"


def quiet(line: str) -> None:
    """Say nothing."""


def test_a_grounder_learns_the_nouns_of_colours_and_finds_them_in_pictures(regions, tmp_path):
    table = read_regions(regions, held_out=0.25, seed=3)
    lines: list[str] = []
    record = train_grounder(SMALL, table, out=tmp_path / "out", device="cpu", report=lines.append)
    assert record["best"]["recall at 1"] > 0.6
    assert record["label_weight"] in SMALL.label_weights
    assert [row["label_weight"] for row in record["trials"]] == list(SMALL.label_weights)
    assert sum("(best)" in line and "labels at" in line for line in lines) == 1
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == {"grounder.json", "model.safetensors", "training.json"}
    grounder = open_grounder(str(tmp_path / "out"), detector="fake()")
    [sight] = grounder.look([draw_clock()], ["snow", "sea"])
    assert sight.similarities[:, 0].max() > sight.similarities[:, 1].max()


def test_a_training_goes_on_where_it_was_stopped(regions, tmp_path, monkeypatch):
    table = read_regions(regions, held_out=0.25, seed=3)
    how = {"device": "cpu", "report": quiet}
    whole = train_grounder(SMALL, table, out=tmp_path / "whole", **how)
    from fabula.learned.training import loop

    real, calls = loop.TrainingFolder.save_checkpoint, []

    def stop_after_two(folder, *given):
        real(folder, *given)
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(loop.TrainingFolder, "save_checkpoint", stop_after_two)
    with pytest.raises(KeyboardInterrupt):
        train_grounder(SMALL, table, out=tmp_path / "cut", **how)
    monkeypatch.undo()
    with pytest.raises(InputError, match="resume"):
        train_grounder(SMALL, table, out=tmp_path / "cut", **how)
    resumed = train_grounder(SMALL, table, out=tmp_path / "cut", resume=True, **how)
    assert resumed["history"] == whole["history"]
    with pytest.raises(InputError, match="was trained by another recipe"):
        other = replace(SMALL, epochs=SMALL.epochs + 1)
        train_grounder(other, table, out=tmp_path / "cut", resume=True, **how)
    weights = [read_weights(tmp_path / name) for name in ("whole", "cut")]
    assert weights[0].keys() == weights[1].keys()
    assert all(torch().equal(weights[0][name], weights[1][name]) for name in weights[0])


def test_the_papers_recipe_runs_on_a_tiny_vit_and_tunes_all_of_it(regions, tmp_path):
    recipe = read_recipe(GrounderRecipe, find_recipe("rovist_vg_paper"))
    assert (recipe.joint, recipe.rows, recipe.rate, recipe.epoch_decay) == (1024, 64, 5e-5, 0.95)
    assert (recipe.patience, recipe.held_out, recipe.weight_decay) == (3, 0.15, 1e-5)
    vit = save_vit(tmp_path / "vit", "ViTModel")
    words = tmp_path / "words.txt"
    rng = np.random.default_rng(1)
    words.write_text(
        "".join(f"{noun} {' '.join(map(str, rng.normal(size=5).round(3)))}\n" for noun in COLOURS)
    )
    small = {"encoder": f"huggingface({str(vit)!r})", "text": f"word_vectors({str(words)!r})"}
    tiny = replace(recipe, **small, joint=8, rows=16, epochs=2, rate=1e-3)
    table = read_regions(regions, held_out=recipe.held_out)
    record = train_grounder(tiny, table, out=tmp_path / "out", device="cpu", report=quiet)
    assert record["history"][0]["loss"] > 0
    kept = json.loads((tmp_path / "out/grounder.json").read_text())
    assert kept["encoder"] == "encoder"
    before, after = (
        {name: tensor.float() for name, tensor in read_weights(folder).items()}
        for folder in (vit, tmp_path / "out/encoder")
    )
    assert any(not torch().equal(before[name], after[name]) for name in before)
    grounder = open_grounder(str(tmp_path / "out"), detector="fake()")
    [sight] = grounder.look([draw_clock()], ["snow", "clock"])
    assert np.isfinite(sight.similarities[:, 0]).all()
    assert np.isnan(sight.similarities[:, 1]).all()


def read_weights(folder):
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


def test_the_loss_of_two_pairs_is_that_of_the_formula():
    crops = torch().tensor([[1.0, 0.0], [0.0, 1.0]])
    nouns = torch().tensor([[1.0, 0.0], [0.0, 0.5]])
    kinds = torch().tensor([0, 1])
    recipe = GrounderRecipe(temperature=2.0, normalise=False)
    # T·Iᵀ·2 is diag(2, 1): −log softmax of the right ones is log(1 + e⁻²) and log(1 + e⁻¹).
    near = (np.log1p(np.exp(-2)) + np.log1p(np.exp(-1))) / 2
    pairs = contrast(crops, nouns, kinds, replace(recipe, targets="pairs"))
    assert pairs.item() == pytest.approx(near)
    # (I·Iᵀ + T·Tᵀ) / 2 · 2 is diag(2, 1.25), which is the target of the paper as it stands.
    paper = contrast(crops, nouns, kinds, replace(recipe, targets="paper"))
    by_hand = (2 * np.log1p(np.exp(-2)) + 1.25 * np.log1p(np.exp(-1))) / 2
    assert paper.item() == pytest.approx(by_hand)


def test_the_codes_targets_are_a_softmax_and_may_be_detached():
    rng = torch().Generator().manual_seed(0)
    crops = torch().randn((3, 4), generator=rng, requires_grad=True)
    nouns = torch().randn((3, 4), generator=rng)
    recipe = GrounderRecipe(temperature=1.0, targets="code")
    targets = ((crops @ crops.T + nouns @ nouns.T) / 2).softmax(-1)
    logits = nouns @ crops.T
    texts = -(targets * logits.log_softmax(-1)).sum(1)
    images = -(targets.T * logits.T.log_softmax(-1)).sum(1)
    kinds = torch().arange(3)
    losses = [contrast(crops, nouns, kinds, replace(recipe, detach=d)) for d in (False, True)]
    assert losses[0].item() == pytest.approx(((texts + images) / 2).mean().item())
    assert losses[0].item() == pytest.approx(losses[1].item())
    slopes = [torch().autograd.grad(loss, crops, retain_graph=True)[0] for loss in losses]
    assert not torch().allclose(*slopes)


def test_pairs_of_one_noun_share_its_target():
    crops = nouns = torch().tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    recipe = GrounderRecipe(temperature=1.0, targets="same")
    loss = contrast(crops, nouns, torch().tensor([4, 4, 7]), recipe)
    # Rows (1, 1, 0) twice, targets (½, ½, 0); and (0, 0, 1), target (0, 0, 1).
    by_hand = (2 * (np.log(2 * np.e + 1) - 1) + np.log(np.e + 2) - 1) / 3
    assert loss.item() == pytest.approx(by_hand)


@pytest.mark.parametrize(
    "changes",
    [
        {"joint": 0},
        {"dropout": 1.0},
        {"temperature": 0.0},
        {"label_weights": ()},
        {"label_weights": (1.5,)},
        {"label_weights": (0.0,), "background": 3},
    ],
)
def test_a_recipe_that_will_not_do_is_refused(changes):
    with pytest.raises(SettingError):
        replace(GrounderRecipe(), **changes)


def test_the_recipe_that_ships_can_be_read():
    recipe = read_recipe(GrounderRecipe, find_recipe("rovist_vg"))
    assert recipe.background and all(recipe.label_weights)


def test_an_encoder_without_classes_gives_no_labels(regions, tmp_path):
    recipe = replace(SMALL, encoder=f"huggingface({str(save_vit(tmp_path / 'v', 'ViTModel'))!r})")
    table = read_regions(regions, held_out=0.25)
    with pytest.raises(SettingError, match="label_weights"):
        train_grounder(recipe, table, out=tmp_path / "out", device="cpu", report=quiet)
