"""Causal models that keep what they have read: texts advance by a few tokens, alone or together.

A `State` is one text with the keys and values of its tokens. A Llama has a forward of its own; any
other architecture runs through transformers, its texts padded on the left to stand side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from fabula.models._runtime import package
from fabula.models.networks.checkpoint import Checkpoint, CheckpointError
from fabula.models.networks.llama import assemble_llama, is_plain_llama

if TYPE_CHECKING:
    from torch import Tensor

    Layers = list[tuple[Tensor, Tensor]]
    Embed = Callable[[Tensor], Tensor]


class State(Protocol):
    """One text as a model has read it."""

    ids: list[int]

    @property
    def nbytes(self) -> int:
        """Memory that its keys and values hold."""
        ...

    def copy(self, length: int) -> Any:
        """Give the state after the first `length` tokens; this one stays as it is."""
        ...


S = TypeVar("S")


class Decoder(Protocol[S]):
    """A causal model that reads on where it has stopped."""

    def open_state(self) -> S:
        """Begin a text of no tokens."""
        ...

    def advance(self, states: Sequence[S], news: Sequence[Sequence[int]]) -> Tensor:
        """Read what is new in each text; give the logits after its last token: (texts, words).

        What fails leaves the states as they were.
        """
        ...


def open_decoder(
    checkpoint: Checkpoint, places: int, *, net: Any = None, embed: Embed | None = None
) -> Decoder[Any]:
    """Load a causal model for texts of at most so many tokens; `net` if it is loaded already.

    `embed` makes rows of tokens' numbers where these say more than which word a token is.
    """
    net = checkpoint.model("AutoModelForCausalLM") if net is None else net
    if is_plain_llama(net):
        return replace(assemble_llama(net, places), embed=embed)
    decoder = PaddedDecoder(net, checkpoint.name, embed)
    decoder.advance([decoder.open_state()], [[0]])
    return decoder


@dataclass(eq=False)
class PaddedState:
    """Keys and values of one text, layer by layer: (1, heads, tokens, width) each.

    While it stands in a batch, they are rows of the batch's.
    """

    ids: list[int] = field(default_factory=list)
    layers: Layers = field(default_factory=list, repr=False)
    batch: _Batch | None = field(default=None, repr=False)

    @property
    def nbytes(self) -> int:
        """Memory that its keys and values hold."""
        self.leave()
        return sum(int(keys.nbytes + values.nbytes) for keys, values in self.layers)

    def copy(self, length: int) -> PaddedState:
        """Give the state after the first `length` tokens; this one stays as it is."""
        self.leave()
        layers = [(k[:, :, :length].clone(), v[:, :, :length].clone()) for k, v in self.layers]
        return PaddedState(self.ids[:length], layers if length else [])

    def leave(self) -> None:
        """Take the keys and values out of the batch."""
        if self.batch is not None:
            self.layers, self.batch = self.batch.cut_out(self), None


@dataclass(eq=False)
class _Batch:
    """Texts that stand side by side: rows padded on the left to the longest of them."""

    states: tuple[PaddedState, ...]
    cache: Any = field(repr=False)
    length: int  # tokens in a row, padding counted

    def cut_out(self, state: PaddedState) -> Layers:
        """Give the keys and values of one of them."""
        row, start = self.states.index(state), self.length - len(state.ids)
        return [
            (
                keys[row : row + 1, :, start : self.length].clone(),
                values[row : row + 1, :, start : self.length].clone(),
            )
            for keys, values in _read_layers(self.cache)
        ]


@dataclass(eq=False)
class PaddedDecoder:
    """Any causal model of transformers that keeps keys and values."""

    net: Any = field(repr=False)
    name: str
    embed: Embed | None = field(default=None, repr=False)
    batch: _Batch | None = field(default=None, repr=False)

    def open_state(self) -> PaddedState:
        """Begin a text of no tokens."""
        return PaddedState()

    def advance(self, states: Sequence[PaddedState], news: Sequence[Sequence[int]]) -> Tensor:
        """Read what is new in each text, as many tokens in each; give the logits after it."""
        if len({len(new) for new in news}) != 1 or not news[0]:
            raise ValueError("texts of a batch read the same number of tokens, at least one")
        if self.batch is None or self.batch.states != tuple(states):
            self.batch = self._join(states)
        try:
            logits = self._run(self.batch, news)
        except BaseException:
            # Some layers may have grown already: the rows are cut out at the old length.
            for state in states:
                state.leave()
            self.batch = None
            raise
        for state, ids in zip(states, news, strict=True):
            state.ids.extend(ids)
        return logits

    def _run(self, batch: _Batch, news: Sequence[Sequence[int]]) -> Tensor:
        torch, device = package("torch"), self.net.device
        new, lengths = len(news[0]), [[len(state.ids)] for state in batch.states]
        before = torch.tensor(lengths, device=device)  # (B, 1)
        places = torch.arange(batch.length + new, device=device)[None]
        ids = torch.tensor([list(ids) for ids in news], device=device)
        with torch.inference_mode():
            made = self.net(
                **{"input_ids": ids} if self.embed is None else {"inputs_embeds": self.embed(ids)},
                attention_mask=(places >= batch.length - before).long(),  # (B, length + new)
                position_ids=before + torch.arange(new, device=device)[None],
                past_key_values=batch.cache,
                use_cache=True,
            )
        batch.cache, batch.length = self._check(made), batch.length + new
        logits: Tensor = made.logits[:, -1].float()
        return logits

    def _join(self, states: Sequence[PaddedState]) -> _Batch:
        torch, transformers = package("torch"), package("transformers")
        if self.batch is not None:
            for state in self.batch.states:
                state.leave()
        cache, longest = transformers.DynamicCache(), max(len(state.ids) for state in states)
        pads = [(0, 0, longest - len(state.ids), 0) for state in states]
        model = next((state.layers for state in states if state.layers), [])
        for number, (like, _) in enumerate(model):
            empty = like[:, :, :0]
            rows = [state.layers[number] if state.layers else (empty, empty) for state in states]
            pad = torch.nn.functional.pad
            keys = torch.cat([pad(k, p) for (k, _), p in zip(rows, pads, strict=True)])
            values = torch.cat([pad(v, p) for (_, v), p in zip(rows, pads, strict=True)])
            cache.update(keys, values, number)
        batch = _Batch(tuple(states), cache, longest)
        for state in states:
            state.batch, state.layers = batch, []
        return batch

    def _check(self, made: Any) -> Any:
        """Refuse a model that keeps something else than keys and values of all tokens."""
        cache = getattr(made, "past_key_values", None)
        try:
            is_sound = bool(_read_layers(cache))
        except (AttributeError, TypeError):
            is_sound = False
        if not is_sound:
            raise CheckpointError(
                f"{self.name} keeps no keys and values of what it has read",
                "take a model of another architecture",
            )
        return cache


def _read_layers(cache: Any) -> Layers:
    """Keys and values of all layers, as versions of transformers hold them."""
    if hasattr(cache, "layers"):
        return [(layer.keys[:, :, :], layer.values[:, :, :]) for layer in cache.layers]
    return list(zip(cache.key_cache, cache.value_cache, strict=True))
