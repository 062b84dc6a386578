"""A model that turns a source into a text: how likely the text is given the source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fabula.core.model import TokenLogs
from fabula.models._checkpoint import CheckpointError
from fabula.models._forward import logs_of, padded, run_batches
from fabula.models._packages import package
from fabula.models._pieces import ends_of, pieces_of
from fabula.models._sampling import Draw, sample
from fabula.models._sources import Beside, SourceReading
from fabula.models._writer import Writer

if TYPE_CHECKING:
    from fabula.core.model import Array


@dataclass(frozen=True)
class Seq2SeqModel(Writer):
    """Likelihood and generator on an encoder with a decoder.

    A text longer than the window is read on by `stride` tokens, each scored once. A source longer
    than the window is read by windows that overlap; a token's probability is the mean over them.
    """

    task = "seq2seq"
    head = "AutoModelForSeq2SeqLM"
    chunk = 16

    def heads(self, texts: Sequence[str], count: int) -> list[str]:
        """Give the beginnings of texts that make so many tokens, added ones counted."""
        return self._beside.heads(pieces_of(self.checkpoint.tokenizer, texts), texts, count)

    @cached_property
    def _beside(self) -> Beside:
        """How pairs are read; the decoder begins with a sign of its own."""
        start = getattr(self.checkpoint.shape, "decoder_start_token_id", None)
        if start is None:
            raise CheckpointError(f"{self.checkpoint.name} names no decoder_start_token_id")
        ends = ends_of(self.checkpoint.tokenizer)
        return Beside(self.window, self.stride, start, ends)

    def _logs_of(self, pairs: list[tuple[str, str]]) -> Iterator[TokenLogs]:
        sources = pieces_of(self.checkpoint.tokenizer, [source for source, _ in pairs])
        texts = pieces_of(self.checkpoint.tokenizer, [text for _, text in pairs])
        readings = [
            reading
            for number, (source, text) in enumerate(zip(sources, texts, strict=True))
            for reading in self._beside.readings(number, source.ids, text.ids)
        ]
        found = run_batches(
            lambda batch: self._run([readings[one] for one in batch]),
            [max(len(one.ids), len(one.source)) for one in readings],
            budget=2048 if self.checkpoint.torch_device.type == "cpu" else 16384,
        )
        for number, text in enumerate(texts):
            yield self._beside.logs(number, text, readings, found)

    def _run(self, readings: list[SourceReading]) -> list[Array]:
        """Logs of what is new in each reading."""
        torch, device = package("torch"), self.checkpoint.torch_device
        # A source without a token, under a tokeniser that adds none, is one filler that is seen.
        source, seen = padded([one.source or (0,) for one in readings], 0, device)
        ids, mask = padded([one.ids for one in readings], 0, device)
        with torch.inference_mode():
            logits = self._net(
                input_ids=source,
                attention_mask=seen,
                decoder_input_ids=ids,
                decoder_attention_mask=mask,
                use_cache=False,
            ).logits
            return [
                logs_of(row[one.rows], one.targets)[0]
                for row, one in zip(logits, readings, strict=True)
            ]

    def _written_after(self, prompt: str, draw: Draw, stop: Sequence[str]) -> str:
        tokenizer = self.checkpoint.tokenizer
        # Of a prompt that is too long, the end.
        ids = self._beside.parts(pieces_of(tokenizer, [prompt])[0].ids)[-1] or (0,)
        drawn = sample(self._net, self.checkpoint, ids, key=prompt, draw=draw, stop=stop)
        return str(tokenizer.decode(drawn, skip_special_tokens=True))
