"""Stories with opinions, whatever names them: a data set, a table of one's own, a run folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from fabula.core.addresses import refuse_address
from fabula.core.dataset import Dataset, ScorerCard
from fabula.core.errors import InputError, SettingError, UserError, closest
from fabula.core.settings import split_specs
from fabula.core.table import ScoreTable
from fabula.datasets import DATASETS, is_added, list_added, load_dataset, read_places
from fabula.datasets.table import read_run_with, read_table
from fabula.datasets.tables.sheet import Sheet
from fabula.datasets.tables.stories import is_there
from fabula.datasets.tables.text_file import FileForm
from fabula.scoring import lazy_run
from fabula.scoring.catalogue import METRICS
from fabula.scoring.folder import RUN, load_record, read_run
from fabula.scoring.gold import join_choices, join_dataset, read_scores
from fabula.scoring.large_dataset import Named, name_dataset, name_rated, read_named


@dataclass(frozen=True)
class DatasetSource:
    """A data set's name, the path of a table or of a run folder, and how to read it.

    `gold` names the columns of a table that hold ratings, by commas; for a run it is the path of a
    table of ratings or of choices. For a run or a table of scores it may be the name of a data set
    of the same stories; `path` then says where that lies. `lower` are metrics for which lower is
    better, `form` says how a table is written.
    """

    name: str
    path: Path | None = None
    partial: bool = False
    gold: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    lower: tuple[str, ...] = ()
    form: FileForm = field(default_factory=FileForm)

    def inputs(self) -> list[Path]:
        """Files that it is read from, which nothing may be written over."""
        known = read_places()
        kept = [known[name].path for name in (self.name, self.gold) if name in known]
        places = [Path(self.name), self.path, self.gold, *kept]
        found = [Path(place) for place in places if place and is_there(Path(place))]
        inner = [file for path in found if path.is_dir() for file in path.iterdir()]
        return [file for file in (*found, *inner) if file.is_file()]

    def load(self, *, rated: bool = True) -> Dataset:
        """Load it; what has neither ratings nor preferences is refused unless `rated` is false."""
        dataset = self._load()
        if rated and not len(dataset.ratings) and not dataset.preferences:
            remedy = "pass --gold with a table of ratings" if Path(self.name).is_dir() else ""
            raise InputError(f"{self.name} holds no ratings by people", remedy)
        return dataset

    def _load(self) -> Dataset:
        own = self.gold or self.columns or self.lower
        if self.name in DATASETS and self.name != "table":
            if own:
                raise SettingError(
                    f"--gold, --column and --lower are not for {self.name}", "leave them out"
                )
            return load_dataset(self.name, self.path, partial=self.partial)
        if self.gold and self._names_dataset(self.gold):
            gold = load_dataset(self.gold, self.path, partial=self.partial)
            return join_dataset(self._read_scores(Path(self.name), gold), gold, self.form.say)
        if self.name == "table" and self.path:
            return self._read_table(self.path)
        if self.path:
            raise SettingError(
                f"--path is for data sets by name, and {self.name} is none", "leave it out"
            )
        if is_added(self.name) and not own:
            return _fill_cards(load_dataset(self.name))
        path = Path(self.name)
        return self._join_run(path) if path.is_dir() else self._read_table(path)

    def _names_dataset(self, name: str) -> bool:
        """Whether a gold is a data set's name, and neither a file nor a column of the table."""
        if name == "table" or not (name in DATASETS or is_added(name)):
            return False
        table = Path(self.name)
        if not table.is_file():
            return table.is_dir() and (name in DATASETS or not is_there(Path(name)))
        return name not in Sheet.read(table, {}, replace(self.form, say=None)).names

    def _read_scores(self, path: Path, gold: Dataset) -> Dataset:
        """Read a run folder, or a table, for what metrics say alone of the stories of a gold."""
        if path.is_dir():
            part = read_named(path, name_dataset(gold)) if self._is_lazy(path) else None
            return self._turn(self._read_run(path, run=part), path)
        dataset = _fill_cards(read_scores(path, self.columns, self.form))
        return self._turn(dataset, path)

    def _read_table(self, path: Path) -> Dataset:
        if not is_there(path):
            refuse_address(path)
            names = sorted({*DATASETS.names(), *list_added()} - {"table"})
            raise InputError(f"{path}: no such file or data set", closest(str(path), names))
        gold = split_names(self.gold or "")
        return _fill_cards(
            read_table(path, gold=gold, columns=self.columns, lower=self.lower, form=self.form)
        )

    def _join_run(self, folder: Path) -> Dataset:
        joined, part = None, self._read_part(folder)
        if self.gold and is_there(Path(self.gold)):
            run = self._read_run(folder, run=part)
            joined = join_choices(run, Path(self.gold), self.columns, self.form)
        return self._turn(joined or self._read_run(folder, self.gold, run=part), folder)

    def _read_part(self, folder: Path) -> ScoreTable | None:
        """Read of a large run what the gold speaks of; of others nothing yet."""
        if not self._is_lazy(folder):
            return None
        gold = Path(self.gold) if self.gold and is_there(Path(self.gold)) else None
        named = name_rated(gold, dict(self.columns), self.form) if gold else Named()
        return read_named(folder, named)

    def _is_lazy(self, folder: Path) -> bool:
        """Whether a run is read where it lies; of a large one that is held it is said."""
        path = folder / RUN
        if not path.is_file() or load_record(path)["input"]["stories"] <= lazy_run.MOST_STORIES:
            return False
        if self.form.say and (words := lazy_run.say_held(folder)):
            self.form.say(words)
        return lazy_run.is_read_lazily(folder)

    def _read_run(
        self, folder: Path, gold: str | None = None, *, run: ScoreTable | None = None
    ) -> Dataset:
        cards = _read_cards(folder)
        columns = self.columns if gold else {}
        return read_run_with(folder, gold, columns=columns, scorers=cards, form=self.form, run=run)

    def _turn(self, dataset: Dataset, path: Path) -> Dataset:
        """Note for which metrics lower is better, as the user says."""
        scorers = dict(dataset.scorers)
        for name in self.lower:
            if name not in scorers:
                raise InputError(f"{path}: no metric {name!r}", closest(name, scorers))
            scorers[name] = replace(scorers[name], direction="lower")
        return replace(dataset, scorers=scorers)


def split_names(text: str) -> tuple[str, ...]:
    """Split names at their commas, those within specs left alone."""
    parts = split_specs(text) if "(" in text else text.split(",")
    return tuple(name.strip() for name in parts if name.strip())


def _read_cards(folder: Path) -> dict[str, ScorerCard]:
    """Cards of a run's metrics by what its run.json says; a saved table has none."""
    if not (folder / RUN).exists():
        return {}
    cards = {}
    for metric in read_run(folder).get("metrics") or ():
        try:
            reads: tuple[str, ...] = METRICS.build(metric["spec"]).reads
        except UserError:  # a metric that is not installed here
            reads = ()
        cards[metric["spec"]] = ScorerCard(metric["family"], metric["direction"], reads)
    return cards


def _fill_cards(dataset: Dataset) -> Dataset:
    """Give columns that are called like metrics of ours these metrics' family and direction."""
    scorers = dict(dataset.scorers)
    for name, card in dataset.scorers.items():
        if name.partition("(")[0].strip() not in METRICS:
            continue  # to ask for a metric that is not ours looks for the nearest, which takes long
        try:
            ours = METRICS.build(name)
        except UserError:
            continue
        direction = "lower" if card.direction == "lower" else ours.direction
        scorers[name] = ScorerCard(ours.card.family, direction, ours.reads)
    return replace(dataset, scorers=scorers)
