from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.core.errors import UserError
from fabula.core.metric import Metric
from fabula.core.story import Story
from fabula.scoring import engine
from fabula.scoring.engine import Task, Workers, read_task
from fabula.scoring.evaluate import evaluate

Toy = Callable[..., Metric]
# A shell lets what it starts in the background ignore interrupts, and so do their children.
SCRIPT = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from fabula import Story, evaluate
from toys.slow import Slow
if __name__ == "__main__":
    evaluate([Story(str(n), str(n)) for n in range(4000)], Slow(seconds=0.05), jobs=2)
"""


def test_a_task_reads_only_what_is_wanted(toy: Toy) -> None:
    metrics = [toy("counted"), toy("counted", plus=1), toy("spread")]
    stories = [Story("1", "a"), Story("2", "abc")]
    gathered = {"spread": toy("spread").gather(stories)}
    found = read_task(metrics, gathered, Task(stories, [[0, 1], [], [1]]))
    assert [[reading.values for reading in some] for some in found.readings] == [
        [(1 / 3,), (1.0,)],
        [],
        [(1.0,)],
    ]


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_come_in_the_order_of_the_tasks(toy: Toy, jobs: int) -> None:
    lengths = [9, 1, 5, 3, 7]
    with Workers([toy("slow")], {}, jobs) as workers:
        for length in lengths:
            workers.submit(Task([Story("x", "a" * length)], [[0]]))
        found = [workers.result().readings[0][0].values[0] for _ in lengths]
    assert found == lengths


def test_a_task_that_wants_nothing_needs_no_worker(toy: Toy) -> None:
    with Workers([toy("slow")], {}, 2) as workers:
        workers.submit(Task([Story("x", "a")], [[]]))
        assert workers.result().readings == [[]]


@pytest.mark.parametrize(("asked", "threads"), [("", "4"), ("1", "1")])
def test_workers_share_the_cores_unless_the_user_says_how(
    monkeypatch: pytest.MonkeyPatch, asked: str, threads: str
) -> None:
    monkeypatch.setenv("FABULA_THREADS", asked)
    monkeypatch.setattr("fabula.models._runtime.core_count", lambda: 8)
    with engine._start_pool([], {}, 2) as pool:
        assert pool.submit(os.getenv, "FABULA_THREADS").result() == threads
    assert os.environ["FABULA_THREADS"] == asked


def test_a_worker_that_dies_is_a_line_that_says_what_to_do(toy: Toy) -> None:
    stories = [Story(str(number), f"text {number}") for number in range(200)]
    with pytest.raises(UserError, match="fewer jobs"):
        evaluate([*stories, Story("culprit", "a bug")], toy("buggy", how="die"), jobs=2)


def children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def runs(pid: int) -> bool:
    """Whether a process is there and is not just waiting to be collected."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_until(holds: Callable[[], bool], within_s: float) -> bool:
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.05)
    return holds()


@pytest.fixture
def parent(tmp_path: Path, toy_environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """A script that scores with two workers, which have begun; ended at the end."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    with subprocess.Popen(
        [sys.executable, str(script)],
        env=toy_environment,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            # Two workers and multiprocessing's own tracker of resources.
            assert wait_until(lambda: len(children(process.pid)) >= 3, 20)
            time.sleep(0.5)
            yield process
        finally:
            process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_workers_end_when_their_parent_is_killed(parent: subprocess.Popen[bytes]) -> None:
    workers = children(parent.pid)
    assert all(map(runs, workers))
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    assert wait_until(lambda: not any(map(runs, workers)), 5)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_workers_end_when_their_parent_is_interrupted(parent: subprocess.Popen[bytes]) -> None:
    workers = children(parent.pid)
    os.kill(parent.pid, signal.SIGINT)
    assert wait_until(lambda: parent.poll() is not None, 20)
    assert wait_until(lambda: not any(map(runs, workers)), 5)
