from __future__ import annotations

import numpy as np
import pytest

from fabula.learned.training.batches import CLS, MASK, PAD, SEP, TokenBatch
from fabula.learned.training.encoder_batches import (
    cut_spans,
    fill_spans,
    held_out_batches,
    join_sets,
    mask_tokens,
    pack_spans,
    sample_rows,
    share_of,
)
from fabula.learned.training.examples import token_set
from fakes.tiny_encoder import RECIPE, counting_texts


def test_windows_cover_every_token_once_wherever_the_first_cut_is():
    tokens = counting_texts(20, seed=3)
    for rng in (None, np.random.default_rng(0)):
        spans = cut_spans(tokens, 16, rng)
        assert max(end - start + 2 for start, end, _ in spans) <= 16
        places = [place for start, end, _ in spans for place in range(start, end)]
        assert places == list(range(len(tokens.flat)))


def test_a_row_holds_whole_windows_each_with_its_marks_and_positions():
    tokens = token_set([[110, 111], [120, 121, 122]])
    batch = fill_spans(pack_spans(cut_spans(tokens, 12), 12), tokens, 12)
    assert batch.ids.tolist() == [[CLS, 110, 111, SEP, CLS, 120, 121, 122, SEP, PAD, PAD, PAD]]
    assert batch.segments.tolist() == [[1] * 4 + [2] * 5 + [0] * 3]
    assert batch.positions.tolist() == [[0, 1, 2, 3, 0, 1, 2, 3, 4, 0, 0, 0]]
    assert batch.windows.tolist() == [[0] * 4 + [1] * 5 + [2] * 3]
    assert batch.owners.tolist() == [0, 1]


def test_batches_have_one_shape_and_go_on_from_any_step():
    tokens = join_sets([counting_texts(30, seed=1), counting_texts(30, seed=2)])
    sampler, later = (sample_rows(tokens, RECIPE) for _ in range(2))
    whole = [fill_spans(sampler.batch(step), tokens, 32) for step in range(40)]
    assert {batch.ids.shape for batch in whole} == {(4, 32)}
    assert sampler.epoch > 1
    for step in range(25, 40):
        assert np.array_equal(fill_spans(later.batch(step), tokens, 32).ids, whole[step].ids)


def token_batch(ids: np.ndarray) -> TokenBatch:
    return TokenBatch(ids, *[ids] * 4, firsts=ids[0], lasts=ids[0], owners=ids[0])


def test_masks_for_training_are_80_10_10_of_15_percent_and_never_special():
    rng = np.random.default_rng(0)
    ids = np.full((200, 256), 5000)
    ids[:, 0], ids[:, 200], ids[:, 201:] = CLS, SEP, PAD
    masked = mask_tokens(token_batch(ids), rng, rate=0.15, vocabulary=30_000)
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
    for one, other in zip(first, again, strict=True):
        assert set(one.ids.reshape(-1)[one.places].tolist()) == {MASK}
        assert np.array_equal(one.places, other.places)


def test_a_share_has_the_standard_error_of_a_ratio_over_stories():
    # By hand: p = 6/12; deviations 3 - 2, 1 - 2, 2 - 2; sqrt(2 · 3/2) / 12 = .144338.
    share = share_of(np.array([3, 1, 2]), np.array([4, 4, 4]))
    assert share.value == 0.5
    assert share.high - share.value == pytest.approx(1.959964 * 0.144338, abs=1e-5)
