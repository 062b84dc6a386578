"""The T5 scorer of the store, against onnxruntime by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fabula.core.errors import SettingError
from fabula.core.model import Embedder, Generator, Likelihood
from fabula.models import load_model, need
from fabula.models.embedded import load
from fakes.assets import need_asset

onnxruntime = pytest.importorskip("onnxruntime")
tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("torch")
pytestmark = pytest.mark.assets

SOURCE = "The old sailor mended his net by the harbour while the storm came closer."
PARAPHRASE = "A sailor repairs his net in the harbour before a storm."
UNRELATED = "The bakery sells its warm bread in the city before noon."
LONG = " ".join([SOURCE, PARAPHRASE, UNRELATED] * 3)


@pytest.fixture(scope="module")
def folder() -> Path:
    return need_asset("t5_titles")


@pytest.fixture(scope="module")
def model(folder: Path) -> Likelihood:
    return need(load_model("embedded('t5_titles')"), Likelihood)


def ids_of(folder: Path, text: str) -> list[int]:
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return ids


def by_hand(
    folder: Path, source: list[int], target: list[int], scored: list[int] | None = None
) -> np.ndarray:
    """Logs with teacher forcing: the source ends with 1, the decoder begins with 0."""
    encoder = onnxruntime.InferenceSession(folder / "encoder.onnx")
    decoder = onnxruntime.InferenceSession(folder / "decoder.onnx")
    ids = np.array([[*source, 1]])
    (states,) = encoder.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
    inputs = {"input_ids": np.array([[0, *target]]), "encoder_hidden_states": states}
    (logits,) = decoder.run(None, inputs | {"encoder_attention_mask": np.ones_like(ids)})
    chances = np.exp(logits[0].astype(np.float64))
    chances /= chances.sum(axis=1, keepdims=True)
    wanted = scored or target
    return np.log(chances[np.arange(len(wanted)), wanted])


@pytest.mark.parametrize("source", [SOURCE, ""])
def test_logs_are_those_of_teacher_forcing(folder: Path, model: Likelihood, source: str) -> None:
    (found,) = model.logs([(source, PARAPHRASE)])
    expected = by_hand(folder, ids_of(folder, source), ids_of(folder, PARAPHRASE))
    np.testing.assert_allclose(found.logs, expected, atol=1e-5)
    assert found.coverage == 1.0


def test_the_end_has_a_log_of_its_own(folder: Path, model: Likelihood) -> None:
    (found,) = model.logs([(SOURCE, PARAPHRASE)])
    target = ids_of(folder, PARAPHRASE)
    # What stands after the last token is the guess at the end, sign 1.
    expected = by_hand(folder, ids_of(folder, SOURCE), target, scored=[*target, 1])[-1]
    assert found.added == (pytest.approx(expected, abs=1e-5),)


def test_a_paraphrase_is_likelier_than_what_is_unrelated(model: Likelihood) -> None:
    near, far = (one.logs.mean() for one in model.logs([(SOURCE, PARAPHRASE), (SOURCE, UNRELATED)]))
    assert near > far + 1


def test_nothing_has_no_tokens(model: Likelihood) -> None:
    (found,) = model.logs([(SOURCE, "")])
    assert (found.tokens, found.spans, found.logs.shape) == ((), (), (0,))


def test_spans_name_the_characters_of_a_token(model: Likelihood) -> None:
    (found,) = model.logs([(SOURCE, "The storm came.")])
    spelled = ["The storm came."[start:end].strip() for start, end in found.spans]
    assert spelled == [token.removeprefix("▁") for token in found.tokens]


def test_what_utf8_cannot_spell_is_read(model: Likelihood) -> None:
    (found,) = model.logs([("\ud800", "half \ud800")])
    assert np.isfinite(found.logs).all()


def test_order_does_not_matter(model: Likelihood) -> None:
    pairs = [(SOURCE, PARAPHRASE), ("", UNRELATED), (UNRELATED, SOURCE), (SOURCE, "")]
    forwards = [one.logs for one in model.logs(pairs)]
    backwards = [one.logs for one in model.logs(pairs[::-1])][::-1]
    for one, other in zip(forwards, backwards, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_long_source_is_read_whole_as_the_mean_over_its_windows(folder: Path) -> None:
    narrow = need(load("t5_titles", window=33, overlap=0), Likelihood)
    (found,) = narrow.logs([(LONG, "Storm")])
    ids, target = ids_of(folder, LONG), ids_of(folder, "Storm")
    starts = [*range(0, len(ids) - 32, 32), len(ids) - 32]
    parts = [np.exp(by_hand(folder, ids[at : at + 32], target)) for at in starts]
    np.testing.assert_allclose(found.logs, np.log(np.mean(parts, axis=0)), atol=1e-5)


def test_a_long_text_is_scored_whole(folder: Path) -> None:
    narrow = need(load("t5_titles", window=32), Likelihood)
    (found,) = narrow.logs([(SOURCE, LONG)])
    assert len(found.logs) == len(ids_of(folder, LONG)) > 64
    assert np.isfinite(found.logs).all() and found.coverage == 1.0


def test_it_offers_nothing_but_logs_and_says_what_they_depend_on(model: Likelihood) -> None:
    assert not isinstance(model, Embedder | Generator)
    assert "t5_titles@" in model.signature and "int8" in model.signature
    assert model.signature.endswith("window=512/384")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("settings", [{"layer": 1}, {"dtype": "bf16"}, {"overlap": 600}], ids=str)
def test_settings_it_has_no_use_for_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(SettingError, match="embedded: "):
        load("t5_titles", **settings)  # type: ignore[arg-type]
