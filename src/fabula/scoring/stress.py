"""Stress: perturb stories, score them again, and say how every metric moves."""

from __future__ import annotations

import csv
import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.errors import InputError, UserError
from fabula.core.files import open_atomically, refuse_input, write_lines
from fabula.core.metric import Metric, needs_batch
from fabula.core.protocols import Progress
from fabula.core.story import Story
from fabula.core.table import HALVES, ScoreTable, json_text
from fabula.meta.compare import Procedure
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.evaluate import evaluate
from fabula.scoring.stress_moves import Move, Trial, measure_moves
from fabula.text.perturb import Perturbation, choose_perturbations

# Every batch starts its workers anew, which takes longer than a small batch itself.
_WORTH_WORKERS = 1_000

STORIES, MOVES = "stories.jsonl", "moves.csv"
_MOVE_COLUMNS = tuple("story item system perturbation scorer aspect before after change".split())

# Value by story, of every scorer and aspect.
Values = dict[tuple[str, str], dict[str, float]]


@dataclass(frozen=True)
class Copies:
    """Perturbed copies of stories, by perturbation and by the id of the original.

    A story that a perturbation cannot change has no copy: it is not applicable there.
    """

    originals: tuple[Story, ...]
    of: Mapping[str, Mapping[str, Story]]

    def all(self) -> Iterator[Story]:
        """Go through all copies."""
        for copies in self.of.values():
            yield from copies.values()

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
    values: Values = field(repr=False)

    @property
    def stories(self) -> int:
        """Number of original stories."""
        return len(self.copies.originals)

    @property
    def tests(self) -> int:
        """Number of p-values that were corrected together."""
        return sum(not math.isnan(move.p) for move in self.moves)

    @property
    def blind(self) -> bool:
        """Whether no move could have been found, for all p were too large from the outset."""
        least = [move.least_p for move in self.moves if not math.isnan(move.p)]
        return bool(least) and min(least) * len(least) > self.procedure.alpha

    def rows(self) -> list[dict[str, Any]]:
        """Give a flat row per scorer, aspect and perturbation; what is missing is None."""
        return [move.row() for move in self.moves]


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
    values = _score_copies(copies, chosen, jobs=jobs, cache=cache, progress=progress)
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
    """Perturb the text of every story; chance depends on the seed and the story's id alone.

    What takes from another story depends on which others there are.
    """
    mark = "~"
    while any(mark in story.id for story in stories):
        mark += "~"
    copies: dict[str, dict[str, Story]] = {}
    others = _pair_stories(stories, seed) if any(kind.join for kind in perturbations) else {}
    for kind in perturbations:
        copies[kind.name] = {}
        for story in stories:
            own_seed = _seed_of(seed, kind.name, story.id)
            other = others.get(story.id, "")
            text = kind(story.text, share=share, seed=own_seed, other=other)
            if text is not None:
                copy = replace(story, id=f"{story.id}{mark}{kind.name}", text=text)
                copies[kind.name][story.id] = copy
    return Copies(tuple(stories), copies)


def _pair_stories(stories: Sequence[Story], seed: int) -> dict[str, str]:
    """Give every story the text of another, of another item where there is one."""
    ring = sorted(stories, key=lambda story: (_seed_of(seed, "pair", story.id), story.id))
    texts = {}
    for place, story in enumerate(ring):
        steps = range(1, len(ring))
        others = (ring[(place + step) % len(ring)] for step in steps)
        apart = (other for other in others if other.item is None or other.item != story.item)
        texts[story.id] = next(apart, ring[place - 1]).text
    return texts


def _seed_of(seed: int, perturbation: str, story: str) -> int:
    named = f"{seed}|{perturbation}|{story}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(named, digest_size=8).digest(), "big")


def _score_copies(
    copies: Copies,
    metrics: Sequence[Metric],
    *,
    jobs: int,
    cache: bool | str | Path,
    progress: Progress | None,
) -> Values:
    """Score everything: at once with most metrics, perturbation by perturbation in batches."""
    alone = [metric for metric in metrics if not needs_batch(metric)]
    together = [metric for metric in metrics if needs_batch(metric)]
    originals, perturbed = list(copies.originals), list(copies.all())
    batches = [originals, *map(copies.batch, copies.of)] if together else []
    if progress:
        progress.start(
            len(alone) * (len(originals) + len(perturbed)) + len(together) * sum(map(len, batches))
        )
    inner = _InnerProgress(progress) if progress else None
    tables: list[ScoreTable] = []
    if alone:
        stories = [*originals, *perturbed]
        tables.append(evaluate(stories, alone, jobs=jobs, cache=cache, progress=inner))
    few = jobs if len(originals) >= _WORTH_WORKERS else 1
    for batch in batches:
        tables.append(evaluate(batch, together, jobs=few, cache=cache, progress=inner))
    if progress:
        progress.finish()
    values: Values = {}
    for table in tables:
        for score in table:
            # The first value of a story stands: that in the batch of the originals.
            known = values.setdefault((score.scorer, score.aspect), {})
            known.setdefault(score.story, score.value)
    return values


def _trials(
    copies: Copies, kinds: Sequence[Perturbation], metrics: Sequence[Metric], values: Values
) -> Iterator[Trial]:
    for metric in metrics:
        for aspect in metric.aspects:
            known = values[metric.spec, aspect]
            originals = np.array([known[story.id] for story in copies.originals])
            for kind in kinds:
                pairs = copies.of[kind.name].items()
                before = np.array([known[original] for original, _ in pairs], dtype=np.float64)
                after = np.array([known[copy.id] for _, copy in pairs], dtype=np.float64)
                yield Trial(metric.spec, aspect, metric.direction, kind, originals, before, after)


class _InnerProgress:
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


def refuse_written(folder: Path, inputs: Iterable[Path] = (), *, overwrite: bool = False) -> None:
    """Refuse a folder that holds such files, so that none is lost; an input never is."""
    inputs = list(inputs)
    for name in (STORIES, MOVES):
        refuse_input(folder / name, inputs)
        if not overwrite and (folder / name).exists():
            raise UserError(
                f"{folder / name} is there already",
                "choose another folder with -o, or pass --overwrite",
            )


def write_stress(result: StressResult, folder: Path, *, overwrite: bool = False) -> None:
    """Write `stories.jsonl` and `moves.csv`, each whole: what was perturbed, and every move."""
    if not overwrite:
        refuse_written(folder)
    write_lines(folder / STORIES, (f"{json_text(row)}\n" for row in story_rows(result)))
    with open_atomically(folder / MOVES, errors=HALVES) as file:
        writer = csv.DictWriter(file, _MOVE_COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(move_rows(result))


def story_rows(result: StressResult) -> Iterator[dict[str, Any]]:
    """Go through the stories, each followed by its copies, which say what was done to them."""
    for story in result.copies.originals:
        yield asdict(story) | {"perturbation": "", "original": story.id}
        for name, copies in result.copies.of.items():
            if story.id in copies:
                row = asdict(copies[story.id])
                yield row | {"perturbation": name, "original": story.id}


def move_rows(result: StressResult) -> Iterator[dict[str, Any]]:
    """Go through the values before and after, story by story; what is missing is None."""
    for story in result.copies.originals:
        named = {"story": story.id, "item": story.item, "system": story.system}
        for name, copies in result.copies.of.items():
            if story.id not in copies:
                continue
            for (scorer, aspect), known in result.values.items():
                before, after = known[story.id], known[copies[story.id].id]
                values = {"before": before, "after": after, "change": after - before}
                yield {
                    **named,
                    "perturbation": name,
                    "scorer": scorer,
                    "aspect": aspect,
                    **{key: None if math.isnan(value) else value for key, value in values.items()},
                }
