"""Readers that differ in the order of their lessons alone, and the mean of their weights.

Wortsman et al. (2022), "Model soups": trainings that begin at one point end in one valley, so the
mean reads about as well as all of them together, and costs what one does.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.learned.training.checkpoint import CHECKPOINT, MODEL, read_tensors, write_tensors
from fabula.learned.training.examples import Examples
from fabula.learned.training.reader_course import Course, put_weights
from fabula.learned.training.reader_model import ReaderModel

if TYPE_CHECKING:
    from torch import Tensor

_FOLDER = "member-"
_APART = 1000  # between the orders of two members; folds are fewer


def learn_members(
    course: Course,
    begin: Callable[[bool], ReaderModel],
    examples: Examples,
    held: Examples,
    *,
    resume: bool = False,
) -> ReaderModel:
    """Train the members of a recipe one after the other; give their mean.

    `begin` gives the reader that each starts from, or, told that its weights will be replaced by
    those on disk, any of the same sizes. Members that are finished stay in folders beside the
    checkpoint until all are.
    """
    count = course.recipe.members
    if count == 1:
        model = begin(resume and _has_checkpoint(course.out))
        course.learn(model, examples, held, resume=resume)
        return model
    sums: dict[str, Tensor] = {}
    for number in range(count):
        member = _member(course, number)
        model = _learned(member, begin, examples, held, resume=resume)
        course.history += [{"member": number + 1, **one} for one in member.history]
        for name, value in model.trained.items():
            sums[name] = sums[name] + value.detach() if name in sums else value.detach()
    put_weights(model, {name: value / count for name, value in sums.items()})
    return model


def has_members(out: Path) -> bool:
    """Whether a training left members in a folder: it has not come to its end."""
    return any(out.glob(f"{_FOLDER}*"))


def remove_members(out: Path) -> None:
    """Remove what members left on disk."""
    for folder in out.glob(f"{_FOLDER}*"):
        shutil.rmtree(folder)


def _member(course: Course, number: int) -> Course:
    """Give the course of one member, whose history goes into that of all."""
    out = course.out and course.out / f"{_FOLDER}{number + 1}"
    if out:
        out.mkdir(exist_ok=True)
    shift = course.seed_shift + _APART * number
    report = course.report
    return replace(
        course, out=out, seed_shift=shift, history=[],
        report=lambda line: report(f"member {number + 1}: {line}"),
    )  # fmt: skip


def _learned(
    course: Course,
    begin: Callable[[bool], ReaderModel],
    examples: Examples,
    held: Examples,
    *,
    resume: bool,
) -> ReaderModel:
    done = course.out / MODEL if course.out else None
    if resume and done and done.is_file():
        model = begin(True)
        weights, about = read_tensors(done)
        course.take_up(about)
        put_weights(model, weights)
        return model
    model = begin(resume and _has_checkpoint(course.out))
    course.learn(model, examples, held, resume=resume)
    if done:
        write_tensors(done, model.trained, course.state())
        (done.parent / CHECKPOINT).unlink(missing_ok=True)
    return model


def _has_checkpoint(out: Path | None) -> bool:
    return out is not None and (out / CHECKPOINT).exists()
