"""Stop words for metrics that can leave them out: our own list, or a file of the user's."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from fabula.core.errors import SettingError

_FOLDER = Path(__file__).parent / "_lexicons"
_OWN = ("english", "user")


def stop_words(name: str) -> frozenset[str]:
    """Give the words of a list: '' for none, 'english' for ours, else a file, one word a line."""
    if not name:
        return frozenset()
    if name in _OWN:
        return read_words(name)
    try:
        return _words_of(Path(name))
    except (OSError, ValueError) as error:
        raise SettingError(
            f"stop_words={name!r} cannot be read ({error})", "give 'english' or a text file"
        ) from None


@lru_cache(maxsize=8)
def read_words(name: str) -> frozenset[str]:
    """Give a list of words that ships with the metrics."""
    return _words_of(_FOLDER / f"{name}.txt")


def _words_of(path: Path) -> frozenset[str]:
    lines = path.read_text(encoding="utf-8").lower().splitlines()
    return frozenset(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def stop_words_digest(words: frozenset[str]) -> str:
    """Short digest of a list's words, for signatures."""
    joined = "\n".join(sorted(words))
    return hashlib.sha256(joined.encode()).hexdigest()[:8]
