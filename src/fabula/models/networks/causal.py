"""Models that write on, word by word: how likely a text is from left to right, and texts drawn."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from fabula.core.errors import SettingError
from fabula.core.model import TokenCount, TokenLogs
from fabula.core.settings import AtLeast, Between, check_settings
from fabula.models._runtime import package, silence
from fabula.models.networks.checkpoint import Checkpoint, CheckpointError
from fabula.models.reading.tokens import (
    TokenisedText,
    count_unknown,
    find_beginning,
    split_chunks,
    tokenise,
)
from fabula.models.reading.windows import fit_prefix, gather_logs, pad_rows, run_batches

if TYPE_CHECKING:
    from fabula.core.model import Array


def cut_at(text: str, stop: Sequence[str]) -> str:
    """Give a text up to the first of the strings that end it."""
    places = [place for sign in stop if sign and (place := text.find(sign)) >= 0]
    return text[: min(places)] if places else text


@dataclass(frozen=True)
class SamplingSettings:
    """How to draw a text; a temperature of 0 takes the likeliest token each time."""

    max_tokens: Annotated[int, AtLeast(1)]
    temperature: Annotated[float, AtLeast(0)]
    top_p: Annotated[float, Between(0, 1)]
    seed: int

    def __post_init__(self) -> None:
        """Refuse settings that will not do."""
        check_settings(self, "generate")

    def room_in(self, limit: int | None, name: str) -> int | None:
        """Tokens that a prompt may have beside the text to be written; None if any number."""
        if limit is None:
            return None
        if limit - self.max_tokens < 2:
            raise SettingError(
                f"{name} reads {limit} tokens at once and cannot write {self.max_tokens}",
                f"take max_tokens of at most {limit - 2}",
            )
        return limit - self.max_tokens

    def settings(self, net: Any, tokenizer: Any) -> dict[str, Any]:
        """The same in transformers' words, with the signs that the checkpoint ends texts by."""
        drawn = {"do_sample": True, "temperature": self.temperature, "top_p": self.top_p}
        end = net.generation_config.eos_token_id
        filler = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else end
        return {
            "max_new_tokens": self.max_tokens,
            "eos_token_id": end,
            "pad_token_id": filler[0] if isinstance(filler, list) else filler,
            "decoder_start_token_id": net.generation_config.decoder_start_token_id,
            "top_k": 0,
            **(drawn if self.temperature else {"do_sample": False}),
        }


def sample(
    net: Any,
    checkpoint: Checkpoint,
    ids: Sequence[int],
    *,
    key: str,
    draw: SamplingSettings,
    stop: Sequence[str],
) -> list[int]:
    """Let a model write on after tokens; `key` and seed decide what chance brings.

    A decoder repeats what it was given before what it writes.
    """
    torch, transformers = package("torch"), package("transformers")
    device, tokenizer = checkpoint.torch_device, checkpoint.tokenizer
    given = torch.tensor([list(ids)], device=device)
    ending = {"stop_strings": list(stop), "tokenizer": tokenizer} if stop else {}
    with (
        torch.random.fork_rng(devices=[device] if device.type == "cuda" else []),
        torch.inference_mode(),
        silence(transformers),
    ):
        torch.manual_seed(seed_of(key, draw.seed))
        config = transformers.GenerationConfig(**draw.settings(net, tokenizer))
        mask = torch.ones_like(given)
        drawn = net.generate(given, attention_mask=mask, generation_config=config, **ending)
    return [int(token) for token in drawn[0]]


def seed_of(key: str, seed: int) -> int:
    """Give the seed of what is drawn after a text."""
    digest = hashlib.blake2b(f"{seed}|{key}".encode(errors="surrogatepass"), digest_size=7)
    return int.from_bytes(digest.digest(), "big")


@dataclass(frozen=True)
class Writer:
    """Likelihood and generator: say the `_logs_of` pairs and what is `_write_after` a prompt."""

    checkpoint: Checkpoint
    window: int
    stride: int

    task: ClassVar[str]
    head: ClassVar[str]
    # Pairs that are cut into tokens and held at once.
    chunk: ClassVar[int]

    @property
    def signature(self) -> str:
        """What the values depend on."""
        return f"{self.checkpoint.identity},{self.task},window={self.window}/{self.stride}"

    def logs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[TokenLogs]:
        """Give the logs of every second text given the first."""
        for chunk in split_chunks(pairs, self.chunk):
            yield from self._logs_of(chunk)

    def count_unknown(self, texts: Sequence[str]) -> list[TokenCount]:
        """Count the tokens of every text and those that are not in the vocabulary."""
        return count_unknown(self.checkpoint.tokenizer, texts)

    def generate(
        self,
        prompts: Sequence[str],
        *,
        max_tokens: int = 128,
        temperature: float = 0.8,
        top_p: float = 0.95,
        stop: Sequence[str] = (),
        seed: int = 0,
    ) -> list[str]:
        """Give what follows each prompt; each is drawn by itself, so batches do not matter."""
        draw = SamplingSettings(max_tokens, temperature, top_p, seed)
        return [cut_at(self._write_after(prompt, draw, stop), stop) for prompt in prompts]

    @cached_property
    def _net(self) -> Any:
        return self.checkpoint.model(self.head)

    def _logs_of(self, pairs: list[tuple[str, str]]) -> Iterator[TokenLogs]:
        raise NotImplementedError

    def _write_after(self, prompt: str, draw: SamplingSettings, stop: Sequence[str]) -> str:
        raise NotImplementedError


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
        return find_beginning(self.checkpoint.tokenizer)

    def _logs_of(self, pairs: list[tuple[str, str]]) -> Iterator[TokenLogs]:
        tokenizer = self.checkpoint.tokenizer
        contexts = tokenise(tokenizer, [context for context, _ in pairs])
        texts = tokenise(tokenizer, [text for _, text in pairs])
        readings = [
            reading
            for number, (context, text) in enumerate(zip(contexts, texts, strict=True))
            for reading in self._readings(number, context, text)
        ]
        logs = run_batches(
            lambda batch: self._run([readings[index] for index in batch]),
            [len(reading.ids) for reading in readings],
            # One by one on a processor: padding costs more than it gains there, and sums of rows
            # that were padded differ in the seventh digit by what else is in the batch.
            budget=1 if self.checkpoint.torch_device.type == "cpu" else 16384,
        )
        for number, text in enumerate(texts):
            parts = [part for r, part in zip(readings, logs, strict=True) if r.text == number]
            joined = np.concatenate([np.zeros((2, 0)), *parts], axis=1)
            yield TokenLogs(text.tokens, text.spans, joined[0], joined[1])

    def _readings(
        self, number: int, context: TokenisedText, text: TokenisedText
    ) -> Iterator[_Reading]:
        prefix = fit_prefix(self._beginning, context.ids, window=self.window, stride=self.stride)
        for stride in prefix.strides(len(text.ids)):
            ids = (*prefix.ids, *text.ids[stride.start : stride.stop])
            yield _Reading(number, ids, len(prefix.ids) + stride.new - stride.start)

    def _run(self, readings: list[_Reading]) -> list[Array]:
        """Logs and entropies of what is new in each reading: (2, new tokens) each."""
        torch = package("torch")
        ids, mask = pad_rows([reading.ids for reading in readings], 0, self.checkpoint.torch_device)
        with torch.inference_mode():
            logits = self._net(input_ids=ids, attention_mask=mask, use_cache=False).logits
            return [
                _score_reading(row, reading) for row, reading in zip(logits, readings, strict=True)
            ]

    def _write_after(self, prompt: str, draw: SamplingSettings, stop: Sequence[str]) -> str:
        name, tokenizer, begun = self.checkpoint.name, self.checkpoint.tokenizer, self._beginning
        ids = tokenise(tokenizer, [prompt])[0].ids
        room = draw.room_in(self.checkpoint.limit, name)
        if room is not None:
            ids = ids[max(len(ids) + len(begun) - room, 0) :]
        if not (given := (*begun, *ids)):
            raise CheckpointError(f"{name} has no sign for a beginning", "give it a prompt")
        drawn = sample(self._net, self.checkpoint, given, key=prompt, draw=draw, stop=stop)
        return str(tokenizer.decode(drawn[len(given) :], skip_special_tokens=True))


def _score_reading(logits: Any, reading: _Reading) -> Array:
    """Each token's log is in the guesses at the place before it; the very first has none."""
    first = max(reading.first, 1)
    targets = reading.ids[first:]
    logs = np.array(gather_logs(logits[first - 1 : len(reading.ids) - 1], targets))
    return np.pad(logs, ((0, 0), (first - reading.first, 0)), constant_values=np.nan)
