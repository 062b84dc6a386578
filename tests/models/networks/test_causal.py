from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.errors import SettingError, UserError
from fabula.core.model import Generator, Likelihood
from fabula.models.huggingface import load
from fakes.tiny_models import TEXTS, save_gpt2, save_llama, torch

MAKERS = {"gpt2": save_gpt2, "llama": save_llama}
LONG = " ".join(TEXTS * 12)


@pytest.fixture(scope="module", params=MAKERS)
def folder(request: Any, tmp_path_factory: Any) -> Path:
    return MAKERS[request.param](tmp_path_factory.mktemp("causal"), positions=2048)


def by_hand(folder: Path, context: str, text: str) -> np.ndarray:
    """Logs with the model as transformers loads it, all tokens in one go after `</s>`."""
    import transformers

    net = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    front = [1, *tokenizer(context, add_special_tokens=False)["input_ids"]]
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    with torch().no_grad():
        guesses = net(torch().tensor([front + ids])).logits[0].log_softmax(-1)
    return np.array([float(guesses[len(front) - 1 + at, one]) for at, one in enumerate(ids)])


@pytest.mark.parametrize("context", ["", "once upon a time "])
def test_logs_are_those_of_teacher_forcing_by_hand(folder: Path, context: str) -> None:
    model = load(str(folder))
    assert isinstance(model, Likelihood)
    assert isinstance(model, Generator)
    for text, found in zip(TEXTS, model.logs([(context, one) for one in TEXTS]), strict=True):
        np.testing.assert_allclose(found.logs, by_hand(folder, context, text), atol=2e-5)
        assert found.coverage == 1.0


def test_entropies_are_those_of_the_guesses(folder: Path) -> None:
    model: Any = load(str(folder))
    (found,) = model.logs([("", TEXTS[0])])
    import transformers

    net = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    ids = model.checkpoint.tokenizer(TEXTS[0])["input_ids"]
    with torch().no_grad():
        guesses = net(torch().tensor([[1, *ids]])).logits[0, :-1].log_softmax(-1)
    expected = -(guesses.exp() * guesses).sum(-1)
    np.testing.assert_allclose(found.entropies, expected.numpy(), atol=2e-5)


def test_a_window_that_is_long_enough_changes_nothing(folder: Path) -> None:
    whole = next(load(str(folder)).logs([("a cat", LONG)]))
    wide = next(load(str(folder), window=len(whole.tokens) * 2, stride=3).logs([("a cat", LONG)]))
    np.testing.assert_allclose(wide.logs, whole.logs, atol=2e-5)


def test_a_long_text_is_read_whole_and_each_token_once(folder: Path) -> None:
    whole = next(load(str(folder)).logs([("", LONG)]))
    cut = next(load(str(folder), window=32).logs([("", LONG)]))
    assert len(whole.tokens) > 300
    assert cut.tokens == whole.tokens
    assert cut.coverage == 1.0
    assert np.isfinite(cut.logs).all()
    # The first window of 32 holds the beginning and 31 tokens, which see all that stands before.
    np.testing.assert_allclose(cut.logs[:31], whole.logs[:31], atol=2e-5)
    assert not np.allclose(cut.logs[31:], whole.logs[31:], atol=1e-3)


def test_a_later_window_is_the_context_and_the_tokens_just_before(folder: Path) -> None:
    model: Any = load(str(folder), window=32, stride=8)
    (found,) = model.logs([("a cat ", LONG)])
    tokenizer = model.checkpoint.tokenizer
    context = tokenizer("a cat ")["input_ids"]
    ids = tokenizer(LONG)["input_ids"]
    room = 31 - len(context)
    step = 8 * room // 32
    window = [1, *context, *ids[step : step + room]]
    import transformers

    net = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    with torch().no_grad():
        guesses = net(torch().tensor([window])).logits[0].log_softmax(-1)
    new = range(room, room + step)
    places = [31 - step + at for at in range(step)]
    expected = [float(guesses[place, ids[at]]) for place, at in zip(places, new, strict=True)]
    np.testing.assert_allclose(found.logs[room : room + step], expected, atol=2e-5)


def test_a_context_longer_than_the_window_leaves_room_for_the_text(folder: Path) -> None:
    (found,) = load(str(folder), window=16).logs([(LONG, TEXTS[3])])
    assert np.isfinite(found.logs).all()
    assert found.coverage == 1.0


def test_order_and_batches_do_not_matter(folder: Path) -> None:
    model = load(str(folder), window=32)
    pairs = [("", one) for one in [*TEXTS, LONG, "", *TEXTS]]
    alone = [next(model.logs([pair])).logs for pair in pairs]
    together = [one.logs for one in model.logs(pairs)]
    backwards = [one.logs for one in model.logs(pairs[::-1])][::-1]
    for a, b, c in zip(alone, together, backwards, strict=True):
        # To the last bit: on a processor texts are read one by one.
        assert np.array_equal(a, b, equal_nan=True) and np.array_equal(a, c, equal_nan=True)


def test_writing_on_depends_on_prompt_and_seed_alone(folder: Path) -> None:
    model: Any = load(str(folder))
    state = torch().random.get_rng_state()
    both = model.generate(["the cat", "a dog"], max_tokens=12, seed=5)
    assert model.generate(["a dog"], max_tokens=12, seed=5) == both[1:]
    assert model.generate(["a dog"], max_tokens=12, seed=6) != both[1:]
    assert torch().equal(state, torch().random.get_rng_state())


def test_a_temperature_of_0_takes_the_likeliest_token(folder: Path) -> None:
    model: Any = load(str(folder))
    import transformers

    net = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    ids = [1, *model.checkpoint.tokenizer("the cat")["input_ids"]]
    for _ in range(5):
        with torch().no_grad():
            ids.append(int(net(torch().tensor([ids])).logits[0, -1].argmax()))
    expected = model.checkpoint.tokenizer.decode(ids[-5:], skip_special_tokens=True)
    (found,) = model.generate(["the cat"], max_tokens=5, temperature=0)
    assert expected.startswith(found)
    assert found


def test_writing_stops_where_it_is_told_to(folder: Path) -> None:
    model: Any = load(str(folder))
    (whole,) = model.generate(["the cat"], max_tokens=30)
    sign = whole[len(whole) // 2]
    assert model.generate(["the cat"], max_tokens=30, stop=[sign]) == [whole[: whole.find(sign)]]


def test_a_prompt_longer_than_the_model_reads_keeps_its_end(tmp_path: Path) -> None:
    model: Any = load(str(save_gpt2(tmp_path, positions=64)))
    assert len(model.generate([LONG], max_tokens=8)) == 1
    with pytest.raises(SettingError, match="cannot write 64"):
        model.generate(["a"], max_tokens=64)


@pytest.mark.parametrize("bad", [{"max_tokens": 0}, {"temperature": -1}, {"top_p": 2}])
def test_a_wish_that_cannot_be_is_refused(folder: Path, bad: dict[str, Any]) -> None:
    model: Any = load(str(folder))
    with pytest.raises(UserError, match="will not do"):
        model.generate(["a"], **bad)
