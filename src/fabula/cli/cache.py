"""`fabula cache`: look at the scores that were kept, or forget them."""

from __future__ import annotations

from pathlib import Path

import click

_path_option = click.option(
    "--cache", "path", type=click.Path(path_type=Path), help="Cache file, if not the usual one."
)


@click.group("cache")
def command() -> None:
    """Look at the scores that were kept, or forget them."""


@command.command("info")
@_path_option
def info(path: Path | None) -> None:
    """Say where the cache is and what it holds."""
    from fabula.scoring.cache import ScoreCache, default_path

    where = path or default_path()
    if not where.exists():
        click.echo(f"{where}: empty")
        return
    with ScoreCache(where) as cache:
        click.echo(f"{where}: {len(cache):,} readings, {cache.size() / 1e6:.1f} MB")


@command.command("clear")
@_path_option
def clear(path: Path | None) -> None:
    """Forget every score; they are made again when they are asked for."""
    from fabula.scoring.cache import clear, default_path

    where = path or default_path()
    click.echo(f"{where}: {clear(where):,} readings forgotten")
