"""What learned metrics cost for a story of 500 words, and what they weigh.

    python benchmarks/learned.py [ROUNDS]

Every round reads a made-up story that nobody has read, of the same number of words, so that
nothing is found in memory; figures are medians of 20 after three rounds to warm up. Features run
on one thread, models on two and on one. `reader` answers preference, criteria and aspects from one
pass, as personal readers ask it; by default `storyer` and `criteria` take weights of their own,
which are two more. The large weights are read where they are here: preference and criteria from one
pass, coherence from another. Loading is timed in a fresh process, packages included. Comments are
those of a review, composed, and written by the embedded model where it is here. Beside the clock
stands the time of the processor, all threads added up: on a busy machine the former measures the
others. Needs the weights.
"""

from __future__ import annotations

import functools
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from statistics import median

import torch

from fabula.core.errors import UserError
from fabula.core.model import Generator
from fabula.core.score import Status
from fabula.core.story import Story
from fabula.learned.comments.writer import Commenter
from fabula.models import get_asset, load_model, need
from fabula.scoring.catalogue import METRICS
from fabula.scoring.review import review_story
from fabula.text.features import feature_row

Spent = tuple[float, float]  # seconds by the clock, and of the processor
WORDS, WARM_UP, ROUNDS, WRITTEN_ROUNDS, LOAD_ROUNDS = 500, 3, 20, 2, 5
PASS = (
    "storyer(weights='reader')",
    "criteria(weights='reader')",
    "aspects",
    "aspects(confidence=True)",
)
DEFAULTS = ("storyer", "criteria", "aspects")
LARGE = {
    "preference and criteria, large": ("storyer(weights='large')", "criteria(weights='large')"),
    "coherence, large": ("coherence(weights='large')",),
}
WEIGHTS = ("story_encoder", "preference", "reader", "coherence", "order", "permissive", "ruber")
LOAD = """
import time; start = time.perf_counter()
from fabula.core.story import Story
from fabula.scoring.catalogue import METRICS
METRICS.build("storyer").score([Story("a", "She opened the door. Nobody was there.")])
print(time.perf_counter() - start)
"""
NAMES = "Anna Boris Clara Dan Edda Finn Greta Hugo".split()
PLACES = "kitchen river attic station garden market chapel harbour".split()
THINGS = "letter lantern key dog coat violin map clock".split()
ENDS = (
    "nobody said a word", "the rain had not stopped", "it was already too late",
    "she laughed for the first time in weeks", "the old clock struck nine again",
    "he would not look at her", "that was all there was to it", "the window stood open",
)  # fmt: skip


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    print(f"load of the machine {os.getloadavg()[0]:.2f}")
    show_sizes()
    stories = fresh_stories()
    torch.set_num_threads(1)
    show("features, one thread", taken(lambda one: feature_row(one.text), stories, rounds), 5)
    for threads in (2, 1):
        torch.set_num_threads(threads)
        show_models(stories, rounds, threads)
    torch.set_num_threads(2)
    show_large(stories, rounds)
    show_loading()
    show_comments(stories)
    print(f"load of the machine at the end {os.getloadavg()[0]:.2f}")


def show_models(stories: Iterator[Story], rounds: int, threads: int) -> None:
    bars = (120, 300) if threads == 2 else (None, None)
    together, apart = ([METRICS.build(spec) for spec in some] for some in (PASS, DEFAULTS))
    ways: dict[str, tuple[Callable[[Story], object], int | None]] = {
        "preference, criteria, aspects": (lambda s: [m.score([s]) for m in together], bars[0]),
        "the same by default weights": (lambda s: [m.score([s]) for m in apart], None),
        "sentence order": (lambda s: METRICS.build("rovist_c").score([s]), bars[1]),
        "coherence": (lambda s: METRICS.build("coherence").score([s]), None),
        "criteria, permissive": (lambda s: METRICS.build("criteria").score([s]), None),
    }
    for name, (way, bar) in ways.items():
        show(f"{name}, {threads} threads", taken(way, stories, rounds), bar)


def show_large(stories: Iterator[Story], rounds: int) -> None:
    for name, specs in LARGE.items():
        together = [METRICS.build(spec) for spec in specs]
        scores = [score for one in together for score in one.score([next(stories)])]
        if lacks := [one.note for one in scores if one.status is Status.MISSING_MODEL]:
            print(f"  {name}: not measured ({lacks[0]})")
            continue
        way = functools.partial(lambda metrics, s: [m.score([s]) for m in metrics], together)
        show(f"{name}, 2 threads", taken(way, stories, rounds), 3000)


def show_sizes() -> None:
    sizes = {name: get_asset(name).size or 0 for name in WEIGHTS}
    each = ", ".join(f"{name} {size / 1e6:.1f}" for name, size in sizes.items())
    print(f"weights {sum(sizes.values()) / 1e6:.1f} MB (bar 90): {each}")


def show_loading() -> None:
    found = [
        float(subprocess.run([sys.executable, "-c", LOAD], capture_output=True, check=True).stdout)
        for _ in range(LOAD_ROUNDS)
    ]
    print(f"  {'loading and a first score, fresh process':45}{median(found):8.2f} s (bar 3)")


def show_comments(stories: Iterator[Story]) -> None:
    def composed(story: Story) -> None:
        for _ in review_story(story):
            pass

    show("scores and composed comments, 2 threads", taken(composed, stories, 5), None)
    try:
        writer = Commenter(need(load_model("embedded('smollm2')"), Generator))
    except UserError as error:
        print(f"  comments written: not measured ({error})")
        return
    found = []
    for _ in range(WRITTEN_ROUNDS):
        reviews = review_story(next(stories), commenter=writer)
        last = next(reviews)
        start = time.perf_counter()
        for review in reviews:
            last = review
        found.append(time.perf_counter() - start)
    told = sum(one.by == "written" for one in last.aspects)
    print(f"  {'comments written, 2 threads':45}{median(found):8.1f} s (bar 20), {told} written")


def taken(way: Callable[[Story], object], stories: Iterator[Story], rounds: int) -> list[Spent]:
    """What every round after the first few took."""
    found = []
    for _ in range(WARM_UP + rounds):
        story = next(stories)
        start = time.perf_counter(), time.process_time()
        way(story)
        found.append((time.perf_counter() - start[0], time.process_time() - start[1]))
    return found[WARM_UP:]


def show(name: str, found: list[Spent], bar: int | None) -> None:
    clock, processor = ([1000 * one[side] for one in found] for side in (0, 1))
    words = f" (bar {bar})" if bar else ""
    rest = f"best {min(clock):.1f}, processor {median(processor):.1f}"
    print(f"  {name:45}{median(clock):8.1f} ms{words}, {rest}")


def fresh_stories() -> Iterator[Story]:
    """Give stories of 500 words, each another."""
    chance, number = random.Random(0), 0
    while True:
        said: list[str] = []
        while len(said) < WORDS:
            name, other = chance.sample(NAMES, 2)
            place, thing = chance.choice(PLACES), chance.choice(THINGS)
            end = chance.choice(ENDS)
            said += f"{name} carried the {thing} to the {place}, but {end}.".split()
            said += f'"Is this yours?" asked {other}, and {chance.choice(ENDS)}.'.split()
        number += 1
        yield Story(str(number), " ".join(said[:WORDS]))


if __name__ == "__main__":
    main()
