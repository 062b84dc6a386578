"""MANPLTS: ROC stories and what became of them when their plots were tampered with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard, Preference, ScorerCard
from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.datasets.releases.reading import Placed, find_files, gather_stories, read_cells
from fabula.datasets.tables.text_file import TextFile

CARD = DatasetCard(
    title="MANPLTS manipulated plots (ROCStories)",
    about="Stories that people wrote (label 1, plausible), each followed by three that a model "
    "wrote from the tampered plot (label 0, implausible). The label is the scorer `label`; a "
    "human story and those made of it are one item, and the human one is preferred.",
    licence="Apache-2.0",
    citation="Ghazarian, Liu, Akash S M, Weischedel, Galstyan and Peng (2021). Plot-guided "
    "adversarial example construction for evaluating open-domain story generation. NAACL-HLT, "
    "4334–4344.",
    source="PlusLabNLP/Plot-guided-Coherence-Evaluation",
    files={
        "AF_ManPlts_valid.tsv": "id, label, id, story; no header",
        "AF_ManPlts_test.tsv": "the same",
        "AF_ManPlts_train.tsv": "the same; where it is there, nothing is counted",
    },
    checksums={
        "AF_ManPlts_valid.tsv": "4e2aca9eed1bf87ddfd0f26e5f0c2d0784a2d1a96d6b02384802706e7122907b",
        "AF_ManPlts_test.tsv": "027c2397be48051b2d7c8ad9b15036e4e42b208d3b20255d35410a00b40a6040",
    },
    counts={"stories": 23_552, "items": 5_888, "systems": 2, "scores": 23_552, "pairs": 17_658},
    quirks=(
        "A label says how the story was made; nobody rated it.",
        "Items are told by their order: a plausible story begins one.",
        "Six implausible stories are word for word the plausible one of their item; they make no "
        "pair.",
        "Texts are lower-cased and tokenised.",
    ),
)
_PARTS = {f"AF_ManPlts_{part}.tsv": part for part in ("train", "valid", "test")}
_SYSTEMS = {"1": "human", "0": "manipulated"}
_LABEL, _PLAUSIBLE = "label", "plausible"


def load(path: Path | None = None) -> Dataset:
    """Load the parts that are there."""
    files = find_files(path, *_PARTS)
    stories = gather_stories(
        placed for name, file in files.items() for placed in _read_stories(file, _PARTS[name])
    )
    labels = (
        Score(story.id, _LABEL, _PLAUSIBLE, float(story.system == _SYSTEMS["1"]))
        for story in stories
    )
    return Dataset(
        "manplts",
        CARD if files.keys() <= CARD.checksums.keys() else replace(CARD, counts={}),
        stories,
        scores=ScoreTable(stories, labels),
        scorers={_LABEL: ScorerCard("label", "higher")},
        preferences=tuple(_pair_stories(stories)),
    )


def _read_stories(file: TextFile, part: str) -> Iterator[Placed[Story]]:
    item = 0
    for where, (name, label, again, text) in read_cells(file, "\t", 4):
        if label not in _SYSTEMS:
            raise InputError(f"{where}: label {label!r} is neither 0 nor 1", "mend it")
        if name != again:
            raise InputError(f"{where}: two ids, {name!r} and {again!r}", "write the same twice")
        item += label == "1"
        if not item:
            raise InputError(f"{where}: no plausible story before this one", "begin with label 1")
        yield where, Story(f"{part}:{name}", text, system=_SYSTEMS[label], item=f"{part}:{item}")


def _pair_stories(stories: tuple[Story, ...]) -> Iterator[Preference]:
    for _, group in groupby(stories, key=lambda story: story.item):
        plausible, *others = group
        for other in others:
            if other.text != plausible.text:
                yield Preference(plausible.id, other.id, _LABEL)
