"""A story: a text, what it answers, what it is compared with, and who wrote it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fabula.core.errors import InputError


@dataclass(frozen=True, slots=True)
class Story:
    """A text with its prompt, references, images, its `system` (who wrote it) and `item`.

    Stories of several systems for one task share an `item`.
    """

    id: str
    text: str
    prompt: str | None = None
    references: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    system: str | None = None
    item: str | None = None

    def __post_init__(self) -> None:
        """Refuse what is not text, naming the story and the field."""
        if not isinstance(self.id, str) or not self.id:
            raise InputError(
                f"a story's id must be a non-empty string, not {self.id!r}", "use str(id)"
            )
        if not isinstance(self.text, str):
            raise InputError(
                f"story {self.id!r}: text must be a string, not {type(self.text).__name__}",
                'an empty story is ""',
            )
        for name in ("prompt", "system", "item"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise InputError(
                    f"story {self.id!r}: {name} must be a string or None, "
                    f"not {type(value).__name__}"
                )
        for name in ("references", "images"):
            object.__setattr__(self, name, self._strings(name))

    @property
    def nonblank_references(self) -> tuple[str, ...]:
        """References that hold more than blanks: what a metric can compare with."""
        return tuple(reference for reference in self.references if reference.strip())

    def _strings(self, name: str) -> tuple[str, ...]:
        """Give a field as a tuple of strings; a bare string is a mistake, not letters."""
        value = getattr(self, name)
        several = isinstance(value, Iterable) and not isinstance(value, str)
        if not several or not all(isinstance(part, str) for part in value):
            raise InputError(
                f"story {self.id!r}: {name} must be several strings", f"write {name}=('…',)"
            )
        return tuple(value)


def count_text(count: int, one: str, more: str = "") -> str:
    """Write a count with its noun: 1 story, 1,056 stories."""
    return f"{count:,} {one if count == 1 else more or f'{one}s'}"
