from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.core.card import Card
from fabula.core.errors import UserError
from fabula.core.metric import Metric, StoryMetric
from fabula.core.story import Story
from fabula.scoring.engine import LocalReader, Part, Task, TaskReader
from fabula.scoring.evaluate import evaluate
from fabula.scoring.survey import Batches
from fabula.scoring.workers import WorkerPool

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
    batches = {"spread": Batches(toy("spread").gather(stories))}
    parts = list(TaskReader(metrics, batches).read(Task(7, stories, [[0, 1], [], [1]])))
    read = [(part.task, part.metric, part.places, values(part)) for part in parts]
    assert read == [(7, 0, [0], [1 / 3]), (7, 0, [1], [1.0]), (7, 2, [1], [1.0])]


def values(part: Part) -> list[float]:
    return [reading.values[0] for reading in part.readings]


def test_a_metric_that_reads_fast_is_given_more_stories_at_once(toy: Toy) -> None:
    stories = [Story(str(number), "text") for number in range(32)]
    reading = TaskReader([toy("counted")], {})
    for sizes in ([1, 2, 4, 8, 16, 1], [32]):
        parts = reading.read(Task(0, stories, [list(range(32))]))
        assert [len(part.places) for part in parts] == sizes


def test_one_that_reads_slowly_gives_every_story_at_once(toy: Toy) -> None:
    stories = [Story(str(number), "text") for number in range(3)]
    parts = TaskReader([toy("slow", seconds=0.06)], {}).read(Task(0, stories, [[0, 1, 2]]))
    assert [part.places for part in parts] == [[0], [1], [2]]


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_part_comes_once_whoever_reads_it(toy: Toy, jobs: int) -> None:
    reading = TaskReader([toy("slow")], {})
    lengths = {number: [9, 1, 5, 3, 7][number] for number in range(5)}
    found = {}
    with LocalReader(reading) if jobs == 1 else WorkerPool(reading, jobs) as reader:
        for number, length in lengths.items():
            reader.submit(Task(number, [Story("x", "a" * length)], [[0]]))
            if jobs == 1:
                found[number] = values(reader.next_part())[0]
        while len(found) < len(lengths):
            part = reader.next_part()
            found[part.task] = values(part)[0]
    assert found == lengths


class Threads(StoryMetric):
    """Threads that its process may use."""

    card = Card(title="", family="baseline", direction="descriptive", paper="", formula="")

    def value(self, story: Story) -> float:
        return float(os.environ["FABULA_THREADS"])


@pytest.mark.parametrize(("asked", "threads"), [("", "4"), ("1", "1")])
def test_workers_share_the_cores_unless_the_user_says_how(
    monkeypatch: pytest.MonkeyPatch, asked: str, threads: str
) -> None:
    monkeypatch.setenv("FABULA_THREADS", asked)
    monkeypatch.setattr("fabula.models._runtime.core_count", lambda: 8)
    with WorkerPool(TaskReader([Threads()], {}), 2) as pool:
        pool.submit(Task(0, [Story("x", "a")], [[0]]))
        assert values(pool.next_part()) == [float(threads)]
    assert os.environ["FABULA_THREADS"] == asked


def test_a_worker_that_dies_is_a_line_that_says_at_what_and_what_to_do(toy: Toy) -> None:
    stories = [Story(str(number), f"text {number}") for number in range(200)]
    with pytest.raises(UserError, match="fewer jobs") as caught:
        evaluate([*stories, Story("culprit", "a bug")], toy("buggy", how="die"), jobs=2)
    assert "ended with code 9 while it was at buggy(how='die'), story " in str(caught.value)


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
