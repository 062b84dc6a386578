"""A model that fills gaps: how likely each token is given all around it.

Salazar et al. (2020), Masked Language Model Scoring: every token is masked in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.model import TokenLogs
from fabula.models._checkpoint import CheckpointError
from fabula.models._forward import logs_of, run_batches
from fabula.models._hf_encoder import EncoderModel
from fabula.models._packages import package
from fabula.models._pieces import Pieces, pieces_of
from fabula.models._windows import owned

if TYPE_CHECKING:
    from fabula.core.model import Array


@dataclass(frozen=True)
class MaskedModel(EncoderModel):
    """Masked likelihood and embedder on a masked language model."""

    @property
    def signature(self) -> str:
        """What the values depend on."""
        return f"{self.checkpoint.identity},masked,window={self.window}/{self.stride}"

    def masked_logs(self, texts: Sequence[str]) -> Iterator[TokenLogs]:
        """Give logs and entropies of every text, each token masked in turn."""
        return (
            self._masked_logs_of(pieces_of(self.checkpoint.tokenizer, [text])[0]) for text in texts
        )

    @cached_property
    def net(self) -> Any:
        """The module below the head, which gives hidden states."""
        return self._head.base_model

    @cached_property
    def _head(self) -> Any:
        return self.checkpoint.model("AutoModelForMaskedLM")

    @cached_property
    def _mask(self) -> int:
        sign = self.checkpoint.tokenizer.mask_token_id
        if sign is None:
            raise CheckpointError(f"the tokeniser of {self.checkpoint.name} has no sign for a gap")
        return int(sign)

    def _masked_logs_of(self, text: Pieces) -> TokenLogs:
        places = self.places(len(text.ids))
        gaps = [
            (place, token)
            for place, part in zip(places, owned(places), strict=True)
            for token in part
        ]
        found = run_batches(
            lambda batch: self._fill(text, [gaps[one] for one in batch]),
            [self.window if len(places) > 1 else len(text.ids)] * len(gaps),
            budget=4096 if self.checkpoint.torch_device.type == "cpu" else 65536,
        )
        logs = np.array(found).reshape(-1, 2)
        return TokenLogs(text.tokens, text.spans, logs[:, 0], logs[:, 1])

    def _fill(self, text: Pieces, gaps: list[tuple[range, int]]) -> list[Array]:
        """Log and entropy at each gap; all windows of one text are of one length."""
        torch, device = package("torch"), self.checkpoint.torch_device
        before = len(self.ends.before)
        rows = [
            [*self.ends.before, *text.ids[place.start : place.stop], *self.ends.after]
            for place, _ in gaps
        ]
        columns = [before + token - place.start for place, token in gaps]
        for row, column in zip(rows, columns, strict=True):
            row[column] = self._mask
        ids = torch.tensor(rows, device=device)  # (B, T)
        with torch.inference_mode(), _only_at(self._head, columns):
            logits = self._head(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
        if logits.shape[1] > 1:
            logits = logits[torch.arange(len(gaps)), columns, None]
        logs = logs_of(logits[:, 0], [text.ids[token] for _, token in gaps])
        return list(np.array(logs).T)


@contextmanager
def _only_at(head: Any, columns: list[int]) -> Iterator[None]:
    """Let the last layer guess at one place a row: guesses at all others are not wanted."""
    last = head.get_output_embeddings()
    if last is None:
        yield
        return
    hook = last.register_forward_pre_hook(
        lambda _, given: (given[0][range(len(columns)), columns, None], *given[1:])
    )
    try:
        yield
    finally:
        hook.remove()
