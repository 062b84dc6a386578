"""A story's text with its evidence, repetitions and weakest step marked in place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fabula.reports.pages import escape, tag
from fabula.reports.review import ASPECT_WORDS
from fabula.scoring.review import AspectReview, Review
from fabula.text.repetition import Span

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_WRAPPED_CHARACTERS = 100
# Beyond this many steps, places in the story that the curve could lead to are left out.
MOST_PLACES = 1500
# So many repetitions are marked, and of each so many times.
_MOST_REPEATED, _MOST_TIMES = 100, 50


@dataclass(frozen=True)
class Mark:
    """A span of the text, what it is for, and the id of its place."""

    name: str
    span: Span
    kind: str
    place: str = ""


@dataclass(frozen=True)
class Insert:
    """Markup that stands at a place of the text; `after` what ends there, or before what begins."""

    at: int
    markup: str
    after: bool = False


def story_html(review: Review) -> str:
    """Write the story in paragraphs, marked."""
    text = review.story.text
    marks, inserts = find_marks(review), find_inserts(review)
    parts = []
    for start, end in paragraph_spans(text):
        kind = None if _is_wrapped(text[start:end]) else "lines"
        parts.append(tag("p", _paragraph(text, (start, end), marks, inserts), class_=kind))
    return "\n".join(parts)


def paragraph_spans(text: str) -> list[Span]:
    """Places of the paragraphs: blocks between blank lines."""
    spans, start = [], 0
    for gap in _BLANK_LINE.finditer(text):
        spans.append((start, gap.start()))
        start = gap.end()
    spans.append((start, len(text)))
    return [(first, last) for first, last in spans if text[first:last].strip()]


def find_marks(review: Review) -> list[Mark]:
    """All spans to be marked, by the names that hovering goes by."""
    marks = [
        Mark(
            f"aspect-{aspect.name}",
            (aspect.evidence.start, aspect.evidence.end),
            "evidence" if aspect.comment else "unsaid",
            f"at-{aspect.name}",
        )
        for aspect in review.aspects
        if aspect.evidence.found and (aspect.comment or not aspect.unrated)
    ]
    for place, observation in enumerate(review.observations or (), 1):
        name = f"observed-{place}"
        marks.append(Mark(name, observation.span, "evidence", f"at-{name}"))
        marks += [Mark(name, spot, "observed") for spot in observation.spots[:_MOST_TIMES]]
    for number, run in enumerate(review.repetition[:_MOST_REPEATED]):
        marks += [
            Mark(f"repeated-{number}", span, "repeated", f"repeated-{number}-{time}")
            for time, span in enumerate(run.places[:_MOST_TIMES])
        ]
    return marks


def find_inserts(review: Review) -> list[Insert]:
    """Numbers of comments, places of steps, and the sign of the weakest."""
    inserts = []
    observations = review.observations or ()
    for number, observation in enumerate(observations, 1):
        link = tag(
            "a",
            str(number),
            href=f"#observed-{number}",
            class_="note",
            aria_label=f"note {number}, {observation.name}",
        )
        inserts.append(Insert(observation.span[1], tag("sup", link), after=True))
    for number, aspect in enumerate(commented_aspects(review), len(observations) + 1):
        if not aspect.evidence.found:
            continue
        link = tag(
            "a",
            str(number),
            href=f"#aspect-{aspect.name}",
            class_="note",
            aria_label=f"comment {number}, on the {ASPECT_WORDS[aspect.name]}",
        )
        inserts.append(Insert(aspect.evidence.end, tag("sup", link), after=True))
    if len(review.transitions) <= MOST_PLACES:
        inserts += [
            Insert(step.second[0], tag("span", "", id=f"step-{number}", class_="place"))
            for number, step in enumerate(review.transitions)
            if number != review.weakest
        ]
    if review.weakest is not None:
        step = review.transitions[review.weakest]
        words = f"weakest step, {step.probability:.0%}".replace("%", " %")
        link = tag("a", words, href="#flow", class_="weakest", id=f"step-{review.weakest}")
        inserts.append(Insert(step.second[0], f"{link} "))
    return inserts


def commented_aspects(review: Review) -> list[AspectReview]:
    """Aspects with a comment, in the order of their places in the story."""
    commented = [aspect for aspect in review.aspects if aspect.comment]
    return sorted(commented, key=lambda aspect: (aspect.evidence.start, aspect.evidence.end))


def _is_wrapped(block: str) -> bool:
    """Whether the lines of a block end where a page did, so that they may flow."""
    lines = block.splitlines()
    return (
        len(lines) > 1
        and max(map(len, lines)) <= _WRAPPED_CHARACTERS
        and all(len(line) > _WRAPPED_CHARACTERS // 2 for line in lines[:-1])
    )


def _paragraph(text: str, span: Span, marks: Sequence[Mark], inserts: Sequence[Insert]) -> str:
    """Cut a paragraph where anything begins or ends, and write the pieces."""
    start, end = span
    here = [mark for mark in marks if mark.span[0] < end and mark.span[1] > start]
    there = [insert for insert in inserts if _within(insert, span)]
    edges = {start, end, *(insert.at for insert in there)}
    edges |= {min(max(edge, start), end) for mark in here for edge in mark.span}
    cuts = sorted(edges)
    parts = []
    for first, last in pairwise(cuts):
        parts += [insert.markup for insert in there if insert.at == first and not insert.after]
        parts += [_place(mark) for mark in here if _begins(mark, first, start)]
        parts.append(_piece(text[first:last], [m for m in here if _covers(m, first, last)]))
        parts += [insert.markup for insert in there if insert.at == last and insert.after]
    return "".join(parts)


def _within(insert: Insert, span: Span) -> bool:
    return span[0] < insert.at <= span[1] if insert.after else span[0] <= insert.at < span[1]


def _begins(mark: Mark, at: int, paragraph: int) -> bool:
    return mark.span[0] == at or (at == paragraph and mark.span[0] < at and not mark.place)


def _covers(mark: Mark, first: int, last: int) -> bool:
    return mark.span[0] <= first and mark.span[1] >= last


def _place(mark: Mark) -> str:
    return tag("span", "", id=mark.place, class_="place") if mark.place else ""


def _piece(text: str, marks: Iterable[Mark]) -> str:
    covering = list(marks)
    if not covering:
        return escape(text)
    kinds = " ".join(dict.fromkeys(mark.kind for mark in covering))
    names = " ".join(dict.fromkeys(mark.name for mark in covering))
    return tag("mark", escape(text), class_=kinds, data_of=names)
