"""The skeleton of a new metric and of its test: one that counts, or one that asks a model."""

from __future__ import annotations

import keyword
from pathlib import Path

from fabula.core.errors import UserError
from fabula.core.files import write_text

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


_MODEL_METRIC = '''"""{title}: say in one line what it measures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabula.core.card import Card
from fabula.core.model import Likelihood
from fabula.core.score import Reading, Status
from fabula.core.story import Story
from fabula.metrics.model_metric import ModelMetric


@dataclass(frozen=True)
class {cls}(ModelMetric):
    """Mean bits that a language model needs for a token of the story."""

    card = Card(
        title="{title}",
        family="model",
        direction="descriptive",
        low=0.0,
        assets=("smollm2",),
        paper="Who proposed it, where.",
        formula="−Σ log₂ p(token) / tokens",
        cannot_see="What a good value does not tell.",
    )

    model: str = "embedded('smollm2')"

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Ask for the log probabilities of all stories at once."""
        found = self.model_as(Likelihood).logs([("", story.text) for story in stories])
        readings = []
        for tokens in found:
            logs = tokens.logs[~np.isnan(tokens.logs)]
            if len(logs):
                bits = -float(logs.mean()) / math.log(2)
                readings.append(Reading((bits,), coverage=tokens.coverage))
            else:
                readings.append(self.missing(Status.UNDEFINED, "the model sees no token to guess"))
        return readings
'''

_MODEL_TEST = """import math

import pytest

from fabula import Story, evaluate
from fabula.models import load_model

TEXT = "The old boat came home. The old boat was empty."


def test_the_value_is_that_of_the_formula() -> None:
    table = evaluate([Story("a", TEXT)], "{name}(model='fake()')")
    [tokens] = load_model("fake()").logs([("", TEXT)])
    assert table.scores[0].value == pytest.approx(-tokens.logs.mean() / math.log(2))


def test_the_whole_story_is_read() -> None:
    table = evaluate([Story("a", TEXT * 200)], "{name}(model='fake()')")
    assert table.scores[0].coverage == 1.0
"""


def write_skeleton(name: str, root: Path, *, model: bool = False) -> list[Path]:
    """Write a metric, perhaps one with a model, and its test; never over what is there."""
    if not name.isidentifier() or keyword.iskeyword(name) or name != name.lower():
        raise UserError(f"{name!r} will not do as a name", "take lower-case words joined by _")
    words = {
        "name": name,
        "cls": "".join(part.capitalize() for part in name.split("_")),
        "title": name.replace("_", " ").capitalize(),
    }
    files = {
        _find_package(root) / f"{name}.py": _MODEL_METRIC if model else _METRIC,
        root / "tests" / "metrics" / f"test_{name}.py": _MODEL_TEST if model else _TEST,
    }
    for path in files:
        if path.exists():
            raise UserError(f"{path} is there already", "choose another name")
    for path, text in files.items():
        write_text(path, text.format(**words))
    return list(files)


def _find_package(root: Path) -> Path:
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
