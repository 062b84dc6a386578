"""StoryER: pairs of stories on one prompt, of which readers liked one better."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard, Preference
from fabula.core.errors import InputError
from fabula.core.files import write_lines
from fabula.core.table import json_text
from fabula.datasets.releases.pickles import is_pickle, read_pickled_rows
from fabula.datasets.releases.reading import (
    StoriesByPrompt,
    choose_file,
    clean_prompt,
    clean_text,
    fit_card,
    get_text,
)
from fabula.datasets.tables.rows import Row, read_rows
from fabula.datasets.tables.text_file import TextFile

CARD = DatasetCard(
    title="StoryER ranking pairs",
    about="Pairs of stories that people wrote on one prompt of r/WritingPrompts, of which the one "
    "has many upvotes and the other few. The counts are those of the small public part; other "
    "files of the same form are read as well, and not counted.",
    licence="none stated",
    citation="Chen, Vo, Takamura, Miyao and Nakayama (2022). StoryER: Automatic story evaluation "
    "via ranking, rating and reasoning. EMNLP, 1739–1753.",
    source="sairin1202/StoryER",
    files={
        "train_rank_small.jsonl": "pairs: prompt, good, poor, c3 (target, 1), c4 (margin)",
        "*.pkl": "the same as a pickled list of [prompt, high, low, target, margin]",
    },
    checksums={
        "train_rank_small.jsonl": "cf29ec98eac87767e246865d19185e9456e9d8587633efdffff5986f7d99191e"
    },
    counts={"stories": 648, "items": 118, "pairs": 1_000},
    quirks=(
        "The tag `<\\newline>` is read as a line end, and `[WP]` before a prompt is dropped.",
        "A text that comes again under the same prompt is one story, in several pairs.",
        "Pickles are looked through before they are read: only lists, texts and numbers pass.",
    ),
)
_NAMES = ("prompt", "good", "poor", "c3", "c4")


def load(path: Path | None = None) -> Dataset:
    """Load the stories and which of each pair is the better one."""
    file = choose_file(path, "train_rank_small.jsonl", "train_rank_small.pkl")
    stories = StoriesByPrompt()
    preferences: dict[Preference, str] = {}
    for where, row in _read_pairs(file):
        choice = _read_preference(stories, row, where)
        if choice in preferences:
            before = f"the same pair as {preferences[choice]}"
            raise InputError(f"{where}: {before}", "keep one of the two")
        preferences[choice] = where
    return Dataset("storyer", fit_card(CARD, file), stories.stories, preferences=tuple(preferences))


def write_pairs(pairs: Iterable[tuple[str, str, str]], path: Path) -> None:
    """Write pairs of one's own (prompt, better and worse story) in the form that `load` reads."""
    rows = (dict(zip(_NAMES, pair, strict=False)) for pair in pairs)
    write_lines(path, (f"{json_text(row)}\n" for row in rows))


def _read_pairs(file: TextFile) -> Iterator[tuple[str, Row]]:
    return read_pickled_rows(file.path, _NAMES) if is_pickle(file.path) else read_rows(file)


def _read_preference(stories: StoriesByPrompt, row: Row, where: str) -> Preference:
    if row.get("c3", 1) != 1:
        raise InputError(f"{where}: target {row['c3']!r} is not 1", "put the better story first")
    prompt = clean_prompt(get_text(row, "prompt", where))
    better, worse = (
        stories.add(prompt, clean_text(get_text(row, name, where))) for name in ("good", "poor")
    )
    if better is worse:
        raise InputError(f"{where}: the better and the worse story are the same", "drop the pair")
    return Preference(better.id, worse.id, "upvotes")
