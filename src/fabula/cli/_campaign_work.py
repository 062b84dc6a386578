"""`fabula campaign raters`, `flags`, `reject`, …: what raters did, and what becomes of it."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._campaign_running import NAME, USER, find_researcher
from fabula.cli._options import FORMAT, OVERWRITE, QUIET, existing_folder_type, output_option
from fabula.cli._output import print_rows
from fabula.cli._studio_people import on_studio
from fabula.core.story import count_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fabula.datasets.tables.row_files import RowForm
    from fabula.studio.campaigns.work import Work, WorkRater
    from fabula.studio.database import Studio

_WORK = click.argument("work", nargs=-1, required=True, metavar="WORK…")
_RATER = click.argument("rater")
_REASON = click.option(
    "--reason", required=True, metavar="TEXT", help="What is wrong with the work; it is kept."
)
_WHY = click.option(
    "--reason", default="", metavar="TEXT", help="Why it counts after all; it is kept."
)


def add_work_commands(group: click.Group) -> None:
    """Give the group the commands of this file."""
    for command in (raters_command, flags_command, reject_command, restore_command):
        group.add_command(command)
    for command in (exclude_command, include_command, payments_command, forget_command):
        group.add_command(command)
    group.add_command(export_command)
    group.add_command(add_scorer_command)


@click.command("raters")
@NAME
@FORMAT
@on_studio
def raters_command(*, studio: Studio, name: str, form: str) -> None:
    """List the raters of the campaign NAME: what they did, how long it took, what is odd."""
    from fabula.studio.campaigns.checks import find_flags
    from fabula.studio.campaigns.work import read_work

    work = read_work(studio, None, name)
    flags = Counter(flag.rater for flag in find_flags(work))
    rows = [
        _describe_rater(work, rater, flags[rater.id])
        for rater in sorted(work.raters.values(), key=lambda rater: rater.number)
    ]
    _print_some(rows, form, "nobody has come in yet")


def _describe_rater(work: Work, rater: WorkRater, flags: int) -> dict[str, Any]:
    from fabula.studio.campaigns.results import measure_pace

    done, pace = work.by_rater[rater.id], measure_pace(work, rater.id)
    return {
        "rater": rater.name,
        "way": rater.way,
        "submitted": len(done),
        "rejected": sum(one.is_rejected for one in done),
        "median_s": round(pace.median_s) if pace.tasks else "",
        "paid_an_hour": round(pace.hourly, 2) if math.isfinite(pace.hourly) else "",
        "flags": flags,
        "state": rater.state,
    }


@click.command("flags", short_help="List what is odd about the work, with the evidence.")
@NAME
@FORMAT
@on_studio
def flags_command(*, studio: Studio, name: str, form: str) -> None:
    """List what is odd about the work in the campaign NAME, with the evidence.

    A flag decides nothing: `reject` and `exclude` do, and they can be undone.
    """
    from fabula.studio.campaigns.checks import find_flags
    from fabula.studio.campaigns.work import read_work

    work = read_work(studio, None, name)
    numbers = {one.id: one.number for one in work.assignments}
    rows = []
    for flag in find_flags(work):
        rater = work.raters[flag.rater].name
        whose = f"{rater}/{numbers[flag.assignment]}" if flag.assignment else rater
        rows.append({"work": whose, "check": flag.check, "evidence": flag.evidence})
    _print_some(rows, form, "nothing is odd so far")


@click.command("reject", short_help="Reject submitted work: its places are open again.")
@NAME
@_WORK
@_REASON
@USER
@on_studio
def reject_command(
    *, studio: Studio, name: str, work: tuple[str, ...], reason: str, user: str | None
) -> None:
    """Reject submitted WORK of the campaign NAME: its places are open again.

    WORK is named as `flags` names it: r3/7 is the seventh task of rater r3. It stays in the
    export, marked.
    """
    from fabula.studio.campaigns.verdicts import reject_work

    person = find_researcher(studio, user)
    done = reject_work(studio, person, name, _find_work(studio, name, work), reason=reason)
    echo(f"{count_text(len(done), 'task')} rejected", err=True)


@click.command("restore")
@NAME
@_WORK
@_WHY
@USER
@on_studio
def restore_command(
    *, studio: Studio, name: str, work: tuple[str, ...], reason: str, user: str | None
) -> None:
    """Let WORK of the campaign NAME count again that was rejected."""
    from fabula.studio.campaigns.verdicts import restore_work

    person = find_researcher(studio, user)
    done = restore_work(studio, person, name, _find_work(studio, name, work), reason=reason)
    echo(f"{count_text(len(done), 'task')} restored", err=True)


@click.command("exclude")
@NAME
@_RATER
@_REASON
@USER
@on_studio
def exclude_command(
    *, studio: Studio, name: str, rater: str, reason: str, user: str | None
) -> None:
    """Give RATER (r3) no more tasks, and reject all that they submitted."""
    from fabula.studio.campaigns.verdicts import exclude_rater

    done = exclude_rater(studio, find_researcher(studio, user), name, rater, reason=reason)
    echo(f"{rater}: {count_text(len(done.assignments), 'task')} rejected", err=True)


@click.command("include")
@NAME
@_RATER
@_WHY
@USER
@on_studio
def include_command(
    *, studio: Studio, name: str, rater: str, reason: str, user: str | None
) -> None:
    """Let RATER (r3) go on who was excluded, and restore what was rejected with them."""
    from fabula.studio.campaigns.verdicts import include_rater

    done = include_rater(studio, find_researcher(studio, user), name, rater, reason=reason)
    echo(f"{rater}: {count_text(len(done.assignments), 'task')} restored", err=True)


def _print_some(rows: list[dict[str, Any]], form: str, none: str) -> None:
    if not rows:
        echo(none, err=True)
    if rows or form != "table":
        print_rows(rows, form)


def _find_work(studio: Studio, name: str, wanted: Sequence[str]) -> list[str]:
    """Give the identities of work that is named by rater and number, as `flags` prints it."""
    from fabula.core.errors import NotFound
    from fabula.studio.campaigns.work import read_work

    work = read_work(studio, None, name)
    known = {f"{work.raters[one.rater].name}/{one.number}": one.id for one in work.assignments}
    known |= {one.id: one.id for one in work.assignments}
    for each in wanted:
        if each not in known:
            raise NotFound(
                f"there is no work {each} in {name}", "r3/7 is the seventh task of rater r3"
            )
    return [known[each] for each in wanted]


@click.command("payments", short_help="List what each rater is owed, by the crowd site's names.")
@NAME
@FORMAT
@on_studio
def payments_command(*, studio: Studio, name: str, form: str) -> None:
    """List what each rater of the campaign NAME is owed, under the name that a crowd site knows.

    It is for paying: exports hold pseudonyms alone. `forget` takes such a name out.
    """
    from fabula.studio.campaigns.payment import list_payments

    rows = [
        {
            "rater": payment.rater,
            "way": payment.way,
            "name": payment.name,
            "completion": payment.completion,
            "finished": payment.is_finished,
            "accepted": payment.accepted,
            "rejected": payment.rejected,
            "amount": f"{payment.amount:.2f}" if form == "table" else payment.amount,
            "currency": payment.currency,
        }
        for payment in list_payments(studio, None, name)
    ]
    _print_some(rows, form, "nobody has come in yet")


@click.command("forget")
@NAME
@_RATER
@on_studio
def forget_command(*, studio: Studio, name: str, rater: str) -> None:
    """Take out what a crowd site calls RATER (r3) of the campaign NAME; their ratings stay."""
    from fabula.core.errors import NotFound
    from fabula.studio.campaigns.raters import forget_rater

    if not rater.removeprefix("r").isdecimal():
        raise NotFound(f"there is no rater {rater} in {name}", "raters are r1, r2, …")
    forget_rater(studio, None, name, int(rater.removeprefix("r")))
    echo(f"{rater}: forgotten", err=True)


@click.command("export", short_help="Write the ratings as tables, and a study file.")
@NAME
@output_option(metavar="FOLDER", required=True, help="Folder for the files.")
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["csv", "json", "jsonl", "parquet"]),
    default="csv",
    show_default=True,
    help="Form of the rows.",
)
@OVERWRITE
@QUIET
@on_studio
def export_command(
    *, studio: Studio, name: str, output: Path, form: RowForm, overwrite: bool, quiet: bool
) -> None:
    """Write what raters of the campaign NAME said: a table that `fabula meta` reads, and all rows.

    `fabula study run FOLDER/study.toml` then holds metrics against them. Raters are pseudonyms.
    """
    from fabula.studio.campaigns.export import export_campaign

    done = export_campaign(studio, None, name, output, form=form, overwrite=overwrite)
    for file, rows in done.rows.items():
        echo(f"{output / file}\t{count_text(rows, 'row')}")


@click.command("add-scorer", short_help="Let metrics stand beside the raters.")
@NAME
@click.argument("run", type=existing_folder_type)
@on_studio
def add_scorer_command(*, studio: Studio, name: str, run: Path) -> None:
    """Put the scores of a RUN (`fabula score -o RUN`) into the campaign NAME, beside its raters.

    They are marked as no people and count for no rating; stories that the campaign does not ask
    about are left out. The same scorer again replaces what it said.
    """
    from fabula.core.table import ScoreTable
    from fabula.studio.campaigns.scorers import add_scorer, choose_scores
    from fabula.studio.campaigns.work import read_work

    scores = choose_scores(read_work(studio, None, name), ScoreTable.load(run))
    for scorer, count in add_scorer(studio, None, name, scores).items():
        echo(f"{scorer}\t{count_text(count, 'score')}")
