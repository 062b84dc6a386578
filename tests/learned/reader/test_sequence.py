"""How sentences follow one another: rows by hand on a tiny BERT, steps by a judge of fixed odds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.errors import InputError, SettingError
from fabula.learned.reader import sequence
from fabula.learned.reader.config import Head, Pin, ReaderConfig, Scale, Term
from fabula.learned.reader.sequence import PARTS, describe_sequences, judge_steps, open_sequence
from fabula.models.networks.encoder import PooledBert

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
safetensors = pytest.importorskip("safetensors.torch")

from fakes.tiny_reader import write_encoder  # noqa: E402

SENTENCES = ["The cat sat.", "A dog ran home.", "The old night saw a river."]
TEXT = " ".join(SENTENCES)
ABOUT = ReaderConfig(
    "sequence",
    Pin("story_encoder", "0" * 64),
    20,
    {name: Head((name,)) for name in ("states", "steps")},
    {name: Scale((Term(name),)) for name in ("states", "steps")},
    layer=1,
    sequence=True,
    beside=Pin("order", "1" * 64),
    borrowed={"order.order": Head(("order",))},
)


class Judge:
    """Finds a pair the likelier, the longer its second sentence; counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def pair_outputs(self, pairs: Sequence[tuple[str, str]], head: str) -> Any:
        assert head == "order"
        self.asked += pairs
        return np.array([[len(second) / 10] for _, second in pairs])


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, PooledBert]:
    return write_encoder(tmp_path_factory.mktemp("encoder"))


def states_by_hand(model: Any, encoder: PooledBert) -> list[Any]:
    """States of each sentence's tokens after the first layer, of the text in two windows."""
    ids = [encoder.ids(sentence) for sentence in SENTENCES]
    flat = [number for one in ids for number in one]
    half = math.ceil(len(flat) / 2)
    read = []
    for part in (flat[:half], flat[half:]):
        with torch.inference_mode():
            found = model(torch.tensor([[2, *part, 3]]), output_hidden_states=True)
        read.append(found.hidden_states[1][0, 1:-1].double())
    return list(torch.cat(read).split([len(one) for one in ids]))


def test_a_row_holds_what_neighbours_share_and_how_they_differ(tiny: Any) -> None:
    model, encoder = tiny
    window = math.ceil(len(encoder.ids(TEXT)) / 2)
    one, two, three = states_by_hand(model, encoder)
    both = ((one, two), (two, three))
    parts = [
        sum(a.mean(0) * b.mean(0) for a, b in both) / 2,
        sum((a.mean(0) - b.mean(0)).abs() for a, b in both) / 2,
        sum(a[-1] * b[0] for a, b in both) / 2,
        sum((a[-1] - b[0]).abs() for a, b in both) / 2,
        *(sum(find(s) for s in (one, two, three)) / 3
          for find in (lambda s: s.mean(0), lambda s: s[0], lambda s: s[-1])),
    ]  # fmt: skip
    [row] = describe_sequences(encoder, [TEXT], layer=1, window=window)
    assert len(row) == PARTS * encoder.bert.width
    np.testing.assert_allclose(row, torch.cat(parts).numpy(), rtol=0, atol=1e-5)


def test_a_row_depends_on_no_other_text_and_one_sentence_has_none(tiny: Any) -> None:
    _, encoder = tiny
    texts = [TEXT, "Only one.", "", "A dog ran. A cat sat. " * 9, TEXT]
    rows = describe_sequences(encoder, texts, layer=2, window=20)
    assert np.isnan(rows).all(axis=1).tolist() == [False, True, True, False, False]
    [alone] = describe_sequences(encoder, [TEXT], layer=2, window=20)
    for place in (0, 4):
        np.testing.assert_allclose(rows[place], alone, rtol=0, atol=1e-6)


def test_steps_are_mean_odds_within_bounds_and_no_sentence_follows_itself() -> None:
    judge = Judge()
    long = f"It {'really ' * 9}rained."
    texts = [f"A dog ran. {long}", "A dog ran. A dog ran. It sat.", "Alone."]
    found = judge_steps(judge, texts)
    assert found[:2] == pytest.approx([3.0, (-3.0 + 0.7) / 2])
    assert math.isnan(found[2])
    assert len(judge.asked) == 2  # neither twice, nor a sentence beside itself


def write_head(folder: Path, width: int) -> Any:
    weight = torch.randn(1, PARTS * width, generator=torch.Generator().manual_seed(1))
    tensors = {"head.states.weight": weight, "head.states.bias": torch.tensor([0.5])}
    safetensors.save_file(tensors, folder / "model.safetensors")
    return weight[0].double().numpy()


def test_both_opinions_are_given_or_none(tiny: Any, tmp_path: Path, monkeypatch: Any) -> None:
    _, encoder = tiny
    monkeypatch.setattr(sequence, "load_pooled_bert", lambda name, dtype: encoder)
    weight = write_head(tmp_path, encoder.bert.width)
    network = open_sequence(tmp_path, ABOUT, Judge(), "fp32")
    told, silent = network.window_outputs([TEXT, "Only one."])
    [row] = describe_sequences(encoder, [TEXT], layer=1, window=20)
    np.testing.assert_allclose(told["states"], [[row @ weight + 0.5]], rtol=1e-9)
    np.testing.assert_allclose(told["steps"], [[np.mean([1.5, 2.6])]])
    assert silent["states"].shape == silent["steps"].shape == (0, 1)
    assert network.lengths([TEXT]) == [len(encoder.ids(TEXT))]
    with pytest.raises(SettingError, match="no pairs"):
        network.pair_outputs([("a", "b")])


def test_texts_are_parted_by_their_length_and_none_is_lost(
    tiny: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    _, encoder = tiny
    monkeypatch.setattr(sequence, "load_pooled_bert", lambda name, dtype: encoder)
    write_head(tmp_path, encoder.bert.width)
    network, texts = open_sequence(tmp_path, ABOUT, Judge(), "fp32"), [TEXT, "Alone.", TEXT, TEXT]
    whole = list(network.window_outputs(texts))
    asked: list[int] = []
    read = sequence.describe_sequences

    def note(encoder: Any, some: list[str], **how: Any) -> Any:
        asked.append(len(some))
        return read(encoder, some, **how)

    monkeypatch.setattr(sequence, "describe_sequences", note)
    monkeypatch.setattr(sequence, "_CHARACTERS_AT_ONCE", len(TEXT) + 10)
    parted = list(network.window_outputs(texts))
    assert asked == [2, 1, 1]
    for one, other in zip(whole, parted, strict=True):
        np.testing.assert_allclose(one["states"], other["states"], atol=1e-6)


def test_a_folder_that_does_not_fit_is_refused(tiny: Any, tmp_path: Path, monkeypatch: Any) -> None:
    _, encoder = tiny
    monkeypatch.setattr(sequence, "load_pooled_bert", lambda name, dtype: encoder)
    write_head(tmp_path, encoder.bert.width)
    with pytest.raises(InputError, match="layer 9"):
        open_sequence(tmp_path, replace(ABOUT, layer=9), Judge(), "fp32")
    with pytest.raises(InputError, match="windows of 900"):
        open_sequence(tmp_path, replace(ABOUT, window=900), Judge(), "fp32")
    only = {"states": ABOUT.heads["states"]}
    with pytest.raises(InputError, match="states and steps"):
        open_sequence(tmp_path, replace(ABOUT, heads=only), Judge(), "fp32")


def test_an_optional_term_that_says_nothing_counts_as_its_mean() -> None:
    needed = Term("own", 0, 2.0, 1.0, 4.0)
    optional = Term("other", 0, 0.5, 3.0, 2.0, optional=True)
    scale = Scale((needed, optional))
    told, silent = np.array([5.0]), np.array([math.nan])
    assert scale.raw({"own": told, "other": told}) == pytest.approx(2.0 + 0.5)
    assert scale.raw({"own": told, "other": silent}) == pytest.approx(2.0)
    assert math.isnan(scale.raw({"own": silent, "other": told}))
