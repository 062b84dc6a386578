"""What a user can mend, and what a metric cannot say."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Something the user can mend: what is wrong, which thing, and what to do.

    The command line prints it on one line and exits with 2.
    """

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(problem, remedy)
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        """One line: the problem, then the remedy."""
        text = f"{self.problem}; {self.remedy}" if self.remedy else self.problem
        return " ".join(text.split())


class SpecError(UserError):
    """A metric's spelling that cannot be read."""


class SettingError(UserError):
    """A setting that does not exist or has a value it may not have."""


class UnknownName(UserError):
    """A name no catalogue holds."""


class InputError(UserError):
    """A file, row or story that cannot be used as it stands."""


class PackageMissing(UserError):
    """An optional package that is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed", f"run: pip install 'fabula[{extra}]'")


def closest(name: str, names: Iterable[str]) -> str:
    """Give the remedy for a name that is not known: the nearest one, or all of them."""
    known = sorted(names)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known) or 'none'}"
