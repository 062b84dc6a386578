"""Two systems compared, as a table to print and a sentence that says what was found."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

from fabula.core.card import ARROWS
from fabula.core.table import HALVES, json_text
from fabula.meta.compare import Compared, Comparison
from fabula.reports.summary import latex_text

_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini–Hochberg"}
_HEAD = ("metric", "A", "B", "difference", "p", "A wins", "effect", "verdict")
_WIDTH = 100


def render_comparison(form: str, found: Comparison, signatures: Mapping[str, str]) -> str:
    """Write a comparison as table, json, jsonl, csv or latex."""
    return _rendered(form, found, signatures).encode("utf-8", HALVES).decode()


def _rendered(form: str, found: Comparison, signatures: Mapping[str, str]) -> str:
    if form == "table":
        return _table(found)
    if form == "latex":
        scorers = dict.fromkeys(line.scorer for line in found.lines)
        return _latex(found, [signatures[one] for one in scorers if one in signatures])
    rows = [row | {"signature": signatures.get(row["scorer"], "")} for row in found.rows()]
    if form == "jsonl":
        return "\n".join(json_text(row) for row in rows)
    return _csv(rows) if form == "csv" else _json(found, rows)


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


def _table(found: Comparison) -> str:
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for place, name in enumerate(_HEAD):
        side: Literal["left", "right"] = "left" if name in ("metric", "verdict") else "right"
        table.add_column(name, justify=side, no_wrap=place > 0)
    table.columns[0].overflow = "fold"
    colours = {"A": "[bold green]{}[/]", "B": "[bold magenta]{}[/]", "": "[dim]{}[/]"}
    for line in found.lines:
        *cells, verdict = map(escape, _cells(line))
        table.add_row(*cells, colours[line.favours].format(verdict))
    console = Console(file=io.StringIO(), width=_WIDTH, force_terminal=_colour())
    title = f"A is {found.a or 'nameless'}, B is {found.b or 'nameless'}: "
    console.print(f"{title}{found.shared:,} shared items", markup=False, highlight=False)
    console.print(table, end="")
    for words in comparison_words(found):
        console.print(words, markup=False, highlight=False)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(map(str.rstrip, text.splitlines()))


def _colour() -> bool:
    import os
    import sys

    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


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


def _json(found: Comparison, rows: Sequence[dict[str, Any]]) -> str:
    record = {
        "a": found.a,
        "b": found.b,
        "shared_items": found.shared,
        "procedure": asdict(found.procedure),
        "comparisons": found.tests,
        "words": comparison_words(found),
        "rows": rows,
    }
    return json_text(record, indent=2)


def _csv(rows: Sequence[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().rstrip("\n")


_SIGNS = {"↑": r"$\uparrow$", "↓": r"$\downarrow$", "–": "--", "−": "$-$", "<": "$<$"}


def _latex(found: Comparison, signatures: Sequence[str]) -> str:
    names = [latex_text(f"{letter}: {name}") for letter, name in (("A", found.a), ("B", found.b))]
    head = ["Metric", *names, "Difference", "$p$", "A wins", "$d_z$", "Verdict"]
    lines = [
        *(f"% {words}" for words in [*signatures, *comparison_words(found)]),
        r"\begin{tabular}{lrrrrrrl}",
        r"\toprule",
        " & ".join(head) + r" \\",
        r"\midrule",
        *(" & ".join(map(_latex_cell, _cells(line))) + r" \\" for line in found.lines),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def _latex_cell(text: str) -> str:
    return "".join(_SIGNS.get(char) or latex_text(char) for char in text)
