from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.errors import SettingError
from fabula.core.model import Embedder, Likelihood, MaskedLikelihood
from fabula.models.huggingface import load
from fakes.tiny_models import TEXTS, save_bert, torch

LONG = " ".join(TEXTS * 6)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Path:
    return save_bert(tmp_path_factory.mktemp("masked"), positions=512)


def by_hand(folder: Path, text: str) -> tuple[np.ndarray, np.ndarray]:
    """Logs and entropies, one token after the other replaced by [MASK] (number 4)."""
    import transformers

    net = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
    ids = transformers.AutoTokenizer.from_pretrained(folder)(text)["input_ids"]
    logs, entropies = [], []
    for at in range(1, len(ids) - 1):
        with torch().no_grad():
            row = torch().tensor([[*ids[:at], 4, *ids[at + 1 :]]])
            guesses = net(row).logits[0, at].log_softmax(-1)
        logs.append(float(guesses[ids[at]]))
        entropies.append(float(-(guesses.exp() * guesses).sum()))
    return np.array(logs), np.array(entropies)


def test_logs_and_entropies_are_those_of_masking_by_hand(folder: Path) -> None:
    model = load(str(folder))
    assert isinstance(model, MaskedLikelihood)
    assert isinstance(model, Embedder)
    assert not isinstance(model, Likelihood)
    for text, found in zip(TEXTS, model.masked_logs(TEXTS), strict=True):
        logs, entropies = by_hand(folder, text)
        np.testing.assert_allclose(found.logs, logs, atol=2e-5)
        np.testing.assert_allclose(found.entropies, entropies, atol=2e-5)
        assert "[CLS]" not in found.tokens


def test_small_batches_change_nothing(folder: Path, monkeypatch: Any) -> None:
    model: Any = load(str(folder))
    (whole,) = model.masked_logs(TEXTS[3:])
    run = type(model.gaps)._read_masked
    sizes = []

    def short_of_memory(self: Any, text: Any, gaps: list[Any]) -> Any:
        if len(gaps) > 2:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
        sizes.append(len(gaps))
        return run(self, text, gaps)

    monkeypatch.setattr(type(model.gaps), "_read_masked", short_of_memory)
    (found,) = model.masked_logs(TEXTS[3:])
    np.testing.assert_allclose(found.logs, whole.logs, atol=2e-5)
    assert max(sizes) <= 2


def test_a_long_text_is_read_whole_by_windows(folder: Path) -> None:
    whole = next(load(str(folder)).masked_logs([LONG]))
    cut = next(load(str(folder), window=24).masked_logs([LONG]))
    assert cut.tokens == whole.tokens
    assert cut.coverage == 1.0
    assert np.isfinite(cut.logs).all()
    exact = load(str(folder), window=len(whole.tokens) + 2, stride=5)
    np.testing.assert_allclose(next(exact.masked_logs([LONG])).logs, whole.logs, atol=2e-5)


def test_states_are_the_hidden_states_below_the_head(folder: Path) -> None:
    import transformers

    model: Any = load(str(folder))
    net = transformers.AutoModel.from_pretrained(folder, add_pooling_layer=False).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    for text, found in zip(TEXTS, model.states(TEXTS, [0, 2]), strict=True):
        with torch().no_grad():
            ids = torch().tensor([tokenizer(text)["input_ids"]])
            hidden = net(ids, output_hidden_states=True).hidden_states
        expected = np.stack([hidden[0][0].numpy(), hidden[2][0].numpy()])
        np.testing.assert_allclose(found.states, expected, atol=2e-5)
        assert found.tokens[0] == "[CLS]"
        assert found.spans[0] == found.spans[-1] == (0, 0)


def test_a_vector_is_the_mean_of_the_last_layer_of_length_one(folder: Path) -> None:
    model: Any = load(str(folder))
    vectors = model.vectors([TEXTS[0], ""])
    (found,) = model.states(TEXTS[:1], [2])
    mean = found.states[0].mean(axis=0)
    np.testing.assert_allclose(vectors[0], mean / np.sqrt((mean**2).sum()), atol=1e-6)
    assert np.isnan(vectors[1]).all()


def test_states_of_a_long_text_come_from_where_a_token_is_most_central(folder: Path) -> None:
    model: Any = load(str(folder), window=20, stride=9)
    (found,) = model.states([LONG], [1])
    ids = model.checkpoint.tokenizer(LONG, add_special_tokens=False)["input_ids"]
    # Windows hold 18 tokens and begin at 0, 9, 18: token 14 is 5 from the nearer end of the second
    # window and 3 from that of the first.
    import transformers

    net = transformers.AutoModel.from_pretrained(folder, add_pooling_layer=False).eval()
    with torch().no_grad():
        row = torch().tensor([[2, *ids[9:27], 3]])
        hidden = net(row, output_hidden_states=True).hidden_states
    np.testing.assert_allclose(found.states[0, 1 + 14], hidden[1][0, 1 + 5], atol=2e-5)
    assert len(found.tokens) == len(ids) + 2


def test_a_layer_that_is_not_there_is_refused(folder: Path) -> None:
    model: Any = load(str(folder))
    assert (model.width, model.layers) == (16, 3)
    with pytest.raises(SettingError, match="has no layer 3; take 0 to 2"):
        model.states(TEXTS, [3])
