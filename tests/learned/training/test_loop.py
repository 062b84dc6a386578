"""The parts of the one loop: its learning rate, its sampler, and when patience ends."""

from __future__ import annotations

import pytest

from fabula.core.errors import InputError
from fabula.learned.training.loop import Evaluation, Sampler, Schedule, TrainingState


def test_the_rate_goes_up_in_a_line_and_down_in_a_line():
    # 10 steps, a fifth of them to warm up: 1/2, 1, then 8/9 … 1/9.
    schedule = Schedule(1.0, 10, 2)
    found = [schedule.rate(step) for step in range(1, 11)]
    assert found == pytest.approx([0.5, 1.0, *(left / 9 for left in range(8, 0, -1))])


def test_the_rate_is_a_share_of_the_peak():
    # 30 steps of which round(.06 · 30) = 2 warm up; then 28 equal steps down from the peak.
    rates = [Schedule(2e-2, 30, 2).rate(step) / 2e-2 for step in range(1, 31)]
    assert rates[:2] == [0.5, 1.0]
    assert rates[2:] == pytest.approx([28 / 29 - n / 29 for n in range(28)])


def test_a_rate_that_decays_is_multiplied_after_every_epoch():
    schedule = Schedule(1e-5, 10, 1, decay=0.95, epoch_steps=4)
    rates = [schedule.rate(step) / 1e-5 for step in range(1, 11)]
    assert rates == pytest.approx([1.0] * 4 + [0.95] * 4 + [0.95**2] * 2)
    warmed = Schedule(1.0, 10, 2, decay=0.5, epoch_steps=4)
    assert [warmed.rate(step) for step in (1, 2, 4, 5)] == [0.5, 1.0, 1.0, 0.5]


def test_the_rate_falls_when_the_loss_exceeds_the_last_three():
    losses = [3.0, 2.0, 1.0, 2.5, 2.6, 2.0]
    schedule = Schedule(1.0, 100, fall=0.95)
    # 2.5 does not exceed 3.0; 2.6 exceeds 2.0, 1.0 and 2.5.
    assert schedule.rate(7, losses[:4]) == 1.0
    assert schedule.rate(7, losses) == pytest.approx(0.95)


def test_epochs_may_differ_in_length_and_keep_their_last_few_or_not():
    def order(epoch: int) -> list[int]:
        return list(range(10 * epoch, 10 * epoch + 3 + epoch))

    dropping, keeping = Sampler(order, 2), Sampler(order, 2, keep_last=True)
    assert [list(dropping.batch(step)) for step in range(4)] == [
        [0, 1],
        [10, 11],
        [12, 13],
        [20, 21],
    ]
    assert [list(keeping.batch(step)) for step in range(4)] == [[0, 1], [2], [10, 11], [12, 13]]
    assert (dropping.epoch, keeping.epoch) == (2, 1)
    assert list(dropping.batch(0)) == [0, 1]
    with pytest.raises(InputError, match="no example is left"):
        Sampler(lambda epoch: [], 2)


def test_patience_counts_evaluations_of_the_stage_and_the_best_is_of_all():
    state = TrainingState()
    best = [state.note(Evaluation(figure, {}, "")) for figure in (0.5, 0.9, 0.8)]
    assert best == [True, True, False]
    assert (state.is_stale(1), state.is_stale(2), state.is_stale(0)) == (True, False, False)
    state.begin_stage(1)
    assert not state.is_stale(1)
    assert not state.note(Evaluation(0.7, {}, ""))
    assert not state.is_stale(1)
    state.note(Evaluation(0.7, {}, ""))
    assert state.is_stale(1)
    assert state.best == 1
