"""Floor 7: one command per file; words only."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import click

from fabula._version import __version__
from fabula.core.errors import UserError


class Commands(click.Group):
    """Finds commands by their file's name and imports one when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands."""
        modules = pkgutil.iter_modules(__path__)
        return sorted(name for _, name, package in modules if name[0] != "_" and not package)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import the command of that name."""
        if name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"{__name__}.{name}").command
        return command


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Begin with: fabula score examples -m strings -o runs/first",
)
@click.version_option(__version__, prog_name="fabula")
def cli() -> None:
    """Evaluate stories, with numbers that can be believed."""


def main() -> None:
    """Run a command; what the user can mend is one line and exit code 2."""
    try:
        cli(prog_name="fabula")
    except UserError as error:
        click.echo(f"fabula: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output (head, less) has gone; nobody is left to tell.
        sys.stderr.close()
        sys.exit(141)
