from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fabula.core.errors import InputError, SettingError
from fabula.learned.training.corpus import load_corpus, save_corpus
from fabula.learned.training.encoder import EncoderRecipe
from fabula.learned.training.recipe import read_recipe
from fakes.tiny_encoder import RECIPE, made_up_corpus

RECIPES = Path(__file__).resolve().parents[3] / "recipes"


def test_the_recipe_that_is_built_in_is_the_one_in_the_file():
    assert read_recipe(EncoderRecipe, RECIPES / "encoder.toml") == EncoderRecipe()


def test_the_recipe_of_permissive_text_holds_out_the_same_stories():
    permissive = read_recipe(EncoderRecipe, RECIPES / "encoder_permissive.toml")
    assert permissive.held_out == EncoderRecipe().held_out
    assert permissive.left_out == EncoderRecipe().left_out
    assert not {"rocstories", "writingprompts"} & set(permissive.sources)


def test_changes_take_the_place_of_what_the_file_says():
    changed = read_recipe(EncoderRecipe, RECIPES / "encoder.toml", steps=7, seed=None)
    assert (changed.steps, changed.seed) == (7, 1)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"stepps": 3}, "did you mean 'steps'"),
        ({"steps": "many"}, "steps must be a whole number, not 'many'"),
        ({"steps": True}, "steps must be a whole number, not 'True'"),
        ({"compile": 1}, "compile must be true or false, not '1'"),
        ({"sources": "rocstories"}, "sources must be a list, not 'rocstories'"),
        ({"sources": []}, "sources names no data set"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"mask_rate": 1.0}, "mask_rate must be at least 0 and below 1"),
        ({"mask_rate": 0.0}, "must be above 0"),
    ],
)
def test_what_will_not_do_is_said(found, said):
    with pytest.raises(SettingError, match=said):
        read_recipe(EncoderRecipe, found)


def test_a_file_that_is_not_there_or_no_toml_is_said(tmp_path):
    with pytest.raises(SettingError, match="cannot be read"):
        read_recipe(EncoderRecipe, tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("steps = = 3")
    with pytest.raises(SettingError, match="is no TOML"):
        read_recipe(EncoderRecipe, tmp_path / "bad.toml")


def test_a_corpus_comes_back_from_its_file_as_it_was(tmp_path):
    corpus = made_up_corpus()
    save_corpus(corpus, tmp_path / "corpus.npz")
    again = load_corpus(tmp_path / "corpus.npz", RECIPE)
    assert again.describe() == corpus.describe()
    assert again.train["made_up"].flat.dtype == np.uint16
    with pytest.raises(InputError, match="of another recipe"):
        load_corpus(tmp_path / "corpus.npz", EncoderRecipe())
    (tmp_path / "bad.npz").write_bytes(b"no")
    with pytest.raises(InputError, match="does not hold word pieces"):
        load_corpus(tmp_path / "bad.npz")
