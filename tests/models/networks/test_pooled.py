"""Pooled windows against `BertModel` of transformers, with tokens of both kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fabula.models.networks.bert import load_bert
from fabula.models.networks.encoder import PooledBert, load_tokenizer

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from fakes.tiny_bert import write_tiny_bert  # noqa: E402

TEXTS = [[5], [6, 7, 8], [*range(5, 20)], [], [9, 10, 11], [7] * 30]
PAIRS = [([5, 6], [7]), ([*range(5, 15)], [*range(8, 20)]), ([9], [9]), ([7, 8], [5])]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, PooledBert]:
    """transformers' model, and ours of the same weights."""
    folder: Path = tmp_path_factory.mktemp("tiny")
    model = write_tiny_bert(folder)
    return model, PooledBert(load_bert(folder), *load_tokenizer(folder), batch_tokens=64)


def plainly_pooled(model: Any, ids: list[int], kinds: list[int]) -> Any:
    """The state of the first token and the mean over all, by transformers."""
    with torch.inference_mode():
        states = model(torch.tensor([ids]), token_type_ids=torch.tensor([kinds]))
    rows = states.last_hidden_state[0]
    return torch.cat([rows[0], rows.mean(0)])


def test_windows_equal_those_of_transformers(both: tuple[Any, PooledBert]) -> None:
    model, ours = both
    found = ours.pool(TEXTS)
    assert found.shape == (len(TEXTS), 48) == (len(TEXTS), ours.width)
    for ids, vector in zip(TEXTS, found, strict=True):
        wanted = plainly_pooled(model, [2, *ids, 3], [0] * (len(ids) + 2))
        torch.testing.assert_close(vector, wanted, rtol=0, atol=1e-5)


def test_pairs_equal_those_of_transformers_with_token_types(both: tuple[Any, PooledBert]) -> None:
    model, ours = both
    for (one, other), vector in zip(PAIRS, ours.pool_pairs(PAIRS), strict=True):
        kinds = [0] * (len(one) + 2) + [1] * (len(other) + 1)
        wanted = plainly_pooled(model, [2, *one, 3, *other, 3], kinds)
        torch.testing.assert_close(vector, wanted, rtol=0, atol=1e-5)


def test_the_second_of_a_pair_is_of_another_kind(both: tuple[Any, PooledBert]) -> None:
    _, ours = both
    alone = ours.pool([[5, 6, 3, 7]])
    assert not torch.allclose(ours.pool_pairs([([5, 6], [7])]), alone, atol=1e-2)


def test_no_windows_give_no_vectors(both: tuple[Any, PooledBert]) -> None:
    assert both[1].pool([]).shape == (0, 48)


def test_its_own_layers_by_name_give_the_same_encoder_again(both: tuple[Any, PooledBert]) -> None:
    model, ours = both
    named = ours.layer_tensors()
    expected = {name: one for name, one in model.state_dict().items() if "encoder.layer" in name}
    assert named.keys() == expected.keys()
    assert all(torch.equal(named[name], expected[name]) for name in named)
    again = ours.with_layers(named)
    assert torch.equal(again.pool(TEXTS), ours.pool(TEXTS))


def test_other_layers_sit_on_the_very_same_embeddings(both: tuple[Any, PooledBert]) -> None:
    _, ours = both
    other = ours.with_layers({name: one * 0.5 for name, one in ours.layer_tensors().items()})
    assert other.bert.words is ours.bert.words
    assert not torch.allclose(other.pool(TEXTS), ours.pool(TEXTS), atol=1e-2)


def test_half_of_a_surrogate_pair_is_an_unknown_sign(both: tuple[Any, PooledBert]) -> None:
    assert both[1].ids("a \ud83d cat") == both[1].ids("a \ufffd cat")
