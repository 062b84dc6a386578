"""`fabula train storyer --evaluate`: what weights are worth, in the tables of StoryER's paper."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click

from fabula.cli import echo
from fabula.core.errors import SettingError

EVALUATE_HELP = (
    "With --evaluate nothing is trained: weights are measured on the sets --on, as the tables of "
    "StoryER's paper do, with its figures beside."
)
EVALUATE_OPTIONS = (
    click.option(
        "--evaluate",
        "evaluated",
        multiple=True,
        is_eager=True,
        metavar="NAME|FOLDER",
        help="Measure these weights, a folder or an asset, instead of training; may be repeated.",
    ),
    click.option(
        "--on",
        multiple=True,
        metavar="SOURCE",
        help="What --evaluate measures on: pairs, rated comments or ratings in a file, a folder of "
        "the release, or a data set's name; may be repeated.",
    ),
    click.option(
        "--by",
        default="",
        metavar="NAME",
        help="With --evaluate: column of files --on that parts their stories, such as genre.",
    ),
    click.option(
        "--comments",
        type=click.IntRange(0),
        metavar="N",
        default=100,
        show_default=True,
        help="With --evaluate: most aspects of stories on which comments are asked for.",
    ),
    click.option(
        "-f",
        "--format",
        "form",
        type=click.Choice(["table", "json"]),
        default="table",
        show_default=True,
        help="With --evaluate: form of the output.",
    ),
)


def measure_weights(
    specs: Sequence[str],
    on: Sequence[str],
    *,
    by: str,
    comments: int,
    form: str,
    gold: str | None,
    seed: int | None,
    report: Callable[[str], None],
    data: Path | None,
    **training: object,
) -> None:
    """Measure weights on sets and print the tables.

    Options of a training are refused; below `data` the sets lie that are called by their names.
    """
    from fabula.replication.findings import analyses_text
    from fabula.replication.storyer.evaluated_sets import open_all
    from fabula.replication.storyer.evaluation import HowEvaluated, evaluate_weights
    from fabula.replication.storyer.material import Material
    from fabula.scoring.sources import split_names

    _check_asked(specs, on, training)
    opened = open_all(on, by, split_names(gold or ""), data=data)
    how = HowEvaluated(
        comments,
        by,
        whole={one.dataset.name for one in opened if not one.parted},
        remarks={one.dataset.name: one.remarks for one in opened},
    )
    material = Material(seed=seed or 1, report=report)
    findings = evaluate_weights(list(specs), [one.dataset for one in opened], material, how)
    if form == "json":
        rows = {"weights": list(specs), "sets": [finding.plain() for finding in findings]}
        echo(json.dumps(rows, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        echo(analyses_text(findings))


def _check_asked(specs: Sequence[str], on: Sequence[str], training: Mapping[str, object]) -> None:
    """Refuse what lacks a half, options that say how to train, and folders that are no model."""
    from fabula.replication.storyer.evaluated_weights import check_weights

    if not specs or not on:
        lacking = "--on SOURCE" if specs else "--evaluate FOLDER"
        raise SettingError("--evaluate needs what it measures, and on what", f"add {lacking}")
    spelled = {"out": "output", "columns": "column"}
    for name, value in training.items():
        if value and (name, value) != ("seeds", 1):
            problem = f"--{spelled.get(name, name)} is not for --evaluate, which trains nothing"
            raise SettingError(problem, "leave it out")
    for spec in specs:
        check_weights(spec)
