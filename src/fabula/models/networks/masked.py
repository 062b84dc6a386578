"""A masked language model: how likely each token is given all around it, and what fills a gap.

Salazar et al. (2020), Masked Language Model Scoring: every token is masked in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.model import MeanGuess, TokenLogs
from fabula.models._runtime import package
from fabula.models.networks.checkpoint import CheckpointError
from fabula.models.networks.hf_encoder import EncoderModel
from fabula.models.reading.state_cache import LruCache
from fabula.models.reading.tokens import Ends, TokenisedText, tokenise
from fabula.models.reading.windows import (
    ROWS,
    assign_tokens,
    cut_overlapping,
    gather_logs,
    pad_rows,
    run_batches,
)

if TYPE_CHECKING:
    from fabula.core.model import Array, GapFiller
    from fabula.models.networks.tuning import Lesson, Tuning

Cell = tuple[int, int]
CACHED_TEXTS = 128


@dataclass(frozen=True)
class MaskedTokens:
    """Tokens of a text that are masked in one go, and the window that they are read in."""

    window: range
    tokens: Sequence[int]


@dataclass(frozen=True)
class GapNet:
    """A net with a head that fills gaps, and the tokeniser whose tokens it reads."""

    head: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    ends: Ends
    signature: str
    window: int
    stride: int
    apart: int | None = None
    # What was said of the last texts, for the next measure: as many numbers as there are tokens.
    said: LruCache[MeanGuess] = field(
        default_factory=lambda: LruCache(CACHED_TEXTS), init=False, repr=False, compare=False
    )

    @property
    def room(self) -> int:
        """Tokens that are read at once, those that the model adds left out."""
        return self.window - len(self.ends.before) - len(self.ends.after)

    @property
    def budget(self) -> int:
        """Tokens in a batch."""
        return 4096 if self.device.type == "cpu" else 65536

    @cached_property
    def device(self) -> Any:
        """Where the net lies."""
        return next(self.head.parameters()).device

    def tokens(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """Give the tokens of every text, without those that the model adds."""
        return [text.tokens for text in tokenise(self.tokenizer, texts)]

    def fill(self, rows: Sequence[Sequence[str | None]]) -> list[tuple[str, ...]]:
        """Give the likeliest token for every gap (None) of every row, left to right."""
        if too_long := [len(row) for row in rows if len(row) > self.room]:
            raise ValueError(f"a row of {too_long[0]} tokens: there is room for {self.room}")
        return run_batches(
            lambda batch: self._likeliest([rows[index] for index in batch]),
            [len(row) for row in rows],
            budget=self.budget,
        )

    def masked_logs(self, texts: Sequence[str]) -> Iterator[TokenLogs]:
        """Give logs and entropies of every text, each token masked in turn."""
        return (self._masked_logs_of(tokenise(self.tokenizer, [text])[0]) for text in texts)

    def mean_guesses(
        self, texts: Sequence[str], weights: Sequence[Sequence[float]], *, temperature: float = 1.0
    ) -> Iterator[MeanGuess]:
        """Mask every token in turn; give the mean of the guesses by the tokens' weights."""
        for text, token_weights in zip(texts, weights, strict=True):
            key = (text, tuple(token_weights), temperature)
            if not (known := self.said.find([key])):
                ids = tokenise(self.tokenizer, [text])[0].ids
                mean = self._mean_guess(ids, np.array(token_weights, dtype=float), temperature)
                self.said.put(known := {key: MeanGuess(mean)})
            yield known[key]

    def tune_on(self, lessons: Sequence[Lesson], tuning: Tuning) -> GapNet:
        """Give a copy that was trained on filling the gaps of rows; this one stays as it is."""
        from fabula.models.networks.tuning import tune

        return tune(self, lessons, tuning)

    def number_tokens(self, row: Sequence[str | None]) -> list[int]:
        """Tokens as numbers, gaps masked, with what the model adds."""
        ids = [
            self.mask if token is None else self._numbers.get(token, self._unknown) for token in row
        ]
        return [*self.ends.before, *ids, *self.ends.after]

    def hidden(self, count: int) -> list[MaskedTokens]:
        """All of so many tokens, those that are masked in one go together."""
        places = cut_overlapping(count, self.room, max(self.room - self.stride, 0))
        return [
            MaskedTokens(place, part[start::step])
            for place, part in zip(places, assign_tokens(places), strict=True)
            for step in [min(self.apart or len(part), len(part))]
            for start in range(step)
        ]

    def guesses(self, rows: list[list[int]], cells: list[Cell]) -> Any:
        """Logits at some cells (row, column) of rows of numbers: (cells, vocabulary)."""
        ids, mask = pad_rows(rows, self.tokenizer.pad_token_id or 0, self.device)  # (B, T) each
        with guess_only_at(self.head, cells):
            logits = self.head(input_ids=ids, attention_mask=mask).logits
        if logits.shape[:2] != (1, len(cells)):
            logits = logits[[row for row, _ in cells], [column for _, column in cells]][None]
        return logits[0]

    def guesses_hidden(self, ids: Sequence[int], masked: list[MaskedTokens]) -> Any:
        """Logits at hidden tokens of a text, in order: (tokens, vocabulary)."""
        before = len(self.ends.before)
        rows = [
            [*self.ends.before, *ids[group.window.start : group.window.stop], *self.ends.after]
            for group in masked
        ]
        cells = [
            (number, before + token - group.window.start)
            for number, group in enumerate(masked)
            for token in group.tokens
        ]
        for number, column in cells:
            rows[number][column] = self.mask
        return self.guesses(rows, cells)

    @cached_property
    def mask(self) -> int:
        """The number of the sign for a gap."""
        return int(self.tokenizer.mask_token_id)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        vocabulary: dict[str, int] = self.tokenizer.get_vocab()
        return vocabulary

    @cached_property
    def _unknown(self) -> int:
        sign = self.tokenizer.unk_token_id
        return self.mask if sign is None else int(sign)

    def _masked_logs_of(self, text: TokenisedText) -> TokenLogs:
        hidden = self.hidden(len(text.ids))
        results = run_batches(
            lambda batch: self._read_masked(text, [hidden[index] for index in batch]),
            [len(group.window) for group in hidden],
            budget=self.budget,
        )
        logs = np.full((len(text.ids), 2), np.nan)
        for group, values in zip(hidden, results, strict=True):
            logs[list(group.tokens)] = values
        return TokenLogs(text.tokens, text.spans, logs[:, 0], logs[:, 1])

    def _read_masked(self, text: TokenisedText, hidden: list[MaskedTokens]) -> list[Array]:
        """Logs and entropies at hidden tokens."""
        with package("torch").inference_mode():
            logits = self.guesses_hidden(text.ids, hidden)
            logs = gather_logs(
                logits, [text.ids[token] for group in hidden for token in group.tokens]
            )
        ends = np.cumsum([len(group.tokens) for group in hidden])[:-1]
        return np.split(np.array(logs).T, ends)

    def _likeliest(self, rows: list[Sequence[str | None]]) -> list[tuple[str, ...]]:
        before = len(self.ends.before)
        gaps = [[at for at, token in enumerate(row) if token is None] for row in rows]
        cells = [(number, before + at) for number, places in enumerate(gaps) for at in places]
        if not cells:
            return [()] * len(rows)
        with package("torch").inference_mode():
            best = (
                self.guesses([self.number_tokens(row) for row in rows], cells).argmax(-1).tolist()
            )
        words = iter(self.tokenizer.convert_ids_to_tokens(best))
        return [tuple(next(words) for _ in places) for places in gaps]

    def _mean_guess(self, ids: Sequence[int], weights: Array, temperature: float) -> Array:
        """Σ w p / Σ w, summed in double precision a few rows at a time."""
        torch = package("torch")
        wanted = [
            MaskedTokens(group.window, weighted)
            for group in self.hidden(len(ids))
            if (weighted := [token for token in group.tokens if weights[token]])
        ]
        total = torch.zeros(self.head.config.vocab_size, dtype=torch.float64, device=self.device)

        def run(batch: list[int]) -> list[None]:
            groups = [wanted[index] for index in batch]
            with torch.inference_mode():
                logits = self.guesses_hidden(ids, groups)
                order = [token for group in groups for token in group.tokens]
                total.add_(_weigh_guesses(logits, weights[order], temperature))
            return [None] * len(batch)

        lengths = [len(group.window) for group in wanted]
        run_batches(run, lengths, budget=self.budget)
        if not wanted:
            return np.full(len(total), np.nan)
        mean: Array = (total / total.sum()).cpu().numpy()
        return mean


def _weigh_guesses(logits: Any, weights: Array, temperature: float) -> Any:
    """Sum of the rows' probabilities by weight: (tokens, vocabulary) → (vocabulary,)."""
    torch = package("torch")
    shares = torch.tensor(weights, dtype=torch.float64, device=logits.device)
    total = 0.0
    for start in range(0, len(shares), ROWS):
        chances = (logits[start : start + ROWS].double() / temperature).softmax(-1)
        total = shares[start : start + ROWS] @ chances + total
    return total


@contextmanager
def guess_only_at(head: Any, cells: list[Cell]) -> Iterator[None]:
    """Let the last layer guess at some places: guesses at all others are not wanted."""
    last = head.get_output_embeddings()
    if last is None:
        yield
        return
    rows, columns = (list(side) for side in zip(*cells, strict=True))
    hook = last.register_forward_pre_hook(
        lambda _, given: (given[0][rows, columns][None], *given[1:])
    )
    try:
        yield
    finally:
        hook.remove()


class FillsGaps:
    """Masked likelihood and filler of gaps by the net of `gaps`."""

    @property
    def gaps(self) -> GapNet:
        """The net as it fills gaps."""
        raise NotImplementedError

    @property
    def room(self) -> int:
        """Tokens that are read at once, those that the model adds left out."""
        return self.gaps.room

    def masked_logs(self, texts: Sequence[str]) -> Iterator[TokenLogs]:
        """Give logs and entropies of every text, each token masked in turn."""
        return self.gaps.masked_logs(texts)

    def fill(self, rows: Sequence[Sequence[str | None]]) -> list[tuple[str, ...]]:
        """Give the likeliest token for every gap (None) of every row, left to right."""
        return self.gaps.fill(rows)

    def mean_guesses(
        self, texts: Sequence[str], weights: Sequence[Sequence[float]], *, temperature: float = 1.0
    ) -> Iterator[MeanGuess]:
        """Mask every token in turn; give the mean of the guesses by the tokens' weights."""
        return self.gaps.mean_guesses(texts, weights, temperature=temperature)

    def tune_on(self, lessons: Sequence[Lesson], tuning: Tuning) -> GapFiller:
        """Give a copy that was trained on filling the gaps of rows; this one stays as it is."""
        return self.gaps.tune_on(lessons, tuning)


@dataclass(frozen=True)
class MaskedLanguageModel(FillsGaps, EncoderModel):
    """Masked likelihood, filler of gaps and embedder on a masked language model.

    Every token is masked alone; with `apart`, tokens so far from each other are masked in one go,
    which is as many times faster and gives the model a little less to go by.
    """

    apart: int | None = None

    @property
    def signature(self) -> str:
        """What the values depend on."""
        together = f",apart={self.apart}" if self.apart else ""
        return f"{self.checkpoint.identity},masked,window={self.window}/{self.stride}{together}"

    @cached_property
    def net(self) -> Any:
        """The module below the head, which gives hidden states."""
        return self._head.base_model

    @cached_property
    def gaps(self) -> GapNet:
        """The net as it fills gaps."""
        if self.checkpoint.tokenizer.mask_token_id is None:
            raise CheckpointError(f"the tokeniser of {self.checkpoint.name} has no sign for a gap")
        return GapNet(
            self._head,
            self.checkpoint.tokenizer,
            self.ends,
            self.signature,
            self.window,
            self.stride,
            self.apart,
        )

    @cached_property
    def _head(self) -> Any:
        return self.checkpoint.model("AutoModelForMaskedLM")
