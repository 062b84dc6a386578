"""The stories of a large run that people have an opinion on, with all that metrics say of them.

Meta-evaluation asks of nothing else; of a million stories a thousand are rated. So the gold is read
first, and of the run only what it names: by ids, or by whole texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.core.story import Story, count_text
from fabula.core.table import ScoreTable
from fabula.datasets.table import HUMAN, PREFERENCES, read_ratings
from fabula.datasets.tables.choices import open_choices
from fabula.datasets.tables.rows import read_rows
from fabula.datasets.tables.text_file import FileForm, TextFile
from fabula.scoring.lazy_run import MOST_STORIES, Array, LazyRun


@dataclass(frozen=True)
class Named:
    """Stories by their ids, or by texts that are theirs but for blanks."""

    ids: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()

    def __or__(self, other: Named) -> Named:
        """Name those of both."""
        return Named(self.ids | other.ids, self.texts | other.texts)


class LazyScores(ScoreTable):
    """Scores of very many stories of a run, read anew whenever they are gone through.

    The stories have no texts: these alone would fill the memory.
    """

    def __init__(self, run: LazyRun, wanted: Array) -> None:
        self._run, self._wanted = run, wanted
        labels = run.read_labels(wanted)
        self._stories = {
            name: Story(name, "", system=system or None, item=item)
            for _, name, system, item in labels
        }
        counts = (int((run.statuses(number)[wanted] > 0).sum()) for number in range(len(run.keys)))
        self._count = sum(counts)

    @property
    def scores(self) -> list[Score]:
        """All of them at once, for who cannot do otherwise."""
        return list(self)

    @scores.setter
    def scores(self, scores: list[Score]) -> None:
        raise AttributeError("these scores are those of a run")

    @property
    def scorers(self) -> list[str]:
        """Scorers, in the order they came."""
        return list(dict.fromkeys(scorer for scorer, _ in self._run.keys))

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Score]:
        yield from self._run.read_scores(self._wanted)


def name_rated(path: Path, columns: dict[str, str], form: FileForm) -> Named:
    """Name the stories that a table of ratings, or of choices between stories, speaks of."""
    quiet = replace(form, say=None)  # what is odd is said when the table is read in earnest
    choices = open_choices(path, columns, quiet)
    if choices is None:
        return Named(frozenset(score.story for score in read_ratings(path, columns, quiet)))
    names: dict[str, None] = {}

    def note(name: str) -> str:
        names.setdefault(name)
        return name

    choices.read(note)
    return Named(frozenset(names), frozenset(map(_plain, names)))


def name_dataset(gold: Dataset) -> Named:
    """Name the stories of a data set."""
    texts = (_plain(story.text) for story in gold.stories if story.text.strip())
    return Named(frozenset(story.id for story in gold.stories), frozenset(texts))


def read_named(folder: Path, named: Named) -> ScoreTable:
    """Read the stories of a run that are named or that the run itself has opinions on."""
    run = LazyRun(folder)
    is_held = False
    try:
        wanted = _find_ids(run, named.ids | _list_chosen(folder))
        wanted |= _find_people(run)
        if named.texts:
            wanted |= _find_texts(run, named.texts)
        places = np.flatnonzero(wanted)
        if not len(places):
            examples = ", ".join(repr(row[1]) for row in run.read_labels(_first(run, 3)))
            count = count_text(run.count, "story", "stories")
            problem = f"none of the {count} of {folder} is named there"
            raise InputError(problem, f"ids there are like {examples}")
        if len(places) > MOST_STORIES:
            is_held = True  # it is read from again, and goes when nobody holds it
            return LazyScores(run, wanted)
        stories = [story for _, batch in run.scan_stories(wanted) for story in batch]
        return ScoreTable(stories, run.read_scores(wanted))
    finally:
        if not is_held:
            run.close()


def _first(run: LazyRun, count: int) -> Array:
    return np.arange(run.count) < count


def _find_ids(run: LazyRun, ids: Iterable[str]) -> Array:
    import pyarrow as pa

    run.query("CREATE OR REPLACE TABLE named (id VARCHAR)")
    run.insert("named", pa.table({"id": pa.array(sorted(ids), pa.string())}))
    sql = "SELECT place, 1 FROM stories SEMI JOIN named USING (id)"
    return run.read_column(sql, np.uint8).astype(bool)


def _find_people(run: LazyRun) -> Array:
    """Find the stories that people scored in the run itself."""
    wanted = np.zeros(run.count, dtype=bool)
    for number, (scorer, _) in enumerate(run.keys):
        if scorer.startswith(HUMAN):
            wanted |= run.statuses(number) > 0
    return wanted


def _find_texts(run: LazyRun, texts: frozenset[str]) -> Array:
    wanted = np.zeros(run.count, dtype=bool)
    for start, batch in run.scan_texts():
        for number, text in enumerate(batch):
            wanted[start + number] = _plain(text) in texts
    return wanted


def _list_chosen(folder: Path) -> frozenset[str]:
    """Ids of the stories that the run's own file of choices names."""
    path = folder / PREFERENCES
    if not path.is_file():
        return frozenset()
    rows = [row for _, row in read_rows(TextFile(path, path.name))]
    return frozenset(str(row.get(side)) for row in rows for side in ("better", "worse"))


def _plain(text: str) -> str:
    return " ".join(text.split())
