"""Files of stories made for tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.core.story import Story
from fabula.datasets.tables.stories import StoryFile

Write = Callable[[str, "str | bytes"], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file of that name, as UTF-8 where it is text."""

    def put(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return put


@pytest.fixture
def read(write: Write) -> Callable[..., list[Story]]:
    """Writes a file and gives the stories in it."""

    def get(name: str, content: str | bytes, **options: object) -> list[Story]:
        return list(StoryFile(write(name, content), **options))

    return get
