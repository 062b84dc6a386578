"""Batches for a reader: windows, rows packed side by side, and samplers."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.errors import InputError
from fabula.learned.training.batches import (
    CLS,
    PAD,
    SEP,
    BatchBuilder,
    Window,
    bert_frame,
    pack_texts,
    pair_window,
    reading_batches,
    sample_group,
    text_windows,
)
from fabula.learned.training.examples import example_set
from fabula.learned.training.recipe import Group, ReaderRecipe, Stage, Task

FRAME = bert_frame(512)
STAGE = Stage((Group(("a",), 2),), rate=1e-3, steps=1, windows=2)


def task(kind: str = "labels", **settings) -> Task:
    return Task(kind, ("made_up",), "head", **settings)


def recipe(kind: str) -> ReaderRecipe:
    return ReaderRecipe("made_up", {"a": task(kind)}, (STAGE,), window=10)


def test_a_long_text_is_read_in_even_windows_and_few_are_drawn():
    def places(ids, **how) -> list[list[int]]:
        windows = text_windows(ids, 0, 10, rng=random.Random(0), **how, frame=FRAME)
        return [list(window.ids[1:-1]) for window in windows]

    # 25 tokens in windows of 10: three, begun at 0, 25 // 3 = 8 and 50 // 3 = 16.
    even = [range(8), range(8, 16), range(16, 25)]
    assert places(range(25)) == [list(one) for one in even]
    overlapping = [range(10), range(8, 18), range(16, 25)]
    assert places(range(25), overlap=True) == [list(one) for one in overlapping]
    drawn = places(range(25), most=2)
    assert len(drawn) == 2 and drawn[0][0] < drawn[1][0]
    assert places([]) == []


def test_rows_begin_and_end_with_the_encoders_own_signs():
    [row] = text_windows([7, 8], 5, 10, rng=random.Random(0), frame=FRAME)
    assert (list(row.ids), row.owner, row.second) == ([CLS, 7, 8, SEP], 5, 0)
    pair = pair_window([7, 8], [9], 3, FRAME)
    assert (list(pair.ids), pair.second) == ([CLS, 7, 8, SEP, 9, SEP], 4)


def test_rows_are_laid_side_by_side():
    rows = [Window([1, 2, 3], 0), pair_window([7], [8], 1, FRAME), Window([4, 5], 2)]
    batch = pack_texts(rows, 8, 3).tokens
    # The longest first: the pair of five and the row of three fill the first line.
    assert batch.ids.tolist() == [[CLS, 7, SEP, 8, SEP, 1, 2, 3], [4, 5, *[PAD] * 6]]
    assert batch.segments.tolist() == [[1] * 5 + [2] * 3, [1, 1, *[0] * 6]]
    assert batch.positions.tolist() == [[0, 1, 2, 3, 4, 0, 1, 2], [0, 1, *[0] * 6]]
    assert batch.kinds.tolist() == [[0, 0, 0, 1, 1, 0, 0, 0], [0] * 8]
    assert batch.windows.tolist() == [[1] * 5 + [0] * 3, [2, 2, *[3] * 6]]
    assert batch.firsts.tolist() == [5, 0, 8]
    assert batch.owners.tolist() == [0, 1, 2]


@given(st.lists(st.integers(1, 12), min_size=1, max_size=60))
def test_packing_loses_no_token_and_no_row(sizes):
    rows = [Window([number + 1] * size, number) for number, size in enumerate(sizes)]
    batch = pack_texts(rows, 12, len(rows)).tokens
    assert Counter(batch.ids[batch.ids != PAD].tolist()) == {
        number + 1: size for number, size in enumerate(sizes)
    }
    flat = batch.ids.reshape(-1)
    assert [int(flat[place]) for place in batch.firsts] == list(range(1, len(sizes) + 1))


def test_a_text_of_two_examples_stands_in_a_batch_once():
    examples = example_set(
        [[1], [2], [3]], [[0, 1], [0, 2]], [[1.0], [1.0]], items=["x", "y"], ids=["a", "b", "c"]
    )
    builder = BatchBuilder(recipe("pairs"), STAGE, random.Random(0), FRAME)
    batch = builder.build([[("a", 0), ("a", 1)]], {"a": examples})
    assert batch.texts == 3
    assert batch.shares[0].owners.tolist() == [[0, 1], [0, 2]]


def test_every_other_pair_of_sentences_is_turned_round():
    sentences = [[number] for number in range(1, 201)]
    members = [[i, i + 1] for i in range(0, 200, 2)]
    examples = example_set(sentences, members, [[1.0]] * 100, items=["x"] * 100, ids=[])
    taken = [[("a", number) for number in range(100)]]
    batch = BatchBuilder(recipe("order"), STAGE, random.Random(0), FRAME).build(
        taken, {"a": examples}
    )
    [share] = batch.shares
    flat = batch.tokens.ids.reshape(-1)
    for owner, target in zip(share.owners[:, 0], share.targets[:, 0], strict=True):
        place = batch.tokens.firsts[owner]
        first, second = flat[place + 1], flat[place + 3]
        assert (first < second) == bool(target)
    assert 30 < share.targets.sum() < 70
    assert (examples.targets == 1).all()  # what is kept is not changed


def test_a_sampler_gives_every_example_once_an_epoch_by_its_seed_and_step():
    tasks = {"a": task(), "b": task(repeat=2)}
    group, sizes = Group(("a", "b"), 5), {"a": 4, "b": 3}
    sampler = sample_group(group, sizes, tasks, "1")
    assert sampler.epoch_steps == 2
    batches = [sampler.batch(step) for step in range(4)]
    assert Counter([*batches[0], *batches[1]]) == {
        **{("a", number): 1 for number in range(4)},
        **{("b", number): 2 for number in range(3)},
    }
    assert batches[:2] != batches[2:]
    again = sample_group(group, sizes, tasks, "1")
    assert [again.batch(step) for step in (3, 0)] == [batches[3], batches[0]]


def test_fewer_examples_than_a_step_takes_are_given_whole_and_none_is_refused():
    assert len(sample_group(Group(("a",), 16), {"a": 3}, {"a": task()}, "1").batch(0)) == 3
    with pytest.raises(InputError, match="a: no example is left"):
        sample_group(Group(("a",), 16), {"a": 0}, {"a": task()}, "1")


def test_batches_for_reading_hold_all_rows():
    rows = [Window([1] * 8, owner) for owner in range(50)]
    batches = list(reading_batches(rows, 6, 50, rows=10))
    assert len(batches) == 5
    assert np.concatenate([one.tokens.owners for one in batches]).tolist() == list(range(50))
