"""A review, or a ranking, as Markdown: for a repository, a wiki or a letter."""

from __future__ import annotations

from fabula.core.table import without_halves
from fabula.reports.numbers import number_text, statistic_name, statistic_text
from fabula.reports.pages import markdown_table
from fabula.reports.review import (
    GAUGE_LEGEND,
    MOST_REPEATED,
    NOTHING_RARE,
    aspect_words,
    flow_words,
    gauge_words,
    left_out_words,
    loose_words,
    missing_words,
    parting_words,
    preference_words,
    repetition_words,
    score_command,
    shown_aspects,
    unlike_words,
    unrated_words,
    writers_words,
)
from fabula.reports.tables import Table, TableColumn
from fabula.scoring.review import Review
from fabula.text.escapes import markdown_text


def review_markdown(review: Review) -> str:
    """Write a review as Markdown, in the order of the other forms."""
    warnings = [*review.warnings, *missing_words(review.missing)]
    parts = [
        f"# {markdown_text(review.story.id)}",
        "\n".join(f"> {markdown_text(line)}" for line in warnings),
        "\n\n".join(map(markdown_text, _standing(review))),
        *([] if review.unlike else [_criteria(review)]),
        _judged(review),
        *([] if review.unlike else [_gauges(review)]),
        _pictures(review),
        _look(review),
        _comments(review),
        _numbers(review),
    ]
    return without_halves("\n\n".join(part for part in parts if part))


def _standing(review: Review) -> list[str]:
    if review.unlike:
        return [unlike_words(review)]
    writers = [writers_words(review.writers)] if review.writers else []
    return [preference_words(review), *writers, *parting_words(review)]


def _criteria(review: Review) -> str:
    if not review.criteria:
        return ""
    rows = [[name, number_text(value, 1)] for name, value in review.criteria.items()]
    table = Table(["criterion", TableColumn("1 to 5", align="right")], rows)
    left_out = [markdown_text(words) for words in left_out_words(review)]
    return "\n\n".join(["## Criteria", markdown_table(table), *left_out])


def _judged(review: Review) -> str:
    if review.judged is None:
        return ""
    from fabula.reports._review_judge import judge_markdown

    return judge_markdown(review.judged)


def _gauges(review: Review) -> str:
    gauges = review.gauges
    if not gauges:
        return ""
    rows = [[gauge.name, number_text(gauge.value, 2), gauge_words(gauge)] for gauge in gauges]
    table = Table(["", TableColumn("value", align="right"), "others"], rows)
    legend = loose_words(review)
    legend += [GAUGE_LEGEND] if any(gauge.peers for gauge in gauges) else []
    return "\n\n".join(["## Coherence", markdown_table(table), *legend])


def _pictures(review: Review) -> str:
    if review.pictured is None:
        return ""
    from fabula.reports._picture_words import picture_markdown

    return picture_markdown(review.pictured)


def _look(review: Review) -> str:
    lines = []
    if review.weakest is not None:
        step, text = review.transitions[review.weakest], review.story.text
        first, second = (markdown_text(text[slice(*at)]) for at in (step.first, step.second))
        lines.append(f"- {flow_words(review)}\n  “{first}” → “{second}”")
    lines += [
        f"- “{markdown_text(run.text)}” {repetition_words(run)}"
        for run in review.repetition[:MOST_REPEATED]
    ]
    if more := len(review.repetition[MOST_REPEATED:]):
        lines.append(f"- {more:,} more repetitions")
    return "\n".join(["## What to look at", "", *(lines or ["Nothing comes again."])])


def _comments(review: Review) -> str:
    lines = []
    for note in review.observations or ():
        lines.append(f"**{note.name[0].upper()}{note.name[1:]}.** {markdown_text(note.text)}")
    for aspect in shown_aspects(review):
        words = aspect_words(review, aspect)
        lines.append(f"**{words[0].upper()}{words[1:]}.** {markdown_text(aspect.comment)}".rstrip())
    if not lines and review.observations is None:
        return ""
    after = filter(None, [unrated_words(review)])
    return "\n\n".join(["## Notes", *(lines or [NOTHING_RARE]), *after])


def _numbers(review: Review) -> str:
    pairs = [
        f"{statistic_name(name)} {statistic_text(name, value)}"
        for name, value in review.statistics.items()
    ]
    signatures = [f"- `{signature}`" for signature in review.signatures.values()]
    same = f"Values are those of `{score_command(review)}`."
    return "\n\n".join(["## Numbers", " · ".join(pairs), same, "\n".join(signatures)])
