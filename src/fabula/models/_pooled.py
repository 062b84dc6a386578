"""One vector for each window of tokens: what heads on top of an encoder read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fabula.core.errors import SettingError
from fabula.models._bert import Bert
from fabula.models._forward import run_batches
from fabula.models._load import load_model

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor

    from fabula.models._encoder import Edges

# As many as the encoder reads at once, for the same reason: their rows stay in a core's cache.
BATCH_TOKENS = 2048


@dataclass(frozen=True)
class PooledBert:
    """An encoder that gives the state of the first token and the mean over all, and no other."""

    bert: Bert = field(repr=False)
    tokenizer: Tokenizer = field(repr=False)
    edges: Edges
    batch_tokens: int = BATCH_TOKENS

    @property
    def width(self) -> int:
        """Numbers in a window's vector: the first token's state, then the mean."""
        return 2 * self.bert.width

    @property
    def longest(self) -> int:
        """Tokens in the longest window, those that the model adds included."""
        return self.bert.longest

    def layer_tensors(self) -> dict[str, Tensor]:
        """Give the weights of the layers by their names in transformers."""
        return self.bert.layer_tensors()

    def with_layers(self, tensors: Mapping[str, Tensor]) -> PooledBert:
        """Give one with other layers on the same embeddings, which are not copied."""
        return replace(self, bert=self.bert.with_layers(tensors))

    def ids(self, text: str) -> list[int]:
        """Give the numbers of a text's tokens, without those that the model adds."""
        from fabula.models._encoder import SURROGATE

        # Half of a surrogate pair is no character.
        found = self.tokenizer.encode(SURROGATE.sub("\ufffd", text), add_special_tokens=False)
        return list(found.ids)

    def pool(self, texts: Sequence[Sequence[int]]) -> Tensor:
        """Give a vector for every window of tokens: (windows, 2 × width of the encoder)."""
        first, last = self.edges.ids
        return self._pool([[first, *ids, last] for ids in texts])

    def pool_pairs(self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Tensor:
        """Give a vector for every pair, read as one text whose second half is of another kind."""
        first, last = self.edges.ids
        rows = [[first, *one, last, *other, last] for one, other in pairs]
        kinds = [[0] * (len(one) + 2) + [1] * (len(other) + 1) for one, other in pairs]
        return self._pool(rows, kinds)

    def _pool(self, rows: list[list[int]], kinds: list[list[int]] | None = None) -> Tensor:
        import torch

        top = len(self.bert.stack)

        def run(batch: list[int]) -> list[Tensor]:
            of_batch = None if kinds is None else [kinds[index] for index in batch]
            [states] = self.bert([rows[index] for index in batch], [top], kinds=of_batch)
            parts = states.split_with_sizes([len(rows[index]) for index in batch])
            return [torch.cat([part[0], part.mean(0)]) for part in parts]

        with torch.inference_mode():
            found = run_batches(run, [len(row) for row in rows], budget=self.batch_tokens)
            return torch.stack(found).float() if found else torch.empty(0, self.width)


def pooled_bert(name: str) -> PooledBert:
    """Give the encoder that an asset holds; it is loaded once a process, whoever else asks it."""
    from fabula.models._encoder import Encoder

    found = load_model(f"embedded({name!r})")
    if not isinstance(found, Encoder):
        raise SettingError(f"{name!r} is no encoder", "name one such as 'story_encoder'")
    return PooledBert(found.bert, found.tokenizer, found.edges)
