"""Which aspect a comment is about: word stems by tf-idf and a logistic regression."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabula.core.errors import InputError, PackageMissing, SettingError
from fabula.text.stem import stem
from fabula.text.words import words

Array = np.ndarray[Any, np.dtype[Any]]

# Accuracy is flat from 3 to 100; the higher, the more comments pass a bar of confidence.
_STRENGTH = 30.0


@dataclass(frozen=True, eq=False)
class Classifier:
    """A fitted classifier; it needs no package but numpy."""

    aspects: tuple[str, ...]
    stems: tuple[str, ...]
    rarity: Array  # (S,)
    weights: Array  # (A, S)
    offsets: Array  # (A,)

    def probabilities(self, texts: Sequence[str]) -> list[dict[str, float]]:
        """Give the probability of each aspect for each text."""
        place = {name: number for number, name in enumerate(self.stems)}
        return [self._of(text, place) for text in texts]

    def _of(self, text: str, place: Mapping[str, int]) -> dict[str, float]:
        counts = Counter(place[stem_] for stem_ in stems_of(text) if stem_ in place)
        at = np.array(list(counts), dtype=np.int64)
        values = (1 + np.log(list(counts.values()))) * self.rarity[at]  # (words of the text,)
        size = math.sqrt(float(values @ values)) or 1.0
        logits = self.weights[:, at] @ (values / size) + self.offsets  # (A,)
        powers = np.exp(logits - logits.max())
        return dict(zip(self.aspects, (powers / powers.sum()).tolist(), strict=True))


@dataclass(frozen=True)
class OutOfFold:
    """What classifiers say of comments that they were not fitted on."""

    gold: tuple[str, ...]
    probabilities: tuple[Mapping[str, float], ...]

    @property
    def predicted(self) -> tuple[str, ...]:
        """The likeliest aspect of each comment."""
        return tuple(max(chances, key=lambda name: chances[name]) for chances in self.probabilities)

    def share(self, least: float) -> float:
        """Give the share of comments whose likeliest aspect has at least this probability."""
        sure = self._sure(least)
        return sum(sure) / len(sure) if sure else math.nan

    def accuracy(self, least: float = 0.0) -> float:
        """Give the share that is right, of the comments that are so sure; NaN of none."""
        pairs = zip(self.gold, self.predicted, self._sure(least), strict=True)
        right = [gold == guess for gold, guess, sure in pairs if sure]
        return sum(right) / len(right) if right else math.nan

    def confusion(self) -> dict[str, dict[str, int]]:
        """Count comments by gold aspect, then by predicted aspect."""
        names = sorted({*self.gold, *self.predicted})
        pairs = Counter(zip(self.gold, self.predicted, strict=True))
        return {gold: {guess: pairs[gold, guess] for guess in names} for gold in names}

    def _sure(self, least: float) -> list[bool]:
        return [max(chances.values()) >= least for chances in self.probabilities]


def fit_classifier(texts: Sequence[str], aspects: Sequence[str], *, seed: int) -> Classifier:
    """Fit a classifier to comments whose aspects are known."""
    _check(texts, aspects)
    names = sorted(set(aspects))
    seen = Counter(stem_ for text in texts for stem_ in set(stems_of(text)))
    stems = sorted(stem_ for stem_, count in seen.items() if count > 1)
    if len(names) < 2 or not stems:
        counts = f"{len(texts)} comments on {len(names)} aspects, {len(stems)} words that return"
        raise InputError(f"{counts}: nothing to tell apart", "give more comments, of two aspects")
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise PackageMissing("scikit-learn", "train") from None
    vectorizer = TfidfVectorizer(analyzer=stems_of, vocabulary=stems, sublinear_tf=True)
    points = vectorizer.fit_transform(texts)
    model = LogisticRegression(C=_STRENGTH, max_iter=2000, random_state=seed)
    model.fit(points, list(aspects))
    weights, offsets = model.coef_, model.intercept_
    if len(names) == 2:  # One row says how much likelier the second is: half to each side.
        weights, offsets = np.vstack([-weights, weights]) / 2, np.hstack([-offsets, offsets]) / 2
    return Classifier(tuple(names), tuple(stems), vectorizer.idf_, weights, offsets)


def cross_validate(
    texts: Sequence[str],
    aspects: Sequence[str],
    groups: Sequence[str],
    *,
    folds: int = 5,
    seed: int,
) -> OutOfFold:
    """Classify each comment by a classifier that saw none of its group (its story)."""
    _check(texts, aspects)
    names = sorted(set(groups))
    if len(groups) != len(texts):
        raise InputError(f"{len(texts)} comments, but {len(groups)} groups", "name one for each")
    if not 2 <= folds <= len(names):
        raise SettingError(f"{folds} folds of {len(names)} groups", "2 folds or more, as groups")
    random.Random(seed).shuffle(names)
    fold = {name: number % folds for number, name in enumerate(names)}
    chances: dict[int, dict[str, float]] = {}
    for part in range(folds):
        held = [number for number, group in enumerate(groups) if fold[group] == part]
        others = [number for number, group in enumerate(groups) if fold[group] != part]
        fitted = fit_classifier([texts[n] for n in others], [aspects[n] for n in others], seed=seed)
        chances |= zip(held, fitted.probabilities([texts[n] for n in held]), strict=True)
    return OutOfFold(tuple(aspects), tuple(chances[number] for number in range(len(texts))))


def stems_of(text: str) -> list[str]:
    """Give the stems of a text's words."""
    return [stem(word, "nltk") for word in words(text)]


def _check(texts: Sequence[str], aspects: Sequence[str]) -> None:
    if len(texts) != len(aspects):
        raise InputError(f"{len(texts)} comments, but {len(aspects)} aspects", "name one for each")
