"""Comments whose aspect and rating people gave, and others that are labelled after their manner.

Comments without an aspect are made into rated comments of one: more to learn from (StoryER).
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError, SettingError
from fabula.core.story import Story
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.datasets.tables.sheet import Sheet
from fabula.learned.training.aspect_classifier import Classifier, fit_classifier
from fabula.text.words import words as words_of

Classify = Callable[[Sequence[str]], Sequence[Mapping[str, float]]]
Rate = Callable[[Sequence[str]], Sequence[float]]

_SLOTS = 5  # of a submission in StoryER's release
_UNUSED: list[Any] = [-1, -1, None]


@dataclass(frozen=True)
class Comment:
    """What a reader said of a story, by its id."""

    story: str
    text: str


@dataclass(frozen=True)
class RatedComment:
    """A comment with its aspect, how sure that is, and a rating from 0 to 1."""

    story: str
    text: str
    aspect: str
    confidence: float
    rating: float


@dataclass(frozen=True)
class Augmented:
    """Rated comments in the order they came, and how many were left out and why."""

    kept: tuple[RatedComment, ...]
    left_out: Mapping[str, int]


def augment(
    comments: Iterable[Comment],
    *,
    classify: Classify,
    rate: Rate,
    least: float = 0.9,
    words: tuple[int, int] = (15, 50),
    per_aspect: int = 2000,
    seed: int,
) -> Augmented:
    """Keep comments of fit length whose aspect is sure, rate them and balance the aspects.

    `classify` gives the probability of each aspect, `rate` a rating from 1 to 5, NaN where there
    is none; it becomes (r - 1) / 4. Of more than `per_aspect` comments on an aspect so many are
    drawn, whatever order they came in. A text that a story has twice counts once.
    """
    if words[0] > words[1] or per_aspect < 1 or not 0 <= least <= 1:
        given = f"least={least:g}, words={words}, per_aspect={per_aspect}"
        raise SettingError(f"{given} keep nothing", "fewest words first, least from 0 to 1")
    left_out: Counter[str] = Counter()
    fit = _keep_fit_length(comments, words, left_out)
    sure = _keep_sure_aspects(fit, classify, least, left_out)
    rated = _rate(sure, rate, left_out)
    return Augmented(_balance(rated, per_aspect, seed, left_out), dict(left_out))


def _keep_fit_length(
    comments: Iterable[Comment], words: tuple[int, int], left_out: Counter[str]
) -> list[Comment]:
    free: dict[Comment, None] = {}
    for comment in comments:
        count = len(words_of(comment.text))
        if count < words[0]:
            left_out["too short"] += 1
        elif count > words[1]:
            left_out["too long"] += 1
        elif comment in free:
            left_out["said twice"] += 1
        else:
            free[comment] = None
    return list(free)


def _keep_sure_aspects(
    comments: Sequence[Comment], classify: Classify, least: float, left_out: Counter[str]
) -> list[tuple[Comment, str, float]]:
    labelled = []
    answers = classify([comment.text for comment in comments]) if comments else ()
    for comment, probabilities in zip(comments, answers, strict=True):
        aspect = max(probabilities, key=lambda name: probabilities[name])
        if probabilities[aspect] >= least:
            labelled.append((comment, aspect, float(probabilities[aspect])))
        else:
            left_out["of no sure aspect"] += 1
    return labelled


def _rate(
    comments: Sequence[tuple[Comment, str, float]], rate: Rate, left_out: Counter[str]
) -> list[RatedComment]:
    labelled = []
    ratings = rate([comment.text for comment, _, _ in comments]) if comments else ()
    for (comment, aspect, confidence), rating in zip(comments, ratings, strict=True):
        if math.isnan(rating):
            left_out["without a rating"] += 1
        elif not 1 <= rating <= 5:
            where = f"a comment on story {comment.story!r}"
            raise InputError(f"{where} has the rating {rating:g}", "rate from 1 to 5")
        else:
            value = (float(rating) - 1) / 4
            labelled.append(RatedComment(comment.story, comment.text, aspect, confidence, value))
    return labelled


def _balance(
    comments: Sequence[RatedComment], per_aspect: int, seed: int, left_out: Counter[str]
) -> tuple[RatedComment, ...]:
    """Draw from each aspect by itself, so that no aspect's draw hangs on another's."""
    by_aspect: dict[str, list[RatedComment]] = {}
    for comment in comments:
        by_aspect.setdefault(comment.aspect, []).append(comment)
    drawn: set[RatedComment] = set()
    for aspect, candidates in by_aspect.items():
        candidates.sort(key=lambda comment: (comment.story, comment.text))
        count = min(per_aspect, len(candidates))
        drawn.update(random.Random(f"{seed} {aspect}").sample(candidates, count))
    if len(drawn) < len(comments):
        left_out["beyond the aspect's share"] = len(comments) - len(drawn)
    return tuple(comment for comment in comments if comment in drawn)


@dataclass(frozen=True)
class LabelledComment:
    """A comment with its label."""

    story: str
    aspect: str
    rating: float
    text: str


def comments_of(dataset: Dataset) -> list[LabelledComment]:
    """Give the comments of a data set of ratings, in order."""
    return [
        LabelledComment(score.story, score.aspect, score.value, score.note.strip())
        for score in dataset.ratings
        if score.note.strip()
    ]


def read_source(source: str, columns: Mapping[str, str]) -> tuple[list[Comment], dict[str, Story]]:
    """Read the comments of a data set, or of a table, and the stories they are on.

    `columns` names those of a table: that of the comments, and those of a story's parts.
    """
    from fabula.datasets import DATASETS, load_dataset

    if source in DATASETS:
        dataset = load_dataset(source)
        comments = [Comment(comment.story, comment.text) for comment in comments_of(dataset)]
        stories = {story.id: story for story in dataset.stories}
    else:
        comments, stories = read_comments(Path(source), columns)
    if not comments:
        raise InputError(f"{source}: no comments", "name a table's column: --column comment=NAME")
    return comments, stories


def read_comments(path: Path, columns: Mapping[str, str]) -> tuple[list[Comment], dict[str, Story]]:
    """Read a table whose rows hold a comment, and the text or the id of the story it is on."""
    column = columns.get("comment", "comment")
    sheet = Sheet.read(path, {role: columns[role] for role in columns if role != "comment"})
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
    known: Sequence[LabelledComment], comments: Iterable[Comment], *, seed: int, **bars: Any
) -> Augmented:
    """Guess aspect and rating of comments by classifiers that learned from known ones.

    `bars` are those of `augment`: least confidence, words, comments per aspect.
    """
    texts = [comment.text for comment in known]
    aspects = fit_classifier(texts, [comment.aspect for comment in known], seed=seed)
    ratings = fit_classifier(texts, [f"{comment.rating:g}" for comment in known], seed=seed)
    return augment(
        comments,
        classify=aspects.probabilities,
        rate=lambda some: likeliest_ratings(ratings, some),
        seed=seed,
        **bars,
    )


def likeliest_ratings(classifier: Classifier, texts: Sequence[str]) -> list[float]:
    """Give the likeliest rating of every text."""
    probabilities = classifier.probabilities(texts)
    return [float(max(chances, key=lambda name: chances[name])) for chances in probabilities]


def storyer_rows(
    comments: Iterable[RatedComment], stories: Mapping[str, Story]
) -> list[dict[str, Any]]:
    """Lay rated comments out as StoryER's release does: submissions of five, on an aspect once."""
    seen: Counter[tuple[str, str]] = Counter()
    submissions: dict[tuple[str, int], list[RatedComment]] = {}
    for comment in comments:
        place = seen[comment.story, comment.aspect]
        seen[comment.story, comment.aspect] += 1
        submissions.setdefault((comment.story, place), []).append(comment)
    rows = []
    for (name, _), said in submissions.items():
        if not stories[name].text.strip():
            raise InputError(f"story {name!r} has no text", "add a column with the stories' texts")
        told: list[list[Any]] = [
            [ASPECTS.index(comment.aspect) + 1, 1 + 4 * comment.rating, comment.text]
            for comment in said
        ]
        told += [_UNUSED] * (-len(told) % _SLOTS)
        story, prompt = stories[name].text, stories[name].prompt or ""
        for start in range(0, len(told), _SLOTS):
            slots = told[start : start + _SLOTS]
            rows.append({"story": story, "score": None, "prompt": prompt, "comments": slots})
    return rows
