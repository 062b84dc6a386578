"""Kills at any moment: the scores of a run that was killed again and again are the same."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

KILLS = 50
STORIES = 400
METRICS = "slow(seconds=0.004),spread,words,mattr,rouge(n=2),bleu,chrf,repetition"
COMMAND = [sys.executable, "-c", "from fabula.cli import main; main()", "score"]
WORDS = "once upon a time there was an old lighthouse keeper who could not sleep at night".split()

Start = Callable[[str, str], "subprocess.Popen[bytes]"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Made-up stories by four systems, some without a reference or a text."""
    chance, path = random.Random(4), tmp_path / "stories.jsonl"
    with path.open("w") as out:
        for number in range(STORIES):
            story = {
                "id": number,
                "text": "" if number % 97 == 5 else " ".join(chance.choices(WORDS, k=150)),
                "reference": None if number % 13 == 2 else " ".join(chance.choices(WORDS, k=150)),
                "system": "abcd"[number % 4],
            }
            out.write(json.dumps(story) + "\n")
    return path


@pytest.fixture
def start(file: Path, tmp_path: Path, toy_environment: dict[str, str]) -> Iterator[Start]:
    """Starts the command on those stories, with the home and the folder named."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(home: str, folder: str) -> subprocess.Popen[bytes]:
        environment = toy_environment | {"FABULA_HOME": str(tmp_path / home)}
        words = [str(file), "-m", METRICS, "-o", str(tmp_path / folder), "--quiet", "-f", "json"]
        process = subprocess.Popen(
            [*COMMAND, *words],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.wait()
        process.stderr.close()


def finish(process: subprocess.Popen[bytes]) -> None:
    _, words = process.communicate(timeout=120)
    assert (process.returncode, words) == (0, b"")


def kill_after(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Kill a process after that time; say whether it was still at work."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return True
    finish(process)
    return False


def partials(folder: Path) -> list[Path]:
    return list(folder.glob(".partial-*")) if folder.exists() else []


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_run_killed_fifty_times_ends_with_the_same_bytes(start: Start, tmp_path: Path) -> None:
    began = time.monotonic()
    finish(start("undisturbed", "whole"))
    whole_s = time.monotonic() - began
    chance, disturbed = random.Random(50), tmp_path / "disturbed"
    attempts = landed = halfway = 0
    while landed < KILLS and attempts < 2 * KILLS:
        # Every ten times the cache is a new one, lest the later runs find everything done.
        home = f"home{attempts // 10}"
        attempts += 1
        process = start(home, "disturbed")
        landed += kill_after(process, chance.uniform(0.05, whole_s / 3))
        left = partials(disturbed)
        halfway += any(f"-{process.pid}-" in path.name for path in left)
        assert len(left) <= 1
    finish(start(home, "disturbed"))
    print(f"{landed} kills in {attempts} runs, {halfway} while scores were being written")
    assert landed == KILLS and halfway >= 10
    assert names(disturbed) == names(tmp_path / "whole")
    for name in ("scores.jsonl", "scores.parquet"):
        assert (disturbed / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_two_runs_at_once_on_one_cache_give_the_same_bytes(start: Start, tmp_path: Path) -> None:
    finish(start("alone", "whole"))
    both = [start("shared", "one"), start("shared", "other")]
    for process in both:
        finish(process)
    whole = (tmp_path / "whole" / "scores.jsonl").read_bytes()
    for folder in ("one", "other"):
        assert (tmp_path / folder / "scores.jsonl").read_bytes() == whole
        assert names(tmp_path / folder) == names(tmp_path / "whole")


def test_two_runs_at_once_in_one_folder_leave_one_whole_run(start: Start, tmp_path: Path) -> None:
    both = [start("shared", "same"), start("shared", "same")]
    said = [process.communicate(timeout=120)[1] for process in both]
    codes = [process.returncode for process in both]
    # The second is refused, unless it began when the first was over.
    assert sorted(codes) in ([0, 0], [0, 2]), said
    assert all(
        (code == 2) == (b"another run" in words) for code, words in zip(codes, said, strict=True)
    )
    finish(start("alone", "whole"))
    whole = (tmp_path / "whole" / "scores.jsonl").read_bytes()
    assert (tmp_path / "same" / "scores.jsonl").read_bytes() == whole
    assert names(tmp_path / "same") == names(tmp_path / "whole")
