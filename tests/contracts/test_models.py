"""What every model keeps: whole texts are read, places are right, order does not matter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.model import (
    Embedder,
    GapFiller,
    Generator,
    Likelihood,
    MaskedLikelihood,
    MeanGuess,
    TokenLogs,
)
from fabula.models.fake import load as load_fake
from fabula.models.huggingface import load as load_huggingface
from fabula.models.networks.tuning import Lesson, Tuning
from fakes.tiny_models import save_bert, save_gpt2, save_llama, save_t5

SAVED = {"bert": save_bert, "gpt2": save_gpt2, "llama": save_llama, "t5": save_t5}
KINDS = ["fake", "fake in windows", *SAVED]
WILD = {
    "emoji": "A 👩‍👩‍👧 went 🏃‍♀️ home 🇳🇿!",
    "cjk": "老水手在海上看见一盏灯。",
    "marks": "Cafe\u0301 nai\u0308ve Z\u0351\u036b\u0343algo",
    "surrogate": "a \ud83d broken sign",
    "controls": "tab\tnul\x00 bom\ufeff zero\u200bwidth",
    "arabic": "رأى البحار ضوءًا في البحر",
    "one word": "Sea",
    "one sign": ".",
}
EMPTY = ["", " ", "\n\t  "]


@pytest.fixture(scope="module", params=KINDS)
def model(request: Any, tmp_path_factory: Any) -> Any:
    if request.param == "fake":
        return load_fake()
    if request.param == "fake in windows":
        return load_fake(window=16)
    folder: Path = tmp_path_factory.mktemp("contract") / request.param
    return load_huggingface(str(SAVED[request.param](folder)), window=32)


def readings(model: Any, texts: list[str]) -> list[list[Any]]:
    """All that a model says of texts by token, whatever it offers."""
    found: list[list[Any]] = []
    if isinstance(model, Embedder):
        found.append(list(model.states(texts, [0, model.layers - 1])))
    if isinstance(model, Likelihood):
        found.append(list(model.logs([("", text) for text in texts])))
        found.append(list(model.logs([("a cat", text) for text in texts])))
    if isinstance(model, MaskedLikelihood):
        found.append(list(model.masked_logs(texts)))
    return found


def numbers(reading: Any) -> np.ndarray:
    return reading.logs if isinstance(reading, TokenLogs) else reading.states


def check(text: str, reading: Any) -> None:
    """Tokens, places and numbers go together; places lie in the text and go forward."""
    assert len(reading.tokens) == len(reading.spans) == numbers(reading).shape[-1 - _wide(reading)]
    own = [span for span in reading.spans if span != (0, 0)]
    assert all(0 <= start <= stop <= len(text) for start, stop in own)
    assert own == sorted(own)
    assert np.isfinite(numbers(reading)).all()
    assert reading.coverage == 1.0


def _wide(reading: Any) -> int:
    return 0 if isinstance(reading, TokenLogs) else 1


@pytest.mark.parametrize("name", WILD)
def test_any_signs_are_safe(model: Any, name: str) -> None:
    for (reading,) in readings(model, [WILD[name]]):
        check(WILD[name], reading)


@pytest.mark.parametrize("text", EMPTY, ids=repr)
def test_an_empty_text_is_no_error(model: Any, text: str) -> None:
    for (reading,) in readings(model, [text]):
        check(text, reading)
        if not text:
            assert reading.tokens == ()


def test_no_texts_give_nothing(model: Any) -> None:
    assert all(found == [] for found in readings(model, []))


def test_order_and_batch_do_not_matter(model: Any) -> None:
    texts = [*WILD.values(), "", "The old sailor saw a light at sea, and went home. " * 5]
    together = readings(model, texts)
    backwards = [found[::-1] for found in readings(model, texts[::-1])]
    alone = [readings(model, [text]) for text in texts]
    for number, (forth, back) in enumerate(zip(together, backwards, strict=True)):
        for at, (one, other) in enumerate(zip(forth, back, strict=True)):
            by_itself = alone[at][number][0]
            assert one.tokens == other.tokens == by_itself.tokens
            np.testing.assert_allclose(numbers(one), numbers(other), rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(numbers(one), numbers(by_itself), rtol=1e-4, atol=1e-4)


def test_five_thousand_tokens_are_read_whole(model: Any) -> None:
    text = "the old sailor saw a light at sea . " * 560
    if isinstance(model, Likelihood):
        (logs,) = model.logs([("a cat", text)])
        check(text, logs)
        assert len(logs.tokens) > 5000
        assert logs.spans[-1][1] >= len(text.rstrip())
    if isinstance(model, Embedder):
        (states,) = model.states([text], [model.layers - 1])
        check(text, states)
        assert len(states.tokens) > 5000
        assert max(stop for _, stop in states.spans) == len(text.rstrip())


def test_five_thousand_tokens_are_filled_in_whole(model: Any) -> None:
    if not isinstance(model, MaskedLikelihood):
        pytest.skip("it fills no gaps")
    text = "the old sailor saw a light at sea . " * 560
    (logs,) = model.masked_logs([text])
    check(text, logs)
    assert logs.entropies is not None
    assert len(logs.entropies) == len(logs.tokens) > 5000


def test_vectors_have_length_one_or_are_missing(model: Any) -> None:
    if not isinstance(model, Embedder):
        pytest.skip("it gives no vectors")
    found = model.vectors([*WILD.values(), ""])
    assert found.shape == (len(WILD) + 1, model.width)
    np.testing.assert_allclose(np.linalg.norm(found[:-1], axis=1), 1, atol=1e-5)
    assert np.isnan(found[-1]).all()


def test_a_prompt_of_any_signs_is_written_on(model: Any) -> None:
    if not isinstance(model, Generator):
        pytest.skip("it writes nothing")
    prompts = [*WILD.values(), ""]
    found = model.generate(prompts, max_tokens=4, seed=3)
    assert len(found) == len(prompts)
    assert found == [model.generate([one], max_tokens=4, seed=3)[0] for one in prompts]


def filler_of(model: Any) -> Any:
    if not isinstance(model, GapFiller):
        pytest.skip("it fills no gaps")
    return model


def evenly_weighed(model: Any, texts: list[str]) -> list[MeanGuess]:
    weights = [[1.0] * len(tokens) for tokens in model.tokens(texts)]
    return list(model.mean_guesses(texts, weights, temperature=0.25))


def rows_of(model: Any) -> list[list[str | None]]:
    """Rows with every third token missing, as long as there is room."""
    found = model.tokens([*WILD.values(), "The old sailor saw a light at sea, and went home. " * 5])
    return [
        [None if at % 3 == 1 else token for at, token in enumerate(tokens[: model.room])]
        for tokens in found
    ]


def test_mean_guesses_are_distributions_whatever_the_order_and_the_company(model: Any) -> None:
    model, texts = filler_of(model), [*WILD.values(), "", "the old sailor saw a light . " * 9]
    together, backwards = evenly_weighed(model, texts), evenly_weighed(model, texts[::-1])
    for text, one, other in zip(texts, together, backwards[::-1], strict=True):
        (alone,) = evenly_weighed(model, [text])
        np.testing.assert_allclose(one.probabilities, other.probabilities, atol=1e-9)
        np.testing.assert_allclose(one.probabilities, alone.probabilities, atol=1e-9)
        if not text:
            assert np.isnan(one.probabilities).all()
            continue
        assert (one.probabilities >= 0).all()
        assert one.probabilities.sum() == pytest.approx(1)
        assert one.coverage == 1.0


def test_the_mean_guess_of_five_thousand_tokens_is_that_of_all(model: Any) -> None:
    text = "the old sailor saw a light at sea . " * 560
    (found,) = evenly_weighed(filler_of(model), [text])
    assert found.coverage == 1.0
    assert found.probabilities.sum() == pytest.approx(1)


def test_every_gap_is_filled_whatever_the_order_and_the_company(model: Any) -> None:
    rows = rows_of(filler_of(model))
    found = model.fill(rows)
    assert [len(one) for one in found] == [row.count(None) for row in rows]
    assert all(isinstance(token, str) for some in found for token in some)
    assert model.fill(rows[::-1]) == found[::-1]
    assert model.fill([]) == []


def test_a_row_longer_than_the_room_is_refused(model: Any) -> None:
    [tokens] = filler_of(model).tokens(["sea"])
    with pytest.raises(ValueError, match=f"there is room for {model.room}"):
        model.fill([[tokens[0]] * (model.room + 1)])


def test_a_tuned_copy_is_another_and_the_model_stays_as_it_was(model: Any) -> None:
    rows = rows_of(filler_of(model))
    before = model.fill(rows)
    [tokens] = model.tokens(["the old sailor saw a light at sea"])
    lessons = [Lesson(tokens, (1, 3)), Lesson(tokens, (2,))]
    copies = [model.tune_on(lessons, Tuning(epochs=2, rate=0.02, seed=seed)) for seed in (3, 3, 4)]
    assert all(isinstance(copy, GapFiller) for copy in copies)
    one, again, other = (evenly_weighed(copy, ["went home"])[0].probabilities for copy in copies)
    np.testing.assert_array_equal(one, again)
    assert not np.allclose(one, other, atol=1e-9)
    assert copies[0].room == model.room
    assert model.fill(rows) == before
