"""An encoder of transformers: vectors for texts of any length, by windows that overlap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import SettingError
from fabula.core.model import TokenCount, TokenStates
from fabula.core.plain import read_json
from fabula.models._runtime import package
from fabula.models.networks.checkpoint import POOLING, Checkpoint, CheckpointError
from fabula.models.reading.state_cache import StateCache
from fabula.models.reading.tokens import (
    Ends,
    TokenisedText,
    count_unknown,
    find_ends,
    split_chunks,
    tokenise,
    truncate_texts,
)
from fabula.models.reading.windows import assign_tokens, cut_overlapping, pad_rows, run_batches

if TYPE_CHECKING:
    from fabula.core.model import Array

CHUNK = 32


@dataclass(frozen=True)
class EncoderModel:
    """Embedder on an encoder; a token's state comes from the window where it is most central."""

    checkpoint: Checkpoint
    window: int
    stride: int
    cache: StateCache = field(default_factory=StateCache, kw_only=True, repr=False, compare=False)

    @property
    def signature(self) -> str:
        """What the values depend on."""
        return f"{self.checkpoint.identity},encoder,window={self.window}/{self.stride}"

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return int(self.checkpoint.shape.hidden_size)

    @property
    def layers(self) -> int:
        """How many layers there are, the embedding of the words counted."""
        return int(self.checkpoint.shape.num_hidden_layers) + 1

    def tokens(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """Give the tokens of every text, without those that the model adds."""
        return [text.tokens for text in tokenise(self.checkpoint.tokenizer, texts)]

    def count_unknown(self, texts: Sequence[str]) -> list[TokenCount]:
        """Count the tokens of every text and those that are not in the vocabulary."""
        return count_unknown(self.checkpoint.tokenizer, texts)

    def truncate(self, texts: Sequence[str], count: int) -> list[str]:
        """Give the beginnings of texts that make so many tokens, added ones counted."""
        room = count - len(self.ends.before) - len(self.ends.after)
        tokenised = tokenise(self.checkpoint.tokenizer, texts)
        return truncate_texts(texts, [text.spans for text in tokenised], room)

    def expect(self, layers: Sequence[int]) -> None:
        """Give these layers too in every pass: others will ask for them."""
        self.cache.expected = tuple(layer for layer in layers if 0 <= layer < self.layers)

    def states(self, texts: Sequence[str], layers: Sequence[int]) -> Iterator[TokenStates]:
        """Give the states of every text, in order, at the layers asked for."""
        if wrong := [layer for layer in layers if not 0 <= layer < self.layers]:
            problem = f"{self.checkpoint.name} has no layer {wrong[0]}"
            raise SettingError(problem, f"take 0 to {self.layers - 1}")
        return (
            states
            for chunk in split_chunks(texts, CHUNK)
            for states in self._states_of(chunk, list(layers))
        )

    def vectors(self, texts: Sequence[str]) -> Array:
        """Give the mean of the last layer's states (or the first, if trained so), of length one."""
        vectors = np.full((len(texts), self.width), np.nan)
        for row, text in enumerate(self.states(texts, [self.layers - 1])):
            if text.tokens:
                vector = text.states[0, 0] if self._takes_first else text.states[0].mean(axis=0)
                vectors[row] = vector / np.linalg.norm(vector)
        return vectors

    @cached_property
    def net(self) -> Any:
        """The module that gives hidden states."""
        if self.checkpoint.config.get("is_encoder_decoder"):
            return self.checkpoint.model("AutoModel").get_encoder()
        # Checkpoints with another head lack the pooler, which no state comes from.
        return self.checkpoint.model("AutoModel", unused="pooler.")

    @cached_property
    def _takes_first(self) -> bool:
        file = self.checkpoint.folder / POOLING
        if not file.is_file():
            return False
        settings = read_json(file, error=CheckpointError, remedy="get it again")
        return isinstance(settings, dict) and bool(settings.get("pooling_mode_cls_token"))

    @cached_property
    def ends(self) -> Ends:
        """What is added to every window."""
        return find_ends(self.checkpoint.tokenizer)

    def places(self, count: int) -> list[range]:
        """Windows over so many tokens of a text, room left for what is added."""
        room = self.window - len(self.ends.before) - len(self.ends.after)
        return cut_overlapping(count, room, max(room - self.stride, 0))

    def _states_of(self, texts: list[str], layers: list[int]) -> Iterator[TokenStates]:
        pieces = dict(zip(texts, tokenise(self.checkpoint.tokenizer, texts), strict=True))
        full = [text for text, tokenised in pieces.items() if tokenised.ids]

        def make(missing: list[str], wanted: list[int]) -> list[list[Array]]:
            return self._encode([pieces[text] for text in missing], wanted)

        states = self.cache.get(self.signature, full, layers, make)
        for text in texts:
            yield self._to_token_states(pieces[text], states.get(text), len(layers))

    def _encode(self, texts: list[TokenisedText], layers: list[int]) -> list[list[Array]]:
        """Run the model: for each text and layer an array of tokens × width."""
        places = [self.places(len(text.ids)) for text in texts]
        rows = [
            (*self.ends.before, *text.ids[place.start : place.stop], *self.ends.after)
            for text, windows in zip(texts, places, strict=True)
            for place in windows
        ]
        states = iter(
            run_batches(
                lambda batch: self._run([rows[index] for index in batch], layers),
                [len(row) for row in rows],
                budget=4096 if self.checkpoint.torch_device.type == "cpu" else 32768,
            )
        )
        return [
            list(self._join_windows(windows, [next(states) for _ in windows])) for windows in places
        ]

    def _run(self, rows: list[tuple[int, ...]], layers: list[int]) -> list[Array]:
        """States of every row, at the layers asked for: (layers, tokens, width) each."""
        torch = package("torch")
        ids, mask = pad_rows(rows, 0, self.checkpoint.torch_device)
        with torch.inference_mode():
            out = self.net(input_ids=ids, attention_mask=mask, output_hidden_states=True)
            chosen = torch.stack([out.hidden_states[layer] for layer in layers], dim=1)
            states = chosen.float().cpu().numpy()  # (B, layers, T, H)
        return [
            layers_of_row[:, : len(row)].copy()
            for layers_of_row, row in zip(states, rows, strict=True)
        ]

    def _join_windows(self, places: list[range], read: list[Array]) -> Array:
        """One text of its windows: the beginning of the first, the end of the last."""
        before, after = len(self.ends.before), len(self.ends.after)
        parts = [
            states[:, before + part.start - place.start : before + part.stop - place.start]
            for states, place, part in zip(read, places, assign_tokens(places), strict=True)
        ]
        end = read[-1].shape[1] - after
        return np.concatenate([read[0][:, :before], *parts, read[-1][:, end:]], axis=1)

    def _to_token_states(
        self, pieces: TokenisedText, states: list[Array] | None, layers: int
    ) -> TokenStates:
        if states is None:
            return TokenStates((), (), np.zeros((layers, 0, self.width), dtype=np.float32))
        ends, signs = self.ends, self.checkpoint.tokenizer.convert_ids_to_tokens
        return TokenStates(
            (*signs(list(ends.before)), *pieces.tokens, *signs(list(ends.after))),
            ((0, 0),) * len(ends.before) + pieces.spans + ((0, 0),) * len(ends.after),
            np.stack(states),
        )
