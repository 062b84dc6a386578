"""Perturbations of a text by name: what each breaks, and what a good metric should say to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from fabula.core.errors import SettingError, UnknownName, closest
from fabula.text.names import swap_names
from fabula.text.negate import negate
from fabula.text.perturb_order import drop_ending, repeat, shuffle, shuffle_words, truncate
from fabula.text.perturb_typing import quotes, spacing, typos

Expected = Literal["worse", "same"]


class Change(Protocol):
    """Changes a text; None where it cannot be changed in this way."""

    def __call__(self, text: str, *, share: float, seed: int) -> str | None:
        """Give the changed text."""


@dataclass(frozen=True)
class Perturbation:
    """A change of a text, what it does to it in words, and what should become of its scores.

    `share` is how much of the text it touches unless told otherwise, counted in `unit`; one
    without a unit always touches all there is.
    """

    name: str
    change: Change
    expected: Expected
    does: str
    unit: str = ""
    share: float = 1.0

    def __call__(self, text: str, *, share: float | None = None, seed: int = 0) -> str | None:
        """Change a text; None where nothing could be changed: not applicable, not unharmed."""
        wanted = self.share if share is None or not self.unit else share
        if not 0 < wanted <= 1:
            raise SettingError(f"share={wanted} will not do", "give a number above 0, at most 1")
        changed = self.change(text, share=wanted, seed=seed)
        return None if changed == text else changed


_ALL = (
    Perturbation("shuffle", shuffle, "worse", "puts the sentences out of order", "sentences"),
    Perturbation(
        "shuffle_words", shuffle_words, "worse",
        "puts the words of each sentence out of order", "sentences",
    ),
    Perturbation("repeat", repeat, "worse", "says sentences twice", "sentences", 0.3),
    Perturbation("swap_names", swap_names, "worse", "mistakes the two main names for each other"),
    Perturbation(
        "negate", negate, "worse", "turns sentences into their contrary", "sentences", 0.3,
    ),
    Perturbation("drop_ending", drop_ending, "worse", "leaves out the ending", "sentences", 0.2),
    Perturbation("truncate", truncate, "worse", "breaks off within a sentence", "words", 0.5),
    Perturbation("typos", typos, "worse", "mistypes words", "words", 0.1),
    Perturbation("spacing", spacing, "same", "doubles blanks and breaks lines", "blanks", 0.3),
    Perturbation("quotes", quotes, "same", "turns straight quotes curly, or curly ones straight"),
)  # fmt: skip

PERTURBATIONS: Mapping[str, Perturbation] = {one.name: one for one in _ALL}


def choose_perturbations(names: str | Iterable[str] | None = None) -> list[Perturbation]:
    """Give perturbations by their names, with commas or in a list, each once; all without any."""
    if names is None:
        return list(_ALL)
    given = [names] if isinstance(names, str) else names
    wanted = [part.strip() for name in given for part in name.split(",") if part.strip()]
    for name in wanted:
        if name not in PERTURBATIONS:
            raise UnknownName(f"no perturbation is called {name!r}", closest(name, PERTURBATIONS))
    if not wanted:
        raise SettingError("no perturbation is chosen", f"known: {', '.join(PERTURBATIONS)}")
    return [PERTURBATIONS[name] for name in dict.fromkeys(wanted)]
