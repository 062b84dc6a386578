"""`fabula completion`: let the shell complete commands and options."""

from __future__ import annotations

import click

from fabula.cli import echo


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a script that completes commands, options and file names.

    For bash: `fabula completion bash >> ~/.bashrc`, then open a new shell.
    """
    from click.shell_completion import get_completion_class

    from fabula.cli import cli

    completion = get_completion_class(shell)
    if completion is None:
        raise click.UsageError(f"no completion for {shell}")
    echo(completion(cli, {}, "fabula", "_FABULA_COMPLETE").source())
