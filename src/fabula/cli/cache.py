"""`fabula cache`: look at scores, vectors and answers that were kept, or forget them."""

from __future__ import annotations

from pathlib import Path

import click

from fabula.cli import echo
from fabula.core.story import count_text

_path_option = click.option(
    "--cache",
    "path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The scores in this file, instead of the usual cache and the vectors.",
)


@click.group("cache")
def command() -> None:
    """Look at the scores, vectors and answers kept, or forget them."""


@command.command("info")
@_path_option
def info(path: Path | None) -> None:
    """Say where the cache is and what it holds."""
    from fabula.models import format_size, vectors_folder, vectors_size
    from fabula.models.asking.journal import journal_folder, journal_size
    from fabula.scoring.cache import ScoreCache, default_path, is_blank

    where = path or default_path()
    if not is_blank(where):
        with ScoreCache(where) as cache:
            echo(f"{where}: {count_text(len(cache), 'reading')}, {format_size(cache.size())}")
    else:
        echo(f"{where}: empty")
    if path is None:
        echo(f"{vectors_folder()}: {format_size(vectors_size())} of vectors")
        echo(f"{journal_folder()}: {format_size(journal_size())} of answers to judges")


@command.command("clear", short_help="Forget every score and vector that was kept.")
@_path_option
@click.option("--answers", is_flag=True, help="What language models answered to judges, too.")
def clear(path: Path | None, answers: bool) -> None:
    """Forget every score and vector; they are made again when they are asked for.

    Answers to judges stay, for they may have been paid for.
    """
    from fabula.models import clear_vectors, format_size, vectors_folder
    from fabula.models.asking.journal import clear_journals, journal_folder
    from fabula.scoring.cache import clear_cache, default_path

    where = path or default_path()
    echo(f"{where}: {count_text(clear_cache(where), 'reading')} forgotten")
    if path is None:
        echo(f"{vectors_folder()}: {format_size(clear_vectors())} of vectors forgotten")
    if answers:
        echo(f"{journal_folder()}: {format_size(clear_journals())} of answers forgotten")
