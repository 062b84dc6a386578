"""A co-author's training, on tiny random models and made-up stories."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from fabula.core.errors import InputError, SettingError
from fabula.core.plain import read_tensors
from fabula.core.story import Story
from fabula.learned.training.author import (
    ADAPTER,
    AuthorRecipe,
    AuthorTrainee,
    TrainedAuthor,
    open_model,
    train_author,
)
from fabula.learned.training.author_batches import fill_rows, pack_pieces
from fabula.learned.training.author_data import (
    Signs,
    encode_stories,
    find_signs,
    load_author_data,
    prepare_author,
    split_stories,
)
from fabula.learned.training.recipe import find_recipe, read_recipe
from fabula.models import load_model
from fabula.text.prompting import render_prompt
from fakes.tiny_models import save_gpt2, save_llama, save_wordpiece, torch

pytest.importorskip("peft")

PLACES = ("the sea", "a house", "the old mat", "winter", "the night", "a light", "home", "the cat")


def made_up(number: int) -> dict[str, str]:
    place = PLACES[number % len(PLACES)]
    text = f"Sailor {number} saw {place}. She said never again, and went away from {place}."
    return {"id": str(number), "prompt": f"A story of {place} and number {number}.", "text": text}


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    torch()
    return save_llama(tmp_path_factory.mktemp("llama"), positions=256)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("stories") / "mine.jsonl"
    path.write_text("".join(json.dumps(made_up(n)) + "\n" for n in range(40)), encoding="utf-8")
    return path


def recipe_for(model, **changes) -> AuthorRecipe:
    settings = {"model": f"huggingface({str(model)!r})", "window": 48, "rows": 8, "at_once": 4}
    settings |= {"rate": 5e-3, "epochs": 3.0, "held_out": 0.2, "rank": 4, "evaluate_every": 4}
    return AuthorRecipe(**(settings | changes))


@pytest.fixture(scope="module")
def prepared(llama, table):
    recipe = recipe_for(llama)
    data = prepare_author(recipe, [str(table)])
    return data.settle(recipe), data


def trainee_of(recipe, data) -> AuthorTrainee:
    return AuthorTrainee(
        TrainedAuthor(open_model(recipe.model), recipe, torch().device("cpu")), data
    )


def test_stories_stand_after_their_prompts_between_signs(prepared):
    recipe, data = prepared
    tokenizer = open_model(recipe.model).tokenizer
    start, end = data.train.offsets[:2]
    begin = data.train.begins[0]
    story = made_up(int(tokenizer.decode(data.train.flat[begin : end - 1]).split()[1]))
    assert tokenizer.decode(data.train.flat[begin : end - 1]) == story["text"]
    assert data.train.flat[end - 1] == tokenizer.eos_token_id
    # A tokeniser without a sign for the beginning begins with the one between texts.
    assert data.train.flat[start] == tokenizer.eos_token_id
    rendered = render_prompt([("", story["prompt"])])
    assert tokenizer.decode(data.train.flat[start + 1 : begin]) == rendered
    assert rendered.endswith("\n\n***\n")


def test_every_token_of_a_long_story_is_foretold_once(prepared):
    _, data = prepared
    pieces = data.train.pieces(16)
    assert max(end - start for start, end, _ in pieces) == 16
    foretold = [place for start, end, _ in pieces for place in range(start + 1, end)]
    firsts = set(data.train.offsets[:-1].tolist())
    assert sorted(foretold) == [n for n in range(len(data.train.flat)) if n not in firsts]


def test_only_the_story_counts_unless_all_tokens_do(prepared):
    _, data = prepared
    piece = data.train.pieces(1000)[0]
    start, end, begin = piece
    story = fill_rows([[piece]], data.train, with_prompt=False)
    whole = fill_rows([[piece]], data.train, with_prompt=True)
    assert story.counts.sum() == end - begin
    assert whole.counts.sum() == end - start - 1  # nothing stands before the first


@pytest.mark.parametrize("save", [save_llama, save_gpt2])
def test_stories_in_one_row_do_not_see_each_other(save, tmp_path, table):
    folder = save(tmp_path, positions=256)
    recipe = recipe_for(folder, rank=0)
    data = prepare_author(recipe, [str(table)])
    author = trainee_of(recipe, data).author
    author.net.eval()
    pieces = data.train.pieces(128)[:5]
    (row,) = pack_pieces(pieces, 1000, open_rows=4)
    assert len(row) == 5
    with torch().inference_mode():
        together = author.losses(fill_rows([row], data.train, with_prompt=True))
        apart = [author.losses(fill_rows([[p]], data.train, with_prompt=True)) for p in row]
    np.testing.assert_allclose(together, torch().cat(apart), atol=1e-5)


def test_held_out_loss_is_what_the_likelihood_of_the_same_model_says(prepared):
    """From outside: the logs that perplexity is made of, through the door of all metrics."""
    recipe, data = prepared
    stories = [Story(str(n), made_up(n)["text"], made_up(n)["prompt"]) for n in range(5)]
    tokenizer = open_model(recipe.model).tokenizer
    # Likelihoods ask for no sign at the end.
    tokens = encode_stories(stories, tokenizer, Signs(find_signs(tokenizer).begin, ()), tag="***")
    recipe = replace(recipe, window=256)
    measured = trainee_of(recipe, replace(data, held_out={"mine": tokens})).measure()
    pairs = [(render_prompt([("", story.prompt)]), story.text) for story in stories]
    logs = np.concatenate([part.logs for part in load_model(recipe.model).logs(pairs)])
    assert measured["tokens"] == len(logs)
    assert measured["loss"] == pytest.approx(-logs.mean(), abs=1e-5)


@pytest.mark.parametrize("rank", [0, 4])
def test_the_loss_goes_down_and_the_folder_is_read_as_a_model(rank, prepared, tmp_path):
    recipe, data = prepared
    out = tmp_path / "author"
    record = train_author(replace(recipe, rank=rank), data, out=out, report=lambda line: None)
    assert record["best"]["loss"] < record["before"]["loss"] - 0.1
    assert record["best"]["perplexity"] == pytest.approx(np.exp(record["best"]["loss"]))
    assert record["data"]["train"]["sha256"] and record["data"]["held_out"]["mine.jsonl"]["stories"]
    assert not list(out.glob("checkpoint*")) and (out / ADAPTER).is_dir() == bool(rank)
    again = trainee_of(replace(recipe, rank=0, model=f"huggingface({str(out)!r})"), data)
    # Saved in half precision.
    assert again.measure()["loss"] == pytest.approx(record["best"]["loss"], abs=2e-3)


def test_a_training_that_was_stopped_goes_on_to_the_same_weights(prepared, tmp_path):
    recipe, data = prepared
    recipe = replace(recipe, checkpoint_every=2, lora_dropout=0.1)
    straight, broken = tmp_path / "straight", tmp_path / "broken"
    train_author(recipe, data, out=straight, report=lambda line: None)

    def stop(line: str) -> None:
        if line.startswith("step 4"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_author(replace(recipe, report_every=1), data, out=broken, report=stop)
    with pytest.raises(InputError, match="holds a training"):
        train_author(recipe, data, out=broken)
    resumed = replace(recipe, report_every=1)
    train_author(resumed, data, out=broken, resume=True, report=lambda line: None)
    for name in ("model.safetensors", f"{ADAPTER}/adapter_model.safetensors"):
        weights, others = (read_tensors(folder / name, remedy="") for folder in (straight, broken))
        assert weights.keys() == others.keys()
        assert all(torch().equal(weights[name], others[name]) for name in weights)


def test_examples_made_ready_are_refused_by_another_recipe(llama, table, tmp_path):
    from transformers import AutoTokenizer

    recipe, ready = recipe_for(llama), tmp_path / "ready.npz"
    data = prepare_author(recipe, [str(table)], prepared=ready)
    again = prepare_author(recipe, [str(table)], prepared=ready)
    assert again.describe() == data.describe()
    with pytest.raises(InputError, match="another recipe \\(tag\\)"):
        prepare_author(replace(recipe, tag="STORY"), [str(table)], prepared=ready)
    save_wordpiece(tmp_path / "pieces")
    other = AutoTokenizer.from_pretrained(tmp_path / "pieces")
    with pytest.raises(InputError, match="another recipe \\(tokeniser\\)"):
        load_author_data(ready, data.settle(recipe), other)
    ready.write_bytes(b"nothing")
    with pytest.raises(InputError, match="stories as tokens"):
        load_author_data(ready, recipe, other)


def test_stories_on_one_prompt_and_near_duplicates_stay_on_one_side():
    words = [f"word{n}" for n in range(400)]
    texts = [" ".join(words[10 * n : 10 * n + 9]) for n in range(30)]
    stories = [Story(str(n), text, f"Prompt {n // 2}") for n, text in enumerate(texts)]
    stories += [Story("twin", texts[0] + " and more", "Another prompt")]
    recipe = AuthorRecipe(held_out=0.4)
    learned, held, counts = split_stories({"mine": stories}, [texts[5]], recipe)
    prompts = [{story.prompt for story in part} for part in (learned, held["mine"])]
    assert not prompts[0] & prompts[1]
    assert counts["mine"]["left out"] == 1 and "twin" not in {
        s.id for s in (*learned, *held["mine"])
    }
    assert 8 <= counts["mine"]["held out"] <= 12
    assert sum(counts["mine"].values()) == 31


def test_columns_of_other_names_are_told(llama, tmp_path):
    path = tmp_path / "odd.csv"
    rows = [f'"{made_up(n)["prompt"]}","{made_up(n)["text"]}"' for n in range(6)]
    path.write_text("\n".join(["idea,tale", *rows]), encoding="utf-8")
    recipe = recipe_for(llama, held_out=0.0)
    with pytest.raises(InputError, match="no column for the text"):
        prepare_author(recipe, [str(path)])
    data = prepare_author(recipe, [str(path)], columns={"text": "tale", "prompt": "idea"})
    assert data.train.describe()["with_prompt"] == len(data.train) == 6


def test_plain_texts_have_no_prompt(llama, tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for n in range(6):
        (folder / f"{n}.txt").write_text(made_up(n)["text"], encoding="utf-8")
    data = prepare_author(recipe_for(llama, held_out=0.0), [str(folder)])
    assert len(data.train) == 6 and data.train.describe()["with_prompt"] == 0
    assert not data.held_out


def test_what_will_not_do_is_refused_before_anything_is_read(llama, table, tmp_path):
    with pytest.raises(SettingError, match="no stories to learn from"):
        prepare_author(recipe_for(llama))
    with pytest.raises(SettingError, match="no causal language model"):
        open_model("fake()")
    recipe = recipe_for(llama, targets=("no_such_layer",))
    data = prepare_author(recipe, [str(table)])
    with pytest.raises(SettingError, match="no layers no_such_layer"):
        train_author(recipe, data, out=tmp_path / "a")
    with pytest.raises(SettingError, match="at most 256 tokens"):
        train_author(recipe_for(llama, window=257), data, out=tmp_path / "b")
    with pytest.raises(SettingError, match="rank must be at least 0"):
        AuthorRecipe(rank=-1)


def test_the_recipe_that_comes_with_fabula_is_sound():
    recipe = read_recipe(AuthorRecipe, find_recipe("author"))
    assert recipe.sources == ("writingprompts", "rocstories") and recipe.rank
    assert {"hanna", "mans", "storyer"} <= {*recipe.left_out}
