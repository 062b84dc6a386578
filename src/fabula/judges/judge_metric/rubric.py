"""Rubrics: what a judge is asked about a story, and what the numbers of its answers mean."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError, SettingError, UnknownName, closest
from fabula.core.plain import from_plain, read_toml

_FOLDER = "_rubrics"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
_WIDEST = 100  # numbers of a scale: more than a reader can mean
_REMEDY = "docs/judges.md shows a whole rubric"


@dataclass(frozen=True)
class Criterion:
    """One question about a story: what the lowest number of the scale means, and each after it.

    `checks` are yes/no questions to the same end, of which yes is better.
    """

    name: str
    text: str
    anchors: tuple[str, ...] = ()
    help: str = ""
    needs_prompt: bool = False
    checks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a name that no column can have, and a question that asks nothing."""
        if not _NAME.fullmatch(self.name):
            problem = f"criterion name {self.name!r} will not do"
            raise SettingError(problem, "use a-z, 0-9, _ and -, at most 100")
        if not self.text.strip():
            raise SettingError(f"criterion {self.name} asks nothing", "give it a text")

    def list_checks(self) -> tuple[str, ...]:
        """Give the yes/no questions: its own, or one of every anchor above the lowest."""
        return self.checks or tuple(
            f"On the question “{self.text}”, does the story deserve at least this verdict: "
            f"“{anchor}”"
            for anchor in self.anchors[1:]
        )


@dataclass(frozen=True)
class Rubric:
    """Criteria on one scale of whole numbers, higher being better."""

    criteria: tuple[Criterion, ...]
    version: str = "1"
    title: str = ""
    low: int = 1
    high: int = 5
    about: str = ""

    def __post_init__(self) -> None:
        """Refuse a scale without two numbers, and anchors that do not fit it."""
        names = [criterion.name for criterion in self.criteria]
        if not names or len(set(names)) < len(names):
            raise SettingError("there are no criteria, or two of one name", _REMEDY)
        if not (0 <= self.low < self.high <= _WIDEST):
            problem = f"a scale from {self.low} to {self.high} will not do"
            raise SettingError(problem, f"give whole numbers from 0 to {_WIDEST}")
        for criterion in self.criteria:
            count = self.high - self.low + 1
            if criterion.anchors and len(criterion.anchors) != count:
                problem = f"{criterion.name} has {len(criterion.anchors)} anchors, not {count}"
                raise SettingError(problem, f"say what each number means, {_REMEDY}")

    @property
    def numbers(self) -> tuple[str, ...]:
        """The numbers of the scale, as they are written."""
        return tuple(map(str, range(self.low, self.high + 1)))

    def get(self, name: str) -> Criterion:
        """Give a criterion by its name."""
        for criterion in self.criteria:
            if criterion.name == name:
                return criterion
        known = closest(name, [criterion.name for criterion in self.criteria])
        raise UnknownName(f"the rubric has no criterion {name!r}", known)


@dataclass(frozen=True)
class KnownRubric:
    """A rubric with what it is called in a signature: name, version and digest of its words."""

    rubric: Rubric
    signature: str


def list_rubrics() -> list[str]:
    """Give the names of the rubrics that come with Fabula."""
    folder = files("fabula.judges") / _FOLDER
    return sorted(
        file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml")
    )


def open_rubric(name: str) -> KnownRubric:
    """Read a rubric by its name, or that of a TOML file; the file of a campaign is one, too."""
    if not name.strip() or not name.isprintable():
        raise SettingError(f"{name!r} names no rubric", closest(name, list_rubrics()))
    if name in list_rubrics():
        path = Path(str(files("fabula.judges") / _FOLDER / f"{name}.toml"))
    elif name.endswith(".toml"):
        path = Path(name)
    else:
        remedy = f"{closest(name, list_rubrics())}, or name a TOML file"
        raise UnknownName(f"no rubric is called {name!r}", remedy)
    plain = read_toml(path)
    rubric = from_plain(Rubric, _take_criteria(plain, path), str(path), remedy=_REMEDY)
    # What a judge is asked comes of the rubric's words alone, not of how its file is laid out.
    digest = hashlib.sha256(repr(rubric).encode()).hexdigest()[:12]
    return KnownRubric(rubric, f"{path.stem}/{rubric.version},{digest}")


def _take_criteria(plain: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """Take the scales of a campaign's file for criteria; a rubric is as it is."""
    questions = plain.get("questions")
    if "criteria" in plain or not isinstance(questions, list):
        return plain
    scales = [one for one in questions if isinstance(one, Mapping) and one.get("kind") == "scale"]
    ends = {(one.get("low", 1), one.get("high", 5)) for one in scales}
    if len(ends) != 1:
        problem = f"{path} asks no questions on one scale"
        raise InputError(problem, f"a judge answers such ones; {_REMEDY}")
    kept = ("name", "text", "anchors", "help")
    criteria = [
        # Whether the prompt is shown is said of a whole campaign; a question may be about it.
        {key: one[key] for key in kept if key in one}
        | {"needs_prompt": "prompt" in str(one.get("text", "")).lower()}
        for one in scales
    ]
    low, high = ends.pop()
    return {"title": plain.get("title", ""), "low": low, "high": high, "criteria": criteria}
