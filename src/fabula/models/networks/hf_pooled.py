"""Any model of transformers as readers use one: a vector for a window of tokens, or for a pair.

It gives what `PooledBert` gives, for ALBERT, RoBERTa, DeBERTa, ELECTRA, MPNet and their like: the
state of the first token, and the mean over all. Of a model that reads forward, as GPT-2 and Llama
do, the first token knows nothing of the others: it is the state of the last one. States may be
those of a layer below the last, and how likely a model that reads forward found the window may
stand beside them.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.models.networks.adapter import CONFIG as ADAPTER_CONFIG
from fabula.models.networks.adapter import read_adapter
from fabula.models.networks.bert import load_bert
from fabula.models.networks.checkpoint import Checkpoint, CheckpointError
from fabula.models.networks.encoder import PooledBert
from fabula.models.reading.tokens import find_ends, tokenise
from fabula.models.reading.windows import Frame, run_batches
from fabula.models.store.folder import path_of

if TYPE_CHECKING:
    from torch import Tensor

_UNBOUNDED = 4096  # tokens at once, of a model that knows no bound
_CPU_TOKENS, _GPU_TOKENS = 4096, 32_768
_LOGIT_ROWS = 512  # tokens whose likelihood under the whole vocabulary is computed at once
SURPRISALS = 4  # numbers that say how likely a window was


@dataclass(frozen=True)
class HubEncoder:
    """A checkpoint's encoder: its module, its tokeniser, and what it puts around texts."""

    checkpoint: Checkpoint

    @cached_property
    def net(self) -> Any:
        """The module that gives a state for every token."""
        if self.checkpoint.config.get("is_encoder_decoder"):
            problem = f"{self.checkpoint.name} is an encoder with a decoder"
            raise CheckpointError(problem, "name an encoder alone, such as albert-large-v1")
        if self.checkpoint.adapter:  # a difference knows the layers by their names below a head
            return self.causal.base_model
        # Checkpoints with another head lack the pooler, which no state comes from.
        return self.checkpoint.model("AutoModel", unused="pooler.")

    @cached_property
    def causal(self) -> Any:
        """The same module below the head that guesses the next token."""
        return self.checkpoint.model("AutoModelForCausalLM")

    @property
    def reads_forward(self) -> bool:
        """Whether a token sees those before it alone."""
        return any(
            str(name).endswith(("ForCausalLM", "LMHeadModel"))
            for name in self.checkpoint.config.get("architectures") or ()
        )

    @property
    def width(self) -> int:
        """Numbers in a token's state."""
        return int(self.checkpoint.shape.hidden_size)

    @cached_property
    def frame(self) -> Frame:
        """What stands around texts, as the tokeniser puts it."""
        tokenizer = self.checkpoint.tokenizer
        ends = find_ends(tokenizer)
        bare = tokenizer("a", add_special_tokens=False)["input_ids"]
        both = tokenizer("a", "a")["input_ids"]
        left, right = [*ends.before, *bare], [*bare, *ends.after]
        between = both[len(left) : len(both) - len(right)]
        is_found = between and [*left, *between, *right] == both
        longest = self.checkpoint.limit or _UNBOUNDED
        return Frame(ends.before, tuple(between) if is_found else ends.after, ends.after, longest)

    @cached_property
    def knows_kinds(self) -> bool:
        """Whether it tells the second text of a pair from the first."""
        takes = inspect.signature(self.net.forward).parameters
        kinds = getattr(self.checkpoint.shape, "type_vocab_size", 0)
        return "token_type_ids" in takes and kinds > 1

    @cached_property
    def filler(self) -> int:
        """The sign that fills rows up."""
        return int(self.checkpoint.tokenizer.pad_token_id or 0)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Give texts as numbers of tokens, without those that the model adds."""
        return [list(text.ids) for text in tokenise(self.checkpoint.tokenizer, texts)]

    def inputs(self, ids: Tensor, mask: Tensor, kinds: Tensor) -> dict[str, Tensor]:
        """Give what the module is called with: (B, T) each."""
        given = {"input_ids": ids, "attention_mask": mask}
        return given | ({"token_type_ids": kinds} if self.knows_kinds else {})


@dataclass(frozen=True)
class PooledHub:
    """An encoder that gives the state of one token and the mean over all, and no other.

    Where it `is_asset`, readers add what they learned to its weights; else all lies in itself.
    States are those after so many layers (0: after all of them); with `surprisal` four numbers
    follow: the mean, the spread, the mean of the last quarter and the lowest tenth of the
    log-probabilities of its tokens, each after those before it.
    """

    encoder: HubEncoder = field(repr=False)
    is_asset: bool = False
    layer: int = 0
    surprisal: bool = False

    @property
    def width(self) -> int:
        """Numbers in a window's vector: one token's state, the mean, and how likely it was."""
        return 2 * self.encoder.width + SURPRISALS * self.surprisal

    @property
    def room(self) -> int:
        """Tokens of a text that are read at once."""
        return self.encoder.frame.room

    @property
    def pair_room(self) -> int:
        """Tokens that are read of either text of a pair."""
        return self.encoder.frame.pair_room

    @property
    def unknown(self) -> int | None:
        """The number of the sign for what is not in the vocabulary."""
        tokenizer = self.encoder.checkpoint.tokenizer
        number: int | None = tokenizer.unk_token_id
        # Some name the sign between texts as that of the unknown.
        return None if number in (tokenizer.bos_token_id, tokenizer.eos_token_id) else number

    def layer_tensors(self) -> dict[str, Tensor]:
        """Give the weights that differences are added to; none where all lies in the encoder."""
        return dict(self.encoder.net.state_dict()) if self.is_asset else {}

    def with_layers(self, tensors: Mapping[str, Tensor]) -> PooledHub:
        """Give the same encoder with other weights; who opened it must not share it."""
        if self.is_asset:
            own = self.encoder.net.state_dict().keys()
            learned = {name: one for name, one in tensors.items() if name in own}
            self.encoder.net.load_state_dict(learned)
        return self

    def drop_needless_layers(self) -> PooledHub:
        """Give the same encoder without the layers above that of its states, where these are known.

        Who opened it must not share it.
        """
        stack = getattr(getattr(self.encoder.net, "encoder", None), "layer", None)
        if stack is not None and self.layer and not self.surprisal:
            del stack[self.layer :]
        return self

    def ids(self, text: str) -> list[int]:
        """Give the numbers of a text's tokens, without those that the model adds."""
        [ids] = self.encoder.ids([text])
        return ids

    def pool(self, texts: Sequence[Sequence[int]]) -> Tensor:
        """Give a vector for every window of tokens: (windows, 2 × width of the encoder)."""
        rows = [self.encoder.frame.put_around(ids) for ids in texts]
        return self._pool(rows, [len(row) for row in rows])

    def pool_pairs(self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Tensor:
        """Give a vector for every pair, read as one text whose second half is of another kind."""
        joined = [self.encoder.frame.join_pair(first, second) for first, second in pairs]
        return self._pool([row for row, _ in joined], [second for _, second in joined])

    def _pool(self, rows: list[list[int]], seconds: list[int]) -> Tensor:
        import torch

        device = self.encoder.checkpoint.torch_device
        one = -1 if self.encoder.reads_forward else 0

        def run(batch: list[int]) -> list[Tensor]:
            shape = len(batch), max(len(rows[index]) for index in batch)
            ids = torch.full(shape, self.encoder.filler)
            mask, kinds = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long)
            for at, index in enumerate(batch):
                length = len(rows[index])
                ids[at, :length] = torch.tensor(rows[index])
                mask[at, :length] = 1
                kinds[at, seconds[index] : length] = 1
            given = self.encoder.inputs(ids.to(device), mask.to(device), kinds.to(device))
            last, states = self._read(given)
            vectors = []
            for at, index in enumerate(batch):
                part = states[at, : len(rows[index])]
                parts = [part[one].float(), part.float().mean(0)]
                if self.surprisal:
                    parts.append(self._find_surprisal(last[at], rows[index]))
                vectors.append(torch.cat(parts).cpu())
            return vectors

        budget = _CPU_TOKENS if device.type == "cpu" else _GPU_TOKENS
        with torch.inference_mode():
            vectors = run_batches(run, [len(row) for row in rows], budget=budget)
            return torch.stack(vectors) if vectors else torch.empty(0, self.width)

    def _read(self, given: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Give the states after all layers, and those that vectors are made of: (B, T, H)."""
        read = self.encoder.net(**given, output_hidden_states=self.layer > 0)
        last = read.last_hidden_state
        return last, read.hidden_states[self.layer] if self.layer else last

    def _find_surprisal(self, states: Tensor, ids: Sequence[int]) -> Tensor:
        """Say how likely a window's tokens were, each after those before it: (4,)."""
        import torch

        head = self.encoder.causal.get_output_embeddings()
        wanted = torch.tensor(ids[1:], device=states.device)
        if not len(wanted):
            return states.new_zeros(SURPRISALS, dtype=torch.float32)
        logs = torch.cat(
            [
                -torch.nn.functional.cross_entropy(
                    head(states[start:stop]).float(), wanted[start:stop], reduction="none"
                )
                for start in range(0, len(wanted), _LOGIT_ROWS)
                for stop in [min(start + _LOGIT_ROWS, len(wanted))]
            ]
        )
        ending = logs[-max(1, len(logs) // 4) :]
        spread = logs.std(correction=0)
        return torch.stack([logs.mean(), spread, ending.mean(), logs.quantile(0.1)])


def open_hub_encoder(folder: Path, name: str, device: str = "auto") -> HubEncoder:
    """Open a folder that transformers reads; of a difference, the model that it belongs to."""
    adapter = None
    if (folder / ADAPTER_CONFIG).is_file():
        adapter = read_adapter(folder)
        folder = path_of(adapter.model)
    return HubEncoder(Checkpoint(folder, name, device=device, adapter=adapter))


def open_pooled(
    folder: Path,
    name: str,
    *,
    is_bert: bool,
    is_asset: bool = False,
    layer: int = 0,
    surprisal: bool = False,
) -> PooledBert | PooledHub:
    """Open the encoder of a folder: by our own network where it is a BERT, else by transformers."""
    if is_bert:
        from fabula.models.networks.encoder import load_tokenizer

        bert = load_bert(folder)
        return PooledBert(bert, *load_tokenizer(folder, len(bert.words)))
    encoder = open_hub_encoder(folder, name)
    # Loaded now: what is amiss is said when a reader is opened, not at its first text.
    encoder.net.eval()
    return PooledHub(encoder, is_asset, layer, surprisal)
