"""What takes longer than two seconds is seen at work, on a terminal and elsewhere."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import fabula.cli
from fabula.cli import Display, cli, describe_progress, show_progress
from fabula.core.protocols import Watch, watch


@pytest.mark.parametrize(
    ("done", "total", "rate", "line"),
    [
        (1200, 4000, 400.0, "1,200/4,000 scores (30 %), 400/s, 0:07 left"),
        (0, 4000, 0.0, "0/4,000 scores (0 %), 0.0/s"),
        (4000, 4000, 400.0, "4,000/4,000 scores (100 %), 400/s"),
        (1, 3601, 1.0, "1/3,601 scores (0 %), 1.0/s, 1:00:00 left"),
        (1, 61, 1.0, "1/61 scores (2 %), 1.0/s, 1:00 left"),
        (10, 7209, 1.0, "10/7,209 scores (0 %), 1.0/s, 1:59:59 left"),
        (3, 9, 0.25, "3/9 scores (33 %), 0.2/s, 0:24 left"),
        (0, 0, 0.0, "0/0 scores (100 %), 0.0/s"),
    ],
)
def test_the_line_says_how_far_how_fast_and_how_long(
    done: int, total: int, rate: float, line: str
) -> None:
    assert describe_progress(done, total, rate, "scores") == line


def test_bytes_are_told_in_millions() -> None:
    line = describe_progress(12_300_000, 90_100_000, 4_500_000.0, "bytes")
    assert line == "12.3/90.1 MB (14 %), 4.5 MB/s, 0:17 left"


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "monotonic", made)
    return made


@pytest.fixture
def display(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Display]:
    """A display that looks only when it is asked to."""
    monkeypatch.setattr(Display, "_look", lambda self: None)
    made = Display()
    yield made
    made.close()


def pass_time(display: Display, clock: Clock, seconds: float) -> None:
    for _ in range(round(seconds)):
        clock.now += 1
        display.look()


def test_nothing_is_shown_of_what_is_done_in_two_seconds(
    display: Display, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    counting = display.count("scores")
    counting.start(10)
    for _ in range(9):
        clock.now += 0.2
        counting.advance(1)
        display.look()
    counting.finish()
    assert capsys.readouterr().err == ""


def test_elsewhere_there_is_a_line_every_ten_seconds(
    display: Display, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    counting = display.count("scores")
    counting.start(35)
    for _ in range(35):
        counting.advance(1)
        pass_time(display, clock, 1)
    counting.finish()
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[0] for line in lines] == ["10/35", "20/35", "30/35", "35/35"]
    assert not any("\r" in line or "\x1b" in line for line in lines)
    assert lines[0] == "  10/35 scores (29 %), 1.0/s, 0:25 left"


def test_a_model_that_loads_is_named_before_anything_is_counted(
    display: Display, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    display.tell("loading minilm")
    pass_time(display, clock, 21)
    assert capsys.readouterr().err == "  loading minilm; 0:10\n  loading minilm; 0:20\n"


def test_silence_does_not_last_even_where_nobody_says_anything(
    display: Display, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    pass_time(display, clock, 10)
    assert capsys.readouterr().err == "  at work for 0:10\n"


def test_a_count_inside_another_is_told_with_it_and_what_goes_on(
    display: Display, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    outer, inner = display.count("parts"), display.count("scores")
    outer.start(3)
    inner.start(40)
    inner.advance(20)
    display.tell("bertscore")
    display.tell_detail("window 12 of 80")
    pass_time(display, clock, 10)
    expected = "  0/3 parts; 20/40 scores (50 %), 2.0/s, 0:10 left; bertscore, window 12 of 80\n"
    assert capsys.readouterr().err == expected


def test_the_speed_is_that_of_the_last_half_minute(
    display: Display, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    counting = display.count("scores")
    counting.start(1000)
    counting.advance(800)  # found in a cache
    for _ in range(200):
        counting.advance(1)
        pass_time(display, clock, 1)
    assert " 1.0/s" in capsys.readouterr().err.splitlines()[-1]


def test_steps_that_take_a_minute_each_have_a_speed_and_an_end(
    display: Display, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    counting = display.count("scores")
    counting.start(16)
    for _ in range(2):
        pass_time(display, clock, 60)
        counting.advance(8)
    pass_time(display, clock, 1)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == "  8/16 scores (50 %), 0.1/s, 2:00 left"


def test_control_characters_of_an_id_do_not_reach_the_screen(
    display: Display, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    display.tell("story \x1b[31mred\r")
    pass_time(display, clock, 10)
    assert capsys.readouterr().err == "  story \\x1b[31mred\\r; 0:10\n"


def test_quiet_silences_all_of_it(
    display: Display, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    fabula.cli.silence(click.Context(cli), click.Option(["--quiet"]), True)
    counting = display.count("scores")
    counting.start(40)
    pass_time(display, clock, 30)
    assert capsys.readouterr().err == ""


def test_a_library_has_nobody_who_watches() -> None:
    assert type(watch.get()) is Watch
    watch.get().tell("loading minilm")
    assert show_progress("scores") is None


def test_every_command_is_watched_and_nobody_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(Display, "__init__", lambda self: seen.append(self))
    monkeypatch.setattr(Display, "close", lambda self: None)
    CliRunner().invoke(cli, ["metrics", "list"])
    assert len(seen) == 1 and type(watch.get()) is Watch


def test_ctrl_c_ends_any_command_with_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        watch.get().tell_kept("step 400 is kept; --resume goes on from there")
        raise KeyboardInterrupt

    monkeypatch.setattr("fabula.models.verify", stop)
    result = CliRunner().invoke(cli, ["models", "verify", "minilm"])
    assert result.exit_code == 130
    assert result.output == "fabula: stopped; step 400 is kept; --resume goes on from there\n"


SCRIPT = """
import sys, time
from fabula.cli import Display, show_progress
from fabula.core.protocols import watch
display = Display()
display.quiet_s = 0.2
counting = display.count("scores")
display.tell("loading [bold]minilm")
time.sleep(0.6)
counting.start(4)
for number in range(4):
    time.sleep(0.3)
    counting.advance(1)
    print("said on stderr", number, file=sys.stderr, flush=True)
print("said on stdout", flush=True)
time.sleep(0.1)
counting.finish()
display.close()
print("rich" in sys.modules)
"""


def run_on_terminal(script: str) -> str:
    """Run a script whose stdout and stderr are a terminal; give what arrives there."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100", "PYTHONWARNINGS": "error"}
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=theirs, stderr=theirs, stdin=theirs, env=environment
    )
    os.close(theirs)
    seen = b""
    while select.select([ours], [], [], 20)[0]:
        try:
            seen += os.read(ours, 4096)
        except OSError:
            break
    os.close(ours)
    assert process.wait(20) == 0, seen
    return seen.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_has_a_live_bar_that_neither_stream_cuts_into() -> None:
    seen = run_on_terminal(SCRIPT)
    assert "loading [bold]minilm" in seen  # no markup
    assert "1/4 scores (25 %)" in seen
    lines = [line.rpartition("\x1b[2K")[2].strip() for line in seen.splitlines()]
    for number in range(4):
        assert f"said on stderr {number}" in lines
    assert "said on stdout" in lines and lines[-1] == "True"


def test_rich_is_not_imported_by_what_is_quick(tmp_path: Path) -> None:
    code = "import sys; from fabula.cli import cli; cli(['metrics', 'list'], standalone_mode=False)"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; assert 'fabula.cli._live' not in sys.modules"],
        capture_output=True,
        env=os.environ | {"FABULA_HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
