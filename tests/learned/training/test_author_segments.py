"""STORIUM's training, on tiny random models and made-up games."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from fabula.core.author import MARKS
from fabula.core.errors import InputError, SettingError
from fabula.core.plain import read_tensors
from fabula.datasets.storium import split_words
from fabula.learned.training.author import open_model
from fabula.learned.training.author_batches import fill_rows
from fabula.learned.training.author_figures import estimate_perplexity, read_figures
from fabula.learned.training.author_games import prepare_games
from fabula.learned.training.author_segments import (
    SegmentedAuthor,
    SegmentedTrainee,
    StoriumRecipe,
    train_storium,
)
from fabula.learned.training.recipe import find_recipe, read_recipe
from fabula.models.networks.segmented import find_marks
from fakes.storium_games import FLOOD, LADLE, NARRATOR, entry, game
from fakes.tiny_models import save_gpt2, save_llama, torch

DEEDS = ("saw a light", "ran away", "went home", "sat on the mat", "said never again")


def made_up(number: int) -> dict:
    """A game whose entries say again what the one before them said."""
    deed = DEEDS[number % len(DEEDS)]
    opening = entry(1, f"Night {number}.", format="establishment", **NARRATOR)
    moves = [
        entry(n, f"The sailor {deed}.", target_challenge_card=FLOOD,
              cards_played_on_challenge=[LADLE], role=f"character:{1 + n % 2}")
        for n in range(2, 5)
    ]  # fmt: skip
    people = [{"character_seq_id": n, "name": f"Dog {n}", "description": "Old."} for n in (1, 2)]
    return game(f"g{number:02}", [opening, *moves], characters=people)


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    path = tmp_path_factory.mktemp("exports") / "games.jsonl"
    path.write_text("".join(json.dumps(made_up(n)) + "\n" for n in range(30)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    torch()
    return save_llama(tmp_path_factory.mktemp("llama"), positions=256)


def recipe_for(model, **changes) -> StoriumRecipe:
    settings = {"model": f"huggingface({str(model)!r}, device='cpu')", "window": 200, "rows": 8}
    settings |= {"rate": 5e-3, "epochs": 2.0, "evaluate_every": 4, "checkpoint_every": 2}
    return StoriumRecipe(**(settings | changes))


@pytest.fixture(scope="module")
def prepared(llama, exports):
    recipe = recipe_for(llama)
    data = prepare_games(recipe, [str(exports)])
    return data.settle(recipe), data


def author_of(recipe, data) -> SegmentedAuthor:
    device = torch().device("cpu")
    return SegmentedAuthor(open_model(recipe.model), recipe, data.combinations, device)


def test_games_are_parted_whole_and_the_narrator_is_not_learned(prepared):
    _, data = prepared
    words = {f"g{n:02}": len(DEEDS[n % 5].split()) for n in range(30)}
    assert {part: len(names) for part, names in split_words(words).items()} == {
        "train": 24, "validation": 3, "test": 3,
    }  # fmt: skip
    assert data.counts["narrator's entries"] == 30
    assert data.counts["train entries"] == len(data.train) == 72
    assert len(set(data.held["validation"].games)) == 3
    assert not {*data.held["validation"].games} & {*data.held["test"].games}


def test_the_entry_stands_last_between_its_sign_and_the_end(prepared):
    recipe, data = prepared
    tokenizer = author_of(recipe, data).checkpoint.tokenizer
    begin, end = data.train.begins[0], data.train.offsets[1]
    text = tokenizer.decode(data.train.flat[begin : end - 1])
    assert text in {f"The sailor {deed}." for deed in DEEDS}
    assert data.train.flat[end - 1] == tokenizer.eos_token_id
    assert data.train.flat[begin - 1] == find_marks(tokenizer)[MARKS.index("separator")]
    shown, own = data.average_lengths()
    pieces = [len(part.flat) for part in (data.train, *data.held_out.values())]
    assert shown + own == pytest.approx(sum(pieces) / 90) and 0 < own < shown
    assert set(data.train.kinds[begin - 1 : end]) == {0} and data.combinations[0] == ("move",)
    assert ("character", "name_field") in data.combinations


def test_a_table_of_zeros_leaves_the_model_as_it_was(prepared):
    recipe, data = prepared
    author = author_of(recipe, data)
    batch = fill_rows([[piece] for piece in data.train.pieces(200)[:3]], data.train,
                      with_prompt=True)  # fmt: skip
    with torch().inference_mode():
        with_segments = author.losses(batch)
        author._inputs = lambda batch, ids: {"input_ids": ids}
        without = author.losses(batch)
    np.testing.assert_allclose(with_segments, without, atol=1e-6)


@pytest.mark.parametrize("save", [save_llama, save_gpt2])
@pytest.mark.parametrize("segments", ["own", "tokens"])
def test_marks_learn_wherever_their_embeddings_are_kept(save, segments, tmp_path, exports):
    recipe = recipe_for(save(tmp_path, positions=256), segments=segments)
    data = prepare_games(recipe, [str(exports)])
    author = author_of(recipe, data)
    trainee = SegmentedTrainee(author, data)
    plan = trainee.begin_stage(0)
    trainee.learn(trainee.batch(0), 1)
    used = {mark for marks in data.combinations for mark in marks}
    table = author.table
    grad = table.grad if table is not None else None
    if grad is None:
        grad = author.net.get_input_embeddings().weight.grad[
            find_marks(author.checkpoint.tokenizer)
        ]
    assert {mark for mark, row in zip(MARKS, grad, strict=True) if row.abs().sum() > 0} >= used
    scales = {group["scale"] for group in plan.optimiser.param_groups}
    assert scales == ({1.0, 10.0} if segments == "own" else {1.0})
    held = sum(len(group["params"]) for group in plan.optimiser.param_groups)
    assert held == len(author.weights)


def test_a_killed_training_goes_on_to_the_same_weights_and_losses(prepared, tmp_path):
    recipe, data = prepared
    recipe = replace(recipe, report_every=1, rows=16, epochs=1.2)
    straight = train_storium(recipe, data, out=tmp_path / "straight", report=lambda line: None)
    total = straight["steps"]
    assert total >= 3
    for killed_at in range(1, total + 1):

        def stop(line: str, last=f"step {killed_at}/") -> None:
            if line.startswith(last):
                raise KeyboardInterrupt

        out = tmp_path / f"killed-{killed_at}"
        with pytest.raises(KeyboardInterrupt):
            train_storium(recipe, data, out=out, report=stop)
        record = train_storium(recipe, data, out=out, resume=True, report=lambda line: None)
        assert record["history"] == straight["history"]
        assert read_figures(out) == read_figures(tmp_path / "straight")
        for name in ("model.safetensors", "segments.safetensors"):
            one, other = (
                read_tensors(folder / name, remedy="") for folder in (tmp_path / "straight", out)
            )
            assert all(torch().equal(one[key], other[key]) for key in one)


def test_it_learns_and_says_the_perplexity_of_held_out_games(prepared, tmp_path):
    recipe, data = prepared
    record = train_storium(recipe, data, out=tmp_path, report=lambda line: None)
    figures = read_figures(tmp_path)
    for part in ("validation", "test"):
        found = estimate_perplexity(figures.parts[part])
        assert found.value < estimate_perplexity(figures.before[part]).value
        assert record["perplexity"][part]["value"] == pytest.approx(found.value)
        assert record["perplexity"][part] | {"games": 3, "entries": 9} == record["perplexity"][part]
    best = min(row["loss"] for row in record["history"])
    assert math.log(record["perplexity"]["validation"]["value"]) == pytest.approx(best, abs=1e-5)


def test_figures_alone_leave_no_weights(prepared, tmp_path):
    recipe, data = prepared
    recipe = replace(recipe, epochs=0.2)
    train_storium(recipe, data, out=tmp_path, figures_only=True, report=lambda line: None)
    assert {path.name for path in tmp_path.iterdir()} == {"figures.json", "training.json"}


def test_a_training_that_is_over_is_not_taken_for_one_by_another_recipe(prepared, tmp_path):
    recipe, data = prepared
    recipe = replace(recipe, epochs=0.2)
    done = train_storium(recipe, data, out=tmp_path, figures_only=True, report=lambda line: None)
    quieter = replace(recipe, report_every=1, at_once=1)
    assert train_storium(quieter, data, out=tmp_path, resume=True) == done
    other = replace(recipe, packing="none", history=0)
    with pytest.raises(InputError, match=r"another recipe \(packing, history\)"):
        train_storium(other, data, out=tmp_path, resume=True)


def test_examples_made_ready_need_no_games_and_are_refused_by_another_recipe(
    llama, exports, tmp_path
):
    recipe, ready = recipe_for(llama), tmp_path / "ready.npz"
    data = prepare_games(recipe, [str(exports)], prepared=ready)
    again = prepare_games(recipe, prepared=ready)
    assert again.describe() == data.describe() and again.held == data.held
    assert again.settle(recipe).sources == ("games.jsonl",)
    with pytest.raises(InputError, match=r"another recipe \(history\)"):
        prepare_games(replace(recipe, history=0), prepared=ready)
    ready.write_bytes(b"nothing")
    with pytest.raises(InputError, match="games as tokens"):
        prepare_games(recipe, prepared=ready)


def test_the_release_s_bug_can_be_had(llama, exports):
    recipe = recipe_for(llama, compat=True, segments="tokens", history=2)
    data = prepare_games(recipe, [str(exports)])
    tokenizer = author_of(recipe, data).checkpoint.tokenizer
    marks = {*find_marks(tokenizer)}
    assert not marks & {*data.train.flat.tolist()}
    begin = data.train.begins[0]
    assert data.train.flat[begin - 1] == tokenizer.eos_token_id


def test_what_will_not_do_is_refused(llama, exports, tmp_path):
    with pytest.raises(SettingError, match="no games to learn from"):
        prepare_games(recipe_for(llama))
    with pytest.raises(SettingError, match="all weights learn"):
        recipe_for(llama, rank=4)
    with pytest.raises(SettingError, match="in the table of tokens"):
        recipe_for(llama, compat=True)
    with pytest.raises(InputError, match="again, after"):
        prepare_games(recipe_for(llama), [str(exports), str(exports)])
    silent = tmp_path / "silent.jsonl"
    silent.write_text(json.dumps(game("g", [entry(1, "Rain.", **NARRATOR)])), encoding="utf-8")
    with pytest.raises(InputError, match="no entry of a character"):
        prepare_games(recipe_for(llama), [str(silent)])


def test_the_recipe_that_comes_with_fabula_is_sound():
    recipe = read_recipe(StoriumRecipe, find_recipe("storium"))
    assert (recipe.window, recipe.packing, recipe.history, recipe.rank) == (1024, "cassowary", 1, 0)
