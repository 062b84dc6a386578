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
    """Masked likelihood and embedder on a masked language model.

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
            (place, tokens)
            for place, part in zip(places, owned(places), strict=True)
            for tokens in self._together(part)
        ]
        found = run_batches(
            lambda batch: self._fill(text, [gaps[one] for one in batch]),
            [self.window if len(places) > 1 else len(text.ids)] * len(gaps),
            budget=4096 if self.checkpoint.torch_device.type == "cpu" else 65536,
        )
        logs = np.full((len(text.ids), 2), np.nan)
        for (_, tokens), values in zip(gaps, found, strict=True):
            logs[list(tokens)] = values
        return TokenLogs(text.tokens, text.spans, logs[:, 0], logs[:, 1])

    def _together(self, part: range) -> list[range]:
        """Part tokens into those that are masked in one go."""
        count = min(self.apart or len(part), len(part))
        return [part[start::count] for start in range(count)]

    def _fill(self, text: Pieces, gaps: list[tuple[range, range]]) -> list[Array]:
        """Logs and entropies at the gaps; all windows of one text are of one length."""
        torch, device = package("torch"), self.checkpoint.torch_device
        before = len(self.ends.before)
        rows = [
            [*self.ends.before, *text.ids[place.start : place.stop], *self.ends.after]
            for place, _ in gaps
        ]
        cells = [
            (number, before + token - place.start)
            for number, (place, tokens) in enumerate(gaps)
            for token in tokens
        ]
        for number, column in cells:
            rows[number][column] = self._mask
        ids = torch.tensor(rows, device=device)  # (B, T)
        with torch.inference_mode(), _only_at(self._head, cells):
            logits = self._head(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
        if logits.shape[:2] != (1, len(cells)):
            logits = logits[[row for row, _ in cells], [column for _, column in cells]][None]
        logs = logs_of(logits[0], [text.ids[token] for _, tokens in gaps for token in tokens])
        ends = np.cumsum([len(tokens) for _, tokens in gaps])[:-1]
        return np.split(np.array(logs).T, ends)


@contextmanager
def _only_at(head: Any, cells: list[tuple[int, int]]) -> Iterator[None]:
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
