"""Pictures with what was seen in them, and the stories they are told by, noun by noun.

Stories of the same pictures share one drawing of them. What belongs together carries the same
`data-at`: pointing at a noun lights its region up, and the other way round, by rules and without a
script; links lead there by their anchors.
"""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePath

from fabula.core.model import Picture, Region
from fabula.core.story import count_text
from fabula.learned.grounding.grounder import Sight
from fabula.models.reading.pictures import to_pillow
from fabula.reports._picture_words import (
    PAGE_LEGEND,
    WEAK_LEGEND,
    chance_text,
    left_out_words,
    noun_place_words,
    region_words,
    seen_words,
    share_text,
)
from fabula.reports._review_marks import paragraph_spans
from fabula.reports.figures.drawing import short
from fabula.reports.numbers import coefficient_text, number_text
from fabula.reports.pages import escape, tag
from fabula.scoring.review.pictures import PicturedStory, SeenNoun, list_notes
from fabula.text.repetition import Span
from fabula.text.sentences import sentence_spans

# Pictures are shown this large at most, and a page holds so many bytes of them.
MOST_WIDTH, MOST_HEIGHT = 640, 900
MOST_BYTES = 8_000_000
_QUALITY = 80
# A number on a picture takes so many hundredths of a small one.
_BADGE = 8.0
# Of a longer story the rest is told in words.
_MOST_SENTENCES = 300
_LIT = "--edge: var(--lit); --thick: 4; --glow: var(--lit-ground); --badge: var(--lit);"


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


def group_by_pictures(stories: Sequence[PicturedStory]) -> list[list[PicturedStory]]:
    """Put stories of the same pictures, with the same regions, beside one another."""
    groups: dict[object, list[PicturedStory]] = {}
    for story in stories:
        sights = story.grounded.sights
        key = [(s.picture.digest, *(region.box for region in s.regions)) for s in sights]
        groups.setdefault(tuple(key), []).append(story)
    return list(groups.values())


def _draw_album(stories: Sequence[PicturedStory], number: int, budget: PictureBudget) -> str:
    """Draw one sequence of pictures and the stories told of it; `number` tells it from others."""
    sights = stories[0].grounded.sights
    figures = [_figure(stories, (number, place), budget) for place in range(len(sights))]
    tellings = [_telling(story, (number, place)) for place, story in enumerate(stories)]
    album = tag("div", "\n".join(figures), class_="album")
    texts = tag("div", "\n".join(tellings), class_="tellings")
    return tag("div", f"{texts}\n{album}", class_="pictured", id=f"pictures-{number}")


def draw_section(
    groups: Sequence[Sequence[PicturedStory]],
    budget: PictureBudget | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Draw a section of a page: every sequence of pictures with the stories told of it.

    `notes` are what is to be said before them.
    """
    budget = budget or PictureBudget()
    albums = [_draw_album(group, number, budget) for number, group in enumerate(groups)]
    if budget.left_out:
        notes = [*notes, left_out_words(budget.left_out)]
    head = tag("h2", "Pictures", id="pictures-head")
    legend = [tag("p", escape(words), class_="legend") for words in (PAGE_LEGEND, *notes)]
    inside = "\n".join([head, *legend, *albums])
    return tag("section", inside, id="pictures", aria_labelledby="pictures-head")


def write_rules(groups: Sequence[Sequence[PicturedStory]]) -> str:
    """Write the rules that light up what belongs to a region, for all sequences of pictures."""
    rules = []
    for number, stories in enumerate(groups):
        for at in _all_regions(stories[0].grounded.sights):
            mine = f'[data-at="{number}-{at}"]'
            pointed = f"#pictures-{number}:has({mine}:is(:hover, :focus-within, :target))"
            rules.append(f"{pointed} {mine} {{ {_LIT} }}")
    return "\n".join(["", *rules, ""])


def _all_regions(sights: Sequence[Sight]) -> Iterator[str]:
    for picture, sight in enumerate(sights):
        for place in range(len(sight.regions)):
            yield f"{picture}-{place}"


def _figure(stories: Sequence[PicturedStory], place: tuple[int, int], budget: PictureBudget) -> str:
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
    caption = tag("p", head, class_="name") + _write_notes(notes)
    caption += _region_lists(stories, (number, at), found)
    inside = tag("div", frame, class_="frame", style=style) + tag("figcaption", caption)
    return tag("figure", inside, class_="sight", id=f"picture-{name}")


def _write_notes(notes: Iterable[str]) -> str:
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


def _telling(story: PicturedStory, place: tuple[int, int]) -> str:
    """Write a story sentence by sentence, its values above and all nouns below it."""
    number, at = place
    name = f"telling-{number}-{at}"
    title = tag("bdi", escape(story.story.id))
    if system := story.story.system:
        title += f" {tag('span', escape(system), class_='quiet')}"
    head = tag("h3", title, id=f"{name}-head")
    parts = [
        head,
        _values(story),
        tag("p", escape(seen_words(story)), class_="legend") + _write_notes(story.common_notes),
        _sentences(story, place),
        _noun_table(story, place),
    ]
    inside = "\n".join(part for part in parts if part)
    return tag("section", inside, class_="telling", id=name, aria_labelledby=f"{name}-head")


def _values(story: PicturedStory) -> str:
    """Write the values by part, the variants of one beside each other."""
    parts = dict.fromkeys(value.part for value in story.values)
    rows = []
    for part in parts:
        cells = [
            tag("dd", f"{number_text(value.value, 2)} {_variant(value.variant, value.spec)}")
            for value in story.values
            if value.part == part
        ]
        rows.append(tag("div", tag("dt", escape(part)) + "".join(cells)))
    return tag("dl", "".join(rows), class_="values") if rows else ""


def _variant(words: str, spec: str) -> str:
    return tag("span", escape(words), title=spec)


def _sentences(story: PicturedStory, place: tuple[int, int]) -> str:
    """Write the sentences, each after how likely it is to follow the one before it."""
    text = story.story.text
    spans = sentence_spans(text) or paragraph_spans(text)
    steps = {step.second[0]: step.probability for step in story.transitions}
    items = []
    for span in spans[:_MOST_SENTENCES]:
        chance = steps.get(span[0], math.nan)
        inside = f"{_step(chance)} {_write_marked(story, span, place)}".strip()
        items.append(tag("li", inside))
    more = len(spans) - len(items)
    note = tag("p", f"And {count_text(more, 'more sentence')}.", class_="quiet") if more else ""
    return tag("ol", "\n".join(items), class_="sentences") + note


def _step(chance: float) -> str:
    if not math.isfinite(chance):
        return ""
    words = tag("span", "follows the one before with ", class_="unseen")
    kind = "step low" if chance < 0.5 else "step"
    title = "how likely this sentence is to follow the one before it"
    return tag("span", words + share_text(chance), class_=kind, title=title)


def _write_marked(story: PicturedStory, span: Span, place: tuple[int, int]) -> str:
    """Write a sentence with its nouns linked and what is said more than once tinted."""
    text, (first, last) = story.story.text, span
    nouns = {
        noun.span: noun
        for noun in story.nouns
        if first <= noun.span[0] and noun.span[1] <= last and text[slice(*noun.span)]
    }
    runs = [run for repeated in story.repetition for run in repeated.places]
    # A noun is one link, wherever a run begins.
    inner = {at for start, stop in nouns for at in range(start + 1, stop)}
    edges = {first, last, *(edge for noun in nouns for edge in noun)}
    edges |= {edge for run in runs for edge in run if first < edge < last and edge not in inner}
    pieces = []
    for start, stop in pairwise(sorted(edges)):
        noun = nouns.get((start, stop))
        words = text[start:stop]
        piece = _noun(words, noun, place) if noun else escape(words)
        again = any(run[0] <= start and stop <= run[1] for run in runs)
        pieces.append(tag("mark", piece, class_="again") if again else piece)
    return "".join(pieces)


def _noun(words: str, noun: SeenNoun, place: tuple[int, int]) -> str:
    number, telling = place
    name = f"noun-{number}-{telling}-{noun.number}"
    if noun.place is None:
        said = escape(words) + tag("sub", "?" + tag("span", " not known", class_="unseen"))
        return tag("span", said, class_="noun unknown", id=name, title="no match is known")
    picture, region = noun.place
    at = f"{number}-{picture}-{region}"
    kind = "noun weak" if noun.is_weak else "noun"
    said = escape(words) + tag("sub", coefficient_text(noun.match))
    where = f"picture {picture + 1}, region {region + 1}" + (", weak" if noun.is_weak else "")
    return tag("a", said, class_=kind, id=name, href=f"#region-{at}", data_at=at, title=where)


def _noun_table(story: PicturedStory, place: tuple[int, int]) -> str:
    """List all nouns in a fold: where each is seen best, how well, and what that is worth."""
    if not story.nouns:
        return ""
    heads = ("noun", "seen best in", "similarity", "by chance", "weight")
    kinds = (None, None, "num", "num", "num")
    head = "".join(
        tag("th", words, scope="col", class_=kind) for words, kind in zip(heads, kinds, strict=True)
    )
    rows = [_noun_row(story, noun, place) for noun in story.nouns]
    table = tag("table", tag("thead", tag("tr", head)) + tag("tbody", "\n".join(rows)))
    summary = tag("summary", f"All nouns: {len(story.nouns)}")
    legend = tag("p", escape(f"{WEAK_LEGEND} Weight: its idf."), class_="legend")
    return tag("details", summary + tag("div", table, class_="scroll") + legend, class_="nouns")


def _noun_row(story: PicturedStory, noun: SeenNoun, place: tuple[int, int]) -> str:
    words = escape(noun_place_words(story, noun))
    if noun.place is not None:
        words = tag("a", words, href=f"#region-{place[0]}-{noun.place[0]}-{noun.place[1]}")
    cells = [
        tag("th", escape(noun.text), scope="row"),
        tag("td", words + (" · weak" if noun.is_weak else "")),
        tag("td", coefficient_text(noun.match) if noun.place else "–", class_="num"),
        tag("td", chance_text(noun.chance), class_="num"),
        tag("td", number_text(noun.grounded.weight, 1), class_="num"),
    ]
    return tag("tr", "".join(cells), class_="weak" if noun.is_weak else None)
