"""How far raters agree, as tables to print and sentences that say what holds."""

from __future__ import annotations

import math

from fabula._version import __version__
from fabula.core.story import count_text
from fabula.meta.raters.agreement import Agreement, AgreementLine
from fabula.meta.raters.rater_lines import FEW, RaterLine
from fabula.reports.numbers import coefficient_text, number_text
from fabula.reports.tables import Cell, Table, Value, render

# Koo and Li (2016): a convention, not a law.
_GRADES = ((0.9, "excellent"), (0.75, "good"), (0.5, "moderate"), (-math.inf, "poor"))
_MOST_RATERS = 40
Rows = list[list[Cell | Value]]


def render_agreement(form: str, agreement: Agreement, *, by_rater: bool = False) -> str:
    """Write an agreement as table, json, jsonl, csv or latex, by aspect or by rater."""
    words = [] if by_rater else agreement_words(agreement)
    if by_rater:
        head, body, words = _rater_table(agreement)
    elif len(agreement.aspects) == 1:
        head, body = _long_table(agreement)
    else:
        head, body = _wide_table(agreement)
    rows = agreement.rater_rows() if by_rater else agreement.rows()
    record = {
        "level": agreement.level,
        "resamples": agreement.resamples,
        "seed": agreement.seed,
        "raters_known": agreement.raters_known,
        "words": words,
    }
    cite = (
        f"agree|level:{agreement.level}|resamples:{agreement.resamples}|seed:{agreement.seed}|"
        f"fabula:{__version__}"
    )
    return render(form, rows, [Table(head, body, notes=words, cite=cite)], record)


def agreement_words(agreement: Agreement) -> list[str]:
    """Say in plain words how far the raters agree, what is uncertain, and how it was found."""
    return [*_finding(agreement), *_choosing(agreement), *_doubts(agreement), _method(agreement)]


def grade(value: float) -> str:
    """Name a reliability by the convention of Koo and Li (2016)."""
    return "undefined" if math.isnan(value) else next(w for low, w in _GRADES if value >= low)


def _kinds(agreement: Agreement) -> tuple[str, str]:
    """Which ICC to show: the one for known raters where all rated all, else that for any."""
    lines = [agreement.line(aspect, "ICC(2,k)") for aspect in agreement.aspects]
    whole = all(
        line and not math.isnan(line.estimate.value) and not line.left_out for line in lines
    )
    return ("ICC(2,1)", "ICC(2,k)") if whole else ("ICC(1,1)", "ICC(1,k)")


def _finding(agreement: Agreement) -> list[str]:
    _, kind = _kinds(agreement)
    graded: dict[str, list[str]] = {}
    for aspect in agreement.aspects:
        line = agreement.line(aspect, kind)
        if line:
            graded.setdefault(grade(line.estimate.value), []).append(aspect or "the only aspect")
    if not graded:
        return []
    order = [word for _, word in _GRADES] + ["undefined"]
    parts = [f"{word} on {', '.join(graded[word])}" for word in order if word in graded]
    return [
        f"A story's mean rating ({kind}) has a reliability that is called {'; '.join(parts)}.",
        "(Koo and Li, 2016: poor < 0.5 ≤ moderate < 0.75 ≤ good < 0.9 ≤ excellent; a convention. "
        "It goes by how much the stories differ, too: look at the interval and at alpha.)",
    ]


def _choosing(agreement: Agreement) -> list[str]:
    """Say how far raters chose the same aspects, and rated them alike."""
    if not (chosen := agreement.chosen):
        return []
    shared, rho, tau = chosen.shared, chosen.spearman, chosen.kendall
    spans = [
        f"{coefficient_text(found.value)} [{coefficient_text(found.low)}, "
        f"{coefficient_text(found.high)}]"
        for found in (rho, tau)
    ]
    return [
        f"Of {count_text(chosen.chosen, 'chosen aspect')} of "
        f"{count_text(chosen.stories, 'story', 'stories')}, {100 * shared.value:.0f} % "
        f"[{100 * shared.low:.0f}, {100 * shared.high:.0f}] were chosen by more than one rater; "
        f"chance would give {100 * chosen.chance:.0f} %. Ratings of those correlate by "
        f"ρ {spans[0]}, τ {spans[1]} ({count_text(chosen.pairs, 'pair')})."
    ]


def _doubts(agreement: Agreement) -> list[str]:
    alphas = [line for line in agreement.lines if line.statistic == "alpha"]
    words = []
    if below := [line.aspect for line in alphas if line.estimate.high < 0]:
        words.append(
            f"On {', '.join(below)} ratings of one story differ more than ratings of two: raters "
            "differ in strictness, or misread the scale."
        )
    if not agreement.raters_known:
        words.append(
            "Who rated is not known here: ICC(2), ICC(3), Cohen's kappa, Kendall's W and figures "
            "by rater need rater ids."
        )
    if few := [line.aspect or "the only aspect" for line in alphas if line.estimate.n < FEW]:
        words.append(f"n is too small on {', '.join(few)}: fewer than {FEW} stories.")
    if most := max((line.left_out for line in agreement.lines), default=0):
        words.append(
            f"Up to {count_text(most, 'story was', 'stories were')} left out of a coefficient: "
            "ratings are missing."
        )
    return words


def _method(agreement: Agreement) -> str:
    how = "by" if agreement.level == "nominal" else "by F for the ICC, else by"
    return (
        f"95 % intervals: {how} bootstrap over stories, {agreement.resamples:,} resamples, "
        f"seed {agreement.seed}. Alpha is {agreement.level}."
    )


def _wide_table(agreement: Agreement) -> tuple[list[str], Rows]:
    single, mean = _kinds(agreement)
    measured = agreement.level != "nominal"
    shown = [single, mean, "alpha"] if measured else ["alpha", "Fleiss kappa", "AC1"]
    body: Rows = []
    for aspect in agreement.aspects:
        lines = [agreement.line(aspect, name) for name in shown]
        first = next(line for line in agreement.lines if line.aspect == aspect)
        each = first.ratings / max(1, first.estimate.n)
        reading = [grade(lines[1].estimate.value)] if lines[1] and measured else []
        counts = (first.estimate.n, Cell(each, f"{each:.3g}"))
        body.append([aspect or "–", *counts, *map(_interval, lines), *reading])
    return ["aspect", "stories", "each", *shown, *(["reading"] if measured else [])], body


def _long_table(agreement: Agreement) -> tuple[list[str], Rows]:
    head = [f"{agreement.aspects[0]} by".strip(), "value", "stories", "left out", "note"]
    body: Rows = [
        [line.statistic, _interval(line), line.estimate.n, line.left_out, line.note]
        for line in agreement.lines
    ]
    return head, body


def _rater_table(agreement: Agreement) -> tuple[list[str], Rows, list[str]]:
    """Raters in the order of how little they follow the others."""
    lines = sorted(
        agreement.raters, key=lambda rater: (math.isnan(rater.correlation), rater.correlation)
    )
    is_nominal = agreement.level == "nominal"
    head = ["rater", "aspect", "ratings", "mean", "sd", "bias", "with others", "exact"]
    head += ["reliability", "note"] if is_nominal else ["note"]
    body = [_rater_cells(line, is_nominal=is_nominal) for line in lines[:_MOST_RATERS]]
    words = [
        "Those who follow the others least come first. *With others*: correlation with the mean of "
        "the others' ratings; *exact*: share of the others' ratings that are the same; *bias*: how "
        "much higher than theirs. A rater apart is not yet a careless one: read some stories."
    ]
    if is_nominal:
        words.append(
            "*Reliability*: how much more than by habit a rater says what is likely true, 1 at "
            "most and 0 for answers at random (Dawid and Skene, 1979)."
        )
    if len(lines) > _MOST_RATERS:
        words.insert(
            0,
            f"{count_text(len(lines) - _MOST_RATERS, 'more row is', 'more rows are')} "
            "in the other formats.",
        )
    return head, body, words


def _rater_cells(line: RaterLine, *, is_nominal: bool) -> list[Cell | Value]:
    exact = "–" if math.isnan(line.exact) else f"{100 * line.exact:.0f} %"
    return [
        line.rater,
        line.aspect or "–",
        line.ratings,
        Cell(line.mean, number_text(line.mean, 2)),
        Cell(line.spread, number_text(line.spread, 2)),
        Cell(line.bias, number_text(line.bias, 2, sign=True)),
        Cell(line.correlation, coefficient_text(line.correlation)),
        Cell(line.exact, exact),
        *([Cell(line.reliability, coefficient_text(line.reliability))] if is_nominal else []),
        line.note,
    ]


def _interval(line: AgreementLine | None) -> Cell:
    if line is None or math.isnan(line.estimate.value):
        return Cell(None)
    value, low, high = map(
        coefficient_text, (line.estimate.value, line.estimate.low, line.estimate.high)
    )
    return Cell(line.estimate.value, f"{value} [{low}, {high}]")
