from __future__ import annotations

import io
import sys
import time

import pytest

from fabula.cli._output import StderrProgress, progress_line


@pytest.mark.parametrize(
    ("done", "total", "elapsed_s", "line"),
    [
        (1200, 4000, 3.0, "1,200/4,000 scores (30 %), 400/s, 0:07 left"),
        (0, 4000, 3.0, "0/4,000 scores (0 %), 0/s, ? left"),
        (0, 4000, 0.0, "0/4,000 scores (0 %), 0/s, ? left"),
        (4000, 4000, 10.0, "4,000/4,000 scores (100 %), 400/s, 0:00 left"),
        (1, 3601, 1.0, "1/3,601 scores (0 %), 1/s, 1:00:00 left"),
        (1, 61, 1.0, "1/61 scores (2 %), 1/s, 1:00 left"),
        (10, 7209, 10.0, "10/7,209 scores (0 %), 1/s, 1:59:59 left"),
        (0, 0, 1.0, "0/0 scores (100 %), 0/s, ? left"),
    ],
)
def test_the_line_says_how_far_how_fast_and_how_long(
    done: int, total: int, elapsed_s: float, line: str
) -> None:
    assert progress_line(done, total, elapsed_s, "scores") == line


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "monotonic", made)
    return made


class Stream(io.StringIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


def shown(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, *, terminal: bool, steps: int, step_s: float
) -> str:
    """What is written of a run of that many steps, which take that long."""
    stream = Stream(terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    progress = StderrProgress()
    progress.start(steps)
    for _ in range(steps):
        clock.now += step_s
        progress.advance(1)
    progress.finish()
    return stream.getvalue()


@pytest.mark.parametrize("terminal", [True, False])
def test_nothing_is_shown_of_what_is_done_in_two_seconds(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, terminal: bool
) -> None:
    assert shown(monkeypatch, clock, terminal=terminal, steps=19, step_s=0.1) == ""


def test_a_terminal_has_one_line_that_is_written_over(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    text = shown(monkeypatch, clock, terminal=True, steps=100, step_s=0.1)
    assert text.count("\n") == 1 and text.endswith("\n")
    frames = text.split("\r")[1:]
    assert "21/100" in frames[0] or "20/100" in frames[0]
    assert frames[-1].startswith("100/100 scores (100 %)")
    # Redrawn at most five times a second: eight seconds are left after the first two.
    assert 30 <= len(frames) <= 42


def test_elsewhere_there_is_a_line_every_ten_seconds(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    lines = shown(monkeypatch, clock, terminal=False, steps=35, step_s=1.0).splitlines()
    assert [line.split()[0] for line in lines] == ["10/35", "20/35", "30/35", "35/35"]
    assert not any("\r" in line or "\x1b" in line for line in lines)
