"""A table of your own: stories, what people said of them and what metrics say, in one file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard, ScorerCard
from fabula.core.errors import InputError, closest
from fabula.core.score import Score
from fabula.core.table import ScoreTable
from fabula.datasets._opinions import HUMAN, Opinions, opinions
from fabula.datasets._sheet import Sheet

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
        scorers_of(scores, lower, sheet.label),
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
        {**scorers_of(scores), **(scorers or {})},
    )


def scorers_of(
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
