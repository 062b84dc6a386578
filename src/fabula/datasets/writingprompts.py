"""WritingPrompts: prompts of a Reddit forum and the stories people wrote on them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.errors import InputError
from fabula.datasets._fields import card_for, chosen_file, text_field
from fabula.datasets._gather import PromptShelf
from fabula.datasets._lines import TextFile
from fabula.datasets._release import file_rows, find_release_file
from fabula.datasets._tags import plain_prompt, plain_text

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
    counts={"stories": 5_988},
    quirks=(
        "The tags `<newline>` and `<\\newline>` are read as line ends, and `[ WP ]` before a prompt "
        "is dropped; other tags, such as `[ CW ]`, stay.",
        "The releases differ in tokens and case.",
        "Some stories of the collection are also in the data sets storyer, storyer_ratings, mans "
        "and hanna.",
    ),
)
_PARTS = ("train", "valid", "test")
_Pair = tuple[str, str]


def load(path: Path | None = None) -> Dataset:
    """Load all stories with their prompts."""
    pairs = list(_original_files(path))
    shelf = PromptShelf()
    if pairs:
        files = [file for pair in pairs for file in pair]
        found = (pair for source, target in pairs for pair in _original(source, target))
    else:
        files = [chosen_file(path, "writingprompts.jsonl", "valid.wp_source")]
        found = _collection(files[0])
    for prompt, story in found:
        shelf.put(plain_prompt(prompt), plain_text(story))
    return Dataset("writingprompts", card_for(CARD, *files), shelf.stories)


def _original_files(path: Path | None) -> Iterator[tuple[TextFile, TextFile]]:
    folder = path.parent if path and path.is_file() and ".wp_" in path.name else path
    for part in _PARTS:
        source = find_release_file(folder, f"{part}.wp_source")
        target = find_release_file(folder, f"{part}.wp_target")
        if source and target:
            yield source, target
        elif source or target:
            missing = f"{part}.wp_{'target' if source else 'source'}"
            raise InputError(f"{folder}: {missing} is not there", "put both files side by side")


def _original(source: TextFile, target: TextFile) -> Iterator[_Pair]:
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


def _collection(file: TextFile) -> Iterator[_Pair]:
    for where, row in file_rows(file):
        yield text_field(row, "prompt", where), text_field(row, "story", where)
