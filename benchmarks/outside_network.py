"""Milliseconds a story that learned metrics spend outside their networks, and on what.

    python benchmarks/outside_network.py [FAMILY ...] [--stories 64]

On a GPU a network is quick, and what is left is done by one core: this says how much that is. On
one core and one thread, made-up stories of about 250 words, families as in throughput.py. The
networks' time is that of their calls. Below stand the functions on text that are called from
elsewhere, and the tokenisers, by a second pass under a profiler, which makes them look slower.
"""

from __future__ import annotations

import argparse
import cProfile
import multiprocessing
import os
import pstats
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from large_run import make_stories
from throughput import FAMILIES, repeat_stories

if TYPE_CHECKING:
    from fabula import Story
    from fabula.scoring.engine import Engine

AT_ONCE = 32
SHOWN = 5


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("families", nargs="*", default=["criteria", "learned"])
    parser.add_argument("--stories", type=int, default=64)
    given = parser.parse_args()
    os.environ |= {"FABULA_THREADS": "1", "FABULA_DEVICE": "cpu", "FABULA_VECTORS_MB": "0"}
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    print(f"load {os.getloadavg()[0]:.1f}; ms a story")
    for family in given.families:  # in a process of its own: readers remember what they read
        work = (family, max(1, given.stories // AT_ONCE))
        child = multiprocessing.get_context("spawn").Process(target=show, args=work)
        child.start()
        child.join()


def show(family: str, chunks: int) -> None:
    """Print what a family takes, and what of it lies outside its networks."""
    engine, stories = open_family(family)
    count = chunks * AT_ONCE
    clock = watch_networks()
    began = time.process_time()
    score(engine, stories, chunks)
    whole, inside = time.process_time() - began, clock["network"]
    outside = (whole - inside) * 1000 / count
    print(f"{family:16}{whole * 1000 / count:8.1f}, networks {inside * 1000 / count:.1f}, ", end="")
    print(f"outside {outside:.1f}", flush=True)
    profile = cProfile.Profile()
    profile.runcall(score, engine, stories, chunks)
    for name, (seconds, calls) in list_functions(profile)[:SHOWN]:
        print(f"    {name:36}{seconds * 1000 / count:8.2f}, {calls / count:.1f} calls a story")


def open_family(family: str) -> tuple[Engine, Iterator[Story]]:
    """Give an engine that has scored a chunk already, and the stories after it."""
    from fabula.scoring.catalogue import choose_metrics
    from fabula.scoring.engine import Engine
    from fabula.scoring.survey import survey

    metrics, pool = choose_metrics(FAMILIES[family]), make_stories(2048)
    stories = repeat_stories(pool)
    engine = Engine(metrics, survey(pool, metrics), at_once=AT_ONCE, check=False)
    score(engine, stories, 1)
    return engine, stories


def score(engine: Engine, stories: Iterator[Story], chunks: int) -> None:
    for _ in range(chunks):
        for _scored in engine.run(list(islice(stories, AT_ONCE))):
            pass


def watch_networks() -> dict[str, float]:
    """Count the time of the calls of our encoders from now on."""
    from fabula.models.networks.bert import Bert

    clock, call = {"network": 0.0}, Bert.__call__

    def timed(self: Bert, *given: Any, **named: Any) -> Any:
        began = time.process_time()
        try:
            return call(self, *given, **named)
        finally:
            clock["network"] += time.process_time() - began

    Bert.__call__ = timed  # type: ignore[method-assign]
    return clock


def list_functions(profile: cProfile.Profile) -> list[tuple[str, tuple[float, int]]]:
    """Give functions on text by the time of calls from outside that room, the most first."""
    seconds, calls = Counter[str](), Counter[str]()
    stats: Any = pstats.Stats(profile)
    for (file, _, name), (*_, callers) in stats.stats.items():
        if not (is_text(file) or "tokenizers.Tokenizer" in name):
            continue
        where = file.rsplit("/", 1)[-1]
        for (caller, _, _), (times, _, _, cumulated) in callers.items():
            if not is_text(caller) and caller != "~":  # what sum() calls is counted with its caller
                label = f"{name} ({where})" if is_text(file) else "encode (tokenizers)"
                seconds[label] += cumulated
                calls[label] += times
    return [(name, (took, calls[name])) for name, took in seconds.most_common()]


def is_text(file: str) -> bool:
    return "/fabula/text/" in file


if __name__ == "__main__":
    main()
