"""Folds by item, so that nobody is asked about what they learned from."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fabula.learned.training.examples import (
    fold_alone,
    fold_of_items,
    hold_out,
    without_fold,
)
from fakes.tiny_tasks import tiny_prepared, tiny_recipe


@given(st.sets(st.text(max_size=6), max_size=40), st.integers(2, 7), st.integers(0, 5))
def test_folds_are_even_and_follow_from_the_seed_alone(names, folds, seed):
    items = [f"set{len(name) % 2}:{name}" for name in names]
    parts = fold_of_items(items, folds, seed)
    assert parts == fold_of_items(reversed(items), folds, seed)
    for some in ("set0:", "set1:"):
        sizes = Counter(part for item, part in parts.items() if item.startswith(some))
        counts = [sizes[fold] for fold in range(folds)]
        assert max(counts) - min(counts) <= 1


def test_another_seed_deals_otherwise():
    items = [f"a:{number}" for number in range(30)]
    assert fold_of_items(items, 5, 1) != fold_of_items(items, 5, 2)


def test_no_item_is_on_both_sides_of_a_fold_and_every_example_is_held_once():
    examples = tiny_prepared().examples
    parts = fold_of_items({i for one in examples.values() for i in one.items}, 4, 1)
    held = Counter[str]()
    for fold in range(4):
        learned = without_fold(examples, parts, fold)
        for name, one in examples.items():
            alone = fold_alone(one, parts, fold)
            assert not set(alone.items) & set(learned[name].items)
            assert len(alone) + len(learned[name]) == len(one)
            held[name] += len(alone)
    assert held == {name: len(one) for name, one in examples.items()}


def test_items_of_no_fold_are_learned_from_by_all():
    examples = tiny_prepared().examples
    parts = fold_of_items(examples["rated"].items, 3, 1)
    for fold in range(3):
        assert len(without_fold(examples, parts, fold)["labels"]) == len(examples["labels"])


def test_a_tenth_is_held_out_by_item():
    examples = tiny_prepared().examples
    learned, held = hold_out(examples, 0.25)
    for name, one in examples.items():
        assert not set(held[name].items) & set(learned[name].items)
        assert len(held[name]) + len(learned[name]) == len(one)
    # 10 items of three ratings each in four parts: the first has three items.
    assert len(held["rated"]) == 9
    assert hold_out(examples, 0.0)[1] == {}


def test_the_stages_before_the_first_opinion_are_shared():
    assert tiny_recipe().opinion_tasks == ["preference", "rated"]
    assert tiny_recipe().shared_stages == 1
    first = {"rate": 1.0, "steps": 1, "groups": [{"tasks": ["labels", "rated"], "rows": 1}]}
    assert tiny_recipe(stages=[first]).shared_stages == 0
    assert np.unique([tiny_recipe(stages=[first] * 2).shared_stages]) == [0]
