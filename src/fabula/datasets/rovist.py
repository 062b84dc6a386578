"""RoViST and GROOViST as published for the human stories of the VIST test set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard, ScorerCard
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.datasets.releases.reading import (
    Placed,
    find_file,
    gather_scores,
    get_field,
    get_text,
    read_object,
    read_rating,
    require_file,
)
from fabula.datasets.tables.rows import read_rows

SCORERS = {
    "RoViST-C": ScorerCard("model", "higher"),
    "RoViST-NR": ScorerCard("string", "higher"),
    "GROOViST": ScorerCard("model", "higher", ("images",)),
}
CARD = DatasetCard(
    title="Published scores of human VIST stories",
    about="5,055 stories that people wrote on photo sequences of the VIST test set, with the "
    "published values of RoViST-C (coherence), RoViST-NR (non-redundancy) and GROOViST "
    "(grounding). There are no ratings.",
    licence="CC BY 4.0; the stories under the terms of VIST",
    citation="Surikuchi, Fernández and Pezzelle (2024). Not (yet) the whole story: Evaluating "
    "visual storytelling requires more than measuring coherence, grounding, and repetition. "
    "Findings of EMNLP.",
    source="akskuchi/dHM-visual-storytelling",
    files={
        "stories.json": "story id → story",
        "rovist_c.csv": "story_id, C_score (may be missing)",
        "rovist_nr.csv": "story_id, R_score (may be missing)",
        "groovist.json": "story id → value (may be missing)",
    },
    checksums={
        "stories.json": "c9c4fc908c86b5abb39b9c34e177ecd7bf30ac13d2b23821a3be1ae168c912af",
        "rovist_c.csv": "74dc592724102bc95ea746470241e11b2b1d89e373ce847b723916885a209094",
        "rovist_nr.csv": "5066867d66b66204ba9b4b104d69ab08326ac1ad3fd28177d3b5a0a7757a37fe",
        "groovist.json": "0666391a0a1adde95e2150617ffe36e463ce16575b71996d2ad38b9c5d4f599a",
    },
    counts={"stories": 5_055, "scores": 14_853},
    quirks=("156 stories have neither RoViST-C nor RoViST-NR.",),
)


def load(path: Path | None = None) -> Dataset:
    """Load the stories and the scores that are there."""
    file = require_file(path, "stories.json")
    texts = read_object(file)
    stories = tuple(Story(name, get_text(texts, name, file.label)) for name in texts)
    scores = gather_scores(stories, _read_scores(path))
    present = {name: card for name, card in SCORERS.items() if name in scores.scorers}
    return Dataset("rovist", CARD, stories, scores=scores, scorers=present)


def _read_scores(path: Path | None) -> Iterator[Placed[Score]]:
    yield from _read_column(path, "rovist_c.csv", column="C_score", scorer="RoViST-C")
    yield from _read_column(path, "rovist_nr.csv", column="R_score", scorer="RoViST-NR")
    if file := find_file(path, "groovist.json"):
        for story, value in read_object(file).items():
            where = f"{file.label}, story {story!r}"
            yield where, Score(story, "GROOViST", "", read_rating(value, where))


def _read_column(
    path: Path | None, name: str, *, column: str, scorer: str
) -> Iterator[Placed[Score]]:
    file = find_file(path, name)
    for where, row in read_rows(file) if file else ():
        story = get_text(row, "story_id", where)
        yield where, Score(story, scorer, "", read_rating(get_field(row, column, where), where))
