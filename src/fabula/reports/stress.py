"""A stress test as a table to print: metrics × perturbations, and the worst findings in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fabula.core.card import ARROWS
from fabula.reports.stress_words import stress_words
from fabula.reports.tables import Cell, Table, Tone, render
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

_SIGNS = {NOTICES: "▼", PREFERS: "▲", UP: "↑", DOWN: "↓"}
_QUIET = (BLIND, STILL, UNMOVED)
_TONES: Mapping[str, Tone] = {NOTICES: "good", PREFERS: "bad", UP: "other", DOWN: "other"}
_KEY = (
    "▼ notices: thinks the broken text worse.  ▲ prefers the broken text.  ↑ ↓ moves, without a "
    "better way.  ! moved by a control.  Numbers are standard deviations of the metric over the "
    "original stories; without a sign nothing was found, · did not move at all, – too few stories."
)


def render_stress(form: str, result: StressResult) -> str:
    """Write a stress test as table, json, jsonl, csv or latex."""
    table = Table(
        ["metric", *(kind.name.replace("_", "\n") for kind in result.perturbations)],
        [[Cell(_head(line)), *map(_cell, line)] for line in _lines(result)],
        f"{result.stories:,} stories, perturbed",
        [_KEY, *stress_words(result)],
        footer=["noticed, or moved, by", *_tally(result)],
        comments=[*(metric.signature() for metric in result.metrics), "needs amssymb"],
        gap=1,
    )
    return render(form, _signed_rows(result), [table], _record(result))


def move_cell(move: Move) -> str:
    """Write a move as a sign and its size."""
    if move.verdict == TOO_FEW:
        return "–"
    if move.verdict in _QUIET:
        return _size(move) if move.move else "·"
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


def _head(line: Sequence[Move]) -> str:
    missing = any(one.left_out for one in line)
    return f"{line[0].label} {ARROWS[line[0].direction]}{'*' * missing}"


def _tally(result: StressResult) -> list[str]:
    """Count by perturbation the metrics that notice it, or that a control moves."""
    cells = []
    for place, kind in enumerate(result.perturbations):
        column = [line[place] for line in _lines(result) if line[place].verdict != TOO_FEW]
        if kind.expected == "worse":
            column = [one for one in column if one.direction != "descriptive"]
            hits = sum(one.verdict == NOTICES for one in column)
        else:
            hits = sum(one.alarming for one in column)
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
