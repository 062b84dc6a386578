"""The page of a review: the story itself, and beside it what everyone says of it."""

from __future__ import annotations

import math
from collections.abc import Mapping

from fabula._version import __version__
from fabula.reports._markup import escaped, tag
from fabula.reports._review_curve import curve
from fabula.reports._review_marks import commented, story_html
from fabula.reports._review_words import (
    ASPECT_WORDS,
    aspect_reason,
    flow_words,
    label,
    lack_words,
    number,
    standing_words,
    statistic,
)
from fabula.reports._template import filled, joined, policy, static
from fabula.scoring._review_parts import AspectReview, Repeated, Review

_STYLES = ("page.css", "figures.css", "review.css")
_MOST_REPEATED = 8
# A story longer than its notes: these stay in view while it is read.
_LONG_CHARACTERS = 2600
_LIGHT = (
    "background: color-mix(in oklab, var(--lit) 55%, transparent); "
    "box-shadow: 0 0 0 0.15em color-mix(in oklab, var(--lit) 55%, transparent);"
)


def review_page(review: Review) -> str:
    """Write the page: one HTML file without a script."""
    return filled(
        static("review.html"),
        {
            "policy": policy(""),
            "title": escaped(review.story.id),
            "style": joined(_STYLES) + _lit(review),
            "warnings": _warnings(review),
            "standing": standing_html(review),
            "prompt": _prompt(review),
            "story": story_html(review),
            "key": _key(review),
            "criteria": _criteria(review.criteria),
            "aspects": _aspects(review),
            "length": "long" if len(review.story.text) > _LONG_CHARACTERS else "short",
            "flow": _flow(review),
            "repetition": _repetition(review),
            "statistics": _statistics(review),
            "signatures": _signatures(review.signatures),
            "version": escaped(__version__),
        },
    )


def standing_html(review: Review) -> str:
    """Write where the story stands, in words and as a bar."""
    words = tag("p", escaped(standing_words(review)), class_="finding")
    if not math.isfinite(review.percentile):
        return words
    low, high = review.interval
    between = math.isfinite(low) and math.isfinite(high)
    range_ = tag("span", class_="range", style=f"left:{low:.1f}%;right:{100 - high:.1f}%")
    point = tag("span", class_="point", style=f"left:{review.percentile:.1f}%")
    track = tag("div", (range_ if between else "") + point, class_="track", aria_hidden="true")
    ends = [tag("span", words) for words in ("liked least", "the middle", "liked best")]
    return words + track + tag("div", "".join(ends), class_="ends", aria_hidden="true")


def _warnings(review: Review) -> str:
    lines = [tag("li", escaped(one)) for one in review.warnings]
    lines += [tag("li", escaped(words)) for words in lack_words(review.lacks)]
    if not lines:
        return ""
    head = tag("h2", "Before you read on", id="warnings-head", class_="small")
    inside = head + tag("ul", "".join(lines))
    return tag("section", inside, class_="warnings", aria_labelledby="warnings-head")


def _prompt(review: Review) -> str:
    return tag("p", escaped(review.story.prompt), class_="prompt") if review.story.prompt else ""


def _key(review: Review) -> str:
    """Say what the marks in the story mean; only those that are there."""
    lines = []
    if any(one.comment for one in review.aspects):
        lines.append(f"{tag('mark', 'dotted', class_='evidence')} what a note rests on")
    if review.repetition:
        lines.append(f"{tag('mark', 'tinted', class_='repeated')} said more than once")
    if review.weakest is not None:
        sign = tag("span", "weakest step", class_="weakest")
        lines.append(f"{sign} the sentence that follows least well")
    return tag("p", " · ".join(lines), class_="legend") if lines else ""


def _criteria(criteria: Mapping[str, float]) -> str:
    if not criteria:
        return tag("p", "The criteria are not known for this story.", class_="quiet")
    rows = [
        tag("div", tag("dt", escaped(name)) + tag("dd", _rating(value)))
        for name, value in criteria.items()
    ]
    return tag("dl", "".join(rows), class_="ratings")


def _rating(value: float) -> str:
    """Write a rating as a bar and a number; the bar begins at 1, the lowest there is."""
    if not math.isfinite(value):
        return tag("span", "–", class_="figure")
    share = (min(max(value, 1.0), 5.0) - 1) / 4
    bar = tag("span", class_="meter", style=f"--share:{share:.3f}", aria_hidden="true")
    said = tag("span", " of 5", class_="unseen")
    return bar + tag("span", number(value) + said, class_="figure")


def _aspects(review: Review) -> str:
    told = commented(review)
    numbers = {one.name: place for place, one in enumerate(told, 1)}
    rest = [one for one in review.aspects if one.name not in numbers]
    rest.sort(key=lambda one: -one.confidence if math.isfinite(one.confidence) else 0.0)
    cards = [_card(one, numbers.get(one.name)) for one in (*told, *rest)]
    return tag("ol", "\n".join(cards), class_="aspects")


def _card(one: AspectReview, place: int | None) -> str:
    sign = tag("span", str(place), class_="number", aria_hidden="true") if place else ""
    head = tag("h3", sign + escaped(ASPECT_WORDS[one.name].capitalize()))
    top = tag("div", head + tag("div", _rating(one.rating), class_="score"), class_="top")
    parts = [top, _spoken(one), _said(one)]
    kind = "card told" if place else "card"
    return tag("li", "".join(parts), class_=kind, id=f"aspect-{one.name}")


def _spoken(one: AspectReview) -> str:
    if not math.isfinite(one.confidence):
        return ""
    share = f"{100 * one.confidence:.0f} %"
    said = f"{share} of readers’ remarks would be on it; as a rule they give it {number(one.usual)}"
    return tag("p", said, class_="sure")


def _said(one: AspectReview) -> str:
    """Write the comment, its quote a link to its place; else the quote, or why there is none."""
    found = one.evidence
    if not found.found:
        return tag("p", escaped(aspect_reason(one)), class_="reason")
    link = tag("a", escaped(found.quote), href=f"#at-{one.name}", class_="quote")
    words = f" ({', '.join(f'“{word}”' for word in found.words)})" if found.words else ""
    how = tag("p", escaped(f"Quoted: {found.how}{words}."), class_="how")
    if not one.comment:
        return tag("p", f"“{link}”", class_="comment") + how
    before, _, after = one.comment.partition(found.quote)
    comment = tag("p", escaped(before) + link + escaped(after), class_="comment")
    return comment + how


def _flow(review: Review) -> str:
    words = tag("p", escaped(flow_words(review)))
    if review.weakest is None:
        return words
    figure = curve(review.steps, review.weakest)
    scale = tag("div", tag("span", "likely") + tag("span", "unlikely"), class_="scale-y")
    ends = tag("div", tag("span", "beginning") + tag("span", "end"), class_="ends")
    box = tag("div", scale + tag("div", figure, class_="plot"), class_="flow-box")
    link = tag("a", "Show it in the story", href=f"#step-{review.weakest}")
    return words + box + ends + tag("p", link)


def _repetition(review: Review) -> str:
    if not review.repetition:
        return tag("p", "No run of four words or more comes again.")
    lines = [_repeated(at, one) for at, one in enumerate(review.repetition[:_MOST_REPEATED])]
    more = len(review.repetition) - len(lines)
    note = tag("p", f"And {more:,} more.", class_="quiet") if more else ""
    return tag("ul", "\n".join(lines), class_="repeats") + note


def _repeated(at: int, one: Repeated) -> str:
    links = [
        tag("a", str(time + 1), href=f"#repeated-{at}-{time}", aria_label=f"time {time + 1}")
        for time in range(min(one.count, 12))
    ]
    words = " ".join(one.text.split())
    shown = words if len(words) <= 160 else f"{words[:160].rstrip()} …"
    times = tag("span", f"{one.count} times: {' '.join(links)}", class_="quiet times")
    return tag("li", f"“{escaped(shown)}” {times}", id=f"repeated-{at}")


def _statistics(review: Review) -> str:
    pairs = [
        tag("div", tag("dt", escaped(label(name))) + tag("dd", statistic(name, value)))
        for name, value in review.statistics.items()
    ]
    return tag("dl", "".join(pairs), class_="facts small-facts")


def _signatures(signatures: Mapping[str, str]) -> str:
    lines = [tag("li", tag("code", escaped(one))) for one in signatures.values()]
    return tag("ul", "\n".join(lines), class_="signatures")


def _lit(review: Review) -> str:
    """Light up in the story what is pointed at: rules instead of a script."""
    names = [(f"aspect-{one.name}", [f"at-{one.name}"]) for one in review.aspects]
    names += [
        (f"repeated-{at}", [f"repeated-{at}-{time}" for time in range(min(one.count, 12))])
        for at, one in enumerate(review.repetition[:_MOST_REPEATED])
    ]
    rules = []
    for name, places in names:
        pointed = [f"#{name}:hover", f"#{name}:focus-within", *(f"#{at}:target" for at in places)]
        rules.append(f'body:has({", ".join(pointed)}) .story [data-of~="{name}"] {{ {_LIGHT} }}')
    return "\n".join(["", *rules, ""])
