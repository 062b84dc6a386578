from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from fabula.core.errors import SettingError
from fabula.core.model import Embedder, GapFiller, Generator, Likelihood, MaskedLikelihood
from fabula.models.fake import guess_between, load

TALE = "The old sailor saw a light at sea. He said that it was the lamp of his house."


def mean_log(text: str, context: str = "") -> float:
    (found,) = load().logs([(context, text)])
    return float(found.logs.mean())


def test_it_is_all_that_a_model_can_be() -> None:
    for protocol in (Embedder, Likelihood, MaskedLikelihood, GapFiller, Generator):
        assert isinstance(load(), protocol)


def test_words_spelled_alike_are_alike() -> None:
    winter, winters, tax = load().vectors(["winter", "winters", "tax"])
    assert winter @ winters > 0.8 > 0.5 > winter @ tax


def test_a_vector_has_length_one() -> None:
    np.testing.assert_allclose(np.linalg.norm(load().vectors([TALE, "a"]), axis=1), 1)


def test_layer_0_knows_no_context_and_later_ones_do() -> None:
    one, other = load().states(["light at sea", "light of home"], [0, 2])
    np.testing.assert_array_equal(one.states[0, 1], other.states[0, 1])
    assert not np.allclose(one.states[1, 1], other.states[1, 1])


def test_what_was_said_before_is_likely() -> None:
    assert mean_log("the cat the cat the cat the cat") > mean_log("a dog sat under my green lamp")
    assert mean_log(TALE, context=TALE) > mean_log(TALE)


def test_guesses_add_up_to_one() -> None:
    model = load()
    guesses = np.array(list(model._guesses([0, 3, 5, 3, 9], 1)))
    np.testing.assert_allclose(guesses.sum(axis=1), 1)
    hidden = guess_between(model._table, [4, 7, 7], np.arange(3))
    np.testing.assert_allclose(hidden.sum(axis=1), 1)


def test_entropies_lie_between_none_and_that_of_a_fair_die() -> None:
    (found,) = load().masked_logs([TALE])
    assert found.entropies is not None
    assert (found.entropies > 0).all()
    assert (found.entropies <= np.log(128)).all()


def test_a_window_that_is_long_enough_changes_nothing() -> None:
    whole, wide = load(), load(window=200)
    a, b = next(whole.logs([("once", TALE)])), next(wide.logs([("once", TALE)]))
    np.testing.assert_array_equal(a.logs, b.logs)
    a, b = next(whole.masked_logs([TALE])), next(wide.masked_logs([TALE]))
    np.testing.assert_array_equal(a.logs, b.logs)
    c, d = next(whole.states([TALE], [2])), next(wide.states([TALE], [2]))
    np.testing.assert_array_equal(c.states, d.states)


def test_a_short_window_is_felt() -> None:
    whole, cut = next(load().logs([("", TALE)])), next(load(window=8).logs([("", TALE)]))
    assert whole.tokens == cut.tokens
    assert not np.array_equal(whole.logs, cut.logs)


def test_writing_depends_on_prompt_and_seed_alone() -> None:
    both = load().generate(["a fox", "an owl"], max_tokens=9)
    assert load().generate(["an owl"], max_tokens=9) == both[1:]
    assert load().generate(["an owl"], max_tokens=9, seed=1) != both[1:]
    assert len(both[0].split()) == 9


def test_writing_stops_where_it_is_told_to() -> None:
    (whole,) = load().generate(["a fox"], max_tokens=20)
    word = whole.split()[7]
    (cut,) = load().generate(["a fox"], max_tokens=20, stop=[word])
    assert cut == whole[: whole.find(word)]


def test_it_says_the_same_in_every_process() -> None:
    code = (
        "from fabula.models.fake import load; m = load();"
        f"print(repr(float(next(m.logs([('', {TALE!r})])).logs.sum())),"
        f" repr(float(m.vectors([{TALE!r}]).sum())))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_the_signature_holds_the_settings() -> None:
    assert load(seed=4).signature == "fake,width=16,layers=3,window=None,seed=4"
    assert load(seed=4).vectors(["a"]).tolist() != load().vectors(["a"]).tolist()


def test_bad_settings_are_refused() -> None:
    with pytest.raises(SettingError, match="width=1 will not do"):
        load(width=1)
    with pytest.raises(SettingError, match="has no layer 3; take 0 to 2"):
        load().states(["a"], [3])
