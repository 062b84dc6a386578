"""Training a copy of a model on a few rows, as BLANC-tune does (Vasilyev et al., 2020)."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from fabula.core.model import GapFiller
from fabula.models._runtime import package
from fabula.models.reading.tokens import split_chunks

if TYPE_CHECKING:
    from fabula.models.networks.masked import GapNet

_UNDECAYED = ("bias", "LayerNorm.weight", "layer_norm.weight", "norm.weight")


@dataclass(frozen=True)
class Lesson:
    """Tokens to learn from, and the places among them that are to be guessed."""

    tokens: tuple[str, ...]
    gaps: tuple[int, ...]


@dataclass(frozen=True)
class Tuning:
    """How a model is trained on lessons: AdamW, its rate falling to nothing step by step.

    Of the gaps a share is `swapped` for any other token and a share `kept` as it is; the rest are
    masked. Rows are taken in order, so many a `batch`.
    """

    epochs: int = 10
    rate: float = 5e-5
    decay: float = 0.01
    batch: int = 1
    swapped: float = 0.1
    kept: float = 0.1
    seed: int = 0


@runtime_checkable
class TunableFiller(GapFiller, Protocol):
    """A filler of gaps that can be trained a little further, as BLANC-tune does."""

    def tune_on(self, lessons: Sequence[Lesson], tuning: Tuning) -> GapFiller:
        """Give a copy that was trained on filling the gaps of rows; this one stays as it is."""
        ...


@dataclass(frozen=True)
class _Row:
    """A row as the model reads it in training, and what is right at its gaps."""

    ids: list[int]
    gaps: list[int]
    right: list[int]


def tune(net: GapNet, lessons: Sequence[Lesson], tuning: Tuning) -> GapNet:
    """Copy a net and train the copy; the same lessons and seed give the same weights."""
    head = deepcopy(net.head).float()
    said = hashlib.sha256(repr((tuple(lessons), tuning)).encode("utf-8", "replace")).hexdigest()
    copy = replace(net, head=head, signature=f"{net.signature},tuned={said[:12]}")
    rows = _mask_rows(copy, [lesson for lesson in lessons if lesson.gaps], tuning)
    if rows:
        with _fork_seed(tuning.seed, copy.device):
            _train(copy, rows, tuning)
    return copy


def _mask_rows(net: GapNet, lessons: Sequence[Lesson], tuning: Tuning) -> list[_Row]:
    """Mask the gaps, but for those that are swapped or kept; once, for all epochs."""
    chance = random.Random(tuning.seed)
    others = _list_ordinary(net.tokenizer)
    before = len(net.ends.before)
    rows = []
    for lesson in lessons:
        ids = net.number_tokens(lesson.tokens)
        gaps = [before + gap for gap in lesson.gaps]
        right = [ids[gap] for gap in gaps]
        for gap in gaps:
            drawn = chance.random()
            if drawn < tuning.swapped:
                ids[gap] = chance.choice(others)
            elif drawn >= tuning.swapped + tuning.kept:
                ids[gap] = net.mask
        rows.append(_Row(ids, gaps, right))
    return rows


def _list_ordinary(tokenizer: Any) -> list[int]:
    """Numbers of all tokens that can stand in a text."""
    special = set(tokenizer.all_special_ids)
    return sorted(
        number
        for token, number in tokenizer.get_vocab().items()
        if number not in special and not token.startswith("[unused")
    )


def _train(net: GapNet, rows: list[_Row], tuning: Tuning) -> None:
    torch = package("torch")
    batches = list(split_chunks(rows, tuning.batch))
    steps = tuning.epochs * len(batches)
    optimizer = torch.optim.AdamW(_groups(net.head, tuning.decay), lr=tuning.rate, fused=True)
    falling = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / max(steps, 1))
    net.head.train()
    for _ in range(tuning.epochs):
        for batch in batches:
            optimizer.zero_grad()
            _loss(net, batch).backward()
            optimizer.step()
            falling.step()
    net.head.eval().requires_grad_(False)


def _loss(net: GapNet, batch: list[_Row]) -> Any:
    torch = package("torch")
    cells = [(number, gap) for number, row in enumerate(batch) for gap in row.gaps]
    logits = net.guesses([row.ids for row in batch], cells)  # (gaps, vocabulary)
    right = torch.tensor([token for row in batch for token in row.right], device=net.device)
    return torch.nn.functional.cross_entropy(logits, right)


def _groups(head: Any, decay: float) -> list[dict[str, Any]]:
    """Weights that decay, and those that do not: biases and scales of norms."""
    named = list(head.named_parameters())
    return [
        {
            "params": [p for name, p in named if not name.endswith(_UNDECAYED)],
            "weight_decay": decay,
        },
        {"params": [p for name, p in named if name.endswith(_UNDECAYED)], "weight_decay": 0.0},
    ]


@contextmanager
def _fork_seed(seed: int, device: Any) -> Iterator[None]:
    """Let dropout draw by the seed; what others draw afterwards is as if nothing had been."""
    torch = package("torch")
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield
