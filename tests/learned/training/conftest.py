"""Tiny models are quickest on one thread, and give the same numbers on every machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.tiny_tasks import write_tiny_encoder


@pytest.fixture(autouse=True, scope="package")
def one_thread() -> Iterator[None]:
    try:
        import torch
    except ImportError:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="package")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny encoder."""
    return write_tiny_encoder(tmp_path_factory.mktemp("tiny") / "start")
