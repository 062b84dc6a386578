"""The check of the large weights: recorded figures judged, and choices measured again by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.errors import InputError
from fabula.learned.reader.fake import fake_config
from fabula.learned.training.choices import Choices
from fabula.replication.checks import learned_large
from fabula.replication.checks.learned_large import judge_left_out
from fabula.replication.unseen import UnseenValues


def interval(value: float, reach: float = 0.01) -> dict[str, float]:
    return {"value": value, "low": value - reach, "high": value + reach}


def row(corpus: str, gain: float) -> dict[str, Any]:
    return {
        "corpus": corpus, "choices": 1200, "accuracy": interval(0.6), "baseline": "log_words",
        "baseline_accuracy": 0.6 - gain, "gain": interval(gain),
    }  # fmt: skip


def figures(*gains: float, mean: float) -> dict[str, Any]:
    rows = [row(f"corpus {number}", gain) for number, gain in enumerate(gains)]
    return {"left_out": [*rows, row("coherence_roc300", 0.05)], "mean_gain": interval(mean)}


def test_a_mean_gain_above_zero_and_no_corpus_far_below_are_verified() -> None:
    mean, worst, *rows = judge_left_out("coherence", figures(0.1, -0.02, mean=0.04))
    assert (mean.outcome, worst.outcome) == ("verified", "verified")
    assert mean.found == "+0.040 [+0.030, +0.050], 3 corpora"
    assert worst.found == "corpus 1 -0.020 [-0.030, -0.010]"
    assert [found.claim for found in rows] == [
        "coherence: corpus 0", "coherence: corpus 1", "coherence: coherence_roc300",
    ]  # fmt: skip
    assert (
        rows[0].found
        == "0.600 [0.590, 0.610] of 1,200 choices; +0.100 [+0.090, +0.110] over log_words"
    )


def test_a_gain_that_may_be_none_and_a_corpus_that_loses_fall_short() -> None:
    mean, worst, *_ = judge_left_out("preference", figures(0.05, -0.041, mean=0.005))
    assert (mean.outcome, worst.outcome) == ("short", "short")


@pytest.fixture
def two_corpora(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four texts a corpus, of which the first and the third are better than their neighbours."""

    def gather(data: Path, names: list[str]) -> list[Choices]:
        pairs, units = np.array([[0, 1], [2, 3]]), np.array([0, 1])
        texts = tuple(f"It rained on day {number}." for number in range(4))
        return [
            Choices(name, "liked", texts, pairs, units, np.ones(2), (), "made") for name in names
        ]

    monkeypatch.setattr(learned_large, "gather_choices", gather)


def test_choices_of_unseen_items_are_measured_again(two_corpora: None, tmp_path: Path) -> None:
    values = {"preference/one": np.array([2.0, 1.0, 1.0, 2.0]), "preference/two": np.arange(4.0)}
    unseen = UnseenValues(fake_config(), values)
    recorded = [{"corpus": "one", "accuracy": {"value": 0.5}}]
    recorded += [{"corpus": "two", "accuracy": {"value": 0.5}}]
    how = ("preference", unseen, recorded, tmp_path)
    right, wrong = learned_large._measure_unseen("choices", *how)
    assert right.part == "choices" and right.claim == "preference: one"
    assert (right.outcome, wrong.outcome) == ("verified", "short")
    assert right.found.startswith("0.500 [0.000, 1.000] of 2 choices; ")
    assert wrong.found.startswith("0.000 [0.000, 0.000] of 2 choices; ")


def test_other_data_than_was_learned_from_is_refused(two_corpora: None, tmp_path: Path) -> None:
    unseen = UnseenValues(fake_config(), {"preference/one": np.arange(5.0)})
    recorded = [{"corpus": "one", "accuracy": {"value": 0.5}}]
    with pytest.raises(InputError, match="measured on 5 texts of one, not 4"):
        list(learned_large._measure_unseen("choices", "preference", unseen, recorded, tmp_path))


def test_without_data_what_was_recorded_is_judged_and_the_rest_is_not_checked() -> None:
    outcomes = [found.outcome for found in learned_large.check_learned_large(None)]
    assert outcomes.count("verified") == 4
    assert outcomes[-4:] == ["not checked here"] * 4
