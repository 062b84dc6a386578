"""What the fake model sees in pictures: colours, and labels that come of them.

Crops of like colours in like places have like vectors. Regions are parts of a picture that its
colours choose, named by a word for the colour in their middle: what a test draws, it can ask for.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from fabula.core.model import Picture, Region
from fabula.models.reading.pictures import choose_best, crop

if TYPE_CHECKING:
    from fabula.core.model import Array

GRID = 4
LABELS = {
    "night": (0, 0, 0),
    "snow": (255, 255, 255),
    "apple": (255, 0, 0),
    "tree": (0, 128, 0),
    "sea": (0, 0, 255),
    "sun": (255, 255, 0),
    "stone": (128, 128, 128),
}
_COLOURS = np.array(list(LABELS.values()), np.float64)
# The quarters and the whole, as shares of a picture: left, top, width, height.
_PLACES = ((0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.5, 0.5))


class SeesPictures:
    """Detector, encoder and classifier of pictures, come of colours and hashes."""

    width: int
    seed: int

    @property
    def labels(self) -> tuple[str, ...]:
        """Words for the colours that it knows."""
        return tuple(LABELS)

    @property
    def classes(self) -> tuple[str, ...]:
        """The same words."""
        return tuple(LABELS)

    def detect(self, pictures: Sequence[Picture], *, most: int = 10) -> list[list[Region]]:
        """Give the quarters of every picture and the whole, those of the clearest colour first."""
        return [choose_best(self._quarter(picture), picture, most) for picture in pictures]

    def encode(self, crops: Sequence[Array]) -> Array:
        """Give the colours of a crop, turned and of length one."""
        grids = np.array([_average(one) for one in crops]).reshape(len(crops), -1)
        vectors = (grids / 255 - 0.497) @ _turn(GRID * GRID * 3, self.width, self.seed)
        found: Array = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return found

    def encode_texts(self, texts: Sequence[str]) -> Array:
        """Give the vector of the colour that a text names first, else one that means nothing."""
        crops = [_picture_word(text, self.seed) for text in texts]
        return self.encode(crops)

    def classify(self, crops: Sequence[Array]) -> Array:
        """Give every colour that it knows a share: the more, the nearer the crop's mean is."""
        means = np.array([one.mean((0, 1)) for one in crops]).reshape(len(crops), 1, 3)
        near = np.exp(-np.linalg.norm(means - _COLOURS, axis=2) / 32)
        shares: Array = near / near.sum(axis=1, keepdims=True)
        return shares

    def _quarter(self, picture: Picture) -> list[Region]:
        across, down = picture.width, picture.height
        boxes = [(x * across, y * down, across / 2, down / 2) for x, y in _PLACES]
        boxes.append((0.0, 0.0, float(across), float(down)))
        shares = self.classify([crop(picture, box) for box in boxes])
        best = shares.argmax(axis=1)
        return [
            Region(box, self.labels[label], float(row[label]))
            for box, label, row in zip(boxes, best.tolist(), shares, strict=True)
        ]


def _picture_word(text: str, seed: int) -> Array:
    words = re.findall(r"\w+", text.lower())
    known = next((LABELS[word] for word in words if word in LABELS), None)
    if known is not None:
        return np.array(known, np.uint8).reshape(1, 1, 3)
    noise = hashlib.shake_128(f"{seed}|{text}".encode(errors="surrogatepass")).digest(GRID**2 * 3)
    return np.frombuffer(noise, np.uint8).reshape(GRID, GRID, 3)


def _average(pixels: Array) -> Array:
    """Mean colours on a grid, however small the crop is."""
    rows, columns = (_split_places(size) for size in pixels.shape[:2])
    return np.array([[pixels[np.ix_(r, c)].mean((0, 1)) for c in columns] for r in rows])


def _split_places(size: int) -> list[Array]:
    count = max(size, GRID)
    return np.array_split(np.arange(count) * size // count, GRID)


@lru_cache(maxsize=64)
def _turn(size: int, width: int, seed: int) -> Array:
    raw = hashlib.shake_128(f"{seed}|pictures".encode()).digest(size * width)
    turned: Array = np.frombuffer(raw, dtype=np.uint8).reshape(size, width) / 127.37 - 1
    return turned
