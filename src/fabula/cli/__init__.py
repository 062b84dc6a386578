"""Floor 7: one command per file; words only."""

from __future__ import annotations

import codecs
import importlib
import io
import pkgutil
import sys

import click

from fabula._version import __version__
from fabula.core.errors import UserError
from fabula.text.escapes import stand_in, terminal_text

# As ASCII, under a name that click does not take for a mistake and write UTF-8 over.
_PLAIN_ASCII = "fabula_ascii"


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


def echo(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text, or say it on stderr: the one way out of every command.

    What a terminal would obey is written as escapes: no story, id or name moves the cursor.
    """
    stream = sys.stderr if err else sys.stdout
    click.echo(terminal_text(text if isinstance(text, str) else str(text)), file=stream, nl=nl)


def prepare_streams() -> None:
    """Let stdout and stderr write stand-ins for letters that their encoding has not."""
    codecs.register(_find_codec)
    codecs.register_error("fabula_stand_in", _stand_in)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            is_ascii = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(
                encoding=_PLAIN_ASCII if is_ascii else stream.encoding, errors="fabula_stand_in"
            )


def _find_codec(name: str) -> codecs.CodecInfo | None:
    if name != _PLAIN_ASCII:
        return None
    ascii_codec = codecs.lookup("ascii")
    return codecs.CodecInfo(
        ascii_codec.encode,
        ascii_codec.decode,
        incrementalencoder=ascii_codec.incrementalencoder,
        incrementaldecoder=ascii_codec.incrementaldecoder,
        name=_PLAIN_ASCII,
    )


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return stand_in(error.object[error.start : error.end]), error.end


def main() -> None:
    """Run a command; what the user can mend is one line and exit code 2."""
    prepare_streams()
    try:
        sys.exit(cli.main(prog_name="fabula", standalone_mode=False))
    except UserError as error:
        echo(f"fabula: {error}", err=True)
        sys.exit(2)
    except click.ClickException as error:
        words = io.StringIO()
        error.show(words)
        echo(words.getvalue(), err=True, nl=False)
        sys.exit(error.exit_code)
    except click.Abort:
        echo("Aborted!", err=True)
        sys.exit(1)
    except BrokenPipeError:
        # The reader of our output (head, less) has gone; nobody is left to tell.
        sys.stderr.close()
        sys.exit(141)
