"""Tiny trainings for tests: run, read again, compared, killed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fabula.learned.training.examples import Prepared
from fabula.learned.training.reader import Start, train_reader
from fabula.learned.training.reader_model import ReaderTrainee
from fabula.learned.training.recipe import ReaderRecipe
from fakes.tiny_tasks import tiny_prepared


class Ready:
    """A source of examples that are ready, on an encoder in a folder."""

    def __init__(self, prepared: Prepared, start: Path) -> None:
        self._prepared, self._start = prepared, start

    def find_start(self, recipe: ReaderRecipe) -> Start:
        return Start(self._start, recipe.encoder, digest="of this folder")

    def read(self, recipe: ReaderRecipe) -> Prepared:
        return self._prepared


def train(start: Path, out: Path, recipe: ReaderRecipe, **options: Any) -> dict[str, Any]:
    options = {"device": "cpu", "report": lambda line: None} | options
    return train_reader(recipe, Ready(tiny_prepared(), start), out=out, **options)


def same(first: Path, second: Path) -> bool:
    """Whether two trainings left the same weights."""
    import torch
    from safetensors.torch import load_file

    for name in ("model.safetensors", "encoder/model.safetensors"):
        one, other = (load_file(out / name) for out in (first, second))
        if one.keys() != other.keys() or not all(torch.equal(one[k], other[k]) for k in one):
            return False
    return True


def kill_at(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """Let a training be killed at its so-manieth step."""
    real, seen = ReaderTrainee.learn, []

    def learn(self: ReaderTrainee, *args: Any, **named: Any) -> Any:
        seen.append(1)
        if len(seen) == step:
            raise KeyboardInterrupt
        return real(self, *args, **named)

    monkeypatch.setattr(ReaderTrainee, "learn", learn)
