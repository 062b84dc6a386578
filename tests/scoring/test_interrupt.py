"""Ctrl-C is answered within two seconds by a line that says what is kept; a kill keeps it too."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from fabula.scoring.cache import ScoreCache
from fakes.factories import find_slowness

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of a terminal")
# A shell lets what it starts in the background ignore interrupts, and so do their children.
COMMAND = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from fabula.cli import main
main()
"""
KEPT = re.compile(
    r"fabula: stopped; (\d+) of 200 scores \(100 stories × 2 metrics\) are kept; "
    r"the same command goes on from there"
)

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "kept.sqlite"


@pytest.fixture
def start(tmp_path: Path, cache: Path, toy_environment: dict[str, str]) -> Iterator[Start]:
    """Starts a run that would take half a minute, as a group of its own, as a terminal does."""
    file = tmp_path / "stories.jsonl"
    file.write_text("".join(f'{{"id": {n}, "text": "story {n}"}}\n' for n in range(100)))
    started: list[subprocess.Popen[str]] = []

    def begin(metric: str = "slow(seconds=0.3)", *words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, "score", str(file), "-m", f"{metric},words", *words,
             "-q", "--cache", str(cache)],
            env=toy_environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.wait()
        process.stderr.close()


def count_kept(cache: Path) -> int:
    if not cache.exists():
        return 0
    with ScoreCache(cache) as store:
        return len(store)


def wait_until_kept(cache: Path, count: int) -> None:
    end = time.monotonic() + 30
    while count_kept(cache) < count:
        assert time.monotonic() < end, "nothing is kept"
        time.sleep(0.05)


def list_running(group: int) -> list[str]:
    """Processes of a group that are not just waiting to be collected."""
    states = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            states.append(path.read_text().rpartition(")"))
    fields = [(head, rest.split()) for head, _, rest in states]
    return [head for head, rest in fields if rest[2] == str(group) and rest[0] != "Z"]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_is_answered_soon_and_says_what_is_kept(
    start: Start, cache: Path, jobs: str
) -> None:
    process = start("slow(seconds=0.3)", "--jobs", jobs)
    wait_until_kept(cache, 3)
    asked = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    _, words = process.communicate(timeout=20)
    assert time.monotonic() - asked < 2 * find_slowness()
    assert process.returncode == 130
    said = KEPT.fullmatch(words.strip())
    assert said, words
    assert int(said[1]) == count_kept(cache) >= 3
    while left := list_running(process.pid):
        assert time.monotonic() - asked < 5 * find_slowness(), left


def test_ctrl_c_is_answered_where_python_is_not_asked(start: Start, cache: Path) -> None:
    process = start("slow(seconds=0.3,deaf=True)")
    wait_until_kept(cache, 1)
    asked = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    _, words = process.communicate(timeout=20)
    assert time.monotonic() - asked < 2.5 * find_slowness()
    assert process.returncode == 130 and words.startswith("fabula: stopped; ")


def test_a_second_ctrl_c_ends_it_at_once(start: Start, cache: Path) -> None:
    process = start("slow(seconds=0.3,deaf=True)")
    wait_until_kept(cache, 1)
    os.killpg(process.pid, signal.SIGINT)
    time.sleep(0.35)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(1.2) in (-signal.SIGINT, 130)


def test_a_killed_run_keeps_every_batch_that_was_read(start: Start, cache: Path) -> None:
    process = start()
    wait_until_kept(cache, 4)
    process.kill()
    process.wait()
    assert count_kept(cache) >= 4


def test_without_a_cache_the_line_says_that_nothing_is_kept(
    tmp_path: Path, toy_environment: dict[str, str]
) -> None:
    file = tmp_path / "stories.jsonl"
    file.write_text("".join(json.dumps({"id": n, "text": "a story"}) + "\n" for n in range(100)))
    began = tmp_path / "began"
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "score", str(file), "--no-cache", "-q",
         "-m", f"slow(seconds=0.2,mark={str(began)!r})"],
        env=toy_environment, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not began.exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=20)[1] == "fabula: stopped; nothing is kept\n"
    assert process.returncode == 130
