"""Pictures with what was seen in them, and the stories they are told by, noun by noun.

Stories of the same pictures share one drawing of them. What belongs together carries the same
`data-at`: pointing at a noun lights its region up, and the other way round, by rules and without a
script; links lead there by their anchors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from fabula.core.story import count_text
from fabula.learned.grounding.grounder import Sight
from fabula.reports._picture_figure import PictureBudget, draw_figure, write_notes
from fabula.reports._picture_words import (
    PAGE_LEGEND,
    WEAK_LEGEND,
    chance_text,
    left_out_words,
    noun_place_words,
    seen_words,
    share_text,
)
from fabula.reports._review_marks import paragraph_spans
from fabula.reports.numbers import coefficient_text, number_text
from fabula.reports.pages import escape, tag
from fabula.scoring.review.pictures import PicturedStory, SeenNoun
from fabula.text.repetition import Span
from fabula.text.sentences import sentence_spans

# Of a longer story the rest is told in words.
_MOST_SENTENCES = 300
_LIT = "--edge: var(--lit); --thick: 4; --glow: var(--lit-ground); --badge: var(--lit);"


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
    figures = [draw_figure(stories, (number, place), budget) for place in range(len(sights))]
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
        tag("p", escape(seen_words(story)), class_="legend") + write_notes(story.common_notes),
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
