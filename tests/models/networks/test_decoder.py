"""Models that read on where they stopped give what transformers gives for the whole text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabula.models.networks.checkpoint import Checkpoint, CheckpointError
from fabula.models.networks.decoder import PaddedDecoder, open_decoder
from fabula.models.networks.llama import Llama
from fakes.tiny_models import save_gpt2, save_llama, torch

SAVERS: dict[str, Callable[..., Path]] = {"llama": save_llama, "gpt2": save_gpt2}
TEXTS = [[5, 9, 200, 31, 7, 7, 12], [40, 41, 3], [100], [8, 7, 6, 5, 4, 3, 2, 11, 12, 13]]


@pytest.fixture(params=sorted(SAVERS))
def both(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Any, Any]:
    """A decoder, and the model of transformers that has the same weights."""
    torch()
    checkpoint = Checkpoint(SAVERS[request.param](tmp_path), "tiny", device="cpu")
    return open_decoder(checkpoint, 64), checkpoint.model("AutoModelForCausalLM")


def expected(net: Any, ids: list[int]) -> Any:
    with torch().inference_mode():
        return net(input_ids=torch().tensor([ids])).logits[0, -1]


def test_a_llama_has_a_forward_of_its_own_and_others_go_through_transformers(
    tmp_path: Path,
) -> None:
    kinds = {
        name: type(open_decoder(Checkpoint(save(tmp_path / name), name, device="cpu"), 64))
        for name, save in SAVERS.items()
    }
    assert kinds == {"llama": Llama, "gpt2": PaddedDecoder}


def test_logits_are_those_of_transformers_whatever_was_read_before(both: tuple[Any, Any]) -> None:
    decoder, net = both
    for cut in range(len(TEXTS[0])):
        state = decoder.open_state()
        if cut:
            decoder.advance([state], [TEXTS[0][:cut]])
        logits = decoder.advance([state], [TEXTS[0][cut:]])
        assert logits.shape == (1, net.config.vocab_size)
        torch().testing.assert_close(logits[0], expected(net, TEXTS[0]), atol=1e-4, rtol=1e-4)
        assert state.ids == TEXTS[0]


def test_texts_of_different_lengths_advance_together_join_and_leave(both: tuple[Any, Any]) -> None:
    decoder, net = both
    states = [decoder.open_state() for _ in TEXTS]
    for state, ids in zip(states, TEXTS, strict=True):
        decoder.advance([state], [ids])
    for chosen in ([0, 1, 2, 3], [0, 2, 3], [3, 0], [1, 3], [1]):
        tokens = [17 + row for row in chosen]
        logits = decoder.advance([states[row] for row in chosen], [[token] for token in tokens])
        for at, row in enumerate(chosen):
            right = expected(net, states[row].ids)
            torch().testing.assert_close(logits[at], right, atol=1e-4, rtol=1e-4)
    assert [len(state.ids) for state in states] == [7 + 3, 3 + 3, 1 + 2, 10 + 4]


def test_a_copy_goes_its_own_way(both: tuple[Any, Any]) -> None:
    decoder, net = both
    state = decoder.open_state()
    decoder.advance([state], [TEXTS[0]])
    branch = state.copy(4)
    logits = decoder.advance([branch], [[88, 89]])
    right = expected(net, [*TEXTS[0][:4], 88, 89])
    torch().testing.assert_close(logits[0], right, atol=1e-4, rtol=1e-4)
    logits = decoder.advance([state], [[20]])
    torch().testing.assert_close(logits[0], expected(net, [*TEXTS[0], 20]), atol=1e-4, rtol=1e-4)
    assert branch.ids == [5, 9, 200, 31, 88, 89]
    assert state.nbytes > 0


def test_a_reading_that_fails_changes_nothing(both: tuple[Any, Any]) -> None:
    decoder, net = both
    states = [decoder.open_state(), decoder.open_state()]
    decoder.advance(states[:1], [TEXTS[0]])
    decoder.advance(states[1:], [TEXTS[1]])
    with pytest.raises((IndexError, ValueError)):
        decoder.advance(states, [[5], [10**6]])
    assert [state.ids for state in states] == [TEXTS[0], TEXTS[1]]
    logits = decoder.advance(states, [[5], [6]])
    for row, ids in enumerate(([*TEXTS[0], 5], [*TEXTS[1], 6])):
        torch().testing.assert_close(logits[row], expected(net, ids), atol=1e-4, rtol=1e-4)


def test_a_text_longer_than_the_model_reads_is_refused(tmp_path: Path) -> None:
    torch()
    decoder = open_decoder(Checkpoint(save_llama(tmp_path), "tiny", device="cpu"), 64)
    with pytest.raises(ValueError, match="65 tokens after 0 of 64 places"):
        decoder.advance([decoder.open_state()], [[3] * 65])


def test_a_model_without_keys_and_values_is_refused() -> None:
    torch()
    with pytest.raises(CheckpointError, match="keeps no keys and values"):
        PaddedDecoder(None, "odd")._check(object())


def test_a_llama_with_biases_or_moving_rotations_goes_through_transformers(tmp_path: Path) -> None:
    import json

    torch()
    save_llama(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    theta = {"rope_theta": 10000.0, "rope_type": "dynamic", "factor": 2.0}
    config["rope_parameters"] = theta
    (tmp_path / "config.json").write_text(json.dumps(config))
    decoder = open_decoder(Checkpoint(tmp_path, "odd", device="cpu"), 64)
    assert isinstance(decoder, PaddedDecoder)
