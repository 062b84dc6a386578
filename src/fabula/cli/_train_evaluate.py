"""`fabula train storyer --evaluate`: what weights are worth, in the tables of StoryER's paper."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
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
        help="With --evaluate: column of a file --on that parts its stories, such as genre.",
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
    seed: int,
    report: Callable[[str], None],
) -> None:
    """Measure weights on sets and print the tables."""
    from fabula.replication.findings import analyses_text
    from fabula.replication.storyer.evaluated_sets import name_sets, open_sets
    from fabula.replication.storyer.evaluation import HowEvaluated, evaluate_weights
    from fabula.replication.storyer.material import Material

    if not specs or not on:
        lacking = "--on SOURCE" if specs else "--evaluate FOLDER"
        raise SettingError("--evaluate needs what it measures, and on what", f"add {lacking}")
    for spec in specs:
        if ("/" in spec or spec.startswith(".")) and not Path(spec).is_dir():
            raise SettingError(f"{spec}: no such folder", "give the folder of a training")
    sets = name_sets([dataset for source in on for dataset in open_sets(source, by)])
    material = Material(seed=seed, report=report)
    findings = evaluate_weights(list(specs), sets, material, HowEvaluated(comments, by))
    if form == "json":
        rows = {"weights": list(specs), "sets": [finding.plain() for finding in findings]}
        echo(json.dumps(rows, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        echo(analyses_text(findings))
