"""`fabula train criteria`: the small reader, taught by a judge beside people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._options import DATA, existing_folder_type
from fabula.cli._train_options import DEVICE, PREPARED, RECIPE, RESUME, SEED, SEEDS, START
from fabula.core.errors import InputError
from fabula.core.story import count_text

if TYPE_CHECKING:
    from fabula.scoring.teachers import Teacher

Report = Callable[[str], None]
CRITERIA_HELP = (
    "Learn HANNA's criteria from people and from a judge.\n\n"
    '--from-judge is a run that `fabula score -m "judge(…)" -o RUN` wrote. The judge teaches the '
    "criteria on which its certificate says 'beyond baselines'; others are left out. What the "
    "reader agrees with people in, and what with the judge, is told apart. The recipe that is "
    "built in is recipes/criteria.toml."
)
_JUDGE_OPTIONS = (
    click.option(
        "--from-judge",
        "run",
        type=existing_folder_type,
        required=True,
        metavar="FOLDER",
        help="Folder of a run with a judge's scores.",
    ),
    click.option(
        "--judge", default="", metavar="SPEC", help="Which judge, where the run has several."
    ),
    click.option(
        "--uncertified",
        is_flag=True,
        help="Learn what the judge says on every criterion, whatever its certificate says.",
    ),
    click.option(
        "--share",
        type=click.FloatRange(0, 1),
        metavar="X",
        default=0.5,
        show_default=True,
        help="Weight of the judge's head among the heads that make a criterion's value.",
    ),
)
_FOLDS = click.option(
    "--folds",
    type=click.IntRange(2),
    metavar="N",
    default=5,
    show_default=True,
    help="Train N more readers, each without one part of the items; they are measured.",
)
CRITERIA_OPTIONS = (
    *_JUDGE_OPTIONS, DATA, RECIPE, PREPARED, START, SEED, _FOLDS, SEEDS, DEVICE, RESUME,
)  # fmt: skip


def criteria_command(
    *,
    run: Path,
    judge: str,
    uncertified: bool,
    share: float,
    data: Path | None,
    out: Path,
    recipe: Path | None,
    prepared: Path | None,
    start: Path | None,
    seed: int | None,
    report: Report,
    **how: Any,
) -> None:
    """Train the reader; say what it has of people and what of the judge."""
    from fabula.learned.training.reader import ExampleSource, train_reader
    from fabula.learned.training.recipe import ReaderRecipe, find_recipe, read_recipe
    from fabula.scoring.teachers import add_teacher, find_teacher, list_criteria

    chosen = read_recipe(ReaderRecipe, recipe or find_recipe("criteria"), seed=seed)
    teacher = find_teacher(run, list_criteria(chosen), judge=judge, uncertified=uncertified)
    _introduce(teacher, report)
    record = train_reader(
        add_teacher(chosen, teacher, share=share),
        ExampleSource(data=data, prepared=prepared, start=start, report=report),
        out=out,
        judges={teacher.judge: teacher.plain()},
        report=report,
        **how,
    )
    if teacher.judge not in record.get("judges", {}):
        raise InputError(f"{out} was not taught by {teacher.judge}", "name another folder")
    _say_apart(record, teacher)
    echo(f"criteria(weights={str(out)!r})")


def _introduce(teacher: Teacher, report: Report) -> None:
    """Say who teaches what, and what is left out."""
    stories = count_text(teacher.stories, "story", "stories")
    report(f"{teacher.judge} teaches {', '.join(teacher.aspects)} by {stories} of {teacher.run}")
    if teacher.uncertified:
        for aspect, verdict in teacher.verdicts.items():
            report(f"  {aspect}: {verdict} (--uncertified)")
    for aspect, why in teacher.left_out.items():
        report(f"  left out: {aspect or 'its one value'} ({why})")


def _say_apart(record: Mapping[str, Any], teacher: Teacher) -> None:
    """Say how the values agree with people, then with the judge, on unseen stories."""
    judged = record["judges"][teacher.judge]
    echo("values of unseen stories with people's ratings (Spearman's ρ):", err=True)
    _say_rows(_list_rows(record["scales"], record["unseen"]))
    echo(f"and with what {teacher.judge} says of them:", err=True)
    _say_rows(_list_rows(judged["scales"], judged["unseen"]))


def _list_rows(
    scales: Mapping[str, Mapping[str, Any]], unseen: Mapping[str, Any]
) -> list[tuple[str, str, str]]:
    """List the figures of criteria, then those of the heads by themselves."""
    figures = {
        scale.partition(".")[2]: figure
        for scale, by_target in scales.items()
        for figure in list(by_target.values())[:1]
    }
    figures |= {f"head of {task}": figure for task, figure in unseen.items()}
    return [
        (name, "undefined" if one["value"] is None else f"{one['value']:.3f}", f"n = {one['n']:,}")
        for name, one in figures.items()
    ]


def _say_rows(rows: Sequence[tuple[str, str, str]]) -> None:
    width = max((len(name) for name, *_ in rows), default=0)
    for name, value, count in rows:
        echo(f"  {name:<{width}}  {value:>9}  {count}", err=True)
