"""`fabula worker`: let the studio's machines write."""

from __future__ import annotations

import os
import sys
import threading

import click

from fabula.cli import Display
from fabula.cli._options import BATCH, TIMEOUT, database_option, need_web


@click.command("worker")
@database_option()
@click.option(
    "-m",
    "--machine",
    "machines",
    multiple=True,
    metavar="NAME",
    help="Run this machine, not all; may be repeated.",
)
@BATCH
@TIMEOUT
@click.option("--tied", is_flag=True, help="End when stdin does: for programs that start a worker.")
def command(
    database: str | None, machines: tuple[str, ...], batch: int, timeout_s: float, tied: bool
) -> None:
    """Let the studio's machines write, until Ctrl-C or SIGTERM.

    Loads the co-author of every machine on offer, each in a process of its own, and writes what
    authors ask for. Any number of workers may share a database. One that is stopped finishes
    within ten seconds or gives back; of one that is killed, others take over.
    """
    import signal

    need_web()
    from fabula.studio.author_child import start_log
    from fabula.studio.machine_runner import Pace
    from fabula.studio.worker import run_worker, stop_at_signals

    # The command line ends a process soon after Ctrl-C; a worker finishes what it has.
    signal.set_wakeup_fd(-1)
    start_log()
    if Display.current:
        # The log says what goes on.
        Display.current.silent = True
    stop = stop_at_signals()
    if tied:
        threading.Thread(target=_stop_with_stdin, args=(stop,), daemon=True).start()
    run_worker(
        database,
        machines=machines or None,
        most=batch,
        pace=Pace(timeout_s=timeout_s),
        stop=stop,
    )


def _stop_with_stdin(stop: threading.Event) -> None:
    # Past Python's buffers, whose lock a thread that waits would keep beyond the end.
    while os.read(sys.stdin.fileno(), 1024):
        pass
    stop.set()
