"""Stress: perturb stories, score them again, and say how every metric moves."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.batch import in_batches
from fabula.core.errors import InputError
from fabula.core.metric import Metric
from fabula.core.protocols import Progress
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.meta.compare import Procedure
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.evaluate import evaluate
from fabula.scoring.stress_moves import Move, Trial, measure_moves
from fabula.text.perturb import Perturbation, choose_perturbations

# Every batch starts its workers anew, which takes longer than a small batch itself.
_WORTH_WORKERS = 1_000

Found = dict[tuple[str, str], dict[str, float]]


@dataclass(frozen=True)
class Copies:
    """Perturbed copies of stories, by perturbation and by the id of the original.

    A story that a perturbation cannot change has no copy: it is not applicable there.
    """

    originals: tuple[Story, ...]
    of: Mapping[str, Mapping[str, Story]]

    def all(self) -> Iterator[Story]:
        """Go through all copies."""
        for some in self.of.values():
            yield from some.values()

    def batch(self, perturbation: str) -> list[Story]:
        """Give all stories, perturbed where they can be: a batch of its own."""
        return [self.of[perturbation].get(story.id, story) for story in self.originals]


@dataclass(frozen=True)
class StressResult:
    """How metrics move under perturbations, with the copies and values that it comes from."""

    moves: tuple[Move, ...]
    perturbations: tuple[Perturbation, ...]
    metrics: tuple[Metric, ...]
    share: float | None
    seed: int
    procedure: Procedure
    copies: Copies = field(repr=False)
    values: Found = field(repr=False)

    @property
    def stories(self) -> int:
        """Number of original stories."""
        return len(self.copies.originals)

    @property
    def tests(self) -> int:
        """Number of p-values that were corrected together."""
        return sum(not math.isnan(one.p) for one in self.moves)

    @property
    def blind(self) -> bool:
        """Whether no move could have been found, for all p were too large from the outset."""
        least = [one.least_p for one in self.moves if not math.isnan(one.p)]
        return bool(least) and min(least) * len(least) > self.procedure.alpha

    def rows(self) -> list[dict[str, Any]]:
        """Give a flat row per scorer, aspect and perturbation; what is missing is None."""
        return [one.row() for one in self.moves]


def stress(
    stories: Iterable[Story],
    metrics: str | Metric | Iterable[str | Metric],
    *,
    perturbations: str | Iterable[str] | None = None,
    share: float | None = None,
    seed: int = 0,
    alpha: float = 0.05,
    resamples: int | None = None,
    jobs: int = 1,
    cache: bool | str | Path = False,
    progress: Progress | None = None,
) -> StressResult:
    """Score stories and perturbed copies of them, and measure how each metric moves.

    Only the text is perturbed, not the prompt or the references. `share` is how much of a text is
    touched; without it each perturbation has its own. A metric that is defined on a batch scores
    the perturbed stories as a batch of their own, with those that could not be perturbed in it.
    Moves are tested at the level `alpha`, corrected by Holm; without `resamples` there are as
    many as that takes.
    """
    listed, chosen = list(stories), choose_metrics(metrics)
    kinds = choose_perturbations(perturbations)
    if len(listed) < 2:
        raise InputError(f"{len(listed)} story is too few to stress a metric", "give 2 or more")
    how = Procedure(resamples or 10_000, seed, alpha=alpha)
    copies = perturb_stories(listed, kinds, share=share, seed=seed)
    values = _values(copies, chosen, {"jobs": jobs, "cache": cache}, progress)
    trials = list(_trials(copies, kinds, chosen, values))
    if resamples is None:
        how = replace(how, resamples=_enough_resamples(len(trials), alpha))
    moves = measure_moves(trials, how, progress)
    return StressResult(tuple(moves), tuple(kinds), tuple(chosen), share, seed, how, copies, values)


def _enough_resamples(tests: int, alpha: float) -> int:
    """Give a number with which one p of so many can still be small after the correction."""
    return max(10_000, math.ceil(1.5 * tests / alpha))


def perturb_stories(
    stories: Sequence[Story],
    perturbations: Sequence[Perturbation],
    *,
    share: float | None = None,
    seed: int = 0,
) -> Copies:
    """Perturb the text of every story; chance depends on the seed and the story's id alone."""
    mark = "~"
    while any(mark in story.id for story in stories):
        mark += "~"
    found: dict[str, dict[str, Story]] = {}
    for kind in perturbations:
        found[kind.name] = {}
        for story in stories:
            own_seed = _seed_of(seed, kind.name, story.id)
            text = kind(story.text, share=share, seed=own_seed)
            if text is not None:
                copy = replace(story, id=f"{story.id}{mark}{kind.name}", text=text)
                found[kind.name][story.id] = copy
    return Copies(tuple(stories), found)


def _seed_of(seed: int, perturbation: str, story: str) -> int:
    named = f"{seed}|{perturbation}|{story}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(named, digest_size=8).digest(), "big")


def _values(
    copies: Copies, metrics: Sequence[Metric], options: dict[str, Any], progress: Progress | None
) -> Found:
    """Score everything: at once with most metrics, perturbation by perturbation in batches."""
    alone = [metric for metric in metrics if not in_batches(metric)]
    together = [metric for metric in metrics if in_batches(metric)]
    originals, perturbed = list(copies.originals), list(copies.all())
    batches = [originals, *map(copies.batch, copies.of)] if together else []
    if progress:
        progress.start(
            len(alone) * (len(originals) + len(perturbed)) + len(together) * sum(map(len, batches))
        )
    inner = _Steps(progress) if progress else None
    found: Found = {}
    if alone:
        _take(found, evaluate([*originals, *perturbed], alone, **options, progress=inner))
    if len(originals) < _WORTH_WORKERS:
        options = options | {"jobs": 1}
    for batch in batches:
        _take(found, evaluate(batch, together, **options, progress=inner))
    if progress:
        progress.finish()
    return found


def _take(found: Found, table: ScoreTable) -> None:
    """Take values in; the first of a story stands: that in the batch of the originals."""
    for score in table:
        found.setdefault((score.scorer, score.aspect), {}).setdefault(score.story, score.value)


def _trials(
    copies: Copies, kinds: Sequence[Perturbation], metrics: Sequence[Metric], values: Found
) -> Iterator[Trial]:
    for metric in metrics:
        for aspect in metric.card.aspects:
            known = values[metric.spec, aspect]
            originals = np.array([known[story.id] for story in copies.originals])
            for kind in kinds:
                pairs = copies.of[kind.name].items()
                before = np.array([known[original] for original, _ in pairs], dtype=np.float64)
                after = np.array([known[copy.id] for _, copy in pairs], dtype=np.float64)
                yield Trial(
                    metric.spec, aspect, metric.card.direction, kind, originals, before, after
                )


class _Steps:
    """Passes on the steps of several evaluations as those of one."""

    def __init__(self, whole: Progress) -> None:
        self._whole = whole

    def start(self, total: int) -> None:
        """Begin a part; the whole has begun."""

    def advance(self, steps: int) -> None:
        """Pass steps on."""
        self._whole.advance(steps)

    def finish(self) -> None:
        """End a part; the whole goes on."""
