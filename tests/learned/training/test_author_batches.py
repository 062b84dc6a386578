"""Pieces that share a row: models that cannot keep them apart are refused before they learn."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from fabula.core.errors import SettingError
from fabula.learned.training.author_batches import require_parting

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SIZE = {"vocab_size": 20, "hidden_size": 16}


def make_llama() -> Any:
    config = transformers.LlamaConfig(
        **SIZE, num_hidden_layers=2, intermediate_size=32, num_attention_heads=2,
        initializer_range=0.5,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config)


def test_a_model_that_reads_masks_may_learn_and_stays_as_it_was() -> None:
    for training in (True, False):
        net = make_llama().train(training)
        require_parting(net, "tiny", torch.device("cpu"))
        assert net.training == training


def test_a_model_that_reads_no_such_mask_is_refused_by_its_name() -> None:
    config = transformers.BloomConfig(**SIZE, n_layer=2, n_head=2)
    with pytest.raises(SettingError, match="bloom-tiny cannot learn from stories that share a row"):
        require_parting(transformers.BloomForCausalLM(config), "bloom-tiny", torch.device("cpu"))


def test_a_model_that_looks_past_the_mask_is_refused() -> None:
    class Summing(torch.nn.Module):
        """Sums over all that came before, whatever the mask says, as a state space model may."""

        def __init__(self) -> None:
            super().__init__()
            self.words = torch.nn.Embedding(20, 4)

        def forward(self, rows: Any, **_: Any) -> Any:
            steps = torch.arange(1, rows.shape[1] + 1)[:, None]
            return SimpleNamespace(logits=(self.words(rows) * steps).cumsum(1))

    with pytest.raises(SettingError, match="it sees beyond its piece"):
        require_parting(Summing(), "summing", torch.device("cpu"))
