"""What topics say of stories: which worlds they belong to, and which follows which."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fabula.core.errors import SettingError
from fabula.learned.topics.corpus import Corpus
from fabula.learned.topics.finding import TopicSet
from fabula.learned.topics.lda import Array
from fabula.learned.topics.passages import CHALLENGE, Passage
from fabula.meta.resampling import FEWEST_UNITS, Estimate, count_blocks, estimate, number_units

# Added to a topic's share, so that nothing is divided by 0 (STORIUM's code).
_LEAST = 5e-6
LEAST_SHARE = 0.01
TARGETS = 3
# Of more, each is too small to compare: an item or a prompt is no world.
MOST_WORLDS = 100


@dataclass(frozen=True)
class WorldTopic:
    """A topic in a world: its share of the world's passages, and how many times that of all.

    The interval of the importance is by drawing stories again; fewer than five give none.
    """

    world: str
    topic: int
    passages: int
    share: float
    importance: Estimate


@dataclass(frozen=True)
class Transition:
    """One of the topics that most often follow a topic: how often, of how many times."""

    source: int
    target: int
    count: int
    share: float


def weigh_worlds(
    passages: Sequence[Passage],
    assigned: Array,
    *,
    left_out: Collection[int] = (),
    resamples: int = 1000,
    alpha: float = 0.05,
    seed: int = 0,
) -> list[WorldTopic]:
    """Give the topics of each world, the most important first, worlds by name.

    Importance is the topic's share in the world divided by its share in all; topics that have
    less than 1 % of all passages are left out, as are those named.
    """
    by_story, of_story = _count_topics(passages, assigned)  # (stories, topics), (stories,)
    worlds = {name: np.flatnonzero(of_story == name) for name in sorted({*of_story.tolist()})}
    frequent = np.flatnonzero(by_story.sum(axis=0) >= LEAST_SHARE * len(passages)).tolist()
    chosen = [topic for topic in frequent if topic not in left_out]
    stories = list(worlds.values())
    (figures,) = _weigh(np.ones((1, len(by_story))), by_story, stories)  # (worlds, topics)
    blocks = count_blocks(len(by_story), resamples, seed)
    draws = np.concatenate([_weigh(counts, by_story, stories) for counts in blocks])
    found = []
    for number, (world, members) in enumerate(worlds.items()):
        sizes = by_story[members].sum(axis=0)
        # Of too few stories an interval would say nothing of others.
        drawn = draws[:, number] if len(members) >= FEWEST_UNITS else draws[:0, number]
        figure = partial(estimate, n=len(members), alpha=alpha)
        rows = [
            WorldTopic(world, topic, int(sizes[topic]), float(sizes[topic] / sizes.sum()),
                       figure(float(figures[number, topic]), drawn[:, topic]))
            for topic in chosen
        ]  # fmt: skip
        found += sorted(rows, key=lambda row: (-row.importance.value, row.topic))
    return found


def _count_topics(passages: Sequence[Passage], assigned: Array) -> tuple[Array, Array]:
    """Count topics by story, and give the world of each story."""
    units = number_units([passage.story for passage in passages])
    counts = np.zeros((int(units.max(initial=-1)) + 1, int(assigned.max(initial=-1)) + 1))
    np.add.at(counts, (units, assigned), 1.0)
    worlds = {passage.story: passage.world for passage in passages}
    return counts, np.array(list(worlds.values()))


def _weigh(counts: Array, by_story: Array, worlds: Sequence[Array]) -> Array:
    """Give importance where stories count so often, (draws, stories): (draws, worlds, topics)."""
    everywhere = counts @ by_story
    here = np.stack([counts[:, members] @ by_story[members] for members in worlds], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = everywhere / everywhere.sum(axis=1, keepdims=True)
        own = here / here.sum(axis=2, keepdims=True)  # NaN where a draw holds no such story
        weighed: Array = own / (shares[:, None] + _LEAST)
    return weighed


def count_transitions(
    passages: Sequence[Passage],
    assigned: Array,
    topics: int,
    *,
    left_out: Collection[int] = (),
    world: str | None = None,
) -> Array:
    """Count which topic follows which in one role's passages of a story: (source, target).

    Passages whose topic is left out are as if they were not there; challenges never follow. With
    a world, its stories alone are counted.
    """
    counts = np.zeros((topics, topics), dtype=np.int64)
    last: dict[tuple[str, str], int] = {}
    for passage, topic in zip(passages, assigned.tolist(), strict=True):
        if passage.role == CHALLENGE or topic in left_out:
            continue
        if world is not None and passage.world != world:
            continue
        speaker = passage.story, passage.role
        if speaker in last:
            counts[last[speaker], topic] += 1
        last[speaker] = topic
    return counts


def normalise_transitions(counts: Array) -> Array:
    """Give the share of each target among what follows a source; NaN where nothing does."""
    sizes = counts.sum(axis=1, keepdims=True)
    shares: Array = counts / np.where(sizes > 0, sizes, np.nan)
    return shares


def list_targets(counts: Array, most: int = TARGETS) -> list[Transition]:
    """Give the topics that most often follow each, the topic itself apart; those never seen not."""
    shares = normalise_transitions(counts)
    listed = []
    for source, row in enumerate(counts):
        others = [target for target in np.argsort(-row, kind="stable") if target != source]
        listed += [
            Transition(source, int(target), int(row[target]), float(shares[source, target]))
            for target in others[:most]
            if row[target]
        ]
    return listed


@dataclass(frozen=True)
class TopicAnalysis:
    """All that is said of topics: how good those of each method are, and what the first's tell.

    `transitions` are counts, (source, target), over all worlds; `by_world` those of each.
    """

    corpus: Corpus
    sets: Sequence[TopicSet]
    worlds: Sequence[WorldTopic]
    transitions: Array
    by_world: Mapping[str, Array]
    left_out: Collection[int] = ()

    @property
    def shown(self) -> TopicSet:
        """The topics that are shown, those of the first method."""
        return self.sets[0]


def check_left_out(left_out: Collection[int], topics: int) -> None:
    """Refuse topics to be left out, counted from 0, that there are not."""
    if unknown := [topic + 1 for topic in left_out if not 0 <= topic < topics]:
        raise SettingError(f"there is no topic {unknown[0]}", f"name topics from 1 to {topics}")


def analyse_topics(
    corpus: Corpus,
    sets: Sequence[TopicSet],
    *,
    left_out: Collection[int] = (),
    resamples: int = 1000,
    alpha: float = 0.05,
    seed: int = 0,
) -> TopicAnalysis:
    """Weigh the topics of the first method in every world, and count which follows which.

    `left_out` are topics that say nothing, counted from 0: that of the stop words, say. Of one
    world, or of more than a hundred, nothing is compared.
    """
    run = sets[0].run
    topics = len(run.words)
    check_left_out(left_out, topics)
    passages, assigned = corpus.passages, run.assigned
    names = sorted({passage.world for passage in passages})
    several = 1 < len(names) <= MOST_WORLDS
    how: Any = {"left_out": left_out, "resamples": resamples, "alpha": alpha, "seed": seed}
    weighed = weigh_worlds(passages, assigned, **how) if several else []
    counts = count_transitions(passages, assigned, topics, left_out=left_out)
    by_world = {
        name: count_transitions(passages, assigned, topics, left_out=left_out, world=name)
        for name in names
        if several
    }
    return TopicAnalysis(corpus, sets, weighed, counts, by_world, left_out)
