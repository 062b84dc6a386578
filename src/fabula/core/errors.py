"""What a user can mend, and what a metric cannot say."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Something the user can mend: what is wrong, which thing, and what to do.

    The command line prints it on one line and exits with 2. A remedy names commands of ours plainly
    (`fabula doctor`); they are printed as they run where the user is.
    """

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(problem, remedy)
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        """One line: the problem, then the remedy."""
        if not self.remedy:
            return " ".join(self.problem.split())
        from fabula.core.installation import spell_commands

        return " ".join(f"{self.problem}; {spell_commands(self.remedy)}".split())


class SpecError(UserError):
    """A metric's spelling that cannot be read."""


class SettingError(UserError):
    """A setting that does not exist or has a value it may not have."""


class UnknownName(UserError):
    """A name no catalogue holds."""


class InputError(UserError):
    """A file, row or story that cannot be used as it stands."""


class NotFound(UserError):
    """A thing that is not there, or not for the eyes of who asks."""


class NotAllowed(UserError):
    """What a person may not do."""


class Conflict(UserError):
    """What somebody else has changed meanwhile, or has done already."""


class NoCapacity(UserError):
    """What nobody can do just now; later it may be done."""


class PackageMissing(UserError):
    """An optional package that is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        from fabula.core.installation import spell_install

        # Which build of torch fits a machine is not for an extra to say.
        first = ", after the build of torch that fits your machine" if package == "torch" else ""
        super().__init__(f"{package} is not installed", f"run: {spell_install(extra)}{first}")
        self.package, self.extra = package, extra

    def __reduce__(self) -> tuple[type[PackageMissing], tuple[str, str]]:
        """Travel between processes by what it was made of."""
        return type(self), (self.package, self.extra)


def closest(name: str, names: Iterable[str]) -> str:
    """Give the remedy for a name that is not known: the nearest one, or all of them."""
    known = sorted(names)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known) or 'none'}"
