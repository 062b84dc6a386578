"""A judge's opinion in a review: in a terminal, as Markdown, on a page; never without its verdict.

A judge's number looks like a person's. What a certificate says of it stands beside it, and where
there is none, that.
"""

from __future__ import annotations

import math

from fabula.meta.certificate import NO_CERTIFICATE
from fabula.reports.numbers import number_text
from fabula.reports.pages import escape, markdown_table, tag
from fabula.reports.tables import Table, TableColumn
from fabula.scoring.review.judging import JudgedAspect, JudgedStory
from fabula.text.escapes import markdown_text


def judge_lines(judged: JudgedStory) -> list[str]:
    """Write it for a terminal: a head, a line a criterion, and last a note, which may be empty."""
    rows = [
        f"  {aspect.name:<16}{_value_text(aspect, judged):>5}   {_words(aspect)}"
        for aspect in judged.aspects
    ]
    return [f"{judged.judge}{_scale_words(judged)}", *rows, _note(judged)]


def judge_markdown(judged: JudgedStory) -> str:
    """Write it as Markdown."""
    rows = [[aspect.name, _value_text(aspect, judged), _words(aspect)] for aspect in judged.aspects]
    head: list[str | TableColumn] = ["criterion", TableColumn("value", align="right"), "verdict"]
    about = f"`{judged.judge}`{_scale_words(judged)}"
    parts = ["## Judge", about, markdown_table(Table(head, rows)), markdown_text(_note(judged))]
    return "\n\n".join(part for part in parts if part)


def judge_html(judged: JudgedStory) -> str:
    """Write it as a section of a page."""
    head = tag("h2", "Judge", id="judge-head")
    about = tag("p", tag("code", escape(judged.judge)) + _scale_words(judged), class_="legend")
    rows = [
        tag("div", tag("dt", escape(aspect.name)) + tag("dd", _draw(aspect, judged)))
        for aspect in judged.aspects
    ]
    note = _note(judged)
    foot = tag("p", escape(note), class_="legend") if note else ""
    inside = head + about + tag("dl", "".join(rows), class_="ratings") + foot
    return tag("section", inside, aria_labelledby="judge-head")


def _draw(aspect: JudgedAspect, judged: JudgedStory) -> str:
    """Draw a value as a bar on the judge's own scale, its verdict before it."""
    verdict = tag("span", escape(_words(aspect)), class_="quiet")
    low, high = judged.scale
    if not math.isfinite(aspect.value) or not high > low:
        return verdict + tag("span", _value_text(aspect, judged), class_="figure")
    share = (aspect.value - low) / (high - low)
    bar = tag("span", class_="meter", style=f"--share:{share:.3f}", aria_hidden="true")
    said = tag("span", f" of {high:g}", class_="unseen")
    return verdict + bar + tag("span", _value_text(aspect, judged) + said, class_="figure")


def _value_text(aspect: JudgedAspect, judged: JudgedStory) -> str:
    if not math.isfinite(aspect.value):
        return "–"
    low, high = judged.scale
    return number_text(aspect.value, 2 if not high - low > 1 else 1)


def _words(aspect: JudgedAspect) -> str:
    return aspect.why or aspect.verdict


def _scale_words(judged: JudgedStory) -> str:
    low, high = judged.scale
    return f", from {low:g} to {high:g}" if math.isfinite(low) else ""


def _note(judged: JudgedStory) -> str:
    """Say what the judge says of itself, and what a judge without a certificate is worth."""
    parts = [f"{judged.note}."] if judged.note else []
    shown = [aspect for aspect in judged.aspects if math.isfinite(aspect.value)]
    if any(aspect.verdict == NO_CERTIFICATE for aspect in shown):
        parts.append(
            "Nobody has measured whether this judge agrees with people: fabula judge certify does."
        )
    return " ".join(parts)
