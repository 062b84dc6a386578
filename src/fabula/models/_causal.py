"""A model that writes on, word by word: how likely a text is from left to right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.model import TokenLogs
from fabula.models._checkpoint import CheckpointError
from fabula.models._forward import logs_of, padded, run_batches
from fabula.models._packages import package
from fabula.models._pieces import Pieces, ends_of, pieces_of
from fabula.models._sampling import Draw, sample
from fabula.models._strides import make_front
from fabula.models._writer import Writer

if TYPE_CHECKING:
    from fabula.core.model import Array


@dataclass(frozen=True)
class _Reading:
    """One window of one text: what goes in, and from which place on tokens are scored."""

    text: int
    ids: tuple[int, ...]
    first: int


@dataclass(frozen=True)
class CausalModel(Writer):
    """Likelihood and generator on a causal language model.

    Context and text are cut into tokens apart, so that the text's are the same after any context.
    A text longer than the window is read on by `stride` tokens, each scored once with as much
    before it as fits; the context stays in front of every window.
    """

    task = "causal"
    head = "AutoModelForCausalLM"
    chunk = 32

    @cached_property
    def _beginning(self) -> tuple[int, ...]:
        """What stands at the beginning of a text: the tokeniser's sign, or that between texts."""
        tokenizer = self.checkpoint.tokenizer
        signs = (tokenizer.bos_token_id, tokenizer.eos_token_id)
        known = next((sign for sign in signs if sign is not None), None)
        return ends_of(tokenizer).before or (() if known is None else (known,))

    def _logs_of(self, pairs: list[tuple[str, str]]) -> Iterator[TokenLogs]:
        tokenizer = self.checkpoint.tokenizer
        contexts = pieces_of(tokenizer, [context for context, _ in pairs])
        texts = pieces_of(tokenizer, [text for _, text in pairs])
        readings = [
            reading
            for number, (context, text) in enumerate(zip(contexts, texts, strict=True))
            for reading in self._readings(number, context, text)
        ]
        found = run_batches(
            lambda batch: self._run([readings[one] for one in batch]),
            [len(reading.ids) for reading in readings],
            budget=2048 if self.checkpoint.torch_device.type == "cpu" else 16384,
        )
        for number, text in enumerate(texts):
            parts = [part for one, part in zip(readings, found, strict=True) if one.text == number]
            joined = np.concatenate([np.zeros((2, 0)), *parts], axis=1)
            yield TokenLogs(text.tokens, text.spans, joined[0], joined[1])

    def _readings(self, number: int, context: Pieces, text: Pieces) -> Iterator[_Reading]:
        front = make_front(self._beginning, context.ids, window=self.window, stride=self.stride)
        for one in front.strides(len(text.ids)):
            ids = (*front.ids, *text.ids[one.start : one.stop])
            yield _Reading(number, ids, len(front.ids) + one.new - one.start)

    def _run(self, readings: list[_Reading]) -> list[Array]:
        """Logs and entropies of what is new in each reading: (2, new tokens) each."""
        torch = package("torch")
        ids, mask = padded([one.ids for one in readings], 0, self.checkpoint.torch_device)
        with torch.inference_mode():
            logits = self._net(input_ids=ids, attention_mask=mask, use_cache=False).logits
            return [_scored(row, one) for row, one in zip(logits, readings, strict=True)]

    def _written_after(self, prompt: str, draw: Draw, stop: Sequence[str]) -> str:
        name, tokenizer, begun = self.checkpoint.name, self.checkpoint.tokenizer, self._beginning
        ids = pieces_of(tokenizer, [prompt])[0].ids
        room = draw.room_in(self.checkpoint.limit, name)
        if room is not None:
            ids = ids[max(len(ids) + len(begun) - room, 0) :]
        if not (given := (*begun, *ids)):
            raise CheckpointError(f"{name} has no sign for a beginning", "give it a prompt")
        drawn = sample(self._net, self.checkpoint, given, key=prompt, draw=draw, stop=stop)
        return str(tokenizer.decode(drawn[len(given) :], skip_special_tokens=True))


def _scored(logits: Any, reading: _Reading) -> Array:
    """Each token's log is in the guesses at the place before it; the very first has none."""
    first = max(reading.first, 1)
    targets = reading.ids[first:]
    found = np.array(logs_of(logits[first - 1 : len(reading.ids) - 1], targets))
    return np.pad(found, ((0, 0), (first - reading.first, 0)), constant_values=np.nan)
