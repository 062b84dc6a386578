"""The notes beside a story on its page: what was observed, then comments on aspects."""

from __future__ import annotations

import math

from fabula.learned.comments.composer import Observation, put_in_quotes
from fabula.reports._review_figures import draw_rating
from fabula.reports._review_marks import commented_aspects
from fabula.reports.numbers import number_text
from fabula.reports.pages import escape, tag
from fabula.reports.review import ASPECT_WORDS, NOTHING_RARE, unrated_words
from fabula.scoring.review import AspectReview, Review

_LEGEND = (
    "The line, what is measured in it, how many human stories do as much, and what to try. A quote "
    "leads to its place in the story."
)


def draw_notes(review: Review) -> str:
    """Write the notes, and other aspects that have an opinion in a fold; none of what is no story.

    What is surest and easiest to act on comes first; comments on aspects follow in the order of
    the story.
    """
    if review.unlike:
        return ""
    observations, commented = review.observations or (), commented_aspects(review)
    parts = [tag("h2", "Notes", id="notes-head")]
    parts += [tag("p", escape(_LEGEND), class_="legend")] if observations or commented else []
    cards = [_observation_card(note, place) for place, note in enumerate(observations, 1)]
    cards += [_aspect_card(aspect, place) for place, aspect in enumerate(commented, len(cards) + 1)]
    if cards:
        parts.append(tag("ol", "\n".join(cards), class_="aspects"))
    elif review.observations is not None:
        parts.append(tag("p", escape(NOTHING_RARE)))
    if words := unrated_words(review):
        parts.append(tag("p", escape(words), class_="legend"))
    if others := find_unsaid(review):
        others.sort(key=lambda other: -other.confidence if math.isfinite(other.confidence) else 0.0)
        fold = tag("summary", f"Other aspects, without a note: {len(others)}")
        fold += tag(
            "ul", "\n".join(_aspect_card(aspect, None) for aspect in others), class_="aspects"
        )
        parts.append(tag("details", fold, open=None if cards else ""))
    return tag("section", "\n".join(parts), id="notes", aria_labelledby="notes-head")


def find_unsaid(review: Review) -> list[AspectReview]:
    """Give the aspects without a comment that a reader has an opinion on."""
    return [aspect for aspect in review.aspects if not (aspect.comment or aspect.unrated)]


def _observation_card(observation: Observation, place: int) -> str:
    sign = tag("span", str(place), class_="number", aria_hidden="true")
    name = observation.name
    head = tag("h3", sign + escape(f"{name[:1].upper()}{name[1:]}"))
    quote = tag("a", escape(observation.shown), href=f"#at-observed-{place}", class_="quote")
    said = f"{observation.said[:1].upper()}{observation.said[1:]}."
    compared = f"{observation.comparison[:1].upper()}{observation.comparison[1:]}."
    marks = put_in_quotes(observation.quote)
    parts = [
        tag("div", head, class_="top"),
        tag("p", f"{marks[0]}{quote}{marks[-1]} {escape(said)}", class_="comment"),
        tag("p", escape(compared), class_="how"),
        tag("p", escape(observation.advice), class_="advice"),
    ]
    return tag("li", "".join(parts), class_="card told", id=f"observed-{place}")


def _aspect_card(aspect: AspectReview, place: int | None) -> str:
    sign = tag("span", str(place), class_="number", aria_hidden="true") if place else ""
    head = tag("h3", sign + escape(ASPECT_WORDS[aspect.name].capitalize()))
    if math.isfinite(aspect.rating):
        head += tag("div", draw_rating(aspect.rating), class_="score")
    parts = [tag("div", head, class_="top"), _share_html(aspect), _comment_html(aspect)]
    kind = "card told" if place else "card"
    return tag("li", "".join(parts), class_=kind, id=f"aspect-{aspect.name}")


def _share_html(aspect: AspectReview) -> str:
    words = []
    if math.isfinite(aspect.confidence):
        words.append(f"{100 * aspect.confidence:.0f} % of readers’ remarks would be on it")
    if math.isfinite(aspect.rating):
        words.append(f"as a rule readers give it {number_text(aspect.usual, 1)}")
    return tag("p", "; ".join(words), class_="sure") if words else ""


def _comment_html(aspect: AspectReview) -> str:
    """Write the comment, its quote a link to its place; else the quote, or why there is none."""
    evidence = aspect.evidence
    if aspect.by == "raw":
        own = tag("p", "The model’s own words, unchecked.", class_="how")
        return tag("p", escape(aspect.comment), class_="comment") + own
    if not evidence.found:
        return tag("p", escape(_aspect_reason(aspect)), class_="reason")
    link = tag("a", escape(evidence.quote), href=f"#at-{aspect.name}", class_="quote")
    words = f" ({', '.join(f'“{word}”' for word in evidence.words)})" if evidence.words else ""
    how = tag("p", escape(f"Quoted: {evidence.how}{words}."), class_="how")
    if not aspect.comment:
        return tag("p", f"“{link}”", class_="comment") + how
    before, _, after = aspect.comment.partition(evidence.quote)
    comment = tag("p", escape(before) + link + escape(after), class_="comment")
    return comment + how


def _aspect_reason(aspect: AspectReview) -> str:
    """Say why an aspect has no comment; nothing where it may have one."""
    return (
        "" if aspect.comment or aspect.evidence.found else f"No comment: {aspect.evidence.reason}."
    )
