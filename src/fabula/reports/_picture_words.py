"""What is said of a story beside its pictures: in a terminal, in Markdown, and on pages."""

from __future__ import annotations

import math
from pathlib import PurePath

from fabula.core.story import count_text
from fabula.learned.grounding.grounder import Sight
from fabula.reports.numbers import MISSING, coefficient_text, number_text
from fabula.reports.pages import markdown_table
from fabula.reports.tables import Table, TableColumn
from fabula.scoring.review.pictures import WEAK_SHARE, PicturedStory, SeenNoun, list_notes
from fabula.text.escapes import markdown_text

WEAK_LEGEND = (
    "Similarity: how like the noun the region is, from −1 to 1. By chance: how many of 100 usual "
    "nouns, chosen blindly, match these pictures as well; a match is weak if more than "
    f"{100 * WEAK_SHARE:.0f} do."
)
PAGE_LEGEND = (
    "Each noun of a story leads to the region that is most like it, with the similarity beside it; "
    "grey ones are weak: more than a tenth of nouns chosen blindly match as well. A share before a "
    "sentence is how likely it is to follow the one before; tinted words are said more than once."
)
# A region that leaves hardly anything out is called what it is.
_WHOLE = 0.98


def left_out_words(count: int) -> str:
    """Say that pictures are not in a page, and why."""
    return (
        f"{count_text(count, 'picture')} would make this file too large and "
        f"{'is' if count == 1 else 'are'} not in it; what was seen in them is."
    )


def share_text(share: float) -> str:
    """Write a share as per cent."""
    return f"{100 * share:.0f} %" if math.isfinite(share) else MISSING


def chance_text(chance: float) -> str:
    """Write how many of a hundred nouns chosen blindly match as well."""
    if not math.isfinite(chance):
        return MISSING
    return "< 1 %" if chance < 0.005 else share_text(chance)


def region_words(sight: Sight, number: int) -> str:
    """Say what a region shows as far as somebody says it, and how sure that is."""
    region, picture = sight.regions[number], sight.picture
    area = region.box[2] * region.box[3]
    whole = area >= _WHOLE * picture.width * picture.height
    name = region.label or ("the whole picture" if whole else "without a name")
    sure = f", {share_text(region.confidence)} sure" if math.isfinite(region.confidence) else ""
    return name + sure


def noun_place_words(story: PicturedStory, noun: SeenNoun) -> str:
    """Say where a noun is seen best."""
    if noun.place is None:
        return "not known"
    picture, region = noun.place
    label = story.grounded.sights[picture].regions[region].label
    return f"picture {picture + 1}, region {region + 1}" + (f": {label}" if label else "")


def seen_words(story: PicturedStory) -> str:
    """Say how many nouns are seen in the pictures, weakly matched, or not known."""
    if not story.nouns:
        return "The story has no noun to look for in the pictures."
    total = count_text(len(story.nouns), "noun")
    words = [f"{len(story.seen)} of {total} are seen in the pictures"]
    if story.weak:
        words.append(f"{len(story.weak)} weakly matched")
    if story.unknown:
        words.append(f"{len(story.unknown)} not known")
    return f"{', '.join(words)}."


def value_lines(story: PicturedStory) -> list[str]:
    """Write the values by part, the variants of one in a line."""
    lines: dict[str, list[str]] = {}
    for value in story.values:
        words = f"{number_text(value.value, 2)} {value.variant}".strip()
        lines.setdefault(value.part, []).append(words)
    return [f"{part:<16}{' · '.join(words)}" for part, words in lines.items()]


def picture_lines(story: PicturedStory) -> list[str]:
    """Write for a terminal what is seen in each picture, and what in none."""
    lines = [seen_words(story), *(f"! {note}" for note in story.common_notes)]
    lines += value_lines(story)
    for number, sight in enumerate(story.grounded.sights):
        here = (noun for noun in story.seen if noun.place and noun.place[0] == number)
        # A noun of several sentences is named once.
        nouns = " · ".join(dict.fromkeys(_noun_words(story, noun) for noun in here))
        lines.append(
            f"{number + 1} {PurePath(sight.picture.name).name}: {nouns or 'nothing of the story'}"
        )
        own = [note for note in list_notes(sight) if note not in story.common_notes]
        lines += [f"! picture {number + 1}: {note}" for note in own]
    if story.weak:
        weak = (f"{noun.text} {coefficient_text(noun.match)}" for noun in story.weak)
        lines.append(f"weak: {', '.join(dict.fromkeys(weak))}")
    if story.unknown:
        lines.append(f"not known: {', '.join(dict.fromkeys(n.text for n in story.unknown))}")
    return lines


def _noun_words(story: PicturedStory, noun: SeenNoun) -> str:
    label = ""
    if noun.place:
        picture, region = noun.place
        label = story.grounded.sights[picture].regions[region].label
    seen = f" ({label})" if label and label != noun.text else ""
    return f"{noun.text}{seen} {coefficient_text(noun.match)}"


def picture_markdown(story: PicturedStory) -> str:
    """Write it as Markdown: values, and a table of the nouns."""
    values = [f"- {markdown_text(' '.join(line.split()))}" for line in value_lines(story)]
    names = []
    for number, sight in enumerate(story.grounded.sights, 1):
        own = [note for note in list_notes(sight) if note not in story.common_notes]
        words = " ".join([PurePath(sight.picture.name).name, *(f"({note})" for note in own)])
        names.append(f"{number}. {markdown_text(words)}")
    rows = [
        [
            noun.text,
            noun_place_words(story, noun) + (" (weak)" if noun.is_weak else ""),
            coefficient_text(noun.match) if noun.place else MISSING,
            chance_text(noun.chance),
        ]
        for noun in story.nouns
    ]
    figures = [TableColumn(name, align="right") for name in ("similarity", "by chance")]
    notes = [markdown_text(note) for note in story.common_notes]
    parts = ["## Pictures", seen_words(story), *notes, "\n".join(values), "\n".join(names)]
    if rows:
        parts += [markdown_table(Table(["noun", "seen best in", *figures], rows)), WEAK_LEGEND]
    return "\n\n".join(part for part in parts if part)
