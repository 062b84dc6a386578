"""The embedder: every token once, whatever the length, the batch and the cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.errors import SettingError
from fabula.core.model import Embedder
from fabula.models.networks import encoder as encoder_module
from fabula.models.networks.bert import Bert, load_bert
from fabula.models.networks.encoder import Encoder, load_tokenizer
from fabula.models.reading.state_cache import StateCache, VectorCache, vectors_size

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from fakes.tiny_bert import WINDOW, write_tiny_bert  # noqa: E402

SHORT = "The cat sat, undoing a river."
LONG = "the old dog ran home and saw a cat . " * 40
TEXTS = ["a dog", SHORT, LONG, "home", "the night river " * 9, SHORT]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other cost more here than they give."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tiny")


@pytest.fixture(scope="module")
def model(folder: Path) -> Any:
    return write_tiny_bert(folder)


@pytest.fixture
def encoder(folder: Path, model: Any) -> Encoder:
    tokenizer, edges = load_tokenizer(folder)
    nowhere = VectorCache(disk=0, memory=0)
    return Encoder(
        load_bert(folder), tokenizer, edges, "tiny", window=WINDOW, overlap=8, layer=3,
        batch_tokens=64, cache=StateCache(nowhere),
    )  # fmt: skip


def whole(model: Any, ids: list[int], layer: int = 3) -> Any:
    with torch.inference_mode():
        return model(torch.tensor([ids]), output_hidden_states=True).hidden_states[layer][0].numpy()


def test_it_is_an_embedder(encoder: Encoder) -> None:
    assert isinstance(encoder, Embedder)
    assert (encoder.width, encoder.layers) == (24, 4)


def test_tokens_have_the_characters_they_stand_for(encoder: Encoder) -> None:
    (found,) = encoder.states([SHORT], [0])
    assert found.tokens == (
        "[CLS]", "the", "cat", "sat", ",", "un", "##do", "##ing", "a", "river", ".", "[SEP]"
    )  # fmt: skip
    words = [SHORT[start:stop] for start, stop in found.spans]
    assert words == ["", "The", "cat", "sat", ",", "un", "do", "ing", "a", "river", ".", ""]
    assert found.spans[0] == found.spans[-1] == (0, 0)
    assert found.coverage == 1.0


def test_states_of_a_short_text_are_those_of_transformers(encoder: Encoder, model: Any) -> None:
    (found,) = encoder.states([SHORT], [1, 3])
    ids = [2, *encoder.tokenizer.encode(SHORT, add_special_tokens=False).ids, 3]
    assert found.states.shape == (2, len(ids), 24)
    for layer, states in zip((1, 3), found.states, strict=True):
        np.testing.assert_allclose(states, whole(model, ids, layer), rtol=0, atol=1e-5)


def test_a_long_text_has_each_token_once_from_where_it_is_most_central(
    encoder: Encoder, model: Any
) -> None:
    # 50 tokens in windows of 30: [0, 30) and [20, 50), which meet at 25.
    text = " ".join(LONG.split()[:50])
    ids = encoder.tokenizer.encode(text, add_special_tokens=False).ids
    left, right = (whole(model, [2, *part, 3]) for part in (ids[:30], ids[20:]))
    (found,) = encoder.states([text], [3])
    assert len(found.tokens) == 52
    expected = np.concatenate([left[:26], right[6:]])
    np.testing.assert_allclose(found.states[0], expected, rtol=0, atol=1e-5)


def test_ten_thousand_tokens_are_all_read(encoder: Encoder) -> None:
    text = LONG * 25
    (found,) = encoder.states([text], [3])
    assert len(found.tokens) == 10_002
    assert found.coverage == 1.0
    assert {*"".join(text[start:stop] for start, stop in found.spans)} == {*text} - {" "}
    assert np.isfinite(found.states).all()
    assert [text[start:stop] for start, stop in found.spans[1:-1]] == text.split()


def test_neither_batch_nor_order_nor_company_changes_a_state(encoder: Encoder) -> None:
    alone = [next(encoder.states([text], [3])).states for text in TEXTS]
    small, large = replace(encoder, batch_tokens=1), replace(encoder, batch_tokens=10_000)
    for way in (encoder, small, large):
        together = [one.states for one in way.states(TEXTS, [3])]
        backwards = [one.states for one in way.states(TEXTS[::-1], [3])][::-1]
        for one, two, three in zip(alone, together, backwards, strict=True):
            np.testing.assert_allclose(two, one, rtol=0, atol=1e-5)
            np.testing.assert_allclose(three, one, rtol=0, atol=1e-5)


@pytest.mark.parametrize("text", ["", "  \n", "\u200b"])
def test_a_text_without_a_token_has_no_states_and_no_vector(encoder: Encoder, text: str) -> None:
    first, nothing, last = encoder.states(["a cat", text, "a dog"], [0, 3])
    assert (nothing.tokens, nothing.spans) == ((), ())
    assert nothing.states.shape == (2, 0, 24)
    assert len(first.tokens) == len(last.tokens) == 4
    vectors = encoder.vectors([text, "a dog"])
    assert np.isnan(vectors[0]).all()
    assert np.isfinite(vectors[1]).all()


@pytest.mark.parametrize("text", ["🐉", "木木", "\ud800 cat", "x" * 300, "\x00", "[SEP] cat"])
def test_odd_texts_have_states_too(encoder: Encoder, text: str) -> None:
    (found,) = encoder.states([text], [3])
    assert np.isfinite(found.states).all()
    assert all(0 <= start <= stop <= len(text) for start, stop in found.spans)


def test_a_vector_is_the_mean_of_all_states_and_of_length_one(encoder: Encoder) -> None:
    # As sentence-transformers pools: what the model adds counts, then the length is made one.
    vectors = encoder.vectors(TEXTS)
    for vector, one in zip(vectors, encoder.states(TEXTS, [3]), strict=True):
        mean = one.states[0].mean(axis=0)
        np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), rtol=0, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=0, atol=1e-6)


def test_no_texts_give_nothing(encoder: Encoder) -> None:
    assert list(encoder.states([], [3])) == []
    assert encoder.vectors([]).shape == (0, 24)


@pytest.mark.parametrize("layer", [-1, 4])
def test_a_layer_there_is_not_is_refused_at_once(encoder: Encoder, layer: int) -> None:
    with pytest.raises(SettingError, match="take 0 to 3"):
        encoder.states(["a"], [layer])


def test_little_is_read_ahead(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder_module, "CHUNK_TEXTS", 4)
    taken: list[int] = []

    def texts() -> Iterator[str]:
        for number in range(1000):
            taken.append(number)
            yield "the cat " * (number % 5 + 1)

    found = list(islice(encoder.states(texts(), [3]), 6))  # type: ignore[arg-type]
    assert [len(one.tokens) for one in found] == [4, 6, 8, 10, 12, 4]
    assert len(taken) <= 9


def test_a_batch_too_large_for_memory_is_run_in_smaller_ones(encoder: Encoder) -> None:
    class Small:
        """Stands for a machine that holds 40 tokens."""

        def __init__(self, bert: Any) -> None:
            self.bert, self.width, self.stack = bert, bert.width, bert.stack
            self.fit_batch = bert.fit_batch

        def __call__(self, texts: Any, layers: Any) -> Any:
            if sum(map(len, texts)) > 40:
                raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory")
            return self.bert(texts, layers)

    wanted = [one.states for one in encoder.states(TEXTS, [3])]
    small = replace(encoder, bert=Small(encoder.bert), batch_tokens=500)  # type: ignore[arg-type]
    for one, two in zip(small.states(TEXTS, [3]), wanted, strict=True):
        np.testing.assert_allclose(one.states, two, rtol=0, atol=1e-5)


def test_what_is_kept_is_not_made_again(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = replace(encoder, cache=StateCache(VectorCache(tmp_path, disk=10**7, memory=0)))
    first = list(keeper.states(TEXTS, [1, 3]))
    vectors = keeper.vectors(TEXTS)
    later = replace(encoder, cache=StateCache(VectorCache(tmp_path, disk=10**7, memory=0)))
    monkeypatch.setattr(Bert, "__call__", lambda *_: pytest.fail("it was made again"))
    for layers, rows in (([1, 3], [0, 1]), ([3], [1])):
        for one, two in zip(later.states(TEXTS, layers), first, strict=True):
            assert np.array_equal(one.states, two.states[rows])
            assert (one.tokens, one.spans) == (two.tokens, two.spans)
    assert np.array_equal(later.vectors(TEXTS), vectors)


def test_vectors_keep_little_on_disk(encoder: Encoder, tmp_path: Path) -> None:
    keeper = replace(encoder, cache=StateCache(VectorCache(tmp_path, disk=10**7, memory=0)))
    keeper.vectors([LONG])
    assert vectors_size(tmp_path) < 400  # 24 floats and a header
