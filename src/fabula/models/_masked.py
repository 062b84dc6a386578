"""A model that fills gaps: how likely each token is given all around it.

Salazar et al. (2020), Masked Language Model Scoring: every token is masked in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.model import MeanGuess, TokenLogs
from fabula.models._checkpoint import CheckpointError
from fabula.models._forward import logs_of, run_batches
from fabula.models._gaps import GapNet, Hidden
from fabula.models._hf_encoder import EncoderModel
from fabula.models._packages import package
from fabula.models._pieces import Pieces, pieces_of

if TYPE_CHECKING:
    from fabula.core.model import Array, GapFiller, Lesson, Tuning


@dataclass(frozen=True)
class MaskedModel(EncoderModel):
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

    def masked_logs(self, texts: Sequence[str]) -> Iterator[TokenLogs]:
        """Give logs and entropies of every text, each token masked in turn."""
        return (
            self._masked_logs_of(pieces_of(self.checkpoint.tokenizer, [text])[0]) for text in texts
        )

    @property
    def room(self) -> int:
        """Tokens that are read at once, those that the model adds left out."""
        return self.gaps.room

    def fill(self, rows: Sequence[Sequence[str | None]]) -> list[tuple[str, ...]]:
        """Give the likeliest token for every gap (None) of every row, left to right."""
        return self.gaps.fill(rows)

    def mean_guesses(
        self, texts: Sequence[str], weights: Sequence[Sequence[float]], *, temperature: float = 1.0
    ) -> Iterator[MeanGuess]:
        """Mask every token in turn; give the mean of the guesses by the tokens' weights."""
        return self.gaps.mean_guesses(texts, weights, temperature=temperature)

    def tuned_on(self, lessons: Sequence[Lesson], tuning: Tuning) -> GapFiller:
        """Give a copy that was trained on filling the gaps of rows; this one stays as it is."""
        return self.gaps.tuned_on(lessons, tuning)

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

    def _masked_logs_of(self, text: Pieces) -> TokenLogs:
        hidden = self.gaps.hidden(len(text.ids))
        found = run_batches(
            lambda batch: self._fill(text, [hidden[one] for one in batch]),
            [len(one.window) for one in hidden],
            budget=self.gaps.budget,
        )
        logs = np.full((len(text.ids), 2), np.nan)
        for one, values in zip(hidden, found, strict=True):
            logs[list(one.tokens)] = values
        return TokenLogs(text.tokens, text.spans, logs[:, 0], logs[:, 1])

    def _fill(self, text: Pieces, hidden: list[Hidden]) -> list[Array]:
        """Logs and entropies at hidden tokens."""
        with package("torch").inference_mode():
            logits = self.gaps.guesses_hidden(text.ids, hidden)
            logs = logs_of(logits, [text.ids[token] for one in hidden for token in one.tokens])
        ends = np.cumsum([len(one.tokens) for one in hidden])[:-1]
        return np.split(np.array(logs).T, ends)
