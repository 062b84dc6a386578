"""A stress test as a table to print, and what it found in words: the worst first."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from fabula.core.card import ARROWS
from fabula.core.metric import needs_batch
from fabula.core.story import count_text
from fabula.reports.summary import cite_table
from fabula.reports.tables import Cell, Table, Tone, render
from fabula.scoring.catalogue import label_scorers
from fabula.scoring.stress import StressResult
from fabula.scoring.stress_moves import (
    BLIND,
    DOWN,
    NOTICES,
    PREFERS,
    STILL,
    TOO_FEW,
    UNMOVED,
    UP,
    Move,
)
from fabula.text.perturb import Expected

_SIGNS = {NOTICES: "▼", PREFERS: "▲", UP: "↑", DOWN: "↓"}
_QUIET = (BLIND, STILL, UNMOVED)
_TONES: Mapping[str, Tone] = {NOTICES: "good", PREFERS: "bad", UP: "other", DOWN: "other"}
_KEY = (
    "▼ notices: thinks the broken text worse.  ▲ prefers the broken text.  ↑ ↓ moves, without a "
    "better way.  ! moved by a control.  Numbers are standard deviations of the metric over the "
    "original stories; without a sign nothing was found, · did not move at all, – too few stories."
)
_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini–Hochberg"}
_MOST = 8
_TITLES: Mapping[Expected, str] = {"worse": "perturbed", "same": "set otherwise"}
_FOOTERS: Mapping[Expected, str] = {"worse": "noticed by", "same": "moved by"}


def render_stress(form: str, result: StressResult) -> str:
    """Write a stress test as table, json, jsonl, csv or latex."""
    tables = [
        _move_table(result, expected, title)
        for expected, title in _TITLES.items()
        if any(kind.expected == expected for kind in result.perturbations)
    ]
    if shares := _share_table(result):
        tables.append(shares)
    last = replace(
        tables[-1],
        notes=[_KEY, *stress_words(result)],
        cite=cite_table({metric.spec: metric.signature() for metric in result.metrics}),
        comments=[*(metric.signature() for metric in result.metrics), "needs amssymb"],
    )
    return render(form, _signed_rows(result), [*tables[:-1], last], _record(result))


def _move_table(result: StressResult, expected: Expected, title: str) -> Table:
    """Give a row a metric and a column a perturbation, of those that should or should not move."""
    labels, tally = _label_moves(result), _tally(result)
    places = [at for at, kind in enumerate(result.perturbations) if kind.expected == expected]
    rows = [
        [Cell(_head(line, labels)), *(_cell(line[place]) for place in places)]
        for line in _lines(result)
    ]
    return Table(
        ["metric", *(_column(result.perturbations[place].name) for place in places)],
        rows,
        f"{count_text(result.stories, 'story', 'stories')}, {title}",
        footer=[_FOOTERS[expected], *(tally[place] for place in places)],
        gap=1,
    )


def _share_table(result: StressResult) -> Table | None:
    """Give the share of the stories that a metric with a better way thinks worse once broken."""
    places = [at for at, kind in enumerate(result.perturbations) if kind.expected == "worse"]
    lines = [line for line in _lines(result) if line[0].direction != "descriptive"]
    if not places or not lines:
        return None
    labels = _label_moves(result)
    return Table(
        ["metric", *(_column(result.perturbations[place].name) for place in places)],
        [[Cell(_head(line, labels)), *(_share_cell(line[at]) for at in places)] for line in lines],
        "stories that are thought worse once they are broken, % (and its interval; chance is 50)",
        gap=1,
    )


def _share_cell(move: Move) -> Cell:
    share = move.worse
    if math.isnan(share.value):
        return Cell(None, "–", "quiet")
    tone: Tone = "good" if share.low > 0.5 else "bad" if share.high < 0.5 else "quiet"
    text = f"{100 * share.value:.0f} {100 * share.low:.0f}–{100 * share.high:.0f}"
    return Cell(share.value, text, tone)


def _column(name: str) -> str:
    return name.replace("_", " ")


def move_cell(move: Move) -> str:
    """Write a move as a sign and its size."""
    if move.verdict == TOO_FEW:
        return "–"
    if move.verdict in _QUIET:
        return _size(move) if move.move.value else "·"
    return _SIGNS.get(move.verdict, "!") + _size(move).lstrip(
        "+−" if move.expected == "worse" else ""
    )


def _size(move: Move) -> str:
    size = move.standardised
    if math.isnan(size):
        return "?"
    text = f"{size:+.2f}" if abs(size) < 9.995 else f"{size:+.1f}"
    return text.replace("-", "−")


def _lines(result: StressResult) -> list[list[Move]]:
    """Give the moves metric by metric, in the order of the perturbations."""
    width = len(result.perturbations)
    return [list(result.moves[at : at + width]) for at in range(0, len(result.moves), width)]


def _label_moves(result: StressResult) -> dict[tuple[str, str], str]:
    return label_scorers((move.scorer, move.aspect) for move in result.moves)


def _head(line: Sequence[Move], labels: Mapping[tuple[str, str], str]) -> str:
    missing = any(move.left_out for move in line)
    return f"{labels[line[0].scorer, line[0].aspect]} {ARROWS[line[0].direction]}{'*' * missing}"


def _tally(result: StressResult) -> list[str]:
    """Count by perturbation the metrics that notice it, or that a control moves."""
    cells = []
    for place, kind in enumerate(result.perturbations):
        column = [line[place] for line in _lines(result) if line[place].verdict != TOO_FEW]
        if kind.expected == "worse":
            column = [move for move in column if move.direction != "descriptive"]
            hits = sum(move.verdict == NOTICES for move in column)
        else:
            hits = sum(move.alarming for move in column)
        cells.append(f"{hits}/{len(column)}")
    return cells


def _cell(move: Move) -> Cell:
    tone = "bad" if move.alarming else _TONES.get(move.verdict, "quiet")
    return Cell(move.standardised, move_cell(move), tone)


def _signed_rows(result: StressResult) -> list[dict[str, Any]]:
    signatures = {metric.spec: metric.signature() for metric in result.metrics}
    return [row | {"signature": signatures[row["scorer"]]} for row in result.rows()]


def _record(result: StressResult) -> dict[str, Any]:
    return {
        "stories": result.stories,
        "seed": result.seed,
        "share": result.share,
        "perturbations": [
            {
                "name": kind.name,
                "expected": kind.expected,
                "does": kind.does,
                "unit": kind.unit,
                "share": _share_of(result, place),
                "applied": len(result.copies.of[kind.name]),
            }
            for place, kind in enumerate(result.perturbations)
        ],
        "procedure": asdict(result.procedure),
        "tests": result.tests,
        "words": stress_words(result),
    }


def _share_of(result: StressResult, place: int) -> float | None:
    kind = result.perturbations[place]
    if not kind.unit:
        return None
    return kind.share if result.share is None else result.share


def stress_words(result: StressResult) -> list[str]:
    """Say what was found, what was left out, and how."""
    sentences = [
        *_preferring(result),
        *_find_unnoticed(result),
        *_moved_alone(result),
        *_left_out(result),
        *_batches(result),
    ]
    return [*sentences, _method(result)]


def _preferring(result: StressResult) -> list[str]:
    broken = _largest([move for move in result.moves if move.verdict == PREFERS])
    if not broken:
        return ["No metric with a better way prefers a broken text."]
    scorers, labels = {move.label for move in broken}, _label_moves(result)
    lines = [
        f"{_metrics(scorers)} {'prefers' if len(scorers) == 1 else 'prefer'} broken text "
        f"in {len(broken)} {'cell' if len(broken) == 1 else 'cells'}; the worst:"
    ]
    lines += [
        f"  {labels[move.scorer, move.aspect]} likes {move.perturbation}: {_sd(move)}, better in "
        f"{100 * (1 - move.worse.value):.0f} % of {count_text(move.stories, 'story', 'stories')}"
        for move in broken[:_MOST]
    ]
    return lines


def _find_unnoticed(result: StressResult) -> list[str]:
    """Name the perturbations that no metric with a better way notices."""
    judging = [move for move in result.moves if move.direction != "descriptive"]
    judging = [move for move in judging if move.expected == "worse" and move.verdict != TOO_FEW]
    tried = dict.fromkeys(move.perturbation for move in judging)
    seen = {move.perturbation for move in judging if move.verdict == NOTICES}
    unseen = [name for name in tried if name not in seen]
    return [f"Noticed by no metric with a better way: {', '.join(unseen)}."] if unseen else []


def _moved_alone(result: StressResult) -> list[str]:
    lines, labels = [], _label_moves(result)
    for kind in result.perturbations:
        moved = [move for move in result.moves if move.perturbation == kind.name and move.alarming]
        if kind.expected == "same" and moved:
            named = [
                f"{labels[move.scorer, move.aspect]} ({_sd(move)})" for move in _largest(moved)
            ]
            rest = f" and {len(named) - _MOST} more" if len(named) > _MOST else ""
            lines.append(f"Moved by {kind.name} alone: {', '.join(named[:_MOST])}{rest}.")
    return lines


def _left_out(result: StressResult) -> list[str]:
    missing = {
        kind.name: result.stories - len(result.copies.of[kind.name])
        for kind in result.perturbations
    }
    words = []
    if any(missing.values()):
        named = [f"{name} to {count:,}" for name, count in missing.items() if count]
        words.append(
            f"Not applicable, of {count_text(result.stories, 'story', 'stories')}: "
            f"{', '.join(named)}."
        )
    if most := max((move.left_out for move in result.moves), default=0):
        named = list(dict.fromkeys(move.scorer for move in result.moves if move.left_out))
        words.append(f"Up to {most:,} left out, for a value is missing (*): {', '.join(named)}.")
    if result.blind:
        words.append(
            "No move could have been found: take more stories, fewer metrics or more resamples."
        )
    return words


def _batches(result: StressResult) -> list[str]:
    named = [metric.spec for metric in result.metrics if needs_batch(metric)]
    if not named:
        return []
    return [
        f"{', '.join(named)}: defined on a batch; the perturbed stories are one of their own, with "
        "all of it perturbed at once."
    ]


def _method(result: StressResult) -> str:
    how = result.procedure
    shares = [
        f"{kind.name} {100 * (kind.share if result.share is None else result.share):g} % of the "
        f"{kind.unit}"
        for kind in result.perturbations
        if kind.unit
    ]
    touched = f"Touched: {', '.join(shares)}. " if shares else ""
    return (
        f"{touched}p is corrected for {count_text(result.tests, 'test')} "
        f"({_CORRECTIONS[how.correction]}), level {how.alpha:g}. Sign-flip test over stories, "
        f"{how.resamples:,} resamples, seed {result.seed}."
    )


def _largest(moves: Sequence[Move]) -> list[Move]:
    """Sort by size; what has no spread to be measured by comes first."""
    return sorted(moves, key=lambda move: -abs(_or_infinite(move.standardised)))


def _or_infinite(value: float) -> float:
    return math.inf if math.isnan(value) else value


def _sd(move: Move) -> str:
    if math.isnan(move.standardised):
        return f"{move.move:+.3g}".replace("-", "−")
    return f"{move.standardised:+.2f} SD".replace("-", "−")


def _metrics(labels: Collection[str]) -> str:
    aspects = " (aspects counted apart)" if any(" " in label for label in labels) else ""
    return f"{len(labels)} {'metric' if len(labels) == 1 else 'metrics'}{aspects}"
