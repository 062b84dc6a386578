"""Digests of what is scored: the names under which the cache keeps what metrics said."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from fabula.core.card import Need
from fabula.core.story import Story

_SIZE = 20
_WHOLE: tuple[Need, ...] = ("prompt", "reference", "images")


def digest_story(story: Story, reads: tuple[Need, ...]) -> bytes:
    """Digest of the parts of a story that a metric reads; its id is not among them."""
    parts = ["text", story.text]
    if "prompt" in reads:
        parts += ["prompt", story.prompt or ""]
    if "reference" in reads:
        parts += ["references", *story.references]
    if "images" in reads:
        parts += ["images", *story.images]
    return digest_parts(parts)


def digest_whole(story: Story) -> bytes:
    """Digest of a story with everything it says, its id, system and item as well."""
    names = (story.id, story.system or "", story.item or "")
    return digest_parts([digest_story(story, _WHOLE).hex(), *names])


def digest_parts(parts: Iterable[str]) -> bytes:
    """Digest of several strings; where one ends and the next begins counts."""
    hasher = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        hasher.update(len(raw).to_bytes(8, "big"))
        hasher.update(raw)
    return hasher.digest()[:_SIZE]


class SetDigest:
    """Digest of a set of stories that does not depend on their order."""

    def __init__(self) -> None:
        self._sum = 0
        self.count = 0

    def add(self, digest: bytes) -> None:
        """Take one more member in."""
        self._sum = (self._sum + int.from_bytes(digest, "big")) % (1 << 8 * _SIZE)
        self.count += 1

    def hex(self) -> str:
        """Give the digest as text."""
        return f"{self.count}-{self._sum:0{2 * _SIZE}x}"
