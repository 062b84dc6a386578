"""`fabula judge`: what a judge is worth, and which biases it has."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._completion import complete_sources, complete_specs
from fabula.cli._inputs import COLUMN, PARTIAL, form_options, path_option, pop_form, story_layout
from fabula.cli._options import (
    BUDGET,
    CACHE,
    DRY_RUN,
    FORMAT,
    NO_CACHE,
    PAPER_FORMAT,
    QUIET,
    alpha_option,
    output_option,
    resamples_option,
    seed_option,
)
from fabula.core.errors import SettingError

if TYPE_CHECKING:
    from fabula.core.dataset import Dataset
    from fabula.datasets.tables.stories import StoryLayout
    from fabula.meta.certificate import Bias, Certificate
    from fabula.meta.study import Study
    from fabula.models.asking.spending import Account

_COEFFICIENTS = ("spearman", "pearson", "kendall")


def _gather_study(command: Callable[..., None]) -> Callable[..., None]:
    """Give the command the study and the cache that its options declare."""

    @functools.wraps(command)
    def gather(*, coefficient: str, resamples: int, seed: int, alpha: float, **rest: Any) -> None:
        from fabula.meta.study import Study

        named: Any = sorted(_COEFFICIENTS, key=lambda name: name != coefficient)
        how: Any = {"resamples": resamples, "seed": seed, "alpha": alpha}
        cache, no_cache = rest.pop("cache"), rest.pop("no_cache")
        study = Study(coefficients=tuple(named), settle=True, **how)
        command(study=study, cache=not no_cache and (cache or True), **rest)

    return gather


def _open_account(command: Callable[..., None]) -> Callable[..., None]:
    """Give the command an account that holds to its options, and say at the end what is on it."""

    @functools.wraps(command)
    def pay(*, budget: float | None, dry_run: bool, quiet: bool, **rest: Any) -> None:
        from fabula.cli._judging import open_run_account

        with open_run_account(budget, is_dry=dry_run, quiet=quiet) as account:
            command(account=account, quiet=quiet, **rest)

    return pay


@click.group(
    "judge", short_help="Certify judges: how far they agree with people, and their biases."
)
def command() -> None:
    """Judges are scorers that claim to rate as people do: language models above all."""


@command.command("certify", short_help="Hold a judge against people's ratings.")
@click.argument("judge", shell_complete=complete_specs)
@click.option(
    "--gold",
    required=True,
    metavar="NAMES|FILE",
    help="People's ratings: a data set by name, or a table of your own, as a campaign exports it.",
)
@click.option(
    "--ratings",
    metavar="NAMES",
    help="Columns of such a table that hold ratings, separated by commas.",
)
@click.option(
    "--run",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Take what the judge said from this run, and ask nothing.",
)
@click.option(
    "--items",
    type=click.IntRange(1),
    metavar="N",
    show_default="all",
    help="Take so many items (prompts) of the gold, at even distances, with all their stories.",
)
@click.option(
    "--coefficient",
    type=click.Choice(_COEFFICIENTS),
    default="spearman",
    show_default=True,
    help="Which correlation the verdicts go by; the file has all three.",
)
@click.option(
    "--reader/--no-reader",
    "with_reader",
    default=True,
    show_default=True,
    help="Put the learned reader of HANNA's criteria beside it.",
)
@click.option(
    "--probe",
    type=click.IntRange(2),
    metavar="N",
    show_default="none",
    help="Probe the judge for biases on so many of the stories, and certify these as well.",
)
@path_option()
@PARTIAL
@COLUMN
@form_options
@resamples_option()
@seed_option()
@alpha_option()
@output_option(metavar="FILE", help="Write the certificate here, and not where reports find it.")
@PAPER_FORMAT
@CACHE
@NO_CACHE
@BUDGET
@DRY_RUN
@QUIET
@_open_account
@_gather_study
def certify(
    judge: str,
    *,
    run: Path | None,
    study: Study,
    items: int | None,
    with_reader: bool,
    probe: int | None,
    output: Path | None,
    form: str,
    cache: bool | Path,
    account: Account,
    quiet: bool,
    **gold: Any,
) -> None:
    """Hold a judge against people's ratings and keep what is found as its certificate.

    JUDGE is a spec, such as "judge(model='embedded()')", or a scorer whose scores came with the
    gold, such as judge:ChatGPT/1 with --gold hanna. For every criterion: how far it agrees, with an
    interval, beside the best trivial baseline, the best column that came with the gold, the learned
    reader, and what the raters' own noise allows; and a verdict.
    """
    from dataclasses import replace

    from fabula.cli import show_progress
    from fabula.scoring import certificates

    dataset = _open_gold(judge, run, quiet=quiet, **gold)
    dataset = certificates.choose_stories(dataset, items or 0, study)
    _need_asking(judge, dataset, account)
    if account.is_dry:
        certificates.estimate_certificate(judge, dataset, cache)
        _probe(judge, dataset, probe, "")
        return
    progress = show_progress("scores", quiet=quiet)
    how: Any = {"with_reader": with_reader, "cache": cache, "progress": progress}
    found = certificates.make_certificate(judge, dataset, study, **how)
    certificate = replace(found, biases=tuple(_probe(judge, dataset, probe, "")))
    _keep(certificate, output, form=form, quiet=quiet)


def _keep(certificate: Certificate, output: Path | None, *, form: str, quiet: bool) -> None:
    """Write the certificate, print it, and say where it is."""
    from fabula.reports.certificates import render_certificate
    from fabula.scoring.certificates import save_certificate

    place = save_certificate(certificate, output)
    echo(render_certificate(form, certificate))
    if not quiet:
        echo(f"the certificate is {place}", err=True)


def _need_asking(judge: str, dataset: Dataset, account: Account) -> None:
    """Refuse money for a judge that is not asked here."""
    has_money = account.is_dry or account.budget is not None
    if has_money and judge in dataset.scores.scorers:
        problem = f"--dry-run and --budget are for judges that are asked, and {judge} is not"
        raise SettingError(problem, "leave them out: what it says stands with the gold or the run")


def _open_gold(
    judge: str,
    run: Path | None,
    *,
    gold: str,
    ratings: str | None,
    path: Path | None,
    partial: bool,
    columns: dict[str, str],
    quiet: bool,
    **form: Any,
) -> Dataset:
    """Open the rated stories, with what a run holds of the judge."""
    from fabula.datasets.tables.text_file import FileForm
    from fabula.scoring.certificates import join_run
    from fabula.scoring.sources import DatasetSource

    file_form = FileForm(**pop_form({**form, "quiet": quiet}))
    source = DatasetSource(gold, path, partial, ratings, columns, form=file_form)
    dataset = source.load()
    return join_run(dataset, judge, run) if run else dataset


@command.command("probe", short_help="Measure the biases of a judge.")
@click.argument("judge", shell_complete=complete_specs)
@click.argument("source", shell_complete=complete_sources)
@click.option(
    "--stories",
    type=click.IntRange(2),
    metavar="N",
    default=50,
    show_default=True,
    help="Take so many of the stories, at even distances.",
)
@click.option(
    "--own",
    default="",
    metavar="NAME",
    help="The system whose stories the judge's own model wrote; people's ratings are needed, too.",
)
@path_option()
@PARTIAL
@story_layout
@PAPER_FORMAT
@BUDGET
@DRY_RUN
@QUIET
@_open_account
def probe(
    judge: str,
    source: str,
    *,
    stories: int,
    own: str,
    path: Path | None,
    partial: bool,
    layout: StoryLayout,
    form: str,
    account: Account,
    quiet: bool,
) -> None:
    """Ask a judge about the same stories in ways that should change nothing.

    SOURCE is a data set or a file of stories. Measured are: instructions inside a story, saying
    sentences twice, asking again, the order of the criteria, which end of the scale is best, which
    of two stories is shown first, and whether it likes its own model's stories more than people do.
    """
    from dataclasses import replace

    from fabula.core.dataset import Dataset, DatasetCard
    from fabula.datasets import DATASETS, is_added
    from fabula.datasets.tables.stories import open_stories
    from fabula.reports.certificates import render_biases
    from fabula.scoring.sources import DatasetSource

    if source in DATASETS or is_added(source):
        dataset = DatasetSource(source, path, partial).load(rated=False)
        kept = [one for one in dataset.stories if one.system not in dataset.card.reference_systems]
        dataset = replace(dataset, stories=tuple(kept))
    else:
        with open_stories(source, layout) as file:
            dataset = Dataset(source, DatasetCard(source, "", ""), tuple(file))
    biases = _probe(judge, dataset, stories, own)
    if not account.is_dry:
        echo(render_biases(form, judge, biases))


def _probe(judge: str, dataset: Dataset, count: int | None, own: str) -> list[Bias]:
    """Probe a judge on some stories of a data set that have a text; on none where none is named."""
    if not count:
        return []
    from fabula.scoring.catalogue import METRICS
    from fabula.scoring.judge_probes import Probe, draw_stories, probe_judge

    if judge in dataset.scores.scorers:
        raise SettingError(f"{judge} cannot be asked here", "leave --probe out")
    readable = [story for story in dataset.stories if story.text.strip()]
    chosen = draw_stories(readable, count)
    return probe_judge(Probe(METRICS.build(judge), chosen, own, dataset.ratings))


@command.command("list", short_help="List the certificates that are here.")
@FORMAT
def list_command(*, form: str) -> None:
    """List certificates: those that you made, then those that came with Fabula."""
    from fabula.reports.certificates import list_table
    from fabula.reports.tables import render
    from fabula.scoring.certificates import list_certificates

    certificates = list_certificates()
    if not certificates and form == "table":
        echo("no certificates yet; make one: fabula judge certify JUDGE --gold NAME", err=True)
        return
    rows = [
        {
            "judge": one.judge,
            "gold": one.gold,
            "made": one.made,
            "stories": one.answered,
            "aspect": aspect,
            "verdict": verdict,
            "signature": one.signature,
        }
        for one in certificates
        for aspect, verdict in one.verdicts.items()
    ]
    echo(render(form, rows, [list_table(certificates)], {}))


@command.command("show", short_help="Show a certificate.")
@click.argument("certificate", metavar="JUDGE|FILE", shell_complete=complete_specs)
@PAPER_FORMAT
def show(certificate: str, *, form: str) -> None:
    """Show a certificate as it was printed when it was made.

    It is that of a file, or the newest of a judge, by its spec as `fabula judge list` has it.
    """
    from fabula.reports.certificates import render_certificate
    from fabula.scoring.certificates import read_certificate, recall_certificate

    path = Path(certificate)
    found = read_certificate(path) if path.is_file() else recall_certificate(certificate)
    echo(render_certificate(form, found))
