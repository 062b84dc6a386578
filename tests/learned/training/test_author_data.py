"""Sides of pairs, and plots before stories: what co-authors of other papers learn from."""

from __future__ import annotations

import pytest

from fabula.core.errors import InputError, SettingError
from fabula.core.story import Story
from fabula.learned.training.author import AuthorRecipe, open_model
from fabula.learned.training.author_data import (
    encode_stories,
    find_signs,
    prepare_author,
    split_stories,
)
from fabula.text.plots import extract_plot
from fakes.liked_pairs import write_liked_pairs
from fakes.tiny_models import save_llama, torch


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    torch()
    return f"huggingface({str(save_llama(tmp_path_factory.mktemp('llama'), positions=256))!r})"


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    return write_liked_pairs(tmp_path_factory.mktemp("data"))


def prepare(model, pairs, **changes):
    recipe = AuthorRecipe(sources=("storyer",), model=model, held_out=0.2, **changes)
    return prepare_author(recipe, [str(pairs)])


def read_texts(model, tokens):
    tokenizer = open_model(model).tokenizer
    return [
        tokenizer.decode(list(tokens.flat[begin:end]), skip_special_tokens=True)
        for begin, end in zip(tokens.begins, tokens.offsets[1:], strict=True)
    ]


def test_one_side_of_pairs_is_learned_from_and_the_same_prompts_are_held_out(model, pairs):
    sides = {on: prepare(model, pairs, on=on) for on in ("liked", "disliked")}
    texts = {on: read_texts(model, data.train) for on, data in sides.items()}
    assert all("crossed" in text for text in texts["liked"])
    assert not any("crossed" in text for text in texts["disliked"])
    # A story that was liked beside one and disliked beside another is on neither side.
    counts = {on: data.counts["storyer"] for on, data in sides.items()}
    assert counts["liked"]["of the other side"] == 21
    assert counts["disliked"]["of the other side"] == 21
    everything = prepare(model, pairs)
    assert "of the other side" not in everything.counts["storyer"]
    held = {
        on: {text.split()[-1] for text in read_texts(model, data.held_out["storyer"])}
        for on, data in sides.items()
    }
    assert held["liked"] and held["liked"] - {"0"} == held["disliked"] - {"0", "day."}


def test_what_has_no_pairs_has_no_sides(model, tmp_path):
    table = tmp_path / "mine.jsonl"
    table.write_text('{"id": "1", "text": "A story of ours."}\n', encoding="utf-8")
    recipe = AuthorRecipe(model=model, on="liked")
    with pytest.raises(SettingError, match=r"mine\.jsonl has no pairs.*storyer"):
        prepare_author(recipe, [str(table)])


def test_a_side_is_chosen_before_near_duplicates_are_dropped():
    same = [Story("a", "The very same words stand here twice."), Story("b", "Others stand there.")]
    sources = {"x": [*same, Story("c", same[0].text)]}
    learned, _, counts = split_stories(sources, [], AuthorRecipe(held_out=0.0), {"x": {"b", "c"}})
    assert [story.id for story in learned] == ["b", "c"]
    assert counts == {"x": {"of the other side": 1, "learned from": 2}}


def test_a_plot_stands_before_its_story_and_is_learned_with_it(model):
    tokenizer = open_model(model).tokenizer
    story = Story("1", "The old sailor saw a light at sea. They went home.", prompt="A light")
    signs = find_signs(tokenizer)
    plain, planned = (
        encode_stories([story], tokenizer, signs, tag="***", plan=plan) for plan in (False, True)
    )
    line = f"Plot: {' # '.join(extract_plot(story.text))}\n\n"
    whole = tokenizer.decode(list(planned.flat), skip_special_tokens=True)
    assert whole == f"A light\n\n***\n{line}{story.text}"
    # The line is no part of the prompt: its tokens count.
    assert planned.begins[0] == plain.begins[0]
    added = len(planned.flat) - len(plain.flat)
    begin = plain.begins[0]
    assert list(planned.flat[begin + added :]) == list(plain.flat[begin:])


def test_examples_made_ready_are_of_one_side_and_one_form(model, pairs, tmp_path):
    file = tmp_path / "ready.npz"
    recipe = AuthorRecipe(sources=("storyer",), model=model, on="liked", plan=True)
    made = prepare_author(recipe, [str(pairs)], prepared=file)
    again = prepare_author(recipe, [str(pairs)], prepared=file)
    assert again.describe() == made.describe()
    settled = again.settle(AuthorRecipe(model=model))
    assert (settled.on, settled.plan) == ("liked", True)
    for change in ({"on": "all"}, {"plan": False}, {"on": "disliked"}):
        other = AuthorRecipe(**({"sources": ("storyer",), "model": model, "on": "liked",
                                 "plan": True} | change))  # fmt: skip
        with pytest.raises(InputError, match=f"another recipe.*{next(iter(change))}"):
            prepare_author(other, [str(pairs)], prepared=file)
