"""The page of a review: the story itself, and beside it what everyone says of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from fabula._version import __version__
from fabula.reports._review_marks import MOST_PLACES, commented_aspects, story_html
from fabula.reports.figures.drawing import draw_figure, short
from fabula.reports.numbers import number_text
from fabula.reports.pages import (
    content_policy,
    escape,
    fill_template,
    join_static,
    read_static,
    tag,
)
from fabula.reports.review import (
    ASPECT_WORDS,
    aspect_reason,
    flow_words,
    missing_words,
    preference_words,
    statistic_name,
    statistic_text,
)
from fabula.scoring.review import AspectReview, PlacedTransition, Review
from fabula.text.repetition import Repetition

_STYLES = ("page.css", "figures.css", "review.css")
_MOST_REPEATED = 8
# A story longer than its notes: these stay in view while it is read.
_LONG_CHARACTERS = 2600
# Size of the coherence curve, and the room left around it.
_WIDTH, _HEIGHT, _EDGE = 1000, 220, 16
_LIGHT = (
    "background: color-mix(in oklab, var(--lit) 55%, transparent); "
    "box-shadow: 0 0 0 0.15em color-mix(in oklab, var(--lit) 55%, transparent);"
)


def review_page(review: Review) -> str:
    """Write the page: one HTML file without a script."""
    return fill_template(
        read_static("review.html"),
        {
            "policy": content_policy(""),
            "title": escape(review.story.id),
            "style": join_static(_STYLES) + _highlight_rules(review),
            "warnings": _warnings(review),
            "standing": preference_html(review),
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
            "version": escape(__version__),
        },
    )


def preference_html(review: Review) -> str:
    """Write where the story stands, in words and as a bar."""
    words = tag("p", escape(preference_words(review)), class_="finding")
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
    lines = [tag("li", escape(warning)) for warning in review.warnings]
    lines += [tag("li", escape(words)) for words in missing_words(review.missing)]
    if not lines:
        return ""
    head = tag("h2", "Before you read on", id="warnings-head", class_="small")
    inside = head + tag("ul", "".join(lines))
    return tag("section", inside, class_="warnings", aria_labelledby="warnings-head")


def _prompt(review: Review) -> str:
    return tag("p", escape(review.story.prompt), class_="prompt") if review.story.prompt else ""


def _key(review: Review) -> str:
    """Say what the marks in the story mean; only those that are there."""
    lines = []
    if any(aspect.comment for aspect in review.aspects):
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
        tag("div", tag("dt", escape(name)) + tag("dd", _rating(value)))
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
    return bar + tag("span", number_text(value, 1) + said, class_="figure")


def _aspects(review: Review) -> str:
    commented = commented_aspects(review)
    numbers = {aspect.name: place for place, aspect in enumerate(commented, 1)}
    others = [aspect for aspect in review.aspects if aspect.name not in numbers]
    others.sort(key=lambda other: -other.confidence if math.isfinite(other.confidence) else 0.0)
    cards = [_card(aspect, numbers.get(aspect.name)) for aspect in (*commented, *others)]
    return tag("ol", "\n".join(cards), class_="aspects")


def _card(aspect: AspectReview, place: int | None) -> str:
    sign = tag("span", str(place), class_="number", aria_hidden="true") if place else ""
    head = tag("h3", sign + escape(ASPECT_WORDS[aspect.name].capitalize()))
    top = tag("div", head + tag("div", _rating(aspect.rating), class_="score"), class_="top")
    parts = [top, _share_html(aspect), _comment_html(aspect)]
    kind = "card told" if place else "card"
    return tag("li", "".join(parts), class_=kind, id=f"aspect-{aspect.name}")


def _share_html(aspect: AspectReview) -> str:
    if not math.isfinite(aspect.confidence):
        return ""
    share = f"{100 * aspect.confidence:.0f} %"
    usual = number_text(aspect.usual, 1)
    said = f"{share} of readers’ remarks would be on it; as a rule they give it {usual}"
    return tag("p", said, class_="sure")


def _comment_html(aspect: AspectReview) -> str:
    """Write the comment, its quote a link to its place; else the quote, or why there is none."""
    evidence = aspect.evidence
    if not evidence.found:
        return tag("p", escape(aspect_reason(aspect)), class_="reason")
    link = tag("a", escape(evidence.quote), href=f"#at-{aspect.name}", class_="quote")
    words = f" ({', '.join(f'“{word}”' for word in evidence.words)})" if evidence.words else ""
    how = tag("p", escape(f"Quoted: {evidence.how}{words}."), class_="how")
    if not aspect.comment:
        return tag("p", f"“{link}”", class_="comment") + how
    before, _, after = aspect.comment.partition(evidence.quote)
    comment = tag("p", escape(before) + link + escape(after), class_="comment")
    return comment + how


def _flow(review: Review) -> str:
    words = tag("p", escape(flow_words(review)))
    if review.weakest is None:
        return words
    figure = draw_curve(review.transitions, review.weakest)
    scale = tag("div", tag("span", "likely") + tag("span", "unlikely"), class_="scale-y")
    ends = tag("div", tag("span", "beginning") + tag("span", "end"), class_="ends")
    box = tag("div", scale + tag("div", figure, class_="plot"), class_="flow-box")
    link = tag("a", "Show it in the story", href=f"#step-{review.weakest}")
    return words + box + ends + tag("p", link)


def _repetition(review: Review) -> str:
    if not review.repetition:
        return tag("p", "No run of four words or more comes again.")
    lines = [_repetition_item(at, run) for at, run in enumerate(review.repetition[:_MOST_REPEATED])]
    more = len(review.repetition) - len(lines)
    note = tag("p", f"And {more:,} more.", class_="quiet") if more else ""
    return tag("ul", "\n".join(lines), class_="repeats") + note


def _repetition_item(at: int, run: Repetition) -> str:
    links = [
        tag("a", str(time + 1), href=f"#repeated-{at}-{time}", aria_label=f"time {time + 1}")
        for time in range(min(run.count, 12))
    ]
    words = " ".join(run.text.split())
    shown = words if len(words) <= 160 else f"{words[:160].rstrip()} …"
    times = tag("span", f"{run.count} times: {' '.join(links)}", class_="quiet times")
    return tag("li", f"“{escape(shown)}” {times}", id=f"repeated-{at}")


def _statistics(review: Review) -> str:
    pairs = [
        (escape(statistic_name(name)), statistic_text(name, value))
        for name, value in review.statistics.items()
    ]
    rows = [tag("div", tag("dt", name) + tag("dd", value)) for name, value in pairs]
    return tag("dl", "".join(rows), class_="facts small-facts")


def _signatures(signatures: Mapping[str, str]) -> str:
    lines = [tag("li", tag("code", escape(signature))) for signature in signatures.values()]
    return tag("ul", "\n".join(lines), class_="signatures")


def _highlight_rules(review: Review) -> str:
    """Light up in the story what is pointed at: rules instead of a script."""
    names = [(f"aspect-{aspect.name}", [f"at-{aspect.name}"]) for aspect in review.aspects]
    names += [
        (f"repeated-{at}", [f"repeated-{at}-{time}" for time in range(min(run.count, 12))])
        for at, run in enumerate(review.repetition[:_MOST_REPEATED])
    ]
    rules = []
    for name, places in names:
        pointed = [f"#{name}:hover", f"#{name}:focus-within", *(f"#{at}:target" for at in places)]
        rules.append(f'body:has({", ".join(pointed)}) .story [data-of~="{name}"] {{ {_LIGHT} }}')
    return "\n".join(["", *rules, ""])


def draw_curve(steps: Sequence[PlacedTransition], weakest: int) -> str:
    """Draw the curve without a word in it, so that it may be stretched to any width."""
    points = [(_across(at, len(steps)), _down(step.probability)) for at, step in enumerate(steps)]
    line = "M" + "L".join(f"{short(x)} {short(y)}" for x, y in points)
    inside = [
        tag("path", d=_grid(), class_="grid"),
        tag("path", d=line, class_="flow-line"),
        *(_dot(point, "flow-dot") for at, point in enumerate(points) if at != weakest),
        tag("path", d=f"M{short(points[weakest][0])} 0V{_HEIGHT}", class_="flow-fall"),
        _dot(points[weakest], "flow-weakest"),
        *_columns(steps, weakest),
    ]
    low = min(step.probability for step in steps)
    return draw_figure(
        _WIDTH,
        _HEIGHT,
        "".join(inside),
        title="How likely each sentence is to follow the one before it",
        desc=f"{len(steps)} steps; the weakest is number {weakest + 1}, at {low:.0%}.",
        kind="flow",
        preserveAspectRatio="none",
    ).replace('role="img"', 'role="group"', 1)


def _across(at: int, count: int) -> float:
    return _EDGE + (_WIDTH - 2 * _EDGE) * (at + 0.5) / count


def _down(probability: float) -> float:
    return _EDGE + (_HEIGHT - 2 * _EDGE) * (1 - probability)


def _grid() -> str:
    return "".join(f"M0 {short(_down(share))}H{_WIDTH}" for share in (0.0, 0.5, 1.0))


def _dot(point: tuple[float, float], kind: str) -> str:
    """A dot that stays round however the figure is stretched: a line of no length, with caps."""
    return tag("path", d=f"M{short(point[0])} {short(point[1])}h0", class_=kind)


def _columns(steps: Sequence[PlacedTransition], weakest: int) -> list[str]:
    """A strip a step; where there are too many to be pointed at, the weakest alone."""
    shown = range(len(steps)) if len(steps) <= MOST_PLACES else [weakest]
    return [_column(at, steps, at == weakest) for at in shown]


def _column(at: int, steps: Sequence[PlacedTransition], is_weakest: bool) -> str:
    """A strip over the whole height that says what stands there and leads to its place."""
    width = (_WIDTH - 2 * _EDGE) / len(steps)
    words = f"step {at + 1} of {len(steps)}: {steps[at].probability:.0%}".replace("%", " %")
    strip = tag(
        "rect",
        tag("title", escape(words)),
        x=short(_EDGE + at * width),
        y=0,
        width=short(width),
        height=_HEIGHT,
        class_="flow-strip",
    )
    keyboard = None if is_weakest else -1
    return tag("a", strip, href=f"#step-{at}", aria_label=words, tabindex=keyboard)
