"""A grounder that cuts pictures into regions and asks a matcher how like each noun each is.

A detector says where to look: its surest boxes, and the whole picture. What a matcher makes of a
region or of a noun is remembered, so that each picture and each noun is encoded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from fabula.core.errors import SettingError, UnknownName, UserError
from fabula.core.model import Detector, Picture, Region
from fabula.learned.grounding.grounder import Sight
from fabula.models import choose_best, crop
from fabula.models.reading.state_cache import LruCache

if TYPE_CHECKING:
    from fabula.core.model import Array

# The paper's number of boxes a picture.
REGIONS = 10
# Pictures and nouns that are remembered: those of some thousand stories.
CACHED_PICTURES = 8192
CACHED_NOUNS = 65_536
NO_BOX = "the detector found nothing: the whole picture is one region"


class Matcher(Protocol):
    """Says how like nouns regions are, by what it makes of each of them once."""

    @property
    def signature(self) -> str:
        """What its values depend on."""
        ...

    def view(self, crops: Sequence[Array], regions: Sequence[Region]) -> Array:
        """Give what is to be remembered of every region, its pixels and its label: (regions, …)."""
        ...

    def name(self, nouns: Sequence[str]) -> Array:
        """Give what is to be remembered of every noun, NaN for one not known: (nouns, …)."""
        ...

    def match(self, views: Array, names: Array) -> Array:
        """Give similarities from −1 to 1, NaN for nouns not known: (regions, nouns)."""
        ...

    def note(self, whole: Array) -> str:
        """Say what speaks against believing it of a picture, given its pixels; "" if nothing."""
        ...


class Parts(NamedTuple):
    """What a grounder is made of."""

    detector: Detector
    matcher: Matcher


class View(NamedTuple):
    """What is remembered of a picture."""

    regions: tuple[Region, ...]
    seen: Array
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class RegionGrounder:
    """Grounds nouns in the surest boxes of a detector and in the whole picture.

    Detector and matcher load when they are first needed. `most` counts boxes; the whole picture
    comes after them.
    """

    load: Callable[[], Parts] = field(repr=False)
    most: int = REGIONS
    views: LruCache[View] = field(default_factory=lambda: LruCache(CACHED_PICTURES), repr=False)
    names: LruCache[Array] = field(default_factory=lambda: LruCache(CACHED_NOUNS), repr=False)

    @property
    def signature(self) -> str:
        """Matcher, detector, and how many boxes; `missing` where they cannot be had."""
        if self.absence:
            return "missing"
        detector, matcher = self.parts
        return f"{matcher.signature};{detector.signature};regions={self.most}"

    @property
    def absence(self) -> str:
        """Why detector or matcher cannot be had, if they cannot."""
        return self._parts if isinstance(self._parts, str) else ""

    @property
    def parts(self) -> Parts:
        """Detector and matcher; a UserError says what to do where they are not here."""
        return self.load() if isinstance(self._parts, str) else self._parts

    def look(self, pictures: Sequence[Picture], nouns: Sequence[str]) -> list[Sight]:
        """Give one sight a picture, in order."""
        # A table of boxes goes by names, an encoder by pixels.
        keys = [(picture.digest, picture.name) for picture in pictures]
        views = self.views.get(keys, lambda new: self._view([pictures[at] for at in new]))
        names = self._name(nouns)
        unknown = [noun for noun, row in zip(nouns, names, strict=True) if np.isnan(row).any()]
        note = f"not known to the grounder: {', '.join(dict.fromkeys(unknown))}"
        return [
            Sight(
                picture,
                view.regions,
                self._match(view, names),
                (*view.notes, *((note,) if unknown else ())),
            )
            for picture, view in zip(pictures, views, strict=True)
        ]

    def _view(self, pictures: Sequence[Picture]) -> list[View]:
        """Look at several pictures at once: their crops are encoded together."""
        detector, matcher = self.parts
        found = detector.detect(pictures, most=self.most)
        regions = [
            self._choose(picture, boxes) for picture, boxes in zip(pictures, found, strict=True)
        ]
        crops = [
            crop(picture, region.box)
            for picture, own in zip(pictures, regions, strict=True)
            for region in own
        ]
        seen = matcher.view(crops, [region for own in regions for region in own])
        ends = np.cumsum([len(own) for own in regions])[:-1]
        parts = zip(pictures, regions, np.split(seen, ends), found, strict=True)
        return [View(own, part, self._note(picture, boxes)) for picture, own, part, boxes in parts]

    def _note(self, picture: Picture, boxes: Sequence[Region]) -> tuple[str, ...]:
        notes = ("" if boxes else NO_BOX, self.parts.matcher.note(picture.pixels))
        return tuple(filter(None, notes))

    def _choose(self, picture: Picture, boxes: Sequence[Region]) -> tuple[Region, ...]:
        whole = Region((0.0, 0.0, float(picture.width), float(picture.height)))
        # A box that is nearly the whole picture stands for it.
        return tuple(choose_best([*boxes, whole], picture, self.most + 1))

    def _name(self, nouns: Sequence[str]) -> list[Array]:
        matcher = self.parts.matcher
        return self.names.get(nouns, lambda new: list(matcher.name([nouns[at] for at in new])))

    def _match(self, view: View, names: Sequence[Array]) -> Array:
        if not len(names):
            return np.zeros((len(view.regions), 0))
        return self.parts.matcher.match(view.seen, np.array(names))

    @cached_property
    def _parts(self) -> Parts | str:
        try:
            return self.load()
        except (SettingError, UnknownName):
            raise
        except UserError as error:
            return str(error)
