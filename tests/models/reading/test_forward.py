from __future__ import annotations

import numpy as np
import pytest

from fabula.core.errors import UserError
from fabula.models.reading.windows import gather_logs, pad_rows, run_batches
from fakes.tiny_models import torch

LENGTHS = [5, 1, 9, 9, 2, 7]


def test_results_come_in_order_and_batches_stay_within_the_budget() -> None:
    batches: list[list[int]] = []

    def run(batch: list[int]) -> list[int]:
        batches.append(batch)
        return [LENGTHS[one] * 10 for one in batch]

    assert run_batches(run, LENGTHS, budget=18) == [50, 10, 90, 90, 20, 70]
    assert all(max(LENGTHS[one] for one in batch) * len(batch) <= 18 for batch in batches)
    assert run_batches(run, [], budget=18) == []


def test_a_batch_that_is_too_large_is_halved_until_it_is_not() -> None:
    sizes: list[int] = []

    def run(batch: list[int]) -> list[int]:
        if len(batch) > 1:
            raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory")
        sizes.append(len(batch))
        return batch

    assert run_batches(run, LENGTHS, budget=1000) == [0, 1, 2, 3, 4, 5]
    assert sizes == [1] * 6


def test_one_text_that_is_too_large_says_what_to_do() -> None:
    def run(batch: list[int]) -> list[int]:
        raise MemoryError

    with pytest.raises(UserError, match=r"does not suffice for 9 tokens.*smaller window"):
        run_batches(run, [9], budget=10)


def test_other_errors_are_not_hidden() -> None:
    def run(batch: list[int]) -> list[int]:
        raise RuntimeError("shapes do not match")

    with pytest.raises(RuntimeError, match="shapes do not match"):
        run_batches(run, LENGTHS, budget=10)


def test_rows_are_filled_up_on_the_right() -> None:
    torch()
    ids, mask = pad_rows([[4, 5, 6], [7]], 0, "cpu")
    assert ids.tolist() == [[4, 5, 6], [7, 0, 0]]
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0]]


def test_logs_and_entropies_by_hand() -> None:
    # Odds of 1 to 3 and of 1 to 1: ln(1/4), ln(1/2); entropies ln 4 - 3/4 ln 3 and ln 2.
    logits = torch().log(torch().tensor([[1.0, 3.0], [1.0, 1.0]])).repeat(300, 1)
    logs, entropies = gather_logs(logits, [0, 1] * 300)
    np.testing.assert_allclose(logs[:2], [np.log(1 / 4), np.log(1 / 2)], atol=1e-6)
    np.testing.assert_allclose(entropies[-2:], [np.log(4) - 0.75 * np.log(3), np.log(2)], atol=1e-6)
    assert len(logs) == len(entropies) == 600
