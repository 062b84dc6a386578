from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fabula.learned.training.batches import (
    CLS,
    MASK,
    PAD,
    SEP,
    batch_of,
    joined,
    packed_rows,
    training_batches,
    windows_of,
)  # fmt: skip
from fabula.learned.training.evaluation import held_out_batches, share_of
from fabula.learned.training.masking import mask_tokens
from fabula.learned.training.schedule import learning_rate
from fabula.learned.training.tokens import token_set
from learned.tiny_encoder import RECIPE, counting_texts


def test_windows_cover_every_token_once_wherever_the_first_cut_is():
    tokens = counting_texts(20, seed=3)
    for rng in (None, np.random.default_rng(0)):
        found = windows_of(tokens, 16, rng)
        assert max(one.size for one in found) <= 16
        places = [place for one in found for place in range(one.start, one.end)]
        assert places == list(range(len(tokens.flat)))


def test_a_row_holds_whole_windows_each_with_its_marks_and_positions():
    tokens = token_set([[110, 111], [120, 121, 122]])
    batch = batch_of(packed_rows(windows_of(tokens, 12), 12), tokens, 12)
    assert batch.ids.tolist() == [[CLS, 110, 111, SEP, CLS, 120, 121, 122, SEP, PAD, PAD, PAD]]
    assert batch.segments.tolist() == [[1] * 4 + [2] * 5 + [0] * 3]
    assert batch.positions.tolist() == [[0, 1, 2, 3, 0, 1, 2, 3, 4, 0, 0, 0]]
    assert batch.owners.tolist() == [[0] * 4 + [1] * 5 + [-1] * 3]


def test_batches_have_one_shape_and_go_on_from_any_place():
    tokens = joined([counting_texts(30, seed=1), counting_texts(30, seed=2)])
    whole = list(islice(training_batches(tokens, RECIPE), 40))
    assert {batch.ids.shape for _, batch in whole} == {(4, 32)}
    place = whole[24][0]
    assert place[0] > 0
    for (_, batch), (_, other) in zip(
        whole[25:], islice(training_batches(tokens, RECIPE, start=place), 15), strict=True
    ):
        assert np.array_equal(batch.ids, other.ids)


def test_masks_for_training_are_80_10_10_of_15_percent_and_never_special():
    rng = np.random.default_rng(0)
    ids = np.full((200, 256), 5000)
    ids[:, 0], ids[:, 200], ids[:, 201:] = CLS, SEP, PAD
    masked = mask_tokens(ids, rng, rate=0.15, vocabulary=30_000)
    assert len(masked.places) == round(0.15 * 200 * 199)
    assert len(set(masked.places.tolist())) == len(masked.places)
    assert set(masked.labels.tolist()) == {5000}
    there = masked.ids.reshape(-1)[masked.places]
    assert np.mean(there == MASK) == pytest.approx(0.8, abs=0.02)
    assert np.mean(there == 5000) == pytest.approx(0.1, abs=0.02)
    untouched = np.delete(np.arange(ids.size), masked.places)
    assert np.array_equal(masked.ids.reshape(-1)[untouched], ids.reshape(-1)[untouched])


def test_held_out_masks_are_all_mask_and_always_the_same():
    tokens = counting_texts(20, seed=4)
    first, again = (held_out_batches(tokens, RECIPE) for _ in range(2))
    for (_, one), (_, other) in zip(first, again, strict=True):
        assert set(one.ids.reshape(-1)[one.places].tolist()) == {MASK}
        assert np.array_equal(one.places, other.places)


def test_a_share_has_the_standard_error_of_a_ratio_over_stories():
    # By hand: p = 6/12; deviations 3 - 2, 1 - 2, 2 - 2; sqrt(2 · 3/2) / 12 = .144338.
    share = share_of(np.array([3, 1, 2]), np.array([4, 4, 4]))
    assert share.value == 0.5
    assert share.high - share.value == pytest.approx(1.959964 * 0.144338, abs=1e-5)


def test_the_rate_rises_in_a_line_then_falls_in_a_line():
    # 30 steps of which round(.06 · 30) = 2 warm up; then 28 equal steps down from the peak.
    rates = [learning_rate(step, RECIPE) / RECIPE.peak_rate for step in range(1, 31)]
    assert rates[:2] == [0.5, 1.0]
    assert rates[2:] == pytest.approx([28 / 29 - n / 29 for n in range(28)])
