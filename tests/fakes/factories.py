"""Small builders that many tests share."""

from __future__ import annotations

import math
import random
import signal
import string
import time
from collections.abc import Iterator
from contextlib import contextmanager

from fabula.core.metric import Metric
from fabula.core.score import Score
from fabula.core.story import Story

# Seconds that `find_slowness` counts for on a usual processor (Python 3.11, 2.5 GHz).
_USUAL_LOOP_S, _USUAL_SPREAD = 0.012, 1.25
VOCABULARY = (
    "the of and to a in that it was he for on are with they be at one have this from or had by "
    "hot but some what there we can out other were all your when up use word how said an each "
    "she which do their time if will way about many then them would write like so these her long "
    "make thing see him two has look more day could go come did my sound no most number who over "
    "know water than call first people may down side been now find any new work part take get "
    "place made live where after back little only round man year came show every good me give our "
    "dragon forest winter letter candle running stories happily children mountains whispered"
).split()


def make_story(
    text: str = "Once upon a time.",
    *references: str,
    id: str = "s",
    system: str | None = None,
    item: str | None = None,
) -> Story:
    """Make a story of a text and the references it is compared with."""
    return Story(id, text, prompt="A prompt.", references=references, system=system, item=item)


def make_score(story: str = "s", scorer: str = "toy", value: float = 1.0, **rest: object) -> Score:
    """Make a score of one scorer."""
    return Score(story, scorer, value=value, **rest)  # type: ignore[arg-type]


def value_of(metric: Metric, text: str, *references: str) -> float:
    """Value of a metric without aspects for one text."""
    [score] = metric.score([make_story(text, *references)])
    return score.value


def values_of(metric: Metric, text: str, *references: str) -> tuple[float, ...]:
    """Values of a metric for one text, in the order of its aspects."""
    return tuple(score.value for score in metric.score([make_story(text, *references)]))


def usual_text(length: int, seed: int = 0) -> str:
    """Make a text of so many characters with words and sentences as common as those of prose."""
    rng = random.Random(seed)
    weights = [1 / rank for rank in range(1, len(VOCABULARY) + 1)]
    words = rng.choices(VOCABULARY, weights, k=length // 2)
    ends = [word + (". " if rng.random() < 0.08 else " ") for word in words]
    return "".join(ends)[:length]


def many_kinds_text(length: int, seed: int = 0) -> str:
    """Make a text of so many characters in which hardly any short word comes twice."""
    rng = random.Random(seed)
    words = ("".join(rng.choices(string.ascii_lowercase, k=4)) for _ in range(length // 4))
    return " ".join(words)[:length]


def same(left: float, right: float) -> bool:
    """Whether two values are equal, or both missing."""
    return left == right or (math.isnan(left) and math.isnan(right))


def find_slowness() -> float:
    """Give how many times slower this processor is just now than a usual one; at least 1.

    Where others share its cores, a second of processor time may be worth a fifth of one, and now
    and then less than is found: of one that is slow half as much again is said.
    """
    spent = []
    for _ in range(3):
        began, total = time.process_time(), 0
        for number in range(200_000):
            total += number
        spent.append(time.process_time() - began)
    found = max(spent) / _USUAL_LOOP_S
    return 1.0 if found < _USUAL_SPREAD else 1.5 * found


@contextmanager
def within(limit_s: float) -> Iterator[None]:
    """Fail what takes more seconds of processor time, breaking it off so that nothing hangs.

    The limit is a usual processor's; one that is found slower when it is over gets as much more.
    """
    is_prolonged = False

    def stop(number: int, frame: object) -> None:
        nonlocal is_prolonged
        more_s = 0.0 if is_prolonged else limit_s * (find_slowness() - 1)
        if more_s <= 0:
            raise AssertionError(f"took more than {limit_s} s of processor time")
        is_prolonged = True
        signal.setitimer(signal.ITIMER_PROF, more_s)

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def forget_assets() -> None:
    """Let metrics look for their assets anew, as after a change of `FABULA_HOME`."""
    from fabula.learned import rovist_nr
    from fabula.metrics import meteor
    from fabula.models import _load

    for cached in (meteor._wordnet, meteor._matcher, rovist_nr._nltk):
        cached.cache_clear()
    _load._loaded.clear()
