"""Two ways to compare regions with nouns that learn nothing: labels by word vectors, and CLIP.

Labels are the baseline of whatever is trained: the detector's name for a region and the classes
that a classifier finds likeliest, each as near to a noun as their word vectors are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fabula.core.model import ImageClassifier, JointEncoder, Region, WordVectors
from fabula.text.words import words

if TYPE_CHECKING:
    from fabula.core.model import Array

# Classes of a region that count; those after are hardly ever right.
CLASSES = 5
# CLIP was trained on captions, and knows a word better within one.
CAPTION = "a photo of {article} {noun}"
# What ImageNet's classifiers take drawings for, and photographs hardly ever.
DRAWN = ("comic book", "book jacket", "jigsaw puzzle", "web site")
# From this probability of them together on, a picture is called a drawing.
DRAWN_FROM = 0.002
DRAWING = "it looks like a drawing, of which detector and classifier know little"


def average_words(table: WordVectors, phrases: Sequence[str]) -> Array:
    """Give the mean vector of the known words of each phrase; NaN where none is: (phrases, width).

    Words are looked up in small letters, as GloVe has them.
    """
    cut = [words(phrase) for phrase in phrases]
    unique = list(dict.fromkeys(word for phrase in cut for word in phrase))
    vectors = dict(zip(unique, table.rows(unique), strict=True))
    means = np.full((len(phrases), table.width), np.nan)
    for row, phrase in enumerate(cut):
        known = [vectors[word] for word in phrase if not np.isnan(vectors[word]).any()]
        if known:
            means[row] = np.mean(known, axis=0)
    return means


def normalise(vectors: Array) -> Array:
    """Bring vectors to length one; one without a length stays as it is."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: Array = vectors / np.where(lengths == 0, 1.0, lengths)
    return unit


def describe_drawing(classifier: ImageClassifier, whole: Array) -> str:
    """Say that a picture looks like a drawing, if its classes say so; "" else."""
    drawn = [place for place, name in enumerate(classifier.classes) if name.split(", ")[0] in DRAWN]
    [chances] = classifier.classify([whole])
    return DRAWING if chances[drawn].sum() >= DRAWN_FROM else ""


@dataclass(frozen=True, eq=False)
class LabelMatcher:
    """A region is as like a noun as its nearest label: the detector's, or one of the classifier's.

    A class counts by the best of its synonyms.
    """

    classifier: ImageClassifier
    table: WordVectors
    classes: int = CLASSES

    @property
    def signature(self) -> str:
        """Classifier, word vectors, and how many classes count."""
        parts = (self.classifier.signature, self.table.signature)
        return f"labels,classes={self.classes},{','.join(parts)}"

    def view(self, crops: Sequence[Array], regions: Sequence[Region]) -> Array:
        """Give unit vectors of the labels of every region, NaN for one too few: (R, labels, W)."""
        chances = self.classifier.classify(crops)  # (R, classes)
        best = np.argsort(-chances, axis=1, kind="stable")[:, : self.classes]
        likeliest = self._class_vectors[best]  # (R, classes, synonyms, W)
        likeliest = likeliest.reshape(len(regions), -1, self.table.width)
        told = normalise(average_words(self.table, [region.label for region in regions]))
        both: Array = np.concatenate([told[:, None], likeliest], axis=1)
        return both

    def name(self, nouns: Sequence[str]) -> Array:
        """Give a unit vector a noun: (nouns, W)."""
        return normalise(average_words(self.table, nouns))

    def match(self, views: Array, names: Array) -> Array:
        """Give the cosine of the nearest label."""
        cosines = np.clip(views @ names.T, -1.0, 1.0)  # (R, labels, nouns)
        nearest = np.where(np.isnan(cosines), -np.inf, cosines).max(axis=1)
        similarities: Array = np.where(np.isneginf(nearest), np.nan, nearest)
        return similarities

    def note(self, whole: Array) -> str:
        """Say where a picture looks like a drawing."""
        return describe_drawing(self.classifier, whole)

    @cached_property
    def _class_vectors(self) -> Array:
        """Unit vectors of all classes' synonyms, NaN for one too few: (classes, synonyms, W)."""
        synonyms = [name.split(", ") for name in self.classifier.classes]
        most = max(map(len, synonyms))
        told = [name for names in synonyms for name in [*names, *[""] * (most - len(names))]]
        vectors = normalise(average_words(self.table, told))
        return vectors.reshape(len(synonyms), most, self.table.width)


@dataclass(frozen=True, eq=False)
class JointMatcher:
    """CLIP and those like it: the cosine of a crop and of a caption that names the noun."""

    encoder: JointEncoder

    @property
    def signature(self) -> str:
        """The encoder's, and what the noun is put into."""
        return f"joint,{CAPTION!r},{self.encoder.signature}"

    def view(self, crops: Sequence[Array], regions: Sequence[Region]) -> Array:
        """Give a unit vector a region; its label does not count: (R, W)."""
        return normalise(self.encoder.encode(crops))

    def name(self, nouns: Sequence[str]) -> Array:
        """Give a unit vector a noun: (nouns, W)."""
        captions = [
            CAPTION.format(article="an" if noun[:1].lower() in "aeiou" else "a", noun=noun)
            for noun in nouns
        ]
        return normalise(self.encoder.encode_texts(captions))

    def match(self, views: Array, names: Array) -> Array:
        """Give cosines."""
        cosines: Array = np.clip(views @ names.T, -1.0, 1.0)
        return cosines

    def note(self, whole: Array) -> str:
        """Say nothing: a CLIP knows drawings."""
        return ""
