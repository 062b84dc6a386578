"""The skeleton of a new metric and of its test."""

from __future__ import annotations

import keyword
from pathlib import Path

from fabula.core.errors import UserError

_METRIC = '''"""{title}: say in one line what it measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fabula.core.card import Card
from fabula.core.metric import StoryMetric
from fabula.core.score import Missing, Status
from fabula.core.settings import AtLeast
from fabula.core.story import Story
from fabula.text.ngrams import ngrams
from fabula.text.words import words


@dataclass(frozen=True)
class {cls}(StoryMetric):
    """Share of a story's n-grams that differ from one another."""

    card = Card(
        title="{title}",
        family="string",
        direction="higher",
        low=0.0,
        high=1.0,
        paper="Who proposed it, where.",
        formula="different n-grams / n-grams",
        cannot_see="What a good value does not tell.",
    )

    n: Annotated[int, AtLeast(1)] = 2

    def traits(self) -> dict[str, str]:
        """Tokeniser."""
        return {{"tok": "unicode"}}

    def value(self, story: Story) -> float:
        """Different n-grams as a share of all."""
        grams = ngrams(words(story.text), self.n)
        if not grams:
            raise Missing(Status.UNDEFINED, f"the story has fewer than {{self.n}} words")
        return len(set(grams)) / len(grams)
'''

_TEST = """from fabula import Story, evaluate


def test_a_story_without_repetition_has_the_highest_value() -> None:
    table = evaluate([Story("a", "one two three")], "{name}(n=1)")
    assert table.scores[0].value == 1.0


def test_the_share_is_that_of_the_formula() -> None:
    table = evaluate([Story("a", "again and again and again")], "{name}(n=1)")
    assert table.scores[0].value == 2 / 5
"""


def write_skeleton(name: str, root: Path) -> list[Path]:
    """Write metric and test below a project's root; never over what is there."""
    if not name.isidentifier() or keyword.iskeyword(name) or name != name.lower():
        raise UserError(f"{name!r} will not do as a name", "take lower-case words joined by _")
    package = _package(root)
    words = {
        "name": name,
        "cls": "".join(part.capitalize() for part in name.split("_")),
        "title": name.replace("_", " ").capitalize(),
    }
    files = {
        package / f"{name}.py": _METRIC,
        root / "tests" / "metrics" / f"test_{name}.py": _TEST,
    }
    for path in files:
        if path.exists():
            raise UserError(f"{path} is there already", "choose another name")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(**words), encoding="utf-8")
    return list(files)


def _package(root: Path) -> Path:
    """Folder for the metric: ours in a checkout, else `src/<package>`."""
    own = root / "src" / "fabula" / "metrics"
    if own.is_dir():
        return own
    packages = [path.parent for path in sorted((root / "src").glob("*/__init__.py"))]
    if len(packages) != 1:
        raise UserError(
            f"{root.absolute()} is no checkout of Fabula, nor a project with one package in src/",
            "name the project's root with -o",
        )
    return packages[0]
