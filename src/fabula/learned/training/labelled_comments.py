"""Comments whose aspect and rating people gave, and others that are labelled after their manner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.datasets.tables.sheet import Sheet
from fabula.learned.training.aspect_classifier import Classifier, fit_classifier
from fabula.learned.training.augmentation import Augmented, Comment, RatedComment, augment

_SLOTS = 5  # of a submission in StoryER's release
_UNUSED: list[Any] = [-1, -1, None]


@dataclass(frozen=True)
class Said:
    """A comment with its label."""

    story: str
    aspect: str
    rating: float
    text: str


def comments_of(dataset: Dataset) -> list[Said]:
    """Give the comments of a data set of ratings, in order."""
    return [
        Said(score.story, score.aspect, score.value, score.note.strip())
        for score in dataset.ratings
        if score.note.strip()
    ]


def read_comments(path: Path, column: str) -> tuple[list[Comment], dict[str, Story]]:
    """Read a table whose rows hold a comment, and the text or the id of the story it is on."""
    sheet = Sheet.read(path, {})
    if column not in sheet.names:
        problem = f"{sheet.label} has no column {column!r}"
        raise InputError(problem, f"name the one of comments; it has: {', '.join(sheet.names)}")
    ids: dict[str, str] = {}
    comments, stories = [], dict[str, Story]()
    for where, row in sheet.rows:
        text = sheet.read_text("text", row)
        known = sheet.read_text("story", row) or ids.setdefault(text, f"row {len(ids) + 1}")
        story = Story(known, text, prompt=sheet.read_text("prompt", row) or None)
        if stories.setdefault(known, story) != story:
            problem = f"{where}: story {known!r} is another than before"
            raise InputError(problem, "give every story an id of its own")
        if said := str(row.get(column) or "").strip():
            comments.append(Comment(known, said))
    return comments, stories


def label_comments(
    known: Sequence[Said], comments: Iterable[Comment], *, seed: int, **bars: Any
) -> Augmented:
    """Guess aspect and rating of comments by classifiers that learned from known ones.

    `bars` are those of `augment`: least confidence, words, comments per aspect.
    """
    texts = [one.text for one in known]
    aspects = fit_classifier(texts, [one.aspect for one in known], seed=seed)
    ratings = fit_classifier(texts, [f"{one.rating:g}" for one in known], seed=seed)
    return augment(
        comments,
        classify=aspects.probabilities,
        rate=lambda some: likeliest_ratings(ratings, some),
        seed=seed,
        **bars,
    )


def likeliest_ratings(classifier: Classifier, texts: Sequence[str]) -> list[float]:
    """Give the likeliest rating of every text."""
    found = classifier.probabilities(texts)
    return [float(max(one, key=lambda name: one[name])) for one in found]


def storyer_rows(
    comments: Iterable[RatedComment], stories: Mapping[str, Story]
) -> list[dict[str, Any]]:
    """Lay rated comments out as StoryER's release does: submissions of five, on an aspect once."""
    seen: Counter[tuple[str, str]] = Counter()
    submissions: dict[tuple[str, int], list[RatedComment]] = {}
    for one in comments:
        place = seen[one.story, one.aspect]
        seen[one.story, one.aspect] += 1
        submissions.setdefault((one.story, place), []).append(one)
    rows = []
    for (name, _), said in submissions.items():
        if not stories[name].text.strip():
            raise InputError(f"story {name!r} has no text", "add a column with the stories' texts")
        told: list[list[Any]] = [
            [ASPECTS.index(one.aspect) + 1, 1 + 4 * one.rating, one.text] for one in said
        ]
        told += [_UNUSED] * (-len(told) % _SLOTS)
        story, prompt = stories[name].text, stories[name].prompt or ""
        for start in range(0, len(told), _SLOTS):
            slots = told[start : start + _SLOTS]
            rows.append({"story": story, "score": 0, "prompt": prompt, "comments": slots})
    return rows
