"""Two systems compared, as a table to print and a sentence that says what was found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from fabula.core.card import ARROWS
from fabula.meta.compare import Compared, Comparison
from fabula.reports._printed import Printed, Tone, Toned, render_rows

_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini–Hochberg"}
_HEAD = ("metric", "A", "B", "difference", "p", "A wins", "effect", "verdict")
_TONES: Mapping[str, Tone] = {"A": "good", "B": "other", "": "quiet"}


def render_comparison(form: str, found: Comparison, signatures: Mapping[str, str]) -> str:
    """Write a comparison as table, json, jsonl, csv or latex."""
    rows = [row | {"signature": signatures.get(row["scorer"], "")} for row in found.rows()]
    record = {
        "a": found.a,
        "b": found.b,
        "shared_items": found.shared,
        "procedure": asdict(found.procedure),
        "comparisons": found.tests,
        "words": comparison_words(found),
    }
    scorers = dict.fromkeys(line.scorer for line in found.lines)
    table = Printed(
        _HEAD,
        [
            [*cells, Toned(verdict, _TONES[line.favours])]
            for line, (*cells, verdict) in _body(found)
        ],
        f"A is {found.a or 'nameless'}, B is {found.b or 'nameless'}: "
        f"{found.shared:,} shared items",
        comparison_words(found),
        (0, len(_HEAD) - 1),
        remarks=[signatures[one] for one in scorers if one in signatures],
    )
    return render_rows(form, rows, [table], record)


def _body(found: Comparison) -> list[tuple[Compared, list[str]]]:
    return [(line, _cells(line)) for line in found.lines]


def comparison_words(found: Comparison) -> list[str]:
    """Say in plain words what was found, and how."""
    return [_finding(found), *_asides(found), _method(found)]


def _finding(found: Comparison) -> str:
    judging = [line for line in found.lines if line.direction != "descriptive"]
    judging = [line for line in judging if not math.isnan(line.p)]
    by_a = sum(line.favours == "A" for line in judging)
    by_b = sum(line.favours == "B" for line in judging)
    rest = len(judging) - by_a - by_b
    if not judging:
        return "No metric with a better way has values of both systems."
    a, b = found.a or "A", found.b or "B"
    if not by_a and not by_b:
        return f"No difference in quality was found between {a} and {b}: 0 of {_metrics(judging)}."
    return (
        f"Of {_metrics(judging)} with a better way, {by_a} {_prefer(by_a)} {a}, "
        f"{by_b} {_prefer(by_b)} {b} and {rest} {'finds' if rest == 1 else 'find'} no difference."
    )


def _asides(found: Comparison) -> list[str]:
    """Say what the finding does not: descriptive metrics, what was left out, what was in vain."""
    told = [line for line in found.lines if line.direction == "descriptive"]
    apart = sum(bool(line.favours) for line in told)
    words = []
    if told:
        words.append(
            f"{apart} of {_metrics(told)} without a better way (–) found a difference, "
            "which says nothing of quality: there A wins where it is higher."
        )
    if most := max((line.left_out for line in found.lines), default=0):
        words.append(f"Up to {most:,} items were left out: a story or a value is missing (*).")
    if found.blind:
        words.append(
            "No difference could have been found: take more items, fewer metrics or more resamples."
        )
    return words


def _method(found: Comparison) -> str:
    how = found.procedure
    level = f"{100 * (1 - how.alpha):g} %"
    return (
        f"p is corrected for {found.tests} comparisons ({_CORRECTIONS[how.correction]}), "
        f"level {how.alpha:g}; intervals ({level}) are not. "
        f"Sign-flip test and bootstrap over items, {how.resamples:,} resamples, seed {how.seed}. "
        "The effect is Cohen's d_z."
    )


def _metrics(lines: Sequence[Compared]) -> str:
    aspects = " (aspects counted apart)" if any(line.aspect for line in lines) else ""
    return f"{len(lines)} {'metric' if len(lines) == 1 else 'metrics'}{aspects}"


def _prefer(count: int) -> str:
    return "prefers" if count == 1 else "prefer"


def _cells(line: Compared) -> list[str]:
    label = f"{line.scorer} {line.aspect}".strip()
    head = f"{label} {ARROWS[line.direction]}{'*' * bool(line.left_out)}"
    if math.isnan(line.p):
        return [head, *"––––––", "too few"]
    places = _places(line.mean_a, line.mean_b)
    low, high = (_signed(bound, places) for bound in line.interval)
    return [
        head,
        f"{line.mean_a:.{places}f}",
        f"{line.mean_b:.{places}f}",
        f"{_signed(line.difference, places)} [{low}, {high}]",
        _p(line.adjusted_p),
        f"{100 * line.wins.rate:.0f} %",
        "–" if math.isnan(line.effect) else _signed(line.effect, 2),
        _short(line),
    ]


def _short(line: Compared) -> str:
    more = "higher" if line.direction == "descriptive" else "better"
    return f"{line.favours} {more}" if line.favours else "neither"


def _places(*values: float) -> int:
    """Give as many decimals as the largest value deserves."""
    largest = max(map(abs, values))
    return 1 if largest >= 100 else 2 if largest >= 10 else 3 if largest >= 0.1 else 4


def _signed(value: float, places: int) -> str:
    return f"{value:+.{places}f}".replace("-", "−")


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"
