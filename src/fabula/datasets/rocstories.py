"""ROCStories: everyday stories of five sentences that people wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.story import Story
from fabula.datasets.releases.reading import (
    Placed,
    fit_card,
    gather_stories,
    get_text,
    get_texts,
    require_file,
)
from fabula.datasets.tables.rows import Row, detect_format, read_rows
from fabula.datasets.tables.text_file import TextFile

CARD = DatasetCard(
    title="ROCStories",
    about="Five-sentence stories about everyday life. Read are the corpus itself (CSV) and a "
    "collection of 57,261 of its stories from several releases (JSONL), to which the counts "
    "belong; there the id of a story begins with its form: `cased`, `cased-tok`, `lower-tok` or "
    "`lower-tok-namemasked`. The title is the prompt.",
    licence="research use; fill in the form of the corpus",
    citation="Mostafazadeh, Chambers, He, Parikh, Batra, Vanderwende, Kohli and Allen (2016). A "
    "corpus and cloze evaluation for deeper understanding of commonsense stories. NAACL-HLT, "
    "839–849.",
    source="the ROCStories corpus and releases that hold parts of it",
    files={
        "rocstories.jsonl": "src, form, title, sentences",
        "ROCStories*.csv": "storyid, storytitle, sentence1 … sentence5; all that are there",
    },
    checksums={
        "rocstories.jsonl": "1dac76a249b5a9cf6540b2ac30e95b1bcde5b580a0e257f6083cf813df0b6c0b"
    },
    counts={"stories": 57_261},
    quirks=(
        "The forms differ in case, tokens and masked names: compare stories of one form only.",
        "69 stories of the collection have fewer than five sentences.",
        "Some stories of the collection are also references in the data sets union and mans.",
        "The collection holds the stories of Story Cloze with their right endings, 1,871 of the "
        "validation part (data set storycloze) and 1,869 of the test part (`src` says so): leave "
        "them out of what learns before it is measured on endings.",
    ),
)
_SENTENCES = 5


def load(path: Path | None = None) -> Dataset:
    """Load all stories; their sentences are joined by blanks."""
    files = _find_corpus(path)
    stories = gather_stories(placed for file in files for placed in _read_stories(file))
    return Dataset("rocstories", fit_card(CARD, *files), stories)


def _find_corpus(path: Path | None) -> list[TextFile]:
    if path is not None and path.is_file():
        return [TextFile(path, path.name)]
    paths = sorted(path.glob("ROCStories*.csv*")) if path else []
    return [TextFile(csv, csv.name) for csv in paths] or [require_file(path, "rocstories.jsonl")]


def _read_stories(file: TextFile) -> Iterator[Placed[Story]]:
    read = _read_corpus_story if detect_format(file.path) == "csv" else _read_collected_story
    for number, (where, row) in enumerate(read_rows(file), 1):
        story = read(row, where)
        yield (
            where,
            replace(story, id=f"{story.id}:{number}") if read is _read_collected_story else story,
        )


def _read_corpus_story(row: Row, where: str) -> Story:
    sentences = [get_text(row, f"sentence{n}", where) for n in range(1, _SENTENCES + 1)]
    title = get_text(row, "storytitle", where)
    return Story(get_text(row, "storyid", where), _join(sentences), title or None)


def _read_collected_story(row: Row, where: str) -> Story:
    title = get_text(row, "title", where)
    sentences = get_texts(row, "sentences", where)
    return Story(get_text(row, "form", where), _join(sentences), title or None)


def _join(sentences: list[str]) -> str:
    return " ".join(sentence.strip() for sentence in sentences)
