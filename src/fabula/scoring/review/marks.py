"""What human stories have: marks that values of a review are held against.

All were measured with the weights that Fabula ships (benchmarks/review.py); other weights are not
held against them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fabula.learned.writers import Ends

# Of the steps of human stories these shares are given at most these probabilities, by whether the
# first and the second sentence hold speech: dialogue goes on less evenly than what is told.
# Measured with our weights on 300 stories of WritingPrompts and StoryER, 6,121 steps
# (benchmarks/review.py --steps).
STEP_SHARES = (0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0)
STEP_CHANCES = {
    (False, False): (0.0, 0.005, 0.015, 0.029, 0.064, 0.139, 0.235, 0.415, 0.613, 1.0),
    (False, True): (0.017, 0.02, 0.041, 0.063, 0.102, 0.252, 0.32, 0.492, 0.658, 1.0),
    (True, False): (0.007, 0.027, 0.044, 0.089, 0.102, 0.164, 0.245, 0.36, 0.502, 1.0),
    (True, True): (0.038, 0.074, 0.096, 0.105, 0.153, 0.247, 0.312, 0.438, 0.562, 1.0),
}


@dataclass(frozen=True)
class Peers:
    """Where other texts stand: eight of ten that people wrote (`usual`), the middles of others."""

    usual: Ends
    marks: Mapping[str, float]


@dataclass(frozen=True)
class Gauge:
    """A value without a scale of its own: what it says, and where others stand.

    `long` and `short` are others of such lengths; `peers` those that the value is held against,
    None where nothing is known of others by these weights.
    """

    name: str
    says: str
    ends: Ends
    long: Peers
    short: Peers
    value: float = math.nan
    peers: Peers | None = None


SHORT_STORY = 100  # words
_SENTENCES, _WORDS = "sentences shuffled", "words shuffled"
_COHERENCE = ("coherence", "whether the sentences belong together, as people rate it")
_PROMPTS = Peers((0.22, 0.39), {"another story’s prompt": 0.24})
# By part of a review and the spec that was asked. Measured on 120 stories of WritingPrompts of up
# to 500 words, and on 120 short ones of ROCStories (benchmarks/review.py --coherence 120); for
# prompts on 60 of HANNA's human stories.
GAUGES: tuple[Mapping[str, Gauge], ...] = (
    {
        "coherence": Gauge(
            *_COHERENCE,
            (-3.5, 3.5),
            Peers((-0.7, 1.6), {_SENTENCES: 0.0, _WORDS: -2.85}),
            Peers((0.55, 2.9), {_SENTENCES: 1.3, _WORDS: -2.2}),
        ),
        "coherence(weights='large')": Gauge(
            *_COHERENCE,
            (-3.5, 3.5),
            Peers((-0.15, 1.6), {_SENTENCES: 0.35, _WORDS: -1.2}),
            Peers((-0.35, 1.2), {_SENTENCES: 0.1, _WORDS: -2.05}),
        ),
        "coherence(weights='both')": Gauge(
            *_COHERENCE,
            (-3.5, 3.5),
            Peers((-0.25, 1.5), {_SENTENCES: 0.1, _WORDS: -2.05}),
            Peers((0.25, 1.9), {_SENTENCES: 0.65, _WORDS: -2.05}),
        ),
    },
    {
        "rovist_c": Gauge(
            "sentence order",
            "how likely each sentence is to follow the one before it, on average",
            (0.0, 1.0),
            Peers((0.52, 0.67), {_SENTENCES: 0.55, _WORDS: 0.51}),
            Peers((0.7, 0.99), {_SENTENCES: 0.71, _WORDS: 0.71}),
        )
    },
    {
        "supert": Gauge(
            "prompt",
            "how close the words of the story are to those of the prompt",
            (0.0, 0.6),
            _PROMPTS,
            _PROMPTS,
        )
    },
)
# Below lie at most 1 in 40 human stories, and nearly all with the words of their sentences in a
# chance order (benchmarks/review.py --spoiled 120); then the same of short ones. That of both lies
# at about 1 in 100: at 1 in 40 (-0.3, 0.1) it held a good story of our own for spoiled.
LEAST_COHERENCE: Mapping[str, tuple[float, float]] = {
    "coherence": (-1.0, 0.05),
    "coherence(weights='large')": (-0.3, -0.8),
    "coherence(weights='both')": (-0.6, -0.2),
}
