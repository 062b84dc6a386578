"""A table of your own: stories, what people said of them and what metrics say, in one file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard, ScorerCard
from fabula.core.errors import InputError, closest
from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.datasets.tables.rows import Row
from fabula.datasets.tables.sheet import Sheet

CARD = DatasetCard(
    title="A table of your own",
    about="Any CSV, TSV, JSON, JSONL or Parquet file (plain or .gz) that holds ratings of stories, "
    "and scores of metrics if there are any. Long: a row an opinion (story, rater or scorer, "
    "aspect, value). By rater: a row a story and rater, a column an aspect. Wide: a row a story, "
    "a column a metric or a rating; `gold` names the ratings.",
    licence="your own",
    source="your own",
    files={"any name": "the table; see docs/commands/data.md for its columns"},
)
HUMAN = "human:"
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
) -> Dataset:
    """Read a table: `gold` names columns of ratings, `lower` metrics for which less is better.

    `columns` names the column of a role (story, item, system, text, prompt, references, scorer,
    rater, aspect, value); the others are guessed by their usual names.
    """
    sheet = Sheet.read(Path(path), columns or {})
    found = opinions(sheet, gold)
    if not found.ratings:
        raise InputError(
            f"{sheet.label}: no ratings by people",
            f"name their columns with --gold; {_offer(sheet, found)}",
        )
    scores = ScoreTable(found.stories, found.scores)
    return Dataset(
        sheet.label.partition(".")[0],
        replace(CARD, title=sheet.label, about=_about(found), files={}, quirks=_quirks(found)),
        found.stories,
        ScoreTable(found.stories, found.ratings),
        scores,
        _card_scorers(scores, lower, sheet.label),
    )


def read_ratings(path: str | Path, columns: Mapping[str, str] | None = None) -> tuple[Score, ...]:
    """Read a table that holds nothing but ratings."""
    sheet = Sheet.read(Path(path), columns or {})
    found = opinions(sheet, all_gold=True).ratings
    if not found:
        raise InputError(f"{sheet.label}: no ratings by people", "give them scorers `human:NAME`")
    return found


def read_run_with(
    folder: str | Path,
    ratings: str | Path | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    scorers: Mapping[str, ScorerCard] | None = None,
) -> Dataset:
    """Join a run folder, or a saved table, with a table of ratings by the ids of the stories.

    What people (`human:…`) said in the run itself counts as ratings too. `scorers` are the cards
    of the run's metrics; without them, higher is taken to be better.
    """
    run = ScoreTable.load(folder)
    people = [score for score in run if score.scorer.startswith(HUMAN)]
    if ratings is not None:
        people += _joined(read_ratings(ratings, columns), run, Path(ratings), Path(folder))
    scores = ScoreTable(run.stories, (one for one in run if not one.scorer.startswith(HUMAN)))
    about = _about(Opinions(tuple(run.stories), tuple(people), tuple(scores)))
    return Dataset(
        Path(folder).name,
        replace(CARD, title=str(folder), about=about, files={}),
        tuple(run.stories),
        ScoreTable(run.stories, people),
        scores,
        {**_card_scorers(scores), **(scorers or {})},
    )


def _card_scorers(
    scores: ScoreTable, lower: Collection[str] = (), label: str = ""
) -> dict[str, ScorerCard]:
    """Cards of metrics of which only the direction is known."""
    for name in lower:
        if name not in scores.scorers:
            raise InputError(f"{label}: no metric {name!r}", closest(name, scores.scorers))
    return {
        name: ScorerCard("other", "lower" if name in lower else "higher") for name in scores.scorers
    }


def _joined(found: Sequence[Score], run: ScoreTable, table: Path, folder: Path) -> list[Score]:
    known = {story.id for story in run.stories}
    strange = list(dict.fromkeys(score.story for score in found if score.story not in known))
    if strange:
        named = ", ".join(map(repr, strange[:3]))
        raise InputError(
            f"{table.name}: story ids that are not in {folder}: {len(strange):,} ({named}"
            f"{', …' if len(strange) > 3 else ''})",
            f"ids there are like {', '.join(map(repr, sorted(known)[:3]))}; "
            "name the column of the ids with --column story=NAME",
        )
    return list(found)


def _offer(sheet: Sheet, found: Opinions) -> str:
    if "value" in sheet.roles:
        names = dict.fromkeys(score.scorer for score in found.scores)
        return f"scorers: {', '.join(names) or 'none'}"
    return f"columns of numbers: {', '.join(sheet.numeric) or 'none'}"


def _about(found: Opinions) -> str:
    raters = dict.fromkeys(score.scorer.removeprefix(HUMAN) for score in found.ratings)
    aspects = dict.fromkeys(score.aspect for score in found.ratings if score.aspect)
    metrics = dict.fromkeys(score.scorer for score in found.scores)
    return (
        f"{len(found.stories):,} stories; {len(found.ratings):,} ratings by {len(raters)} "
        f"rater{'' if len(raters) == 1 else 's'}{' on ' + ', '.join(aspects) if aspects else ''}; "
        f"metrics: {', '.join(metrics) or 'none'}."
    )


def _quirks(found: Opinions) -> tuple[str, ...]:
    if not found.unread:
        return ()
    return (f"Columns that were not read: {', '.join(found.unread)}.",)


def opinions(sheet: Sheet, gold: Sequence[str] = (), *, all_gold: bool = False) -> Opinions:
    """Read the opinions; `gold` names the ratings, `all_gold` says that there is nothing else."""
    if "value" in sheet.roles:
        return _of_long(sheet, gold)
    numeric = sheet.numeric
    rated = _rated(sheet, gold, numeric, everything=all_gold or "rater" in sheet.roles)
    measured = [name for name in numeric if name not in rated and not _is_persons(name)]
    ids = _ids(sheet, alone="rater" not in sheet.roles)
    stories = _stories(sheet, ids)
    return Opinions(
        stories,
        _unique(_ratings(sheet, ids, rated)),
        _unique(_measures(sheet, ids, measured), repeats="rater" in sheet.roles),
        tuple(name for name in sheet.free if name not in {*measured, *rated}),
    )


def _of_long(sheet: Sheet, gold: Sequence[str]) -> Opinions:
    if not {"rater", "scorer"} & sheet.roles.keys():
        raise InputError(
            f"{sheet.label}: values in column {sheet.roles['value']!r}, but no column says whose",
            "name it with --column scorer=NAME or --column rater=NAME",
        )
    ids = _ids(sheet, alone=False)
    found = _unique(_long_scores(sheet, ids, gold))
    _check_scorers(sheet, gold, found)
    people = tuple(score for score in found if score.scorer.startswith(HUMAN) and score.ok)
    others = tuple(score for score in found if not score.scorer.startswith(HUMAN))
    return Opinions(_stories(sheet, ids), people, others)


def _long_scores(sheet: Sheet, ids: Sequence[str], gold: Sequence[str]) -> Iterator[Placed]:
    for (where, row), story in zip(sheet.rows, ids, strict=True):
        scorer = _scorer(sheet, row, where, gold)
        value = sheet.value(row, sheet.roles["value"], where)
        yield where, _score(story, scorer, sheet.part("aspect", row), value, row)


def _scorer(sheet: Sheet, row: Row, where: str, gold: Sequence[str]) -> str:
    rater, scorer = sheet.part("rater", row), sheet.part("scorer", row)
    if rater:
        return f"{HUMAN}{rater.removeprefix(HUMAN)}"
    if not scorer:
        raise InputError(f"{where}: neither rater nor scorer", "fill one of the cells")
    return f"{HUMAN}{scorer}" if scorer in gold else scorer


def _check_scorers(sheet: Sheet, gold: Sequence[str], found: Collection[Score]) -> None:
    scorers = {score.scorer for score in found}
    for name in gold:
        if f"{HUMAN}{name.removeprefix(HUMAN)}" not in scorers:
            known = closest(name, scorers)
            raise InputError(f"{sheet.label}: no scorer {name!r} to be the gold", known)


def _score(story: str, scorer: str, aspect: str, value: float | None, row: Row) -> Score:
    if value is not None:
        return Score(story, scorer, aspect, value)
    known = str(row.get("status") or "")
    status = Status(known) if known in {*Status} - {Status.OK} else Status.UNDEFINED
    note = row.get("note") if known else "the cell is empty"
    return Score(story, scorer, aspect, status=status, coverage=0.0, note=str(note or ""))


def _rated(sheet: Sheet, gold: Sequence[str], numeric: list[str], *, everything: bool) -> list[str]:
    """Columns that hold ratings: those named, else those that say `human`, else all or none."""
    if gold:
        return list(chain.from_iterable(_named(sheet, name) for name in gold))
    if everything:
        return numeric
    found = [name for name in numeric if _is_persons(name)]
    return found or [name for name in numeric if _is_plain_gold(name)]


def _named(sheet: Sheet, name: str) -> list[str]:
    """Columns of a gold: of that name, or `name:rater`, or `human:rater:name`."""
    found = [one for one in sheet.free if _aspect_and_rater(one)[0] == name or one == name]
    if not found:
        raise InputError(
            f"{sheet.label}: no column {name!r} to be the gold", closest(name, sheet.free)
        )
    return found


def _is_persons(name: str) -> bool:
    return name.lower().startswith(HUMAN)


def _is_plain_gold(name: str) -> bool:
    return name.strip().lower() in ("human", "gold")


def _aspect_and_rater(name: str) -> tuple[str, str]:
    if _is_persons(name):
        rater, _, aspect = name[len(HUMAN) :].rpartition(":")
        return (aspect, rater) if rater else ("", aspect)
    aspect, _, rater = name.partition(":")
    return aspect, rater or NOBODY


def _ratings(sheet: Sheet, ids: Sequence[str], rated: list[str]) -> Iterator[Placed]:
    named = {name: _aspect_and_rater(name) for name in rated}
    if "rater" in sheet.roles:
        named = {name: (name, "") for name in rated}
    elif len(rated) == 1 and _is_plain_gold(rated[0]):
        named = {rated[0]: ("", NOBODY)}
    for (where, row), story in zip(sheet.rows, ids, strict=True):
        person = sheet.part("rater", row)
        if "rater" in sheet.roles and not person:
            raise InputError(f"{where}: no rater", f"fill column {sheet.roles['rater']!r}")
        for name, (aspect, rater) in named.items():
            value = sheet.value(row, name, where)
            if value is not None:
                scorer = f"{HUMAN}{(rater or person).removeprefix(HUMAN)}"
                yield where, Score(story, scorer, aspect, value)


def _measures(sheet: Sheet, ids: Sequence[str], measured: list[str]) -> Iterator[Placed]:
    for (where, row), story in zip(sheet.rows, ids, strict=True):
        for name in measured:
            yield where, _score(story, name, "", sheet.value(row, name, where), {})


def _unique(found: Iterator[Placed], *, repeats: bool = False) -> tuple[Score, ...]:
    """Refuse two opinions of one scorer; the same one again may be let pass."""
    kept: dict[tuple[str, str, str], Placed] = {}
    for where, score in found:
        key = score.story, score.scorer, score.aspect
        earlier = kept.setdefault(key, (where, score))
        if earlier[0] != where and not (repeats and repr(earlier[1]) == repr(score)):
            aspect = f" on {score.aspect!r}" if score.aspect else ""
            raise InputError(
                f"{where}: {score.scorer!r} scores story {score.story!r}{aspect} again, "
                f"after {earlier[0]}",
                "keep one of the two",
            )
    return tuple(score for _, score in kept.values())


def _ids(sheet: Sheet, *, alone: bool) -> list[str]:
    """Id of the story of every row; rows that stand `alone` are numbered where they have none."""
    known = "story" in sheet.roles or {"item", "system"} <= sheet.roles.keys()
    if alone and not known:
        return [str(place) for place in range(1, len(sheet.rows) + 1)]
    ids = [sheet.story_id(row, where) for where, row in sheet.rows]
    if alone:
        _refuse_repeats(sheet, ids)
    return ids


def _refuse_repeats(sheet: Sheet, ids: Sequence[str]) -> None:
    seen: dict[str, str] = {}
    for (where, _), story in zip(sheet.rows, ids, strict=True):
        earlier = seen.setdefault(story, where)
        if earlier != where:
            raise InputError(
                f"{where}: story {story!r} has a row already, at {earlier}",
                "keep one, or name the column of the raters with --column rater=NAME",
            )


def _stories(sheet: Sheet, ids: Sequence[str]) -> tuple[Story, ...]:
    found: dict[str, tuple[str, Story]] = {}
    for (where, row), name in zip(sheet.rows, ids, strict=True):
        story = sheet.story(row, name, where)
        earlier, first = found.setdefault(name, (where, story))
        if first != story:
            raise InputError(
                f"{where}: story {name!r} differs in {_differing(first, story)} from {earlier}",
                "give both rows the same, or the stories ids of their own",
            )
    return tuple(story for _, story in found.values())


def _differing(first: Story, second: Story) -> str:
    names = ("text", "prompt", "references", "system", "item")
    return " and ".join(name for name in names if getattr(first, name) != getattr(second, name))
