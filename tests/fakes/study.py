"""A made-up study as large as a real one: stories, ratings, scores, and a page of blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fabula.core.score import Score
from fabula.core.story import Story
from fabula.reports.figures.cluster import cluster
from fabula.reports.figures.heatmap import draw_heatmap
from fabula.reports.run_data import ReportColumn
from fabula.reports.study_blocks import (
    FigureBlock,
    ScatterBlock,
    Section,
    StudyStories,
    TableBlock,
    TabsBlock,
    Words,
)

ASPECTS = ("relevance", "coherence", "empathy", "surprise", "engagement", "complexity")
SYSTEMS = (
    "human", "lamplight", "inkwell", "tidewater", "fernway-large", "fernway-small", "old oak",
    "mistral wind", "paper boat", "quiet hours",
)  # fmt: skip
WORDS = "the a lamp river night old keeper walked over hill and she said nothing until it".split()
_HEADS = "rouge bleu chrf meteor cider coverage density novelty repetition mattr".split()


@dataclass(frozen=True)
class MadeUp:
    """Stories for the page, and correlations of their columns."""

    stories: StudyStories
    labels: list[str]
    correlations: np.ndarray[Any, np.dtype[Any]]


def make_study(items: int = 96, columns: int = 80, *, words: int = 380, seed: int = 0) -> MadeUp:
    """Make a study up: every system answers every item, three raters rate every story."""
    rng = np.random.default_rng(seed)
    skill = np.linspace(1.2, -0.8, len(SYSTEMS))
    stories, quality = [], []
    for item in range(items):
        reference = _text(rng, words)
        for place, system in enumerate(SYSTEMS):
            stories.append(
                Story(
                    f"{item:02}-{system}",
                    _text(rng, words),
                    prompt=f"A keeper finds lamp number {item}.",
                    references=(reference,),
                    system=system,
                    item=f"item-{item:02}",
                )
            )
            quality.append(skill[place] + rng.normal())
    hidden = np.array(quality)[:, None]
    factors = np.hstack([hidden, rng.normal(size=(len(stories), 4))])
    noise = rng.normal(size=(len(stories), columns))
    values = factors @ rng.normal(size=(5, columns)) * 0.6 + noise
    values[5, 2] = np.nan
    labels = [f"{_HEADS[n % 10]}(n={n // 10 + 1})" for n in range(columns)]
    scorers = [
        ReportColumn(label, "", "higher", "baseline" if n >= columns - 5 else "")
        for n, label in enumerate(labels)
    ]
    made = StudyStories(stories, scorers, values, _ratings(rng, stories, hidden[:, 0]))
    with np.errstate(invalid="ignore"):
        correlations = np.corrcoef(np.nan_to_num(values).T)
    correlations[7, :] = correlations[:, 7] = np.nan
    return MadeUp(made, labels, correlations)


def _text(rng: np.random.Generator, words: int) -> str:
    chosen = rng.integers(len(WORDS), size=words)
    return " ".join(WORDS[n] for n in chosen).capitalize() + "."


def _ratings(rng: np.random.Generator, stories: list[Story], quality: Any) -> list[Score]:
    return [
        Score(
            story.id,
            f"human:rater {rater + 1}",
            aspect,
            float(np.clip(round(3 + quality[place] * 0.7 + rng.normal() * 0.9), 1, 5)),
        )
        for place, story in enumerate(stories)
        for rater in range(3)
        for aspect in ASPECTS
    ]


def study_sections(made: MadeUp, *, maps: int) -> list[Section]:
    """Sections with every kind of block: words, a table, tabs of maps, points."""
    size = min(72, len(made.labels))
    names, matrix = made.labels[:size], made.correlations[:size, :size]
    order = cluster(matrix)
    panels = {
        f"map {n}": FigureBlock(
            "", draw_heatmap(matrix, names, names, title=f"Map {n}", order=order), f"map_{n}"
        )
        for n in range(maps)
    }
    rows = [
        (name, float(value), n)
        for n, (name, value) in enumerate(zip(names, matrix[0], strict=True))
    ]
    points = ScatterBlock(
        "Points",
        "Every point is a story.",
        {(made.labels[0], "coherence"): {"Pearson": 0.4321, "Spearman": 0.25, "Kendall": 0.125}},
        metric=made.labels[0],
        aspect="coherence",
    )
    return [
        Section("words", "Words", [Words(["Some **words**."])]),
        Section("table", "Table", [TableBlock("T", ("metric", "r", "n"), rows, "t", decimals=3)]),
        Section("maps", "Maps", [TabsBlock("Maps", panels)]),
        Section("stories", "Stories", [points]),
    ]
