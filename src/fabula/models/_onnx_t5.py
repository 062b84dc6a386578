"""A T5 in two ONNX files, encoder and decoder: how likely a text is given a source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.model import TokenLogs
from fabula.models._packages import package
from fabula.models._pieces import Ends, Pieces, spellable
from fabula.models._sources import Beside, SourceReading
from fabula.models._threads import thread_limit

if TYPE_CHECKING:
    from fabula.core.model import Array

START, END = 0, 1
# Only what is wrong; onnxruntime warns of much that is not.
_ERRORS = 3


@dataclass(frozen=True)
class OnnxT5:
    """Likelihood on a T5 with 8-bit weights; long texts and sources as `Beside` reads them.

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

    def heads(self, texts: Sequence[str], count: int) -> list[str]:
        """Give the beginnings of texts that make so many tokens, added ones counted."""
        return self._beside.heads([self._pieces(text) for text in texts], texts, count)

    def _logs_of(self, source: str, text: str) -> TokenLogs:
        target = self._pieces(text)
        readings = list(self._beside.readings(0, self._pieces(source).ids, target.ids))
        states = {one: self._encoded(one) for one in {reading.source for reading in readings}}
        found = [self._run(reading, states[reading.source]) for reading in readings]
        return self._beside.logs(0, target, readings, found)

    @cached_property
    def _beside(self) -> Beside:
        return Beside(self.window, self.stride, START, Ends((), (END,)))

    @cached_property
    def _tokenizer(self) -> Any:
        found = package("tokenizers").Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        # As the file comes, it cuts texts at 48 tokens.
        found.no_truncation()
        found.no_padding()
        return found

    @cached_property
    def _encoder(self) -> Any:
        return _session(self.folder / "encoder.onnx")

    @cached_property
    def _decoder(self) -> Any:
        return _session(self.folder / "decoder.onnx")

    def _pieces(self, text: str) -> Pieces:
        found = self._tokenizer.encode(spellable(text), add_special_tokens=False)
        return Pieces(tuple(found.ids), tuple(found.tokens), tuple(found.offsets))

    def _encoded(self, source: tuple[int, ...]) -> Array:
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
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def _logs(logits: Array, targets: Sequence[int]) -> Array:
    """Logs of the targets, in double precision from the sums on."""
    highest = logits.max(axis=1)
    sums = np.exp(logits - highest[:, None]).sum(axis=1, dtype=np.float64)
    wanted = logits[np.arange(len(targets)), list(targets)]
    found: Array = wanted.astype(np.float64) - highest - np.log(sums)
    return found
