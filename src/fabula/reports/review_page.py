"""The page of a review: where the story stands, what to look at, and the story with notes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fabula._version import __version__
from fabula.core.story import count_text
from fabula.learned.comments.composer import MOST_OBSERVATIONS
from fabula.reports._review_figures import draw_curve, draw_gauge, draw_percentile, draw_rating
from fabula.reports._review_marks import MOST_PLACES, story_html
from fabula.reports._review_notes import draw_notes
from fabula.reports.numbers import number_text, statistic_name, statistic_text
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
    GAUGE_LEGEND,
    flow_words,
    gauge_words,
    left_out_words,
    loose_words,
    missing_words,
    parting_words,
    preference_words,
    repetition_words,
    score_command,
    unlike_words,
    writers_words,
)
from fabula.scoring.review import Gauge, Review
from fabula.text.repetition import Repetition

_STYLES = ("page.css", "figures.css", "review.css")
# So many repetitions are named, and of each so many times.
_MOST_REPEATED, _MOST_TIMES = 8, 12
# A story longer than its notes: these stay in view while it is read.
_LONG_CHARACTERS = 2600
_LIGHT = (
    "background: color-mix(in oklab, var(--lit) 55%, transparent); "
    "box-shadow: 0 0 0 0.15em color-mix(in oklab, var(--lit) 55%, transparent);"
)


def review_page(review: Review, *, ranking: str = "") -> str:
    """Write the page: one HTML file without a script. `ranking` is the address of a ranking."""
    return fill_template(
        read_static("review.html"),
        page_parts(review)
        | {
            "policy": content_policy("", pictures=review.pictured is not None),
            "back": tag("a", "← All stories", href=ranking) if ranking else "Fabula review",
            "style": join_static(_STYLES) + _highlight_rules(review) + _picture_style(review),
            "links": _links(review),
            "version": escape(__version__),
        },
    )


def render_parts(review: Review) -> dict[str, str]:
    """Write the parts of a review's page, for a page with a stricter policy: what would be an
    inline style is `data-style`, for a script to apply."""
    # Quotes in texts are escaped: only an attribute of ours looks like this.
    return {
        name: part.replace(' style="', ' data-style="') for name, part in page_parts(review).items()
    }


def page_parts(review: Review) -> dict[str, str]:
    """Write what a page shows of the review itself, by the places of the template."""
    return {
        "title": escape(review.story.id),
        "facts": escape(_fact_words(review)),
        "warnings": _warnings(review),
        "judged": "\n".join(_judged(review)) if review.unlike else _judge(review),
        "look": "What comes again" if review.unlike else "What to look at",
        "pictures": _pictures(review),
        "prompt": _prompt(review),
        "story": story_html(review),
        "key": _key(review),
        "notes": draw_notes(review),
        "length": "long" if len(review.story.text) > _LONG_CHARACTERS else "short",
        "flow": _flow(review),
        "repetition": _repetition(review),
        "steps": _steps(review),
        "statistics": _statistics(review),
        "signatures": _signatures(review),
        "command": escape(score_command(review)),
    }


def _links(review: Review) -> str:
    """Link the parts of the page that are there, in their order."""
    parts = {
        "Criteria": not review.unlike,
        "Pictures": review.pictured is not None,
        "Flow": bool(review.transitions),
        "Repetition": True,
        "Notes": not review.unlike,
        "Story": True,
        "Numbers": True,
    }
    links = [tag("a", name, href=f"#{name.lower()}") for name, there in parts.items() if there]
    return "\n  ".join(links)


def _fact_words(review: Review) -> str:
    counts = (("words", "word"), ("sentences count", "sentence"))
    known = [(review.statistics.get(name, math.nan), one) for name, one in counts]
    return " · ".join(count_text(int(n), one) for n, one in known if math.isfinite(n))


def _judge(review: Review) -> str:
    """Write what opens the page: where the story stands, the criteria, and coherence."""
    head = tag("h2", "Preference", id="standing-head", class_="unseen")
    standing = head + preference_html(review)
    gauges = review.gauges
    measured = [_gauges(gauges, loose_words(review))] if gauges else []
    boxes = [_criteria(review), *_judged(review), *measured]
    panel = tag("div", "\n".join(boxes), class_="panel", id="criteria")
    return (
        tag("section", standing, class_="standing", aria_labelledby="standing-head") + "\n" + panel
    )


def _judged(review: Review) -> list[str]:
    """Write what a judge says, where one was asked."""
    if review.judged is None:
        return []
    from fabula.reports._review_judge import judge_html

    return [judge_html(review.judged)]


def preference_html(review: Review) -> str:
    """Write where the story stands, in words and as bars: with readers, and with writers."""
    ends = ("liked least", "the middle", "liked best")
    readers = _place(preference_words(review), review.percentile, review.interval, ends)
    if (writers := review.writers) is None:
        return readers
    ends = ("scored lowest", "the middle", "scored highest")
    scored = _place(writers_words(writers), writers.percentile, writers.interval, ends)
    parting = [tag("p", escape(words), class_="parting") for words in parting_words(review)]
    return readers + scored + "".join(parting)


def _place(
    words: str, percentile: float, interval: tuple[float, float], ends: Sequence[str]
) -> str:
    found = tag("p", escape(words), class_="finding")
    if not math.isfinite(percentile):
        return found
    names = "".join(tag("span", end) for end in ends)
    legend = tag("div", names, class_="ends", aria_hidden="true")
    return found + draw_percentile(percentile, interval) + legend


def _criteria(review: Review) -> str:
    head = tag("h2", "Criteria", id="criteria-head")
    legend = tag("p", "From 1 to 5, as raters of short stories would judge.", class_="legend")
    if not review.criteria:
        inside = tag("p", "The criteria are not known for this story.", class_="quiet")
    else:
        rows = [
            tag("div", tag("dt", escape(name)) + tag("dd", draw_rating(value)))
            for name, value in review.criteria.items()
        ]
        inside = tag("dl", "".join(rows), class_="ratings")
    notes = [tag("p", escape(words), class_="legend") for words in left_out_words(review)]
    return tag("section", head + legend + inside + "".join(notes), aria_labelledby="criteria-head")


def _gauges(gauges: Sequence[Gauge], loose: Sequence[str]) -> str:
    """Write what is measured beside the criteria, each on a scale with what others have."""
    head = tag("h2", "Coherence", id="coherence-head")
    rows = []
    for gauge in gauges:
        name = escape(f"{gauge.name[0].upper()}{gauge.name[1:]}")
        top = tag("span", name) + tag("span", number_text(gauge.value, 2), class_="figure")
        words = escape(f"{gauge.says[0].upper()}{gauge.says[1:]}.")
        others = f"{gauge_words(gauge).capitalize()}."
        others = tag("span", escape(others), class_="others") if gauge.peers else ""
        rows.append(
            tag("div", top, class_="gauge-top")
            + draw_gauge(gauge)
            + tag("p", f"{words} {others}", class_="legend")
        )
    items = [tag("div", row, class_="gauge") for row in rows]
    legend = tag("p", escape(GAUGE_LEGEND), class_="legend")
    legend = legend if any(gauge.peers for gauge in gauges) else ""
    said = "".join(tag("p", escape(words)) for words in loose)
    inside = head + tag("div", "".join(items), class_="gauges") + said + legend
    return tag("section", inside, aria_labelledby="coherence-head")


def _warnings(review: Review) -> str:
    lines = [unlike_words(review)] if review.unlike else []
    lines += [*review.warnings, *missing_words(review.missing)]
    if not lines:
        return ""
    title = "No opinion" if review.unlike else "Before you read on"
    head = tag("h2", title, id="warnings-head", class_="small")
    inside = head + tag("ul", "".join(tag("li", escape(line)) for line in lines))
    return tag("section", inside, class_="warnings", aria_labelledby="warnings-head")


def _pictures(review: Review) -> str:
    """Write what is seen of the story in its pictures; nothing where it has none."""
    if review.pictured is None:
        return ""
    from fabula.reports._picture_section import draw_section

    return draw_section([[review.pictured]])


def _picture_style(review: Review) -> str:
    if review.pictured is None:
        return ""
    from fabula.reports._picture_section import write_rules

    return read_static("pictures.css") + write_rules([[review.pictured]])


def _prompt(review: Review) -> str:
    return tag("p", escape(review.story.prompt), class_="prompt") if review.story.prompt else ""


def _key(review: Review) -> str:
    """Say what the marks in the story mean; only those that are there."""
    lines = []
    if review.observations or any(aspect.comment for aspect in review.aspects):
        lines.append(f"{tag('mark', 'dotted', class_='evidence')} what a note rests on")
    if review.repetition:
        lines.append(f"{tag('mark', 'tinted', class_='repeated')} said more than once")
    if review.weakest is not None:
        sign = tag("span", "weakest step", class_="weakest")
        lines.append(f"{sign} the sentence that follows least well")
    return tag("p", " · ".join(lines), class_="legend") if lines else ""


def _flow(review: Review) -> str:
    """Write the curve of all steps, and which one stands out; nothing where there is no step."""
    if not review.transitions:
        return ""
    head = tag("h3", "From sentence to sentence", id="flow-head")
    figure = draw_curve(review.transitions, review.weakest)
    scale = tag("div", tag("span", "likely") + tag("span", "unlikely"), class_="scale-y")
    ends = tag("div", tag("span", "beginning") + tag("span", "end"), class_="ends")
    box = tag("div", scale + tag("div", figure, class_="plot"), class_="flow-box")
    words = tag("p", escape(flow_words(review)))
    inside = head + words + box + ends
    if review.weakest is not None:
        link = tag("a", "Show it in the story", href=f"#step-{review.weakest}")
        inside += tag("p", link)
    return tag("section", inside, id="flow", aria_labelledby="flow-head")


def _steps(review: Review) -> str:
    """Write every step in a fold: the sentence, and how likely it is to follow."""
    steps = review.transitions[:MOST_PLACES]
    if not steps:
        return ""
    text = review.story.text
    rows = []
    for number, step in enumerate(steps):
        share = f"{100 * step.probability:.0f} %"
        bar = tag("span", class_="meter", style=f"--share:{step.probability:.3f}")
        words = " ".join(text[slice(*step.second)].split())
        shown = words if len(words) <= 160 else f"{words[:160].rstrip()} …"
        link = tag("a", escape(shown), href=f"#step-{number}")
        cells = tag("td", str(number + 1), class_="num") + tag("td", link)
        cells += tag("td", f"{bar} {share}", class_="num")
        rows.append(tag("tr", cells, class_="low" if number == review.weakest else None))
    heads = "".join(tag("th", words, scope="col") for words in ("", "sentence", "follows"))
    table = tag("table", tag("thead", tag("tr", heads)) + tag("tbody", "\n".join(rows)))
    more = len(review.transitions) - len(steps)
    note = tag("p", f"And {more:,} more.", class_="quiet") if more else ""
    summary = tag("summary", f"Every step, sentence by sentence: {len(review.transitions):,}")
    return tag("details", summary + tag("div", table, class_="scroll") + note, class_="steps")


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
        for time in range(min(run.count, _MOST_TIMES))
    ]
    words = " ".join(run.text.split())
    shown = words if len(words) <= 160 else f"{words[:160].rstrip()} …"
    times = f"{escape(repetition_words(run))} {' '.join(links)}"
    return tag(
        "li", f"“{escape(shown)}” {tag('span', times, class_='quiet times')}", id=f"repeated-{at}"
    )


def _statistics(review: Review) -> str:
    pairs = [
        (escape(statistic_name(name)), statistic_text(name, value))
        for name, value in review.statistics.items()
    ]
    rows = [tag("div", tag("dt", name) + tag("dd", value)) for name, value in pairs]
    return tag("dl", "".join(rows), class_="facts small-facts")


def _signatures(review: Review) -> str:
    lines = [tag("li", tag("code", escape(signature))) for signature in review.signatures.values()]
    lists = tag("ul", "\n".join(lines), class_="signatures")
    if not review.notes:
        return lists
    notes = "".join(tag("li", escape(note)) for note in review.notes)
    return tag("p", "What the metrics say of themselves:") + tag("ul", notes) + lists


def _highlight_rules(review: Review) -> str:
    """Light up in the story what is pointed at: rules instead of a script."""
    repeated = [min(run.count, _MOST_TIMES) for run in review.repetition[:_MOST_REPEATED]]
    return _write_rules([aspect.name for aspect in review.aspects], repeated)


def parts_style() -> str:
    """Give the rules for the parts of any review."""
    rules = _write_rules([*ASPECT_WORDS], [_MOST_TIMES] * _MOST_REPEATED)
    return read_static("review.css") + rules


def _write_rules(aspects: Sequence[str], repeated: Sequence[int]) -> str:
    names = [(f"aspect-{name}", [f"at-{name}"]) for name in aspects]
    names += [
        (f"observed-{place}", [f"at-observed-{place}"]) for place in range(1, MOST_OBSERVATIONS + 1)
    ]
    names += [
        (f"repeated-{at}", [f"repeated-{at}-{time}" for time in range(times)])
        for at, times in enumerate(repeated)
    ]
    rules = []
    for name, places in names:
        pointed = [f"#{name}:hover", f"#{name}:focus-within", *(f"#{at}:target" for at in places)]
        rules.append(f'body:has({", ".join(pointed)}) .story [data-of~="{name}"] {{ {_LIGHT} }}')
    return "\n".join(["", *rules, ""])
