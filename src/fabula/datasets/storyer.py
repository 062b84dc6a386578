"""StoryER: pairs of stories on one prompt, of which readers liked one better."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard, Preference
from fabula.core.errors import InputError
from fabula.core.files import write_lines
from fabula.core.story import Story, count_text
from fabula.core.table import json_text
from fabula.datasets.releases.pickles import is_pickle, read_pickled_rows
from fabula.datasets.releases.reading import (
    StoriesByPrompt,
    choose_files,
    clean_prompt,
    clean_text,
    fit_card,
    get_text,
    note_findings,
)
from fabula.datasets.releases.storyer_kinds import SIDES
from fabula.datasets.tables.rows import Row, read_rows
from fabula.datasets.tables.text_file import TextFile

CARD = DatasetCard(
    title="StoryER ranking pairs",
    about="Pairs of stories that people wrote on one prompt of r/WritingPrompts, of which the one "
    "has many upvotes and the other few. The counts are those of the small public part; other "
    "files of the same form are read as well, and not counted. Of a folder, all files whose names "
    "hold `rank` are read together (train, validation, test), and what `fabula data pairs --split` "
    "has written.",
    licence="none stated",
    citation="Chen, Vo, Takamura, Miyao and Nakayama (2022). StoryER: Automatic story evaluation "
    "via ranking, rating and reasoning. EMNLP, 1739–1753.",
    source="sairin1202/StoryER",
    files={
        "train_rank_small.jsonl": "pairs: prompt, good, poor, c3 (target, 1), c4 (margin)",
        "*.pkl": "the same as a pickled list of [prompt, high, low, target, margin]",
        "*.csv": "a table of one's own with the columns prompt, better and worse",
    },
    checksums={
        "train_rank_small.jsonl": "cf29ec98eac87767e246865d19185e9456e9d8587633efdffff5986f7d99191e"
    },
    counts={"stories": 648, "items": 118, "pairs": 1_000},
    quirks=(
        "The tag `<\\newline>` is read as a line end, and `[WP]` before a prompt is dropped.",
        "A text that comes again under the same prompt is one story, in several pairs.",
        "A pair that comes again is left out, and so is one of a story with itself; `fabula data "
        "add` says how many.",
        "Pickles are looked through before they are read: only lists, texts and numbers pass.",
    ),
)
SPLITS = ("train", "validation", "test")
_RANKED = re.compile(r"(?<![a-z])rank(?:ed|ing|s)?(?![a-z])")
_NAMES = ("prompt", "good", "poor", "c3", "c4")


def load(path: Path | None = None) -> Dataset:
    """Load the stories and which of each pair is the better one; of a folder, all its parts.

    A pair that comes again is left out, and so is one of a story with itself; the card of what is
    loaded counts them.
    """
    files = choose_files(path, is_part, "train_rank_small.jsonl", "train_rank_small.pkl")
    stories = StoriesByPrompt()
    preferences: dict[Preference, None] = {}
    left_out: Counter[str] = Counter()
    items: dict[str, set[str]] = {}  # the files in which each prompt has pairs
    for file in files:
        for where, row in _read_pairs(file):
            better, worse = _read_sides(stories, row, where)
            items.setdefault(str(better.item), set()).add(file.label)
            choice = Preference(better.id, worse.id, "upvotes")
            if better is worse:
                left_out["of a story with itself"] += 1
            elif choice in preferences:
                left_out["that came before"] += 1
            else:
                preferences[choice] = None
    findings = _list_findings(preferences, left_out, items)
    card = note_findings(fit_card(CARD, *files), findings)
    return Dataset("storyer", card, stories.stories, preferences=tuple(preferences))


def is_part(name: str) -> bool:
    """Whether a file of a folder holds pairs: by the release's names, or by those of a split."""
    if not name.endswith((".jsonl", ".pkl", ".pickle")):
        return False
    return bool(_RANKED.search(name)) or any(f".{part}." in name for part in SPLITS)


def _list_findings(
    preferences: Collection[Preference],
    left_out: Mapping[str, int],
    items: Mapping[str, Collection[str]],
) -> Iterator[str]:
    """Say what is odd about the pairs of these files."""
    for reason, count in left_out.items():
        yield f"Left out: {count_text(count, 'pair')} {reason}."
    chosen = {(one.better, one.worse) for one in preferences}
    if both := sum((worse, better) in chosen for better, worse in chosen) // 2:
        yield f"{count_text(both, 'pair')} of stories told both ways round."
    if shared := sum(len(files) > 1 for files in items.values()):
        yield f"{count_text(shared, 'prompt')} with pairs in several files: a test would know them."


def write_pairs(pairs: Iterable[tuple[str, str, str]], path: Path) -> None:
    """Write pairs of one's own (prompt, better and worse story) in the form that `load` reads."""
    rows = (dict(zip(_NAMES, pair, strict=False)) for pair in pairs)
    write_lines(path, (f"{json_text(row)}\n" for row in rows))


def _read_pairs(file: TextFile) -> Iterator[tuple[str, Row]]:
    return read_pickled_rows(file.path, _NAMES) if is_pickle(file.path) else read_rows(file)


def _read_sides(stories: StoriesByPrompt, row: Row, where: str) -> tuple[Story, Story]:
    """Give the better and the worse story of a pair."""
    if row.get("c3", 1) != 1:
        raise InputError(f"{where}: target {row['c3']!r} is not 1", "put the better story first")
    prompt = clean_prompt(get_text(row, "prompt", where))
    names = next((sides for sides in SIDES if row.keys() >= {*sides}), SIDES[0])
    good, poor = (clean_text(get_text(row, name, where)) for name in names)
    return stories.add(prompt, good), stories.add(prompt, poor)
