"""A made-up story beside made-up pictures: what pages that show them are tested on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np

from fabula.core.model import Picture, Region
from fabula.core.story import Story
from fabula.learned.grounding.grounder import GroundedNoun, GroundedStory, Sight
from fabula.scoring.review import PlacedTransition, Review
from fabula.scoring.review.pictures import PicturedStory, PictureValue
from fabula.text.nouns import Noun
from fabula.text.repetition import find_repetitions
from fabula.text.sentences import sentence_spans
from fakes.review import made_up_review

TEXT = (
    "The dog ran over the beach with a red kite. We had a great time there. Its string was long, "
    "and the idea was Tom's. The snorfle slept. We had a great time there, and the boat came in."
)
STORY = Story("at the sea", TEXT, system="grandmother", images=("beach.jpg", "boat.jpg"))
# Where each noun is seen best: match, how many blind ones are as good, picture, region.
SEEN = {
    "dog": (0.71, 0.0, 0, 0),
    "beach": (0.52, 0.02, 0, 2),
    "kite": (0.66, 0.01, 0, 1),
    "string": (0.31, 0.07, 0, 1),
    "idea": (0.14, 0.55, 1, 0),
    "time": (0.12, 0.62, 1, 1),
    "snorfle": (math.nan, math.nan, None, None),
    "boat": (0.69, 0.004, 1, 0),
}
REGIONS = (
    (
        Region((40.0, 180.0, 120.0, 90.0), "dog", 0.97),
        Region((250.0, 20.0, 60.0, 70.0), "kite", 0.64),
        Region((0.0, 0.0, 400.0, 300.0)),
        Region((180.0, 200.0, 40.0, 60.0), "person", 0.31),
    ),
    (Region((60.0, 150.0, 180.0, 120.0), "boat", 0.88), Region((0.0, 300.0, 300.0, 100.0), "sea")),
)
SIZES = ((400, 300), (300, 400))
VALUES = (
    PictureValue("grounding", "a noun", "rovist_vg", 0.42),
    PictureValue("grounding", "as in the paper", "rovist_vg(pooling='lse')", 2.61),
    PictureValue("order", "probability", "rovist_c", 0.58),
    PictureValue("non-redundancy", "", "rovist_nr", 0.83),
)


def made_up_picture(name: str, size: tuple[int, int], shade: int = 90) -> Picture:
    """A picture with a bright half."""
    pixels = np.full((size[1], size[0], 3), shade, np.uint8)
    pixels[: size[1] // 2] = (150, 190, 230)
    return Picture(name, *size, f"digest of {name}", pixels)


def made_up_sights(notes: tuple[str, ...] = ()) -> tuple[Sight, ...]:
    """What was seen in the two pictures; similarities are those of SEEN alone."""
    return tuple(
        Sight(made_up_picture(name, size), regions, np.zeros((len(regions), 0)), notes)
        for name, size, regions in zip(STORY.images, SIZES, REGIONS, strict=True)
    )


def made_up_pictured(
    story: Story = STORY,
    seen: Mapping[str, tuple[float, float, int | None, int | None]] | None = None,
    sights: tuple[Sight, ...] = (),
) -> PicturedStory:
    """A story beside the pictures; of its words those that `seen` names are nouns."""
    spans = sentence_spans(story.text)
    nouns, chances = [], []
    for number, (start, end) in enumerate(spans):
        for name, (match, chance, picture, region) in (SEEN if seen is None else seen).items():
            at = story.text.find(name, start, end)
            if at >= 0:
                noun = Noun(name, number, at, at + len(name))
                nouns.append((GroundedNoun(noun, 2.5, match, picture, region), chance))
    nouns.sort(key=lambda pair: pair[0].noun.start)
    chances = [chance for _, chance in nouns]
    steps = [
        PlacedTransition(one, other, 0.31 if at == 1 else 0.62)
        for at, (one, other) in enumerate(pairwise(spans))
    ]
    grounded = GroundedStory(sights or made_up_sights(), tuple(noun for noun, _ in nouns))
    runs = find_repetitions(story.text, stop_words=())
    return PicturedStory(story, grounded, tuple(chances), tuple(steps), runs, VALUES)


def pictured_review(pictured: PicturedStory | None = None) -> Review:
    """A made-up review of a story beside its pictures."""
    pictured = pictured or made_up_pictured()
    return replace(made_up_review(pictured.story, weakest=1), pictured=pictured)
