"""A checkpoint that writes: what models from left to right share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from fabula.core.model import TokenLogs
from fabula.models._checkpoint import Checkpoint
from fabula.models._pieces import in_chunks
from fabula.models._sampling import Draw
from fabula.models._stops import cut_at


@dataclass(frozen=True)
class Writer:
    """Likelihood and generator: say the `_logs_of` pairs and what is `_written_after` a prompt."""

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
        for chunk in in_chunks(pairs, self.chunk):
            yield from self._logs_of(chunk)

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
        draw = Draw(max_tokens, temperature, top_p, seed)
        return [cut_at(self._written_after(prompt, draw, stop), stop) for prompt in prompts]

    @cached_property
    def _net(self) -> Any:
        return self.checkpoint.model(self.head)

    def _logs_of(self, pairs: list[tuple[str, str]]) -> Iterator[TokenLogs]:
        raise NotImplementedError

    def _written_after(self, prompt: str, draw: Draw, stop: Sequence[str]) -> str:
        raise NotImplementedError
