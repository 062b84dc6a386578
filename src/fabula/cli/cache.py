"""`fabula cache`: look at the scores and vectors that were kept, or forget them."""

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
    """Look at the scores and vectors that were kept, or forget them."""


@command.command("info")
@_path_option
def info(path: Path | None) -> None:
    """Say where the cache is and what it holds."""
    from fabula.models import format_size, vectors_folder, vectors_size
    from fabula.scoring.cache import ScoreCache, default_path, is_blank

    where = path or default_path()
    if not is_blank(where):
        with ScoreCache(where) as cache:
            echo(f"{where}: {count_text(len(cache), 'reading')}, {format_size(cache.size())}")
    else:
        echo(f"{where}: empty")
    if path is None:
        echo(f"{vectors_folder()}: {format_size(vectors_size())} of vectors")


@command.command("clear", short_help="Forget every score and vector that was kept.")
@_path_option
def clear(path: Path | None) -> None:
    """Forget every score and vector; they are made again when they are asked for."""
    from fabula.models import clear_vectors, format_size, vectors_folder
    from fabula.scoring.cache import clear_cache, default_path

    where = path or default_path()
    echo(f"{where}: {count_text(clear_cache(where), 'reading')} forgotten")
    if path is None:
        echo(f"{vectors_folder()}: {format_size(clear_vectors())} of vectors forgotten")
