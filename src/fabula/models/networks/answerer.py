"""A model that answers questions with a part of a text: how likely each span is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.model import Answer, TokenCount
from fabula.models._runtime import package
from fabula.models.networks.checkpoint import Checkpoint
from fabula.models.reading.tokens import TokenisedText, count_unknown, split_chunks, tokenise
from fabula.models.reading.windows import cut_overlapping, pad_rows, run_batches

if TYPE_CHECKING:
    from fabula.core.model import Array

CHUNK = 64
# Tokens of an answer, as in SQuAD's own evaluation of BERT.
LONGEST = 30


@dataclass(frozen=True)
class _Frame:
    """What stands before, between and after a question and a text, and fills rows up.

    `types` are what tokens of the question and of the text are marked with, if they are.
    """

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    filler: int
    types: tuple[int, int] | None

    @property
    def size(self) -> int:
        return len(self.before) + len(self.between) + len(self.after)


@dataclass(frozen=True)
class _Reading:
    """A question beside one window of its text; `first` is where in `ids` the text begins."""

    pair: int
    ids: tuple[int, ...]
    first: int
    place: range


@dataclass(frozen=True)
class _Span:
    """Tokens of a text, the last one included, and the probability that they are the answer."""

    probability: float
    first: int
    last: int


@dataclass(frozen=True)
class AnswererModel:
    """Answerer on a checkpoint that points at the first and the last token of an answer.

    Both probabilities are softmaxes over all tokens of a window, question included. A long text is
    read by windows that overlap, and the surest of them answers: with the likeliest span of at
    most 30 tokens. A question that takes more than half of a window is cut to its beginning.
    """

    checkpoint: Checkpoint
    window: int
    stride: int

    @property
    def signature(self) -> str:
        """What the values depend on."""
        return f"{self.checkpoint.identity},answers,window={self.window}/{self.stride}"

    def count_unknown(self, texts: Sequence[str]) -> list[TokenCount]:
        """Count the tokens of every text and those that are not in the vocabulary."""
        return count_unknown(self.checkpoint.tokenizer, texts)

    def answers(self, pairs: Sequence[tuple[str, str]], *, apart: bool = False) -> Iterator[Answer]:
        """Answer every question from the text beside it.

        With `apart` only the first window is read, filled up with padding that has its share of
        the softmax; first and last token are the likeliest each by itself, and there is no answer
        where they cross. That is how SummaQA asks.
        """
        for chunk in split_chunks(pairs, CHUNK):
            yield from self._answers_to(chunk, apart)

    @cached_property
    def _net(self) -> Any:
        return self.checkpoint.model("AutoModelForQuestionAnswering")

    @cached_property
    def _frame(self) -> _Frame:
        # RoBERTa's tokens are all of one type, whatever its tokeniser says.
        typed = getattr(self.checkpoint.shape, "type_vocab_size", 1) > 1
        return _frame_of(self.checkpoint.tokenizer, typed=typed)

    def _answers_to(self, pairs: list[tuple[str, str]], apart: bool) -> Iterator[Answer]:
        questions = tokenise(self.checkpoint.tokenizer, [question for question, _ in pairs])
        texts = tokenise(self.checkpoint.tokenizer, [text for _, text in pairs])
        readings = [
            reading
            for number, (question, text) in enumerate(zip(questions, texts, strict=True))
            for reading in self._readings(number, question.ids, text.ids)
            if not apart or reading.place.start == 0
        ]
        spans = run_batches(
            lambda batch: self._run([readings[index] for index in batch], apart),
            [self.window if apart else len(reading.ids) for reading in readings],
            budget=2048 if self.checkpoint.torch_device.type == "cpu" else 32768,
        )
        surest: dict[int, _Span] = {}
        for reading, span in zip(readings, spans, strict=True):
            best = surest.get(reading.pair)
            if best is None or span.probability > best.probability:
                surest[reading.pair] = span
        read = {reading.pair: reading.place.stop for reading in readings}
        for number, ((_, text), pieces) in enumerate(zip(pairs, texts, strict=True)):
            yield self._answer(text, pieces, surest.get(number), read.get(number, 0), apart=apart)

    def _readings(
        self, number: int, question: Sequence[int], text: Sequence[int]
    ) -> Iterator[_Reading]:
        frame = self._frame
        asked = question[: max(self.window // 2 - frame.size, 1)]
        head = (*frame.before, *asked, *frame.between)
        room = self.window - len(head) - len(frame.after)
        for place in cut_overlapping(len(text), room, max(room - self.stride, 0)):
            tail = (*text[place.start : place.stop], *frame.after)
            yield _Reading(number, (*head, *tail), len(head), place)

    def _run(self, readings: list[_Reading], apart: bool) -> list[_Span]:
        torch = package("torch")
        inputs = self._inputs(readings, self.window if apart else 0)
        # Padding that the model does not see has a guess all the same.
        hidden = inputs["attention_mask"] == (-1 if apart else 0)
        with torch.inference_mode():
            output = self._net(**inputs)
            starts, ends = (
                logits.double().masked_fill(hidden, -torch.inf).softmax(-1).cpu().numpy()
                for logits in (output.start_logits, output.end_logits)
            )
        pick = _pick_apart if apart else _best_span
        parts = [slice(reading.first, reading.first + len(reading.place)) for reading in readings]
        return [
            pick(start[part], end[part], reading.place.start)
            for start, end, part, reading in zip(starts, ends, parts, readings, strict=True)
        ]

    def _inputs(self, readings: list[_Reading], width: int) -> dict[str, Any]:
        """Rows of one length, of at least that width: (B, T) each."""
        device, frame = self.checkpoint.torch_device, self._frame
        ids, mask = pad_rows([reading.ids for reading in readings], frame.filler, device)
        rows = {"input_ids": ids, "attention_mask": mask}
        if frame.types is not None:
            kinds = [
                (frame.types[0],) * r.first + (frame.types[1],) * (len(r.ids) - r.first)
                for r in readings
            ]
            rows["token_type_ids"] = pad_rows(kinds, 0, device)[0]
        pad = package("torch").nn.functional.pad
        more = (0, max(width - ids.shape[1], 0))
        fillers = {"input_ids": frame.filler}
        return {key: pad(row, more, value=fillers.get(key, 0)) for key, row in rows.items()}

    def _answer(
        self, text: str, pieces: TokenisedText, span: _Span | None, read: int, *, apart: bool
    ) -> Answer:
        if span is None:
            return Answer("", 0.0)
        coverage = pieces.spans[read - 1][1] / len(text) if read < len(pieces.ids) else 1.0
        if span.last < span.first:
            return Answer("", span.probability, coverage)
        if apart:
            tokens = list(pieces.tokens[span.first : span.last + 1])
            words = self.checkpoint.tokenizer.convert_tokens_to_string(tokens)
            return Answer(words.strip(), span.probability, coverage)
        start, stop = pieces.spans[span.first][0], pieces.spans[span.last][1]
        return Answer(text[start:stop].strip(), span.probability, coverage)


def _best_span(starts: Array, ends: Array, offset: int) -> _Span:
    """The likeliest span that begins before it ends and is not too long."""
    best = _Span(-1.0, 0, 0)
    for length in range(min(LONGEST, len(starts))):
        both = starts[: len(starts) - length] * ends[length:]
        at = int(np.argmax(both))
        if both[at] > best.probability:
            best = _Span(float(both[at]), offset + at, offset + at + length)
    return best


def _pick_apart(starts: Array, ends: Array, offset: int) -> _Span:
    """The likeliest first and the likeliest last token, whatever lies between them."""
    first, last = int(np.argmax(starts)), int(np.argmax(ends))
    return _Span(float(starts[first] * ends[last]), offset + first, offset + last)


def _frame_of(tokenizer: Any, *, typed: bool) -> _Frame:
    """Find what the tokeniser puts around a pair, by letting it add to texts that it knows."""
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    encoding = tokenizer("a", "a", add_special_tokens=True, return_token_type_ids=typed)
    whole, size = encoding["input_ids"], len(bare)
    places = [at for at in range(len(whole) - size + 1) if whole[at : at + size] == bare]
    first, second = places[0], places[-1]
    return _Frame(
        tuple(whole[:first]),
        tuple(whole[first + size : second]),
        tuple(whole[second + size :]),
        tokenizer.pad_token_id or 0,
        tuple(encoding["token_type_ids"][at] for at in (first, second)) if typed else None,
    )
