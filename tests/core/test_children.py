"""A child and its parent: neither outlives the other, and none waits for the other for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fabula.core.children import Child, ChildLost, Message, live_beside

PARENT = """
import sys, time
sys.path[:0] = {path!r}
from core.test_children import echo
from fabula.core.children import Child

if __name__ == "__main__":
    child = Child(echo, name="echo")
    child.send("say", "hello")
    assert child.receive(30)[0].value == "hello"
    print(child.pid, flush=True)
    if {is_waiting}:
        time.sleep(60)
"""


def echo(pipe):
    """Say again what one is told, until told to stop; `die` is taken at its word."""
    inbox = live_beside(pipe, set())
    while (message := inbox.get())[0] != "stop":
        if message[0] == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        pipe.send(Message("said", message[1]))


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return state != "Z"


def start_parent(tmp_path, *, is_waiting):
    script = tmp_path / "parent.py"
    script.write_text(PARENT.format(path=sys.path, is_waiting=is_waiting))
    return subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)


def test_a_child_that_dies_is_met_after_what_it_said():
    child = Child(echo, name="echo")
    child.send("say", "hello")
    assert child.receive(30) == [("said", "hello")]
    child.send("die")
    with pytest.raises(ChildLost) as lost:
        child.receive(30)
    assert lost.value.code == -signal.SIGKILL and not child.is_alive


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="asks the system who runs")
def test_a_child_ends_with_a_parent_that_is_killed(tmp_path):
    with start_parent(tmp_path, is_waiting=True) as parent:
        child = int(parent.stdout.readline())
        assert is_running(child)
        parent.kill()
    until = time.monotonic() + 10
    while is_running(child) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_running(child)


def test_a_parent_does_not_wait_for_a_child_that_nobody_ended(tmp_path):
    with start_parent(tmp_path, is_waiting=False) as parent:
        assert parent.wait(30) == 0
