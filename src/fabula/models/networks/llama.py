"""A Llama that writes on: the tokens of a batch are the rows of one matrix, nothing is padded.

Touvron et al. (2023), as `LlamaForCausalLM` of transformers computes it for inference. Every text
has its own keys and values, so that texts join and leave a batch freely, and only what is new is
read. transformers' own forward spends more time in Python than in products for a model this small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fabula.models._runtime import package

if TYPE_CHECKING:
    from torch import Tensor

# Rotations that depend on a token's place alone, not on how long the text will get.
_FIXED_ROTATIONS = ("default", "linear", "llama3")
# Rows for which packed weights are laid out; other numbers run as well.
_PACKED_ROWS = 8
# Tokens by which the room for keys and values grows.
_GROWTH = 256


@dataclass(eq=False)
class LlamaState:
    """Keys and values of the tokens of one text: (layers, 2, heads, room, width of a head)."""

    buffer: Tensor = field(repr=False)
    ids: list[int] = field(default_factory=list)

    @property
    def nbytes(self) -> int:
        """Memory that is held."""
        return int(self.buffer.nbytes)

    def copy(self, length: int) -> LlamaState:
        """Give the state after the first `length` tokens; this one stays as it is."""
        taken = LlamaState(self.buffer[:, :, :, :0], self.ids[:length])
        taken.reserve(length)
        taken.buffer[:, :, :, :length] = self.buffer[:, :, :, :length]
        return taken

    def reserve(self, length: int) -> None:
        """Make room for so many tokens."""
        layers, parts, heads, room, width = self.buffer.shape
        if length <= room:
            return
        grown = self.buffer.new_empty(
            layers, parts, heads, -(-(length + 1) // _GROWTH) * _GROWTH, width
        )
        grown[:, :, :, :room] = self.buffer
        self.buffer = grown


class _Product:
    """A matrix that rows are multiplied by, in the processor's own layout where there is one.

    oneDNN's layout makes a batch of eight two to three times as fast as plain products of fp32,
    and a row's result is the same to the last bit whichever rows stand beside it.
    """

    def __init__(self, weight: Tensor) -> None:
        torch = package("torch")
        self.weight, self.is_packed = weight, False
        packing = getattr(torch.ops.mkldnn, "_reorder_linear_weight", None)
        if weight.device.type == "cpu" and torch.backends.mkldnn.is_available() and packing:
            self.weight, self.is_packed = packing(weight.contiguous(), _PACKED_ROWS), True

    def __call__(self, rows: Tensor) -> Tensor:
        import torch

        if not self.is_packed:
            return torch.nn.functional.linear(rows, self.weight)
        product: Tensor = torch.ops.mkldnn._linear_pointwise(
            rows, self.weight, None, "none", [], ""
        )
        return product


@dataclass(frozen=True)
class _Layer:
    """One layer: attention over what was read so far, then a gated pair of matrices."""

    norm: Tensor
    attention: _Product  # queries, keys and values in one product
    joined: _Product
    last_norm: Tensor
    inner: _Product  # the gate, then what it lets through
    outer: _Product


@dataclass(frozen=True)
class _Reading:
    """What all layers need to know of the tokens that are read now."""

    states: Sequence[LlamaState]
    counts: Sequence[int]
    cosines: Tensor  # (T, 1, D)
    sines: Tensor  # (T, 1, D), those of the first half negative
    masks: Sequence[Tensor | None]


@dataclass(frozen=True)
class Llama:
    """Embeddings, layers and the head of a Llama without biases."""

    words: Tensor = field(repr=False)
    layers: tuple[_Layer, ...] = field(repr=False)
    norm: Tensor = field(repr=False)
    head: _Product = field(repr=False)
    cosines: Tensor = field(repr=False)  # (places, D)
    sines: Tensor = field(repr=False)
    heads: int
    key_heads: int
    eps: float
    embed: Callable[[Tensor], Tensor] | None = None  # instead of the table of words

    def open_state(self) -> LlamaState:
        """Begin a text of no tokens."""
        width = self.cosines.shape[1]
        return LlamaState(self.words.new_empty(len(self.layers), 2, self.key_heads, 0, width))

    def advance(self, states: Sequence[LlamaState], news: Sequence[Sequence[int]]) -> Tensor:
        """Read what is new in each text; give the logits after its last token: (texts, words)."""
        import torch

        with torch.inference_mode():
            reading = self._prepare(states, news)
            ids = torch.tensor([token for new in news for token in new], device=self.words.device)
            rows = self.words[ids] if self.embed is None else self.embed(ids)  # (T, H)
            for number, layer in enumerate(self.layers):
                projected = layer.attention(self._normalise(rows, layer.norm))
                rows = rows + layer.joined(self._attend(number, projected, reading))
                gate, passed = layer.inner(self._normalise(rows, layer.last_norm)).chunk(2, dim=-1)
                rows = rows + layer.outer(torch.nn.functional.silu(gate) * passed)
            last = torch.tensor(reading.counts, device=rows.device).cumsum(0) - 1
            logits: Tensor = self.head(self._normalise(rows[last], self.norm)).float()
        # Only now: a reading that fails has changed nothing.
        for state, new in zip(states, news, strict=True):
            state.ids.extend(new)
        return logits

    def _prepare(self, states: Sequence[LlamaState], news: Sequence[Sequence[int]]) -> _Reading:
        import torch

        device = self.words.device
        places, masks = [], []
        for state, new in zip(states, news, strict=True):
            before, length = len(state.ids), len(state.ids) + len(new)
            if not new or length > len(self.cosines):
                raise ValueError(f"{len(new)} tokens after {before} of {len(self.cosines)} places")
            state.reserve(length)
            places.append(torch.arange(before, length, device=device))
            # A single token sees all before it. Each of several sees those up to itself.
            seen = torch.ones(len(new), length, dtype=torch.bool, device=device).tril(before)
            masks.append(seen if len(new) > 1 else None)
        spots = torch.cat(places)
        counts = [len(new) for new in news]
        cosines, sines = self.cosines[spots].unsqueeze(1), self.sines[spots].unsqueeze(1)
        return _Reading(states, counts, cosines, sines, masks)

    def _normalise(self, rows: Tensor, weight: Tensor) -> Tensor:
        from torch.nn.functional import rms_norm

        return rms_norm(rows, weight.shape, weight, self.eps)

    def _attend(self, number: int, projected: Tensor, reading: _Reading) -> Tensor:
        """Keep keys and values of new tokens; mix the values of each text by its queries."""
        import torch
        from torch.nn.functional import scaled_dot_product_attention

        width, shared = self.cosines.shape[1], self.heads // self.key_heads
        parts = projected.view(len(projected), -1, width)  # (T, heads + 2 key heads, D)
        ends = (self.heads, self.heads + self.key_heads)
        turning, values = parts[:, : ends[1]], parts[:, ends[1] :]
        half = turning.roll(width // 2, dims=-1)
        turned = torch.addcmul(turning * reading.cosines, half, reading.sines)
        queries, keys = turned[:, : ends[0]], turned[:, ends[0] :]
        mixed, start = projected.new_empty(len(projected), self.heads * width), 0
        for state, count, mask in zip(reading.states, reading.counts, reading.masks, strict=True):
            stop, length = start + count, len(state.ids) + count
            kept = state.buffer[number]  # (2, key heads, room, D)
            kept[0, :, length - count : length] = keys[start:stop].transpose(0, 1)
            kept[1, :, length - count : length] = values[start:stop].transpose(0, 1)
            old_keys, old_values = kept[:, None, :, :length].unbind()  # (1, key heads, S, D)
            asked = queries[start:stop].unsqueeze(0)  # (1, L, heads, D)
            if mask is None:
                # Heads that share keys and values ask as if they were tokens.
                asked = asked.view(1, self.key_heads, shared, width)
                answer = scaled_dot_product_attention(asked, old_keys, old_values)
            else:
                answer = scaled_dot_product_attention(
                    asked.transpose(1, 2), old_keys, old_values, attn_mask=mask, enable_gqa=True
                ).transpose(1, 2)
            mixed[start:stop] = answer.reshape(count, -1)
            start = stop
        return mixed


def is_plain_llama(net: Any) -> bool:
    """Whether a model of transformers is one that `assemble_llama` can take over."""
    config = net.config
    rotation = getattr(getattr(net, "model", None), "rotary_emb", None)
    return (
        type(net).__name__ == "LlamaForCausalLM"
        and config.hidden_act == "silu"
        and not getattr(config, "attention_bias", False)
        and not getattr(config, "mlp_bias", False)
        and getattr(rotation, "rope_type", "") in _FIXED_ROTATIONS
        and config.num_attention_heads % config.num_key_value_heads == 0
    )


def assemble_llama(net: Any, places: int) -> Llama:
    """Take over the weights of a `LlamaForCausalLM` for texts of so many places."""
    torch = package("torch")
    with torch.inference_mode():
        tensors = {name: tensor.detach() for name, tensor in net.state_dict().items()}
        rotation = net.model.rotary_emb
        words = tensors["model.embed_tokens.weight"]
        angles = torch.arange(places, device=words.device)[:, None] * rotation.inv_freq.float()
        angles = angles.repeat(1, 2)  # (places, D)
        scale, half = float(getattr(rotation, "attention_scaling", 1.0)), angles.shape[1] // 2
        signs = torch.ones(2 * half, device=words.device)
        signs[:half] = -1
        return Llama(
            words,
            tuple(_assemble_layer(tensors, at) for at in range(net.config.num_hidden_layers)),
            tensors["model.norm.weight"],
            _Product(tensors["lm_head.weight"]),
            (angles.cos() * scale).to(words.dtype),
            (angles.sin() * scale * signs).to(words.dtype),
            net.config.num_attention_heads,
            net.config.num_key_value_heads,
            float(net.config.rms_norm_eps),
        )


def _assemble_layer(tensors: dict[str, Tensor], number: int) -> _Layer:
    import torch

    def join(*names: str) -> Tensor:
        return torch.cat([tensors[f"model.layers.{number}.{name}.weight"] for name in names])

    return _Layer(
        join("input_layernorm"),
        _Product(join("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj")),
        _Product(join("self_attn.o_proj")),
        join("post_attention_layernorm"),
        _Product(join("mlp.gate_proj", "mlp.up_proj")),
        _Product(join("mlp.down_proj")),
    )
