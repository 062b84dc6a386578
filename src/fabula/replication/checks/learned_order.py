"""Sentence order: which of two neighbours comes first, and the published RoViST-C."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np

from fabula.core.errors import UserError
from fabula.core.story import Story
from fabula.learned.reader.inference import load_reader
from fabula.learned.training.task_stories import Free, human_references
from fabula.models import path_of
from fabula.replication.checks._agreement import correlated, shares
from fabula.replication.checks._finding import Finding, barred, reported, unchecked
from fabula.replication.checks._learned import dataset, published, scored
from fabula.text.detokenise import split_any_case

_PART = "Sentence order (rovist_c)"
_WEIGHTS = "order"
_PUBLISHED_STORIES = 2000  # reading all takes too long for a check
_ROC = "neighbours in order, ROCStories kept back"
_VIST = "neighbours in order, VIST's test references"
_LEAST = {_ROC: 0.84, _VIST: 0.69}
_SCORER = "RoViST-C"
_LEAST_RHO = 0.50
T = TypeVar("T")


def findings(data: Path | None) -> Iterator[Finding]:
    """Count neighbours that are told apart, either way round, and compare the published scores."""
    for claim, stories in ((_ROC, _roc_stories), (_VIST, _vist_stories)):
        try:
            yield _order(claim, stories(data))
        except UserError as error:
            yield unchecked(_PART, claim, str(error))
    try:
        yield from _agreeing(data)
    except UserError as error:
        yield unchecked(_PART, f"{_SCORER} as published", str(error))


def drawn(stories: Sequence[T], count: int) -> list[T]:
    """Draw so many stories, always the same."""
    return random.Random(0).sample(list(stories), min(count, len(stories)))


def _roc_stories(data: Path | None) -> list[Story]:
    """Give the stories that the training kept back: it keeps its recipe beside the weights."""
    record = json.loads((path_of(_WEIGHTS) / "training.json").read_text(encoding="utf-8"))
    corpus = dataset("rocstories", data)
    free = Free([dataset(name, data) for name in record["recipe"]["left_out"]])
    return free.stories([corpus], kept_back=True)


def _vist_stories(data: Path | None) -> list[Story]:
    return human_references(dataset("vist", data), "test")


def _order(claim: str, stories: Sequence[Story]) -> Finding:
    pairs: list[tuple[str, str]] = []
    items = []
    for story in stories:
        for one, other in pairwise(split_any_case(story.text)):
            if one.strip().lower() != other.strip().lower():
                pairs.append((one, other))
                items.append(str(story.item or story.id))
    reader = load_reader(_WEIGHTS)
    ahead = reader.pair_outputs(pairs, "order")[:, 0] > 0
    behind = reader.pair_outputs([(other, one) for one, other in pairs], "order")[:, 0] < 0
    measured = shares({"order": (ahead + behind.astype(np.float64)) / 2}, items)
    found = f"{measured.words('order')}, {len(pairs):,} pairs either way round, "
    found += f"{len(stories):,} stories"
    least = _LEAST[claim]
    good = measured.value["order"] >= least
    return barred(_PART, claim, wanted=f"accuracy ≥ {least:.2f}", found=found, good=good)


def _agreeing(data: Path | None) -> Iterator[Finding]:
    released = dataset("rovist", data)
    known = {one.story for one in released.scores.of(_SCORER)}
    stories = drawn([one for one in released.stories if one.id in known], _PUBLISHED_STORIES)
    theirs, items = published(released, stories, _SCORER), [one.id for one in stories]
    columns = {by: scored(stories, f"rovist_c(by={by!r})") for by in ("logit", "probability")}
    measured = correlated(columns, theirs, items)
    for by, least in (("logit", _LEAST_RHO), ("probability", None)):
        words = f"{measured.words(by)}, {measured.n:,} human VIST stories"
        claim = f"{_SCORER} as published, Spearman with rovist_c(by={by!r})"
        if least is None:
            yield reported(_PART, claim, words)
            continue
        good = measured.value[by] >= least
        yield barred(_PART, claim, wanted=f"ρ ≥ {least:.2f}", found=words, good=good)
