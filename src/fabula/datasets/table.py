"""A table of your own: stories, what people said of them and what metrics say, in one file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard, Preference, ScorerCard
from fabula.core.errors import InputError, closest
from fabula.core.plain import from_plain
from fabula.core.score import Score, Status
from fabula.core.story import Story, count_text
from fabula.core.table import ScoreTable
from fabula.datasets.tables.rows import Row, read_rows
from fabula.datasets.tables.sheet import Sheet
from fabula.datasets.tables.text_file import FileForm, TextFile

CARD = DatasetCard(
    title="A table of your own",
    about="Any CSV, TSV, JSON, JSONL, Excel, ODS or Parquet file that holds ratings of stories, "
    "and scores of metrics if there are any. Long: a row an opinion (story, rater or scorer, "
    "aspect, value). By rater: a row a story and rater, a column an aspect. Wide: a row a story, "
    "a column a metric or a rating; `gold` names the ratings.",
    licence="your own",
    source="your own",
    files={"any name": "the table; see docs/commands/data.md for its columns"},
)
HUMAN = "human:"
# Choices between the stories of a saved table: better, worse, rater, aspect, is_tie.
PREFERENCES = "preferences.jsonl"
# Whose ratings those of a column without a rater are: one person's, or a mean of several.
NOBODY = "gold"

Placed = tuple[str, Score]


@dataclass(frozen=True)
class Opinions:
    """Stories of a sheet with the ratings and the scores it holds of them."""

    stories: tuple[Story, ...]
    ratings: tuple[Score, ...]
    scores: tuple[Score, ...]
    unread: tuple[str, ...] = ()


def load(path: Path | None = None) -> Dataset:
    """Load a table whose columns have their usual names."""
    if path is None:
        raise InputError("no table given", "pass the file with --path")
    return read_table(path)


def read_table(
    path: str | Path,
    *,
    gold: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    lower: Collection[str] = (),
    form: FileForm | None = None,
) -> Dataset:
    """Read a table: `gold` names columns of ratings, `lower` metrics for which less is better.

    `columns` names the column of a role (story, item, system, text, prompt, references, scorer,
    rater, aspect, value); the others are guessed by their usual names. `form` says how the file is
    written where that is not to be found out.
    """
    sheet = Sheet.read(Path(path), columns or {}, form)
    opinions = read_opinions(sheet, gold)
    if not opinions.ratings:
        raise InputError(
            f"{sheet.label}: no ratings by people",
            f"name their columns with --gold; {_list_offers(sheet, opinions)}",
        )
    unread = f"Columns that were not read: {', '.join(opinions.unread)}."
    quirks = (unread,) if opinions.unread else ()
    scores = ScoreTable(opinions.stories, opinions.scores)
    about = _describe(opinions.stories, opinions.ratings, scores.scorers)
    return Dataset(
        sheet.label.partition(".")[0],
        replace(CARD, title=sheet.label, about=about, files={}, quirks=quirks),
        opinions.stories,
        ScoreTable(opinions.stories, opinions.ratings),
        scores,
        _make_cards(scores, lower, sheet.label),
    )


def read_ratings(
    path: str | Path, columns: Mapping[str, str] | None = None, form: FileForm | None = None
) -> tuple[Score, ...]:
    """Read a table that holds nothing but ratings."""
    sheet = Sheet.read(Path(path), columns or {}, form)
    ratings = read_opinions(sheet, all_gold=True).ratings
    if not ratings:
        raise InputError(f"{sheet.label}: no ratings by people", "give them scorers `human:NAME`")
    return ratings


def read_run_with(
    folder: str | Path,
    ratings: str | Path | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    scorers: Mapping[str, ScorerCard] | None = None,
    form: FileForm | None = None,
    run: ScoreTable | None = None,
) -> Dataset:
    """Join a run folder, or a saved table, with a table of ratings by the ids of the stories.

    What people (`human:…`) said in the run itself counts as ratings too, and so do their choices
    between stories, if the folder has a file of them. `scorers` are the cards of the run's metrics;
    without them, higher is taken to be better. `run` is what was read of the folder, where that
    is not all of it.
    """
    run = ScoreTable.load(folder) if run is None else run
    by_people = any(scorer.startswith(HUMAN) for scorer in run.scorers)
    people = [score for score in run if score.scorer.startswith(HUMAN)] if by_people else []
    if ratings is not None:
        joined = read_ratings(ratings, columns, form)
        _check_known(joined, run, Path(ratings), Path(folder))
        people += joined
    scores = run
    if by_people:
        metrics = (score for score in run if not score.scorer.startswith(HUMAN))
        scores = ScoreTable(run.stories, metrics)
    about = _describe(run.stories, people, scores.scorers)
    return Dataset(
        Path(folder).name,
        replace(CARD, title=str(folder), about=about, files={}),
        tuple(run.stories),
        ScoreTable(run.stories, people),
        scores,
        {**_make_cards(scores), **(scorers or {})},
        tuple(_read_choices(Path(folder), {story.id for story in run.stories})),
    )


def _read_choices(folder: Path, known: Collection[str]) -> Iterator[Preference]:
    """Go through the choices between stories that lie beside a table of scores."""
    path = folder / PREFERENCES
    if not path.is_file():
        return
    for where, row in read_rows(TextFile(path, path.name)):
        names = {field.name for field in fields(Preference)} & row.keys()
        choice = from_plain(
            Preference, {name: row[name] for name in names}, where, error=InputError
        )
        for name in (choice.better, choice.worse):
            if name not in known:
                raise InputError(f"{where}: no story {name!r} in {folder}", "drop the row")
        yield choice


def _make_cards(
    scores: ScoreTable, lower: Collection[str] = (), label: str = ""
) -> dict[str, ScorerCard]:
    """Cards of metrics of which only the direction is known."""
    for name in lower:
        if name not in scores.scorers:
            raise InputError(f"{label}: no metric {name!r}", closest(name, scores.scorers))
    return {
        name: ScorerCard("other", "lower" if name in lower else "higher") for name in scores.scorers
    }


def _check_known(ratings: Sequence[Score], run: ScoreTable, table: Path, folder: Path) -> None:
    """Refuse ratings of stories that the run does not know."""
    known = {story.id for story in run.stories}
    unknown = list(dict.fromkeys(score.story for score in ratings if score.story not in known))
    if unknown:
        first = ", ".join(map(repr, unknown[:3]))
        raise InputError(
            f"{table.name}: story ids that are not in {folder}: {len(unknown):,} ({first}"
            f"{', …' if len(unknown) > 3 else ''})",
            f"ids there are like {', '.join(map(repr, sorted(known)[:3]))}; "
            "name the column of the ids with --column story=NAME",
        )


def _list_offers(sheet: Sheet, opinions: Opinions) -> str:
    if "value" in sheet.roles:
        names = dict.fromkeys(score.scorer for score in opinions.scores)
        return f"scorers: {', '.join(names) or 'none'}"
    return f"columns of numbers: {', '.join(sheet.numeric_columns) or 'none'}"


def _describe(stories: Sequence[Story], ratings: Sequence[Score], metrics: Sequence[str]) -> str:
    raters = dict.fromkeys(score.scorer.removeprefix(HUMAN) for score in ratings)
    aspects = dict.fromkeys(score.aspect for score in ratings if score.aspect)
    return (
        f"{count_text(len(stories), 'story', 'stories')}; "
        f"{count_text(len(ratings), 'rating')} by {count_text(len(raters), 'rater')}"
        f"{' on ' + ', '.join(aspects) if aspects else ''}; "
        f"metrics: {', '.join(metrics) or 'none'}."
    )


def read_opinions(sheet: Sheet, gold: Sequence[str] = (), *, all_gold: bool = False) -> Opinions:
    """Read the opinions; `gold` names the ratings, `all_gold` says that there is nothing else."""
    if "value" in sheet.roles:
        return _read_long(sheet, gold)
    numeric = sheet.numeric_columns
    rated = _choose_ratings(sheet, gold, numeric, everything=all_gold or "rater" in sheet.roles)
    sheet.check_numbers(rated)
    known = {*rated}
    measured = [name for name in numeric if name not in known and not _is_persons(name)]
    ids = _read_ids(sheet, alone="rater" not in sheet.roles)
    stories = _make_stories(sheet, ids)
    known |= {*measured}
    opinions = Opinions(
        stories,
        _refuse_second(_read_ratings(sheet, ids, rated)),
        _refuse_second(_read_measures(sheet, ids, measured), repeats="rater" in sheet.roles),
        tuple(name for name in sheet.free_columns if name not in known),
    )
    sheet.reading.say_left_out()
    return opinions


def _read_long(sheet: Sheet, gold: Sequence[str]) -> Opinions:
    if not {"rater", "scorer"} & sheet.roles.keys():
        raise InputError(
            f"{sheet.label}: values in column {sheet.roles['value']!r}, but no column says whose",
            "name it with --column scorer=NAME or --column rater=NAME",
        )
    ids = _read_ids(sheet, alone=False)
    scores = _refuse_second(_read_long_scores(sheet, ids, gold))
    sheet.reading.say_left_out()
    scorers = {score.scorer for score in scores}
    for name in gold:
        if f"{HUMAN}{name.removeprefix(HUMAN)}" not in scorers:
            known = closest(name, scorers)
            raise InputError(f"{sheet.label}: no scorer {name!r} to be the gold", known)
    people = tuple(score for score in scores if score.scorer.startswith(HUMAN) and score.ok)
    others = tuple(score for score in scores if not score.scorer.startswith(HUMAN))
    return Opinions(_make_stories(sheet, ids), people, others)


def _read_long_scores(sheet: Sheet, ids: Sequence[str], gold: Sequence[str]) -> Iterator[Placed]:
    for (where, row), story in zip(sheet.rows, ids, strict=True):
        scorer = _read_scorer(sheet, row, where, gold)
        value = sheet.read_number(row, sheet.roles["value"], where)
        yield where, _make_score(story, scorer, sheet.read_text("aspect", row), value, row)


def _read_scorer(sheet: Sheet, row: Row, where: str, gold: Sequence[str]) -> str:
    rater, scorer = sheet.read_text("rater", row), sheet.read_text("scorer", row)
    if rater:
        return f"{HUMAN}{rater.removeprefix(HUMAN)}"
    if not scorer:
        raise InputError(f"{where}: neither rater nor scorer", "fill one of the cells")
    return f"{HUMAN}{scorer}" if scorer in gold else scorer


def _make_score(story: str, scorer: str, aspect: str, value: float | None, row: Row) -> Score:
    if value is not None:
        return Score(story, scorer, aspect, value)
    known = str(row.get("status") or "")
    status = Status(known) if known in {*Status} - {Status.OK} else Status.UNDEFINED
    note = row.get("note") if known else "the cell is empty"
    return Score(story, scorer, aspect, status=status, coverage=0.0, note=str(note or ""))


def _choose_ratings(
    sheet: Sheet, gold: Sequence[str], numeric: list[str], *, everything: bool
) -> list[str]:
    """Columns that hold ratings: those named, else those that say `human`, else all or none."""
    if gold:
        return list(chain.from_iterable(_find_gold(sheet, name) for name in gold))
    if everything:
        return numeric
    by_people = [name for name in numeric if _is_persons(name)]
    return by_people or [name for name in numeric if _is_plain_gold(name)]


def _find_gold(sheet: Sheet, name: str) -> list[str]:
    """Columns of a gold: of that name, or `name:rater`, or `human:rater:name`."""
    free = sheet.free_columns
    columns = [column for column in free if name in (column, _split_aspect(column)[0])]
    if not columns:
        raise InputError(f"{sheet.label}: no column {name!r} to be the gold", closest(name, free))
    return columns


def _is_persons(name: str) -> bool:
    return name.lower().startswith(HUMAN)


def _is_plain_gold(name: str) -> bool:
    return name.strip().lower() in ("human", "gold")


def _split_aspect(name: str) -> tuple[str, str]:
    """Split `aspect`, `aspect:rater`, `human:rater:aspect` or `human:rater`."""
    if _is_persons(name):
        rater, _, aspect = name[len(HUMAN) :].rpartition(":")
        return (aspect, rater) if rater else ("", aspect)
    aspect, _, rater = name.partition(":")
    return aspect, rater or NOBODY


def _read_ratings(sheet: Sheet, ids: Sequence[str], rated: list[str]) -> Iterator[Placed]:
    if "rater" in sheet.roles:
        columns = {name: (name, "") for name in rated}
    elif len(rated) == 1 and _is_plain_gold(rated[0]):
        columns = {rated[0]: ("", NOBODY)}
    else:
        columns = {name: _split_aspect(name) for name in rated}
    for (where, row), story in zip(sheet.rows, ids, strict=True):
        person = sheet.read_text("rater", row)
        if "rater" in sheet.roles and not person:
            raise InputError(f"{where}: no rater", f"fill column {sheet.roles['rater']!r}")
        for name, (aspect, rater) in columns.items():
            value = sheet.read_number(row, name, where)
            if value is not None:
                scorer = f"{HUMAN}{(rater or person).removeprefix(HUMAN)}"
                yield where, Score(story, scorer, aspect, value)


def _read_measures(sheet: Sheet, ids: Sequence[str], measured: list[str]) -> Iterator[Placed]:
    for (where, row), story in zip(sheet.rows, ids, strict=True):
        for name in measured:
            yield where, _make_score(story, name, "", sheet.read_number(row, name, where), {})


def _refuse_second(placed: Iterator[Placed], *, repeats: bool = False) -> tuple[Score, ...]:
    """Refuse two opinions of one scorer; the same one again may be let pass."""
    unique: dict[tuple[str, str, str], Placed] = {}
    for where, score in placed:
        key = score.story, score.scorer, score.aspect
        place, earlier = unique.setdefault(key, (where, score))
        # By their repr, in which NaN is like NaN.
        if place != where and not (repeats and repr(earlier) == repr(score)):
            aspect = f" on {score.aspect!r}" if score.aspect else ""
            raise InputError(
                f"{where}: {score.scorer!r} scores story {score.story!r}{aspect} again, "
                f"after {place}",
                "keep one of the two",
            )
    return tuple(score for _, score in unique.values())


def _read_ids(sheet: Sheet, *, alone: bool) -> list[str]:
    """Id of the story of every row; rows that stand `alone` are numbered where they have none."""
    known = "story" in sheet.roles or {"item", "system"} <= sheet.roles.keys()
    if alone and not known:
        return [str(place) for place in range(1, len(sheet.rows) + 1)]
    ids = [sheet.read_story_id(row, where) for where, row in sheet.rows]
    places: dict[str, str] = {}
    for (where, _), story in zip(sheet.rows, ids, strict=True):
        earlier = places.setdefault(story, where)
        if alone and earlier != where:
            raise InputError(
                f"{where}: story {story!r} has a row already, at {earlier}",
                "keep one, or name the column of the raters with --column rater=NAME",
            )
    return ids


def _make_stories(sheet: Sheet, ids: Sequence[str]) -> tuple[Story, ...]:
    stories: dict[str, tuple[str, Story]] = {}
    for (where, row), name in zip(sheet.rows, ids, strict=True):
        story = sheet.make_story(row, name, where)
        place, first = stories.setdefault(name, (where, story))
        if first != story:
            parts = [
                part
                for part in ("text", "prompt", "references", "system", "item")
                if getattr(first, part) != getattr(story, part)
            ]
            raise InputError(
                f"{where}: story {name!r} differs in {' and '.join(parts)} from {place}",
                "give both rows the same, or the stories ids of their own",
            )
    return tuple(story for _, story in stories.values())
