"""`fabula completion`: let the shell complete commands, options and names."""

from __future__ import annotations

import click

from fabula.cli import echo


@click.command("completion", short_help="Let the shell complete commands and names.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a script for the shell that completes commands, options and names.

    Completed are metrics and sets (in lists with commas too, and settings in parentheses), assets,
    models, data sets, run folders and files. For bash: `fabula completion bash >> ~/.bashrc`, then
    open a new shell.
    """
    from click.shell_completion import get_completion_class

    from fabula.cli import cli

    completion = get_completion_class(shell)
    if completion is None:
        raise click.UsageError(f"no completion for {shell}")
    echo(completion(cli, {}, "fabula", "_FABULA_COMPLETE").source())
