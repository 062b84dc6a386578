"""A story beside its pictures, as it is shown: nouns and regions, steps, repetitions, values."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from fabula.core.metric import Metric
from fabula.core.score import Missing, Status
from fabula.core.story import Story
from fabula.learned.grounding.chance import find_chances
from fabula.learned.grounding.grounder import GroundedNoun, GroundedStory, Sight
from fabula.learned.rovist import Rovist
from fabula.learned.rovist_c import RovistC
from fabula.learned.rovist_nr import RovistNr
from fabula.learned.rovist_vg import RovistVg
from fabula.scoring.evaluate import evaluate
from fabula.scoring.review.parts import MissingPart, PlacedTransition, Review, or_none
from fabula.text.repetition import Repetition

# A match is weak where more nouns than this share, chosen blindly, match the same pictures as well.
# By the embedded grounder 61 % of the nouns in captions of photographs are seen in their own
# pictures, and 19 % in those of other captions; of drawings 21 and 13 %.
WEAK_SHARE = 0.1


@dataclass(frozen=True)
class PictureValue:
    """A value of RoViST: of which part, in which variant, by which metric; and what it notes."""

    part: str
    variant: str
    spec: str
    value: float
    note: str = ""


@dataclass(frozen=True)
class PicturedStory:
    """A story, what was seen of it in its pictures, and what else RoViST says of it.

    `chances` are, noun by noun, the shares of nouns chosen blindly that match the same pictures at
    least as well: NaN for a noun that is not known.
    """

    story: Story
    grounded: GroundedStory
    chances: tuple[float, ...]
    transitions: tuple[PlacedTransition, ...] = ()
    repetition: tuple[Repetition, ...] = ()
    values: tuple[PictureValue, ...] = ()

    @cached_property
    def nouns(self) -> tuple[SeenNoun, ...]:
        """The nouns in their order, each with how it stands."""
        pairs = zip(self.grounded.nouns, self.chances, strict=True)
        return tuple(SeenNoun(number, *pair) for number, pair in enumerate(pairs))

    @cached_property
    def common_notes(self) -> tuple[str, ...]:
        """What is to be said of all its pictures alike."""
        sights = self.grounded.sights
        notes = list_notes(sights[0]) if sights else []
        return tuple(note for note in notes if all(note in list_notes(s) for s in sights))

    @property
    def unknown(self) -> tuple[SeenNoun, ...]:
        """Nouns that the grounder does not know, or that have no region to be seen in."""
        return tuple(noun for noun in self.nouns if noun.place is None)

    @property
    def weak(self) -> tuple[SeenNoun, ...]:
        """Nouns that are matched no better than many chosen blindly."""
        return tuple(noun for noun in self.nouns if noun.is_weak)

    @property
    def seen(self) -> tuple[SeenNoun, ...]:
        """Nouns that are matched well, the best first."""
        seen = [noun for noun in self.nouns if noun.place is not None and not noun.is_weak]
        return tuple(sorted(seen, key=lambda noun: -noun.match))

    def find_nouns(self, picture: int, region: int) -> list[SeenNoun]:
        """Give the nouns that are seen best in a region, the best matched first."""
        here = [noun for noun in self.nouns if noun.place == (picture, region)]
        return sorted(here, key=lambda noun: -noun.match)

    def plain(self) -> dict[str, Any]:
        """Write it as plain values; what is not there is None."""
        return {
            "values": [
                {"metric": value.spec, "part": value.part, "variant": value.variant}
                | {"value": or_none(value.value), "note": value.note or None}
                for value in self.values
            ],
            "pictures": [_plain_sight(sight) for sight in self.grounded.sights],
            "nouns": [noun.plain() for noun in self.nouns],
        }


@dataclass(frozen=True)
class SeenNoun:
    """A noun of a story, its number, where it is seen best, and whether that says anything."""

    number: int
    grounded: GroundedNoun
    chance: float

    @property
    def text(self) -> str:
        """The noun as it was looked for."""
        return self.grounded.noun.text

    @property
    def span(self) -> tuple[int, int]:
        """Where it stands in the story."""
        return self.grounded.noun.start, self.grounded.noun.stop

    @property
    def match(self) -> float:
        """How like it its best region is; NaN where there is none."""
        return self.grounded.match

    @property
    def place(self) -> tuple[int, int] | None:
        """Numbers of its picture and region, from 0; None where there is none."""
        picture, region = self.grounded.picture, self.grounded.region
        return None if picture is None or region is None else (picture, region)

    @property
    def is_weak(self) -> bool:
        """Whether many nouns chosen blindly would have matched as well."""
        return self.place is not None and self.chance > WEAK_SHARE

    def plain(self) -> dict[str, Any]:
        """Write it as plain values; numbers of pictures and regions begin with 1, as on a page."""
        picture, region = self.place or (None, None)
        return {
            "noun": self.text,
            "start": self.span[0],
            "end": self.span[1],
            "sentence": self.grounded.noun.sentence + 1,
            "weight": or_none(self.grounded.weight),
            "match": or_none(self.match),
            "chance": or_none(self.chance),
            "weak": self.is_weak,
            "picture": None if picture is None else picture + 1,
            "region": None if region is None else region + 1,
        }


def list_notes(sight: Sight) -> list[str]:
    """Say what speaks against believing what was seen in a picture, or was left out of it."""
    return [note for note in (*sight.picture.notes, *sight.notes) if note]


def _plain_sight(sight: Sight) -> dict[str, Any]:
    picture = sight.picture
    return {
        "picture": picture.name,
        "width": picture.width,
        "height": picture.height,
        "sha256": picture.digest,
        "notes": list_notes(sight),
        "regions": [
            {"box": [round(edge, 1) for edge in region.box], "label": region.label or None}
            | {"confidence": or_none(region.confidence)}
            for region in sight.regions
        ],
    }


def picture_story(
    story: Story,
    metric: RovistVg,
    *,
    transitions: tuple[PlacedTransition, ...] = (),
    repetition: tuple[Repetition, ...] = (),
    values: tuple[PictureValue, ...] = (),
) -> PicturedStory:
    """Look for a story's nouns in its pictures as a metric does; Missing says why it cannot."""
    if metric.absence:
        raise Missing(Status.MISSING_MODEL, metric.absence)
    # Where nouns weigh by the stories of a run, one story does not know how much.
    grounded = metric.ground(story, _weigh_unknown if metric.batch else None)
    chances = find_chances(grounded, metric.looker)
    return PicturedStory(story, grounded, chances, transitions, repetition, values)


def _weigh_unknown(noun: str) -> float:
    return math.nan


def add_pictures(
    review: Review, *, grounder: str = "", order: str = "", cache: bool | str | Path = False
) -> Review:
    """Add to a review what is seen of its story in its pictures, or why that cannot be said.

    `grounder` and the weights for the `order` of sentences are the metrics' own unless named.
    """
    chosen = _choose_variants(grounder, order)
    metrics = {variant.metric.spec: variant.metric for variant in chosen}
    scores = {
        (score.scorer, score.aspect): score
        for score in evaluate([review.story], list(metrics.values()), cache=cache)
    }
    values = []
    for part, variant, metric, aspect in chosen:
        score = scores[metric.spec, aspect]
        values.append(PictureValue(part, variant, metric.spec, score.value, score.note))
    looking = chosen[0].metric
    assert isinstance(looking, RovistVg)
    try:
        pictured = picture_story(
            review.story,
            looking,
            transitions=review.transitions,
            repetition=review.repetition,
            values=tuple(values),
        )
    except Missing as missing:
        lack = MissingPart("pictures", missing.note)
        return replace(review, missing=(*review.missing, lack))
    signatures = {spec: metric.signature() for spec, metric in metrics.items()}
    return replace(review, pictured=pictured, signatures={**review.signatures, **signatures})


class _Variant(NamedTuple):
    part: str
    words: str
    metric: Metric
    aspect: str = ""


def _choose_variants(grounder: str, order: str) -> list[_Variant]:
    """Choose what is asked: each part of RoViST as it compares best, and as others compute it."""
    looks: dict[str, Any] = {"grounder": grounder} if grounder else {}
    orders: dict[str, Any] = {"weights": order} if order else {}
    looking, balanced = RovistVg(**looks), Rovist(overall="balanced", **looks, **orders)
    return [
        _Variant("grounding", "a noun", looking),
        _Variant("grounding", "as in the paper", looking, "original"),
        _Variant("order", "by probability", RovistC(**orders)),
        _Variant("order", "by logit", RovistC(by="logit", **orders)),
        _Variant("non-redundancy", "as in the paper", RovistNr()),
        _Variant("non-redundancy", "as in the release", RovistNr(compat=True)),
        _Variant("overall", "from 0 to 1", balanced, "overall"),
        _Variant("overall", "as in the paper", Rovist(**looks, **orders), "overall"),
    ]
