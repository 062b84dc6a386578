"""A study file of analyses, whatever paper they are of: which are run, in which order, and how.

Every analysis stands alone: what it lacks (data, weights, a package) it says, and the others run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from fabula.core.errors import SettingError, UnknownName, UserError, closest
from fabula.core.plain import from_plain, read_toml
from fabula.core.protocols import watch
from fabula.replication.findings import Findings, StudyFinding

# Title of an analysis, and what runs it on some material by its settings.
Analyses = Mapping[str, tuple[str, Callable[[Any, Any], Findings]]]


@dataclass(frozen=True)
class AnalysesStudy:
    """What such a file declares. A kind of study knows its analyses by the names that files call
    them; the settings of one stand under its name."""

    KNOWN: ClassVar[Analyses] = {}

    title: str
    kind: str = ""
    about: tuple[str, ...] = ()
    analyses: tuple[str, ...] = ()
    seed: int = 1
    resamples: int = 1000

    def __post_init__(self) -> None:
        if self.resamples < 1 or self.seed < 0:
            raise SettingError("resamples must be 1 or more, seed 0 or more", "mend it")


class Reporting(Protocol):
    """What analyses are run on: it can be told how far they are."""

    @property
    def report(self) -> Callable[[str], None]:
        """Who is told a line."""
        ...


AnyStudy = TypeVar("AnyStudy", bound=AnalysesStudy)


def read_analyses(kind: type[AnyStudy], path: Path) -> AnyStudy:
    """Read a study file; a name that means nothing is an error."""
    plain = read_toml(path)
    for name, value in plain.items():
        if isinstance(value, dict) and name not in kind.KNOWN:
            raise UnknownName(f"{path}: no analysis is called {name!r}", closest(name, kind.KNOWN))
    remedy = f"mend it, see studies/{plain.get('kind', 'storyer')}.toml"
    study = from_plain(kind, plain, str(path), remedy=remedy)
    return choose_analyses(study, study.analyses)


def choose_analyses(study: AnyStudy, names: Sequence[str]) -> AnyStudy:
    """Give the study with these analyses alone, in this order."""
    for name in names:
        if name not in study.KNOWN:
            raise UnknownName(f"no analysis is called {name!r}", closest(name, study.KNOWN))
    if not names:
        raise SettingError("the study has no analysis", f"name some of {', '.join(study.KNOWN)}")
    return replace(study, analyses=tuple(dict.fromkeys(names)))


def run_analyses(study: AnalysesStudy, material: Reporting) -> Iterator[StudyFinding]:
    """Run the analyses of a study in order; one that lacks something says what it needs."""
    for name in study.analyses:
        started = time.perf_counter()
        material.report(f"{name}: begins")
        watch.get().tell(name)
        finding = run_analysis(study.KNOWN, name, getattr(study, name, None), material)
        took = f"{time.perf_counter() - started:.1f} s"
        material.report(f"{name}: {finding.needs or 'done'} ({took})")
        yield finding


def run_analysis(known: Analyses, name: str, settings: Any, material: Reporting) -> StudyFinding:
    """Run one analysis; what it lacks (data, weights, a package) it says, and the others run."""
    title, analyse = known[name]
    try:
        words, tables = analyse(material, settings)
    except UserError as error:
        return StudyFinding(name, title, needs=str(error))
    return StudyFinding(name, title, words, tables)
