"""Story Cloze: four sentences, and the right and the wrong one to end them with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard, Preference
from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.datasets.releases.reading import (
    Placed,
    choose_file,
    fit_card,
    gather_stories,
    get_field,
    get_list,
    get_text,
    get_texts,
)
from fabula.datasets.tables.rows import Row, read_rows

CARD = DatasetCard(
    title="Story Cloze (validation)",
    about="Four sentences of an everyday story with two endings that people wrote, of which others "
    "found one right and the other wrong. A story is all five sentences; the two of a context are "
    "an item, and the one with the right ending is preferred.",
    licence="research use; fill in the form of the corpus",
    citation="Mostafazadeh, Chambers, He, Parikh, Batra, Vanderwende, Kohli and Allen (2016). A "
    "corpus and cloze evaluation for deeper understanding of commonsense stories. NAACL-HLT, "
    "839–849.",
    source="the ROCStories and Story Cloze corpora",
    files={
        "validation.jsonl": "id, context (four sentences), endings (two), right (0 or 1: which)"
    },
    checksums={
        "validation.jsonl": "9ad70e1debd9f7d8895da6fcc5623043f1616715af6726572c9cc611abdbadf5"
    },
    counts={"stories": 3_742, "items": 1_871, "pairs": 1_871},
    quirks=(
        "All 1,871 stories with their right endings, and none with the wrong ones, are in our "
        "collection of ROCStories (data set `rocstories`, from `StoryCloze cloze16val.csv`): a "
        "model that learned from those has seen the answers.",
        "A wrong ending was written to be wrong, and its style may show it: hold a metric against "
        "one that reads the ending alone.",
        "A right ending is a little longer, 7.5 words against 7.2.",
    ),
)
_SENTENCES, _ENDINGS = 4, 2
_LABEL = "label"


def load(path: Path | None = None) -> Dataset:
    """Load both stories of every context, and which of them is right."""
    file = choose_file(path, "validation.jsonl")
    stories: list[Placed[Story]] = []
    preferences: list[Preference] = []
    for where, row in read_rows(file):
        right = _read_right(row, where)
        pair = list(_read_stories(row, where))
        stories += ((where, story) for story in pair)
        preferences.append(Preference(pair[right].id, pair[1 - right].id, _LABEL))
    return Dataset(
        "storycloze",
        fit_card(CARD, file),
        gather_stories(stories),
        preferences=tuple(preferences),
    )


def _read_right(row: Row, where: str) -> int:
    right = get_field(row, "right", where)
    if type(right) is not int or right not in range(_ENDINGS):
        raise InputError(f"{where}: right {right!r} is neither 0 nor 1", "say which ending it is")
    return right


def _read_stories(row: Row, where: str) -> Iterator[Story]:
    """Read the two stories of a row in the order of their endings, `ID.1` and `ID.2`."""
    name = get_text(row, "id", where)
    get_list(row, "context", where, _SENTENCES)
    get_list(row, "endings", where, _ENDINGS)
    context, endings = (
        [" ".join(sentence.split()) for sentence in get_texts(row, field, where)]
        for field in ("context", "endings")
    )
    if endings[0] == endings[1]:
        raise InputError(f"{where}: both endings are the same", "drop the row")
    for place, ending in enumerate(endings, 1):
        yield Story(f"{name}.{place}", " ".join([*context, ending]), item=name)
