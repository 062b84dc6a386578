"""Floor 7: one command per file; words only. Here is what all commands share.

A command is found by the name of its file. What the user can mend is one line, and so is Ctrl-C.
What takes longer than two seconds is seen at work: a `Display` watches every command.
"""

from __future__ import annotations

import codecs
import importlib
import io
import os
import pkgutil
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from fabula.core.errors import UserError
from fabula.core.protocols import Progress, Watch, watch
from fabula.text.escapes import line_text, stand_in, terminal_text

if TYPE_CHECKING:
    from fabula.cli._live import LiveBar

# As ASCII, under a name that click does not take for a mistake and write UTF-8 over.
_PLAIN_ASCII = "fabula_ascii"
STOPPED = 130
_ANSWER_WITHIN_S = 1.2
_RECENT_S, _FEW_STEPS = 30.0, 4


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

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Say how to begin, with the command as it is called here."""
        from fabula.core.installation import spell_command

        formatter.write_paragraph()
        formatter.write_text(f"Begin with: {spell_command('score examples -o runs/first')}")

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command under a display; Ctrl-C is a line that says what is kept."""
        display = Display()
        token = watch.set(display)
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            display.close()
            echo(display.last_words(), err=True)
            Display.current = None
            ctx.exit(STOPPED)
        finally:
            display.close()
            watch.reset(token)


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda context, _option, wanted: _say_version(context) if wanted else None,
    help="Show the version, Python and the commit, and exit.",
)
def cli() -> None:
    """Evaluate stories, with numbers that can be believed."""


def _say_version(context: click.Context) -> None:
    from fabula.core.installation import spell_version

    echo(spell_version())
    context.exit()


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
    _answer_interrupts()
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


def _answer_interrupts() -> None:
    """Let the first Ctrl-C end a command in good order, but soon, and the second at once.

    Python looks at signals between its own steps, not while a library computes: there a thread of
    ours has the last word. Where Ctrl-C is ignored, as in the background of a shell, it stays so.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    signal.signal(signal.SIGINT, _interrupt)
    heard, spoken = os.pipe()
    os.set_blocking(spoken, False)
    signal.set_wakeup_fd(spoken, warn_on_full_buffer=False)
    threading.Thread(target=_end_soon, args=(heard,), daemon=True).start()


def _interrupt(number: int, frame: object) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    raise KeyboardInterrupt


def _end_soon(heard: int) -> None:
    """Wait for an interrupt, and end the process if it has not ended by itself soon after."""
    while (said := os.read(heard, 1)) and said[0] != signal.SIGINT:
        pass
    time.sleep(_ANSWER_WITHIN_S)
    if Display.current:
        os.write(2, f"{Display.current.last_words()}\n".encode())
    os._exit(STOPPED)


class Display(Watch):
    """Shows on stderr what goes on: a live bar on a terminal, elsewhere a line every ten seconds.

    Nothing is shown of what is done within two seconds. A thread looks at what it was told and
    draws it, so that being told costs next to nothing, and silence cannot last: where nobody says
    anything, it says for how long.
    """

    quiet_s = 2.0
    line_every_s = 10.0
    look_every_s = 0.2
    current: Display | None = None

    def __init__(self) -> None:
        self.silent = False
        self._kept = self._doing = self._detail = ""
        self._counts: list[Count] = []
        self._began = self._shown = time.monotonic()
        self._bar: LiveBar | None = None
        self._drawing = threading.RLock()
        self._over = threading.Event()
        Display.current = self
        threading.Thread(target=self._look, daemon=True).start()

    def tell(self, doing: str) -> None:
        """Take what goes on now."""
        self._doing, self._detail = doing, ""

    def tell_detail(self, detail: str) -> None:
        """Take how far that is."""
        self._detail = detail

    @contextmanager
    def during(self, doing: str) -> Iterator[None]:
        """Give a `with` in which something else goes on; afterwards it is as before."""
        before = self._doing, self._detail
        self.tell(doing)
        try:
            yield
        finally:
            self._doing, self._detail = before

    def tell_kept(self, kept: str) -> None:
        """Take what will be there if it is stopped now."""
        self._kept = kept

    def count(self, what: str) -> Count:
        """Give whom to tell how many of something are done."""
        return Count(what, self)

    def last_words(self) -> str:
        """What to say of a command that was stopped."""
        return f"fabula: stopped; {self._kept}" if self._kept else "fabula: stopped"

    def open(self, count: Count) -> None:
        """Begin to show a count, inside those that are shown already."""
        self._counts.append(count)

    def shut(self, count: Count) -> None:
        """End a count; after the last of them the screen is free for what was found."""
        if count in self._counts:
            del self._counts[self._counts.index(count) :]
        self._doing = self._detail = ""
        if count.was_shown and not self._is_live():
            self._write_line(count.describe(time.monotonic()))
        if not self._counts:
            self.hide()

    def hide(self) -> None:
        """Take the bar off the screen; two seconds pass before there is another."""
        with self._drawing:
            if self._bar:
                self._bar.close()
            self._bar, self._began = None, time.monotonic()

    def close(self) -> None:
        """Show nothing any more."""
        self._over.set()
        self.hide()

    def look(self) -> None:
        """Draw what was told, if it is time."""
        now = time.monotonic()
        for count in list(self._counts):
            count.sample(now)
        with self._drawing:
            if self.silent or self._over.is_set() or now - self._began < self.quiet_s:
                return
            if not self._is_live():
                if now - self._shown >= self.line_every_s:
                    self._shown = now
                    self._write_line(self._describe(now))
            else:
                if self._bar is None:
                    from fabula.cli._live import LiveBar

                    self._bar = LiveBar(self.hide)
                inner = self._counts[-1] if self._counts else None
                done, total = (inner.done, inner.total) if inner else (0, 0)
                self._bar.draw(self._describe(now), done, total)

    def _look(self) -> None:
        while not self._over.wait(self.look_every_s):
            try:
                self.look()
            except (OSError, ValueError):
                # Whoever read stderr has gone: nobody is left to show it to.
                return

    def _describe(self, now: float) -> str:
        outer = [f"{count.done:,}/{count.total:,} {count.what}" for count in self._counts[:-1]]
        inner = [count.describe(now) for count in self._counts[-1:]]
        for count in self._counts:
            count.was_shown = True
        # Not by `filter`, which is a command's module here.
        doing = ", ".join(part for part in (self._doing, self._detail) if part)
        words = [*outer, *inner, *([doing] if doing else [])]
        if not inner:
            words += [f"{'' if words else 'at work for '}{format_clock(now - self._began)}"]
        return "; ".join(words)

    def _write_line(self, line: str) -> None:
        echo(f"  {line_text(line)}", err=True)

    def _is_live(self) -> bool:
        return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


class Count:
    """How many of something are done, how fast, and how long the others will take.

    The speed is that of the last half minute, or of the last few steps where they take longer: what
    a cache gave at once does not count for long.
    """

    def __init__(self, what: str, display: Display) -> None:
        self.what = what
        self.done = self.total = 0
        self.was_shown = False
        self._display = display
        self._samples: deque[tuple[float, int]] = deque()

    def start(self, total: int) -> None:
        """So many steps lie ahead."""
        self.done, self.total, self.was_shown = 0, total, False
        self._samples.clear()
        self._samples.append((time.monotonic(), 0))
        self._display.open(self)

    def advance(self, steps: int) -> None:
        """So many more steps are done."""
        self.done += steps

    def finish(self) -> None:
        """No more steps follow."""
        self._display.shut(self)

    def sample(self, now: float) -> None:
        """Note how far it is now, if it is further; of what is long ago a few steps stay."""
        if self.done != self._samples[-1][1]:
            self._samples.append((now, self.done))
        while len(self._samples) > _FEW_STEPS and self._samples[1][0] < now - _RECENT_S:
            self._samples.popleft()

    def describe(self, now: float) -> str:
        """Say how far it is: `1,200/4,000 scores (30 %), 400/s, 0:07 left`."""
        then, before = self._samples[0]
        rate = (self.done - before) / (now - then) if now > then else 0.0
        return describe_progress(self.done, self.total, rate, self.what)


def describe_progress(done: int, total: int, rate: float, what: str) -> str:
    """Say how far it is, how fast it goes and how long it will take; bytes are in millions."""
    speed = f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"
    far, of, unit = f"{done:,}", f"{total:,}", ""
    if what == "bytes":
        far, of, what, unit = f"{done / 1e6:,.1f}", f"{total / 1e6:,.1f}", "MB", " MB"
        speed = f"{rate / 1e6:,.1f}"
    share = 100 * done / total if total else 100.0
    left = f", {format_clock((total - done) / rate)} left" if rate and done < total else ""
    return f"{far}/{of} {what} ({share:.0f} %), {speed}{unit}/s{left}"


def format_clock(seconds: float) -> str:
    """Spell a time as a clock does: 0:07, 1:59:59."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def show_progress(what: str, *, quiet: bool = False) -> Progress | None:
    """Give whom to tell how many of something are done; nobody where all is to be quiet."""
    return None if quiet else watch.get().count(what)


def silence(context: click.Context, option: click.Parameter, quiet: bool) -> bool:
    """Be the callback of `--quiet`: nothing is shown of the command."""
    if quiet and Display.current:
        Display.current.silent = True
    return quiet
