"""A picture with what was seen in it: boxes, numbers that nouns lead to, and the list below it."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from fabula.core.model import Picture, Region
from fabula.learned.grounding.grounder import Sight
from fabula.models.reading.pictures import to_pillow
from fabula.reports._picture_words import region_words
from fabula.reports.figures.drawing import short
from fabula.reports.numbers import coefficient_text
from fabula.reports.pages import escape, tag
from fabula.scoring.review.pictures import PicturedStory, SeenNoun, list_notes

# Pictures are shown this large at most, and a page holds so many bytes of them.
MOST_WIDTH, MOST_HEIGHT = 640, 900
MOST_BYTES = 8_000_000
_QUALITY = 80
# A number on a picture takes so many hundredths of a small one.
_BADGE = 8.0


@dataclass
class PictureBudget:
    """How many bytes of pictures a page may still hold, and how many pictures it left out."""

    bytes: int = MOST_BYTES
    left_out: int = 0
    _encoded: dict[str, str] = field(default_factory=dict)

    def take(self, picture: Picture) -> str:
        """Give a picture as an address that holds it; "" where it does not fit any more."""
        address = self._encoded.get(picture.digest) or encode_picture(picture)
        if len(address) > self.bytes:
            self.left_out += 1
            return ""
        self.bytes -= len(address)
        self._encoded[picture.digest] = address
        return address


def encode_picture(picture: Picture) -> str:
    """Write a picture, scaled down, as a JPEG in a data URI; nothing else of the file is in it."""
    image = to_pillow(picture.pixels)
    image.thumbnail((MOST_WIDTH, MOST_HEIGHT))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=_QUALITY, optimize=True)
    return f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def draw_figure(
    stories: Sequence[PicturedStory], place: tuple[int, int], budget: PictureBudget
) -> str:
    """Draw a picture with its regions; those that a noun is seen in are numbered on it."""
    number, at = place
    sight = stories[0].grounded.sights[at]
    picture, name = sight.picture, f"{number}-{at}"
    found = [
        [noun for story in stories for noun in story.find_nouns(at, region)]
        for region in range(len(sight.regions))
    ]
    frame = _image(sight, at, budget) + _boxes(sight, name, found)
    frame += _badges(sight, [region for region, nouns in enumerate(found) if nouns], name)
    style = f"aspect-ratio:{max(picture.width, 1)}/{max(picture.height, 1)}"
    head = (
        tag("strong", f"Picture {at + 1}") + " " + tag("bdi", escape(PurePath(picture.name).name))
    )
    notes = [note for note in list_notes(sight) if note not in stories[0].common_notes]
    caption = tag("p", head, class_="name") + write_notes(notes)
    caption += _region_lists(stories, (number, at), found)
    inside = tag("div", frame, class_="frame", style=style) + tag("figcaption", caption)
    return tag("figure", inside, class_="sight", id=f"picture-{name}")


def write_notes(notes: Iterable[str]) -> str:
    """Write what is to be said of pictures, a paragraph each."""
    return "".join(
        tag("p", escape(f"{note[:1].upper()}{note[1:]}."), class_="legend") for note in notes
    )


def _image(sight: Sight, at: int, budget: PictureBudget) -> str:
    address = budget.take(sight.picture)
    if not address:
        words = "This picture is not in the file, which would grow too large; its regions are."
        return tag("p", words, class_="left-out")
    labels = [region.label for region in sight.regions if region.label]
    shown = f": {', '.join(dict.fromkeys(labels))}" if labels else ""
    words = escape(f"Picture {at + 1}, {PurePath(sight.picture.name).name}{shown}")
    return f'<img src="{address}" alt="{words}" decoding="async">'


def _boxes(sight: Sight, name: str, found: Sequence[Sequence[SeenNoun]]) -> str:
    """Draw the boxes, large ones first, so that small ones can be pointed at."""
    order = sorted(range(len(sight.regions)), key=lambda at: -_area(sight.regions[at]))
    links = []
    for at in order:
        left, top, width, height = map(short, sight.regions[at].box)
        kind = _kind(found[at])
        # A dark line below a bright one is seen on any picture.
        box = "".join(
            tag("rect", x=left, y=top, width=width, height=height, class_=f"{line} {kind}")
            for line in ("halo", "box")
        )
        links.append(tag("a", box, href=f"#entry-{name}-{at}", data_at=f"{name}-{at}", tabindex=-1))
    size = f"0 0 {sight.picture.width} {sight.picture.height}"
    return tag("svg", "".join(links), viewBox=size, preserveAspectRatio="none", aria_hidden="true")


def _area(region: Region) -> float:
    return region.box[2] * region.box[3]


def _kind(nouns: Sequence[SeenNoun]) -> str:
    if not nouns:
        return "idle"
    return "weak" if all(noun.is_weak for noun in nouns) else "seen"


def _badges(sight: Sight, regions: Sequence[int], name: str) -> str:
    """Number regions at their upper left corners; the links of nouns lead there.

    Where a number stands already, the next one stands beside it.
    """
    width, height = max(sight.picture.width, 1), max(sight.picture.height, 1)
    badges: list[str] = []
    taken: list[tuple[float, float]] = []
    for region in regions:
        left, top, *_ = sight.regions[region].box
        # Near the right or lower edge it would stand outside.
        across = min(max(100 * left / width, 0.0), 100 - _BADGE)
        down = min(max(100 * top / height, 0.0), 100 - _BADGE)
        while across + _BADGE < 100 and any(
            abs(across - x) < _BADGE and abs(down - y) < _BADGE for x, y in taken
        ):
            across += _BADGE
        taken.append((across, down))
        badges.append(
            tag(
                "a",
                str(region + 1),
                class_="badge",
                id=f"region-{name}-{region}",
                href=f"#entry-{name}-{region}",
                data_at=f"{name}-{region}",
                style=f"left:{across:.1f}%;top:{down:.1f}%",
                aria_label=f"Region {region + 1}: {region_words(sight, region)}",
            )
        )
    return "".join(badges)


def _region_lists(
    stories: Sequence[PicturedStory],
    place: tuple[int, int],
    found: Sequence[Sequence[SeenNoun]],
) -> str:
    """List the regions in which nouns are seen, and the others in a fold."""
    sight, name = stories[0].grounded.sights[place[1]], f"{place[0]}-{place[1]}"
    used: list[str] = []
    idle: list[str] = []
    for region, nouns in enumerate(found):
        words = tag("span", str(region + 1), class_="digit")
        words += " " + tag("span", escape(region_words(sight, region)))
        if nouns:
            words += _noun_links(stories, place, region)
        entry = tag(
            "li",
            words,
            id=f"entry-{name}-{region}",
            data_at=f"{name}-{region}",
            # An idle region has no number on the picture to be led to: its entry is the place.
            tabindex=None if nouns else 0,
        )
        (used if nouns else idle).append(entry)
    if not found:
        return tag("p", "No region was found in it.", class_="legend")
    lists = tag("ul", "".join(used), class_="regions") if used else ""
    if idle:
        words = "Other regions" if used else "No noun is seen best here; regions"
        summary = tag("summary", f"{words}: {len(idle)}")
        lists += tag("details", summary + tag("ul", "".join(idle), class_="regions"))
    return lists


def _noun_links(stories: Sequence[PicturedStory], place: tuple[int, int], region: int) -> str:
    """Write the nouns that a region is the best for, each a link to where a story says it first."""
    lines = []
    for telling, story in enumerate(stories):
        links = []
        nouns: dict[str, list[SeenNoun]] = {}
        for noun in story.find_nouns(place[1], region):
            nouns.setdefault(noun.text, []).append(noun)
        for text, times in nouns.items():
            figure = coefficient_text(times[0].match)
            figure += f" × {len(times)}" if len(times) > 1 else ""
            kind = "weak" if times[0].is_weak else None
            href = f"#noun-{place[0]}-{telling}-{times[0].number}"
            words = f"{escape(text)} {tag('small', figure)}"
            links.append(tag("a", words, href=href, class_=kind))
        if links:
            who = tag("bdi", escape(story.story.system or story.story.id), class_="quiet")
            lines.append((f"{who}: " if stories[1:] else "") + ", ".join(links))
    return "".join(tag("span", line, class_="here") for line in lines)
