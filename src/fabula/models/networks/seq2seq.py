"""Models that turn a source into a text: how likely the text is given the source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.model import TokenCount, TokenLogs
from fabula.models._runtime import package, refuse_broken, thread_limit
from fabula.models.networks.causal import SamplingSettings, Writer, sample
from fabula.models.networks.checkpoint import CheckpointError
from fabula.models.reading.tokens import (
    Ends,
    TokenisedText,
    count_ids,
    find_ends,
    replace_surrogates,
    tokenise,
    truncate_texts,
)
from fabula.models.reading.windows import (
    cut_overlapping,
    fit_prefix,
    gather_logs,
    pad_rows,
    run_batches,
)

if TYPE_CHECKING:
    from fabula.core.model import Array


@dataclass(frozen=True)
class SourceReading:
    """One window of a text beside one window of its source.

    `ids` go in, `targets` are scored: the guesses at them are the `rows` of what comes out. `new`
    are their places in the text with its signs.
    """

    text: int
    source: tuple[int, ...]
    ids: tuple[int, ...]
    targets: tuple[int, ...]
    rows: slice
    new: range


@dataclass(frozen=True)
class PairWindows:
    """How pairs are read: windows of so many tokens, moved on by `stride`.

    A text longer than the window is read on by `stride` tokens, each scored once. A source longer
    than the window is read by windows that overlap. `start` is what the decoder begins with, `ends`
    what stands around source and text; those of the text are scored in its first and last window.
    """

    window: int
    stride: int
    start: int
    ends: Ends

    def readings(
        self, number: int, source: Sequence[int], text: Sequence[int]
    ) -> Iterator[SourceReading]:
        """Give every window of a text beside every window of its source."""
        before, after = self.ends.before, self.ends.after
        # The last sign is scored and never read; others after the text need room.
        room = self.window - max(len(after) - 1, 0)
        prefix = fit_prefix((self.start, *before), (), window=room, stride=self.stride)
        for stride in prefix.strides(len(text)):
            ending = after if stride.stop == len(text) else ()
            whole = (*prefix.ids, *text[stride.start : stride.stop], *ending)
            first = len(prefix.ids) + stride.new - stride.start if stride.new else 1
            targets = whole[first:]
            new = stride.new + len(before) if stride.new else 0
            for part in self.parts(source):
                yield SourceReading(
                    number,
                    part,
                    whole[:-1] if ending else whole,
                    targets,
                    slice(first - 1, first - 1 + len(targets)),
                    range(new, new + len(targets)),
                )

    def parts(self, source: Sequence[int]) -> list[tuple[int, ...]]:
        """Give the source by windows, each with what the tokeniser adds."""
        before, after = self.ends.before, self.ends.after
        room = self.window - len(before) - len(after)
        places = cut_overlapping(len(source), room, max(room - self.stride, 0)) or [range(0)]
        return [(*before, *source[place.start : place.stop], *after) for place in places]

    def truncate(
        self, texts: Sequence[str], tokenised: Sequence[TokenisedText], count: int
    ) -> list[str]:
        """Give the beginnings of texts that make so many tokens, added ones counted."""
        room = count - len(self.ends.before) - len(self.ends.after)
        return truncate_texts(texts, [text.spans for text in tokenised], room)

    def logs(
        self,
        number: int,
        text: TokenisedText,
        readings: Sequence[SourceReading],
        logs_by_reading: Sequence[Array],
    ) -> TokenLogs:
        """Give the logs of one text, and those of the signs around it, from all its readings."""
        if not text.ids:
            return TokenLogs((), (), np.zeros(0))
        first = len(self.ends.before)
        last = first + len(text.ids)
        logs = _mean_logs(number, last + len(self.ends.after), readings, logs_by_reading)
        added = (*map(float, logs[:first]), *map(float, logs[last:]))
        return TokenLogs(text.tokens, text.spans, logs[first:last], added=added)


def _mean_logs(
    number: int, count: int, readings: Sequence[SourceReading], logs_by_reading: Sequence[Array]
) -> Array:
    """Log of the mean probability over the windows of the source, for the tokens of one text."""
    logs = np.full(count, -np.inf)
    parts = np.zeros(count)
    for reading, part in zip(readings, logs_by_reading, strict=True):
        if reading.text == number:
            place = slice(reading.new.start, reading.new.stop)
            logs[place] = np.logaddexp(logs[place], part)
            parts[place] += 1
    return logs - np.log(parts)


@dataclass(frozen=True)
class Seq2SeqModel(Writer):
    """Likelihood and generator on an encoder with a decoder.

    A text longer than the window is read on by `stride` tokens, each scored once. A source longer
    than the window is read by windows that overlap; a token's probability is the mean over them.
    """

    task = "seq2seq"
    head = "AutoModelForSeq2SeqLM"
    chunk = 16

    def truncate(self, texts: Sequence[str], count: int) -> list[str]:
        """Give the beginnings of texts that make so many tokens, added ones counted."""
        return self._pair_windows.truncate(texts, tokenise(self.checkpoint.tokenizer, texts), count)

    @cached_property
    def _pair_windows(self) -> PairWindows:
        """How pairs are read; the decoder begins with a sign of its own."""
        start = getattr(self.checkpoint.shape, "decoder_start_token_id", None)
        if start is None:
            raise CheckpointError(f"{self.checkpoint.name} names no decoder_start_token_id")
        ends = find_ends(self.checkpoint.tokenizer)
        return PairWindows(self.window, self.stride, start, ends)

    def _logs_of(self, pairs: list[tuple[str, str]]) -> Iterator[TokenLogs]:
        sources = tokenise(self.checkpoint.tokenizer, [source for source, _ in pairs])
        texts = tokenise(self.checkpoint.tokenizer, [text for _, text in pairs])
        readings = [
            reading
            for number, (source, text) in enumerate(zip(sources, texts, strict=True))
            for reading in self._pair_windows.readings(number, source.ids, text.ids)
        ]
        logs_by_reading = run_batches(
            lambda batch: self._run([readings[index] for index in batch]),
            [max(len(reading.ids), len(reading.source)) for reading in readings],
            budget=2048 if self.checkpoint.torch_device.type == "cpu" else 16384,
        )
        for number, text in enumerate(texts):
            yield self._pair_windows.logs(number, text, readings, logs_by_reading)

    def _run(self, readings: list[SourceReading]) -> list[Array]:
        """Logs of what is new in each reading."""
        torch, device = package("torch"), self.checkpoint.torch_device
        # A source without a token, under a tokeniser that adds none, is one filler that is seen.
        source, seen = pad_rows([reading.source or (0,) for reading in readings], 0, device)
        ids, mask = pad_rows([reading.ids for reading in readings], 0, device)
        with torch.inference_mode():
            logits = self._net(
                input_ids=source,
                attention_mask=seen,
                decoder_input_ids=ids,
                decoder_attention_mask=mask,
                use_cache=False,
            ).logits
            return [
                gather_logs(row[reading.rows], reading.targets)[0]
                for row, reading in zip(logits, readings, strict=True)
            ]

    def _write_after(self, prompt: str, draw: SamplingSettings, stop: Sequence[str]) -> str:
        tokenizer = self.checkpoint.tokenizer
        # Of a prompt that is too long, the end.
        ids = self._pair_windows.parts(tokenise(tokenizer, [prompt])[0].ids)[-1] or (0,)
        drawn = sample(self._net, self.checkpoint, ids, key=prompt, draw=draw, stop=stop)
        return str(tokenizer.decode(drawn, skip_special_tokens=True))


START, END, UNKNOWN = 0, 1, 2
# Only what is wrong; onnxruntime warns of much that is not.
_ERRORS = 3
_REMEDY = "get it again: the file may have been cut off"


@dataclass(frozen=True)
class OnnxT5:
    """Likelihood on a T5 with 8-bit weights; long texts and sources as `PairWindows` reads them.

    One reading at a time and unpadded: the files round each layer's numbers by the largest of
    them, so that whatever else is read along, padding or later tokens, moves a log by tenths.
    """

    folder: Path
    identity: str
    window: int
    stride: int

    @property
    def signature(self) -> str:
        """What the values depend on."""
        return f"{self.identity},seq2seq,window={self.window}/{self.stride}"

    def logs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[TokenLogs]:
        """Give the logs of every second text given the first."""
        return (self._logs_of(source, text) for source, text in pairs)

    def count_unknown(self, texts: Sequence[str]) -> list[TokenCount]:
        """Count the tokens of every text and those that are not in the vocabulary."""
        tokenised = [self._tokenise(text) for text in texts]
        return [count_ids(text.ids, text.tokens, UNKNOWN) for text in tokenised]

    def truncate(self, texts: Sequence[str], count: int) -> list[str]:
        """Give the beginnings of texts that make so many tokens, added ones counted."""
        return self._pair_windows.truncate(texts, [self._tokenise(text) for text in texts], count)

    def _logs_of(self, source: str, text: str) -> TokenLogs:
        target = self._tokenise(text)
        readings = list(self._pair_windows.readings(0, self._tokenise(source).ids, target.ids))
        sources = {reading.source for reading in readings}
        states = {source_ids: self._encode_source(source_ids) for source_ids in sources}
        logs_by_reading = [self._run(reading, states[reading.source]) for reading in readings]
        return self._pair_windows.logs(0, target, readings, logs_by_reading)

    @cached_property
    def _pair_windows(self) -> PairWindows:
        return PairWindows(self.window, self.stride, START, Ends((), (END,)))

    @cached_property
    def _tokenizer(self) -> Any:
        file = self.folder / "tokenizer.json"
        with refuse_broken(str(file), _REMEDY):
            tokenizer = package("tokenizers").Tokenizer.from_file(str(file))
        # As the file comes, it cuts texts at 48 tokens.
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _encoder(self) -> Any:
        return _session(self.folder / "encoder.onnx")

    @cached_property
    def _decoder(self) -> Any:
        return _session(self.folder / "decoder.onnx")

    def _tokenise(self, text: str) -> TokenisedText:
        encoding = self._tokenizer.encode(replace_surrogates(text), add_special_tokens=False)
        return TokenisedText(tuple(encoding.ids), tuple(encoding.tokens), tuple(encoding.offsets))

    def _encode_source(self, source: tuple[int, ...]) -> Array:
        ids = np.array([source], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        states: Array = self._encoder.run(["last_hidden_state"], inputs)[0]  # (1, S, H)
        return states

    def _run(self, reading: SourceReading, states: Array) -> Array:
        """Logs of what is new in a reading; each is in the guesses at the place before it."""
        inputs = {
            "input_ids": np.array([reading.ids], dtype=np.int64),
            "encoder_hidden_states": states,
            "encoder_attention_mask": np.ones(states.shape[:2], dtype=np.int64),
        }
        logits = self._decoder.run(["logits"], inputs)[0][0]  # (T, V)
        return _logs(logits[reading.rows], reading.targets)


def _session(file: Path) -> Any:
    onnxruntime = package("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = thread_limit()
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS
    with refuse_broken(str(file), _REMEDY):
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def _logs(logits: Array, targets: Sequence[int]) -> Array:
    """Logs of the targets, in double precision from the sums on."""
    highest = logits.max(axis=1)
    sums = np.exp(logits - highest[:, None]).sum(axis=1, dtype=np.float64)
    wanted = logits[np.arange(len(targets)), list(targets)]
    logs: Array = wanted.astype(np.float64) - highest - np.log(sums)
    return logs
