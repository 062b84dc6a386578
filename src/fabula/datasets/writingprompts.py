"""WritingPrompts: prompts of a Reddit forum and the stories people wrote on them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, starmap
from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.errors import InputError
from fabula.datasets.releases.reading import (
    StoriesByPrompt,
    choose_file,
    clean_prompt,
    clean_text,
    find_file,
    fit_card,
    get_text,
)
from fabula.datasets.tables.rows import read_rows
from fabula.datasets.tables.text_file import TextFile

CARD = DatasetCard(
    title="WritingPrompts",
    about="Stories that people wrote on prompts of r/WritingPrompts. Read are the corpus itself "
    "(`train`, `valid` and `test`, those that are there) and a collection of 5,988 of its stories "
    "from several releases (JSONL), to which the counts belong. Stories on one prompt share an "
    "item; those without a prompt are items of their own.",
    licence="Reddit text; research use",
    citation="Fan, Lewis and Dauphin (2018). Hierarchical neural story generation. ACL, 889–898.",
    source="the WritingPrompts corpus and releases that hold parts of it",
    files={
        "writingprompts.jsonl": "src, prompt (may be empty), story",
        "*.wp_source": "prompts, a line each: train, valid, test",
        "*.wp_target": "the stories on them, a line each",
    },
    checksums={
        "writingprompts.jsonl": "0af73ff6c519d22daa7168f5842614cf1ea67ead03985d8d961a0318622199a1"
    },
    counts={"stories": 5_988, "items": 4_547},
    quirks=(
        "The tags `<newline>` and `<\\newline>` are read as line ends, and `[ WP ]` before a "
        "prompt is dropped; other tags, such as `[ CW ]`, stay.",
        "The releases differ in tokens and case.",
        "Some stories of the collection are also in the data sets storyer, storyer_ratings, mans "
        "and hanna.",
    ),
)
_PARTS: tuple[str, ...] = ("train", "valid", "test")
_Pair = tuple[str, str]


def load(path: Path | None = None) -> Dataset:
    """Load all stories with their prompts."""
    pairs = _find_corpus(path)
    files = list(chain.from_iterable(pairs)) or [choose_file(path, "writingprompts.jsonl")]
    texts = (
        chain.from_iterable(starmap(_read_corpus, pairs)) if pairs else _read_collection(files[0])
    )
    stories = StoriesByPrompt()
    for prompt, story in texts:
        stories.add(clean_prompt(prompt), clean_text(story))
    return Dataset("writingprompts", fit_card(CARD, *files), stories.stories)


def _find_corpus(path: Path | None) -> list[tuple[TextFile, TextFile]]:
    """Sources and targets of the parts that are there, or of the one whose file is given."""
    parts = _PARTS
    if path is not None and path.is_file() and ".wp_" in path.name:
        path, parts = path.parent, (path.name.partition(".wp_")[0],)
    pairs = []
    for part in parts:
        source = find_file(path, f"{part}.wp_source")
        target = find_file(path, f"{part}.wp_target")
        if source and target:
            pairs.append((source, target))
        elif source or target:
            missing = f"{part}.wp_{'target' if source else 'source'}"
            raise InputError(f"{path}: {missing} is not there", "put both files side by side")
    return pairs


def _read_corpus(source: TextFile, target: TextFile) -> Iterator[_Pair]:
    prompts, stories = source.lines(), target.lines()
    for _, prompt in prompts:
        _, story = next(stories, (0, None))
        if story is None:
            break
        yield prompt, story
    else:
        if next(stories, None) is None:
            return
    raise InputError(
        f"{source.label} and {target.label} have not the same number of lines", "fetch them again"
    )


def _read_collection(file: TextFile) -> Iterator[_Pair]:
    for where, row in read_rows(file):
        yield get_text(row, "prompt", where), get_text(row, "story", where)
