"""LAMP: paragraphs of creative prose that professional writers scored, before and after edits."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.datasets.releases.reading import (
    Placed,
    choose_file,
    fit_card,
    gather_scores,
    get_field,
    get_text,
    read_rating,
)
from fabula.datasets.tables.rows import read_rows
from fabula.datasets.tables.text_file import TextFile

CARD = DatasetCard(
    title="LAMP: paragraphs scored by professional writers",
    about="Paragraphs of creative prose, most of them written by a language model or edited from "
    "such a one, each scored from 1 to 10 by a professional writer. This is the taste of people "
    "who write for a living, not of lay readers: the two may part. A paragraph and its edits are "
    "one item. Identifiers begin with the part, `train:` or `test:`.",
    licence="BSD-3-Clause",
    citation="Chakrabarty, Laban and Wu (2025). Can AI writing be salvaged? Mitigating "
    "idiosyncrasies and improving human-AI alignment in the writing process through edits. CHI.",
    source="salesforce/creativity_eval",
    files={"scores.jsonl": "text (with an instruction to a judge behind it), score, part"},
    checksums={"scores.jsonl": "89954d62286411790738766c8eaaaacd795b4a4fa5354f64c044969b97b5238d"},
    counts={"stories": 2_036, "items": 978, "systems": 7, "ratings": 2_112},
    scales={"overall": (1.0, 10.0)},
    quirks=(
        "An instruction to a judge (“You must produce your answer in the following JSON format …”) "
        "stands behind every text and is cut off.",
        "The release names neither the writer, nor the model, nor which paragraph is the edit of "
        "which. Items are told by the wording: paragraphs that share ten runs of five words are "
        "one. 900 items have two paragraphs, 32 have one; one item reaches across the parts.",
        "Systems are `version 1`, `version 2` … of an item in the order of the file, which is "
        "shuffled: nobody in particular, so that the system level says nothing. Take the item "
        "level (`--level item --coefficient pairwise`) or the pooled one.",
        "47 texts come two to four times, with scores of their own: one story with several "
        "ratings. `human:2` is the second score of a text, whoever gave it.",
        "A score of 0, below the scale, is taken for a missing one; the release has one of them.",
        "Nearly every “its” is spelt “it's” (1,781 against 15), which is no mark of a writer.",
        "Within an item the paragraph of fewer words has the higher score in two of three pairs "
        "(of 1,132 with different scores): editing is cutting. Over all paragraphs length says "
        "nothing (ρ −.03).",
        "No text has a line break.",
    ),
    raters_known=False,
)
_PARTS = ("train", "test")
_INSTRUCTION = re.compile(r"\s*You must produce your answer in the following JSON format:.*", re.S)
_WORD = re.compile(r"\w+")
# Stock phrases give up to nine runs in common; an edit keeps far more of them than that.
_RUN_WORDS, _SHARED_RUNS = 5, 10


def load(path: Path | None = None) -> Dataset:
    """Load the paragraphs, a story for each text, and their scores."""
    file = choose_file(path, "scores.jsonl")
    places: dict[tuple[str, str], str] = {}
    counts: Counter[str] = Counter()
    ratings: list[Placed[Score]] = []
    for where, part, text, value in _read_scores(file):
        if (part, text) not in places:
            counts[part] += 1
            places[part, text] = f"{part}:{counts[part]}"
        story = places[part, text]
        if value:
            counts[story] += 1
            rater = f"human:{counts[story]}"
            ratings.append((where, Score(story, rater, "overall", value)))
    stories = tuple(_make_stories({name: text for (_, text), name in places.items()}))
    return Dataset("lamp", fit_card(CARD, file), stories, gather_scores(stories, ratings))


def _make_stories(texts: Mapping[str, str]) -> Iterator[Story]:
    """Make a story of every text; those of an item are versions 1, 2 … in the order they came."""
    versions: Counter[int] = Counter()
    for (name, text), item in zip(texts.items(), group_edits([*texts.values()]), strict=True):
        versions[item] += 1
        yield Story(name, text, system=f"version {versions[item]}", item=str(item))


def _read_scores(file: TextFile) -> Iterator[tuple[str, str, str, float]]:
    """Where a row stands, its part and text, and its score, 0 where there is none."""
    for where, row in read_rows(file):
        part = get_text(row, "part", where)
        if part not in _PARTS:
            raise InputError(f"{where}: part {part!r} is neither train nor test", "mend it")
        text = _INSTRUCTION.sub("", get_text(row, "text", where)).strip()
        given = get_field(row, "score", where)
        scale = None if given == 0 else CARD.scales["overall"]
        yield where, part, text, read_rating(given, where, scale)


def group_edits(texts: Sequence[str]) -> list[int]:
    """Number the groups of texts of which one is edited from another, from 1.

    Two texts belong together where they share ten different runs of five words; so do two that
    both belong to a third.
    """
    owners: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, text in enumerate(texts):
        words = _WORD.findall(text.lower())
        for run in dict.fromkeys(zip(*(words[at:] for at in range(_RUN_WORDS)), strict=False)):
            owners[run].append(number)
    shared = Counter(
        (first, second)
        for numbers in owners.values()
        for at, first in enumerate(numbers)
        for second in numbers[at + 1 :]
    )
    groups = list(range(len(texts)))
    for (first, second), count in shared.items():
        if count >= _SHARED_RUNS and groups[first] != groups[second]:
            kept, dropped = groups[first], groups[second]
            groups = [kept if group == dropped else group for group in groups]
    order = {group: place for place, group in enumerate(dict.fromkeys(groups), 1)}
    return [order[group] for group in groups]
