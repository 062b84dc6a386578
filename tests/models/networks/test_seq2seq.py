from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.model import Generator, Likelihood, MaskedLikelihood
from fabula.models.huggingface import load
from fakes.tiny_models import TEXTS, save_bart, save_t5, torch

LONG = " ".join(TEXTS * 4)


@pytest.fixture(scope="module")
def t5(tmp_path_factory: Any) -> Path:
    return save_t5(tmp_path_factory.mktemp("t5"))


@pytest.fixture(scope="module")
def bart(tmp_path_factory: Any) -> Path:
    return save_bart(tmp_path_factory.mktemp("bart"), positions=512)


@pytest.fixture(scope="module")
def signed_bart(tmp_path_factory: Any) -> Path:
    return save_bart(tmp_path_factory.mktemp("signed"), positions=512, begin=True)


def by_hand(folder: Path, source: str, text: str) -> np.ndarray:
    """Logs by the model's own loss, a token at a time, from labels that hold that token alone."""
    import transformers

    net = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    given = torch().tensor([tokenizer(source)["input_ids"]])
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    start = net.config.decoder_start_token_id
    logs = []
    for at in range(len(ids)):
        labels = torch().full((1, len(ids)), -100)
        labels[0, at] = ids[at]
        with torch().no_grad():
            inputs = torch().tensor([[start, *ids[:-1]]])
            logs.append(-float(net(given, decoder_input_ids=inputs, labels=labels).loss))
    return np.array(logs)


@pytest.mark.parametrize("name", ["t5", "bart"])
def test_logs_are_the_models_own_losses(name: str, request: Any) -> None:
    folder = request.getfixturevalue(name)
    model = load(str(folder))
    assert isinstance(model, Likelihood)
    assert isinstance(model, Generator)
    assert not isinstance(model, MaskedLikelihood)
    pairs = [(TEXTS[0], TEXTS[1]), ("", TEXTS[2]), (TEXTS[3], "cat")]
    for (source, text), found in zip(pairs, model.logs(pairs), strict=True):
        np.testing.assert_allclose(found.logs, by_hand(folder, source, text), atol=5e-5)
        assert found.coverage == 1.0


def with_signs(folder: Path, source: str, text: str) -> np.ndarray:
    """Logs of a text with the tokeniser's signs as labels, shifted by transformers itself."""
    import transformers

    net = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    given, labels = (torch().tensor([tokenizer(one)["input_ids"]]) for one in (source, text))
    with torch().no_grad():
        guesses = net(given, labels=labels).logits[0].log_softmax(-1)
    return guesses[np.arange(labels.shape[1]), labels[0]].numpy()


@pytest.mark.parametrize(("name", "before"), [("t5", 0), ("signed_bart", 1)])
def test_signs_around_the_text_have_logs_of_their_own(name: str, before: int, request: Any) -> None:
    folder = request.getfixturevalue(name)
    pairs = [(TEXTS[0], TEXTS[3]), (TEXTS[1], "cat"), ("", TEXTS[2])]
    for (source, text), found in zip(pairs, load(str(folder)).logs(pairs), strict=True):
        expected = with_signs(folder, source, text)
        assert len(found.added) == before + 1
        told = [*found.added[:before], *found.logs, *found.added[before:]]
        np.testing.assert_allclose(told, expected, atol=5e-5)


def test_the_first_window_scores_the_beginning_and_the_last_the_end(signed_bart: Path) -> None:
    model: Any = load(str(signed_bart), window=24, stride=12)
    (found,) = model.logs([("a cat", LONG)])
    tokenizer = model.checkpoint.tokenizer
    ids = tokenizer(LONG, add_special_tokens=False)["input_ids"]
    assert len(found.logs) == len(ids)
    # Two signs stand in front of every window, so that 22 tokens fit.
    head, tail = (tokenizer.decode(part) for part in (ids[:22], ids[-22:]))
    assert found.added[0] == pytest.approx(with_signs(signed_bart, "a cat", head)[0], abs=5e-5)
    assert found.added[1] == pytest.approx(with_signs(signed_bart, "a cat", tail)[-1], abs=5e-5)
    np.testing.assert_allclose(
        found.logs[:22], with_signs(signed_bart, "a cat", head)[1:-1], atol=5e-5
    )


def test_a_text_without_a_token_has_no_signs(t5: Path) -> None:
    (found,) = load(str(t5)).logs([("a cat", "")])
    assert (len(found.logs), found.added) == (0, ())


def test_the_head_of_a_text_makes_so_many_tokens_with_its_signs(signed_bart: Path) -> None:
    model: Any = load(str(signed_bart))
    short, long = model.truncate(["cat", LONG], 20)
    assert short == "cat"
    assert LONG.startswith(long)
    assert len(model.checkpoint.tokenizer(long)["input_ids"]) == 20


def test_order_and_batches_do_not_matter(t5: Path) -> None:
    model: Any = load(str(t5), window=32)
    # In fp32 the large random weights alone make 1e-4 of rounding, which could hide a leak.
    model._net.double()
    pairs = [(LONG, TEXTS[0]), ("", TEXTS[1]), (TEXTS[2], LONG), (TEXTS[0], "")]
    alone = [next(model.logs([pair])).logs for pair in pairs]
    backwards = [one.logs for one in model.logs(pairs[::-1])][::-1]
    for a, b in zip(alone, backwards, strict=True):
        np.testing.assert_allclose(a, b, atol=5e-6)


def test_windows_that_are_long_enough_change_nothing(bart: Path) -> None:
    whole = next(load(str(bart)).logs([(LONG, LONG)]))
    wide = load(str(bart), window=len(whole.tokens) + 5, stride=7)
    np.testing.assert_allclose(next(wide.logs([(LONG, LONG)])).logs, whole.logs, atol=5e-5)


def test_a_long_source_is_read_whole_as_the_mean_over_its_windows(t5: Path) -> None:
    model: Any = load(str(t5), window=17, stride=16)
    tokenizer = model.checkpoint.tokenizer
    ids = tokenizer(LONG, add_special_tokens=False)["input_ids"][:32]
    source = tokenizer.decode(ids)
    assert tokenizer(source, add_special_tokens=False)["input_ids"] == ids
    (found,) = model.logs([(source, "cat")])
    # Two windows of 16 tokens, each ended by </s>: p is the mean of both p.
    halves = [tokenizer.decode(ids[:16]), tokenizer.decode(ids[16:])]
    expected = np.log(np.mean([np.exp(by_hand(t5, half, "cat")) for half in halves], axis=0))
    np.testing.assert_allclose(found.logs, expected, atol=5e-5)


def test_a_long_text_is_scored_whole(t5: Path) -> None:
    (found,) = load(str(t5), window=16).logs([("a cat", LONG)])
    assert len(found.tokens) == len(found.logs) > 100
    assert np.isfinite(found.logs).all()


def test_writing_depends_on_prompt_and_seed_alone(t5: Path) -> None:
    model: Any = load(str(t5))
    both = model.generate(["the cat", LONG], max_tokens=12, seed=1)
    assert model.generate([LONG], max_tokens=12, seed=1) == both[1:]
    assert model.generate([LONG], max_tokens=12, seed=2) != both[1:]
