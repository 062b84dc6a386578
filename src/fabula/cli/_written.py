"""Files that commands write where the user names them."""

from __future__ import annotations

from pathlib import Path


def write_file(path: Path, text: str) -> None:
    """Write a text, with the folders above it; half a surrogate pair becomes a question mark."""
    from fabula.core.files import unwritable

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise unwritable(path, error) from error
