"""Tiny trainings for tests: run, read again, compared, killed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fabula.learned.training.reader import train_reader
from fabula.learned.training.reader_model import ReaderModel
from fabula.learned.training.reader_recipe import ReaderRecipe
from learned.tiny_tasks import tiny_prepared


def train(start: Path, out: Path, recipe: ReaderRecipe, **options: Any) -> dict[str, Any]:
    options = {"device": "cpu", "report": lambda line: None} | options
    return train_reader(recipe, tiny_prepared(), start=start, out=out, **options)


def same(first: Path, second: Path) -> bool:
    """Whether two trainings left the same weights."""
    import torch
    from safetensors.torch import load_file

    one, other = (load_file(out / "model.safetensors") for out in (first, second))
    return one.keys() == other.keys() and all(torch.equal(one[k], other[k]) for k in one)


def kill_at(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """Let a training be killed at its so-manieth step."""
    real, seen = ReaderModel.learn, []

    def learn(self: ReaderModel, *args: Any, **named: Any) -> Any:
        seen.append(1)
        if len(seen) == step:
            raise KeyboardInterrupt
        return real(self, *args, **named)

    monkeypatch.setattr(ReaderModel, "learn", learn)
