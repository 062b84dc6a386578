"""What metrics share that look for the nouns of stories in their pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated

from fabula.core.errors import UserError
from fabula.core.metric import Metric
from fabula.core.model import Picture
from fabula.core.score import Missing, Status
from fabula.core.settings import Between, Means
from fabula.core.story import Story, count_text
from fabula.learned.grounding.grounder import Grounder, Sight
from fabula.learned.grounding.nouns import read_nouns
from fabula.learned.grounding.opening import DETECTOR, EMBEDDED, open_grounder
from fabula.learned.grounding.region_grounder import REGIONS
from fabula.models import PictureError, PictureReader
from fabula.models.reading.tagging import tagger_trait
from fabula.text.nouns import Noun

GROUNDER = EMBEDDED
# What grounder and detector need by default, and who says what a noun is.
ASSETS = ("spacy_small", "grounder", "ssd_mobilenet", "mobilenet_v2", "imagenet_labels", "minilm")
# Pixels of all pictures of a story are in memory at once.
MOST_PICTURES = 50
# Names in a note; of more the first.
_FEW = 5


@dataclass(frozen=True)
class PictureMetric(Metric):
    """A metric that looks for nouns in the pictures of a story.

    Where a package or an asset is lacking, every story says so and names the command that gets it;
    a picture that cannot be read makes its story's value missing, and is named.
    """

    grounder: Annotated[
        str, Means("embedded, labels, the folder of a training, or a CLIP of a hub or a folder")
    ] = GROUNDER
    detector: Annotated[str, Means("a model that finds regions, or boxes('FILE')")] = DETECTOR
    regions: Annotated[int, Between(1, 100), Means("boxes a picture, the surest")] = REGIONS

    def check(self) -> None:
        """Refuse a name that names no grounder or no detector."""
        _ = self.looker

    @property
    def looker(self) -> Grounder:
        """The grounder of the settings, one a process; it loads when it is first asked."""
        return open_grounder(self.grounder, detector=self.detector, regions=self.regions)

    def traits(self) -> dict[str, str]:
        """Who looks, and who says what a noun is."""
        try:
            tagger = tagger_trait(parses=True)
        except UserError:
            tagger = "missing"
        return {"grounder": self.looker.signature, "tagger": tagger}

    @cached_property
    def absence(self) -> str:
        """Say all that it lacks: the tagger, what the grounder needs, or both."""
        lacking = []
        try:
            tagger_trait(parses=True)
        except UserError as error:
            lacking.append(str(error))
        return "; ".join(filter(None, [*lacking, self.looker.absence]))

    def find_nouns(self, text: str) -> tuple[Noun, ...]:
        """Give the nouns of a text, each once a sentence; Missing where there is none."""
        if nouns := keep_nouns(text, self.compat):
            return nouns
        raise Missing(Status.UNDEFINED, "the story names nothing: it has no noun to look for")


@lru_cache(maxsize=4096)
def keep_nouns(text: str, compat: bool) -> tuple[Noun, ...]:
    """Give the nouns of a text, read once however many metrics ask."""
    return read_nouns(text, compat=compat)


@lru_cache(maxsize=1)
def open_reader() -> PictureReader:
    """Give the reader of pictures, one a process: what it has read it keeps."""
    return PictureReader()


def read_pictures(story: Story) -> list[Picture]:
    """Read the pictures of a story; Missing names the story and the file that will not do."""
    if len(story.images) > MOST_PICTURES:
        count = count_text(len(story.images), "picture")
        raise Missing(Status.TOO_LONG, f"{count} are more than the limit of {MOST_PICTURES}")
    try:
        return open_reader().read_all(story.images)
    except PictureError as error:
        raise Missing(Status.MISSING_IMAGES, f"story {story.id!r}: {error}") from None


def describe_sights(sights: Sequence[Sight]) -> list[str]:
    """Say what speaks against believing what was seen, each thing once and of which pictures."""
    places: dict[str, list[str]] = {}
    for number, sight in enumerate(sights, 1):
        for note in (*sight.picture.notes, *sight.notes):
            places.setdefault(note, []).append(str(number))
    return [
        note if len(numbers) == len(sights) else f"{_name_pictures(numbers)}: {note}"
        for note, numbers in places.items()
    ]


def _name_pictures(numbers: Sequence[str]) -> str:
    return f"picture{'s' * (len(numbers) > 1)} {list_few(numbers)}"


def list_few(words: Sequence[str]) -> str:
    """List words, of many the first."""
    more = len(words) - _FEW
    return ", ".join([*words[:_FEW], *([f"and {more} more"] if more > 0 else [])])
