"""Packed weights: near to what was saved, and the encoder's own where nothing was learned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import InputError, UserError
from fabula.learned.reader.network import load_packed, save_packed

torch = pytest.importorskip("torch")
safetensors = pytest.importorskip("safetensors.torch")

QUERY = "encoder.layer.0.attention.self.query.weight"
NORM = "encoder.layer.0.output.LayerNorm.weight"
BIAS = "encoder.layer.0.output.dense.bias"


@pytest.fixture
def encoder() -> dict[str, Any]:
    """Weights in half precision, as an encoder's file holds them."""
    draw = torch.Generator().manual_seed(3)
    sizes = {QUERY: (6, 4), NORM: (4,), BIAS: (4,)}
    return {name: torch.randn(size, generator=draw).half() for name, size in sizes.items()}


def learned(encoder: dict[str, Any]) -> dict[str, Any]:
    """Weights a little away from the encoder's, and a head."""
    draw = torch.Generator().manual_seed(4)
    moved = {
        name: one.float() + torch.randn(one.shape, generator=draw) / 50
        for name, one in encoder.items()
    }
    return moved | {"head.preference.weight": torch.randn(1, 8, generator=draw)}


def test_matrices_differ_by_less_than_half_a_step_and_the_rest_by_half_precision(
    tmp_path: Path, encoder: dict[str, Any]
) -> None:
    path, weights = tmp_path / "model.safetensors", learned(encoder)
    save_packed(path, weights, encoder)
    found = load_packed(path, encoder)
    step = (weights[QUERY] - encoder[QUERY].float()).abs().amax(1) / 127
    assert ((found[QUERY] - weights[QUERY]).abs() <= step[:, None] / 2 + 1e-7).all()
    for name in (NORM, BIAS, "head.preference.weight"):
        assert torch.equal(found[name], weights[name].half().float())
    assert {one.dtype for one in found.values()} == {torch.float32}


def test_with_a_rank_a_matrix_is_as_near_as_that_rank_comes(tmp_path: Path) -> None:
    draw = torch.Generator().manual_seed(5)
    name, table = "layers.0.mlp.weight", "embed_tokens.weight"
    own = {key: torch.randn(40, 24, generator=draw) for key in (name, table)}
    sides = torch.randn(40, 3, generator=draw), torch.randn(3, 24, generator=draw)
    noise = torch.randn(40, 24, generator=draw) * 1e-3
    weights = {f"body.{name}": own[name] + sides[0] @ sides[1] + noise, f"body.{table}": own[table]}
    path = tmp_path / "model.safetensors"
    save_packed(path, weights, own, rank=3)
    stored = safetensors.load_file(path)
    assert {key: tuple(one.shape) for key, one in stored.items()} == {
        f"{name}.left": (40, 3),
        f"{name}.right": (3, 24),
    }
    found = load_packed(path, own)
    # What no three columns hold is the noise, and halves round.
    assert (found[name] - weights[f"body.{name}"]).abs().max() < 0.01
    assert torch.equal(found[table], own[table])
    safetensors.save_file({f"{name}.left": stored[f"{name}.left"]}, path)
    with pytest.raises(InputError, match="and not both sides"):
        load_packed(path, own)


def test_the_file_holds_what_the_format_says(tmp_path: Path, encoder: dict[str, Any]) -> None:
    path = tmp_path / "model.safetensors"
    save_packed(path, learned(encoder), encoder)
    stored = safetensors.load_file(path)
    assert {name: (str(one.dtype), tuple(one.shape)) for name, one in stored.items()} == {
        f"{QUERY}.delta": ("torch.int8", (6, 4)),
        f"{QUERY}.step": ("torch.float32", (6,)),
        NORM: ("torch.float16", (4,)),
        BIAS: ("torch.float16", (4,)),
        "head.preference.weight": ("torch.float16", (1, 8)),
    }
    assert stored[f"{QUERY}.delta"].abs().amax(1).tolist() == [127] * 6


def test_what_is_as_the_encoder_has_it_is_left_out_and_found_again(
    tmp_path: Path, encoder: dict[str, Any]
) -> None:
    path = tmp_path / "model.safetensors"
    save_packed(path, {name: one.float() for name, one in encoder.items()}, encoder)
    assert safetensors.load_file(path) == {}
    found = load_packed(path, encoder)
    assert all(torch.equal(found[name], one.float()) for name, one in encoder.items())


def test_a_row_that_did_not_move_stays_where_it_is(tmp_path: Path, encoder: dict[str, Any]) -> None:
    path, weights = tmp_path / "model.safetensors", learned(encoder)
    weights[QUERY][2] = encoder[QUERY][2].float()
    save_packed(path, weights, encoder)
    assert torch.equal(load_packed(path, encoder)[QUERY][2], encoder[QUERY][2].float())


def test_names_with_and_without_the_models_own_prefix_are_the_same(
    tmp_path: Path, encoder: dict[str, Any]
) -> None:
    plain, named = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    weights = learned(encoder)
    save_packed(plain, weights, encoder)
    prefixed = {f"bert.{name}": one for name, one in encoder.items()}
    save_packed(named, weights, prefixed)
    assert plain.read_bytes() == named.read_bytes()
    assert load_packed(plain, prefixed).keys() == load_packed(plain, encoder).keys()


def test_a_save_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, encoder: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.safetensors"
    save_packed(path, learned(encoder), encoder)
    before = path.read_bytes()

    def full(self: Path, data: bytes) -> int:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(UserError, match="no space"):
        save_packed(path, {**learned(encoder), "head.x.bias": torch.ones(1)}, encoder)
    assert path.read_bytes() == before


def test_weights_that_are_no_numbers_are_refused(tmp_path: Path, encoder: dict[str, Any]) -> None:
    weights = learned(encoder)
    weights[NORM][1] = torch.nan
    with pytest.raises(InputError, match=r"LayerNorm.weight are not all numbers"):
        save_packed(tmp_path / "model.safetensors", weights, encoder)


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (
            {"encoder.layer.9.x.delta": (2, 2), "encoder.layer.9.x.step": (2,)},
            "the encoder has not",
        ),
        ({f"{QUERY}.delta": (6, 4)}, "not their steps"),
        ({f"{QUERY}.delta": (6, 3), f"{QUERY}.step": (6,)}, "6 × 3 and 6 × 4"),
        ({NORM: (5,)}, "two sizes"),
    ],
)
def test_weights_of_another_encoder_are_refused(
    tmp_path: Path, encoder: dict[str, Any], stored: dict[str, Any], message: str
) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors.save({name: torch.ones(size) for name, size in stored.items()}))
    with pytest.raises(InputError, match=message):
        load_packed(path, encoder)


def test_a_file_that_is_cut_short_is_refused(tmp_path: Path, encoder: dict[str, Any]) -> None:
    path = tmp_path / "model.safetensors"
    save_packed(path, learned(encoder), encoder)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(InputError, match="is no whole file of weights"):
        load_packed(path, encoder)
