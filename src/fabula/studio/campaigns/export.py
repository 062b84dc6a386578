"""A campaign as files: for `fabula meta`, `agree`, `rank` and `study run`, and for other programs.

A folder holds `stories.jsonl` and `scores.jsonl`, a table of scores as every other, with
`preferences.jsonl` where stories were compared: what counts (`opinions.py` says how answers become
numbers), and `categories.csv` where there were more choices than two, for `agree --level nominal`.
`study.toml` holds metrics against it. Beside them lie all answers, assignments, raters
and flags as rows, rejected work too, marked so; `campaign.json` says what was asked. Where HANNA's
six criteria were asked, its annotation file is written as well.

Raters are `r1`, `r2` … in the order they came. What a crowd site calls them, whose accounts they
are, where they came from and who judged their work stays in the studio.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from sqlalchemy import select

from fabula.core.files import note_written, refuse_foreign, write_bytes, write_json, write_text
from fabula.core.table import SCORES, STORIES, ScoreTable
from fabula.datasets.hanna import ANNOTATIONS
from fabula.datasets.releases.convert import PREFERENCE
from fabula.datasets.table import PREFERENCES
from fabula.datasets.tables.row_files import Kind, RowForm, write_rows
from fabula.studio.campaigns.answer_rules import CHARACTER, INSTRUCTED
from fabula.studio.campaigns.checks import Flag, find_flags
from fabula.studio.campaigns.definition import Question
from fabula.studio.campaigns.layouts import (
    HANNA_ROW,
    asks_hannas_criteria,
    describe_campaign,
    list_annotations,
    write_study,
)
from fabula.studio.campaigns.opinions import (
    HUMAN,
    code_choices,
    list_rated_aspects,
    make_dataset,
    score_answer,
)
from fabula.studio.campaigns.results import measure_pace
from fabula.studio.campaigns.work import (
    Work,
    WorkAssignment,
    WorkRater,
    read_work,
)
from fabula.studio.database import Studio
from fabula.studio.export import Export
from fabula.studio.people import Person, write_audit
from fabula.studio.tables import campaign_pictures

CAMPAIGN, STUDY, CATEGORIES = "campaign.json", "study.toml", "categories.csv"
_PICTURES = "pictures"
_SUFFIXES = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp", "image/gif": "gif"}

_WORK: dict[str, Kind] = {
    "assignment": "text",
    "task": "integer",
    "kind": "text",
    "rater": "text",
    "number": "integer",
}
_TIMES: dict[str, Kind] = {
    "opened_at": "moment",
    "submitted_at": "moment",
    "gap_s": "number",
    "visible_s": "number",
    "state": "text",
    "is_rejected": "truth",
    "flags": "texts",
}
ANSWER: dict[str, Kind] = {
    **_WORK,
    "story": "text",
    "system": "text",
    "item": "text",
    "question": "text",
    "question_kind": "text",
    "answer": "json",
    "value": "number",
    **_TIMES,
}
ASSIGNMENT: dict[str, Kind] = {
    **_WORK,
    "stories": "texts",
    **_TIMES,
    "character": "text",
    "instructed": "json",
    "verdicts": "json",
}
RATER: dict[str, Kind] = {
    "rater": "text",
    "way": "text",
    "submitted": "integer",
    "accepted": "integer",
    "rejected": "integer",
    "surplus": "integer",
    "median_gap_s": "number",
    "hourly_pay": "number",
    "currency": "text",
    "is_excluded": "truth",
    "flags": "texts",
    "came_at": "moment",
    "finished_at": "moment",
}
CATEGORY: dict[str, Kind] = {
    "story": "text",
    "rater": "text",
    "aspect": "text",
    "value": "integer",
    "choice": "text",
}
FLAG: dict[str, Kind] = {
    "rater": "text",
    "assignment": "text",
    "check": "text",
    "evidence": "text",
}


def export_campaign(
    studio: Studio,
    person: Person | None,
    name: str,
    folder: Path,
    *,
    form: RowForm = "csv",
    overwrite: bool = False,
) -> Export:
    """Write one moment of a campaign into a folder. For researchers, and who runs the machine."""
    work = read_work(studio, person, name)
    flags = find_flags(work)
    rows = _make_rows(work, flags)
    files = {f"{table}.{form}": parts for table, parts in rows.items()}
    written = [*files, STORIES, SCORES, CAMPAIGN]
    written += [PREFERENCES] if any(one.compares for one in work.definition.questions) else []
    written += [STUDY] if list_rated_aspects(work) else []
    written += [CATEGORIES] if _has_categories(work) else []
    written += [ANNOTATIONS] if asks_hannas_criteria(work) else []
    refuse_foreign(folder, written, overwrite=overwrite)
    counts = {file: write_rows(folder / file, form, *parts) for file, parts in files.items()}
    counts |= _write_table(studio, work, folder)
    write_json(folder / CAMPAIGN, describe_campaign(work, counts))
    if STUDY in written:
        write_text(folder / STUDY, write_study(work))
    if CATEGORIES in written:
        counts[CATEGORIES] = write_rows(folder / CATEGORIES, "csv", CATEGORY, _list_codes(work))
    if ANNOTATIONS in written:
        made = list_annotations(work)
        counts[ANNOTATIONS] = write_rows(folder / ANNOTATIONS, "csv", HANNA_ROW, made)
    note_written(folder, written)
    with studio.write() as db:
        write_audit(db, person, "export_campaign", work.id)
    return Export(folder, counts)


def _has_categories(work: Work) -> bool:
    """Whether a question has more choices than one number in the table of scores can tell."""
    return any(len(one.choices) > 2 for one in work.definition.questions if one.kind == "choice")


def _list_codes(work: Work) -> Iterator[Mapping[str, Any]]:
    for score in code_choices(work):
        yield {
            "story": score.story,
            "rater": score.scorer.removeprefix(HUMAN),
            "aspect": score.aspect,
            "value": int(score.value),
            "choice": score.note,
        }


def _make_rows(
    work: Work, flags: list[Flag]
) -> dict[str, tuple[Mapping[str, Kind], Iterator[Mapping[str, Any]]]]:
    """All that was done, as rows by table."""
    by_work: dict[str, list[str]] = {}
    by_rater: dict[str, list[str]] = {}
    for flag in flags:
        by_rater.setdefault(flag.rater, []).append(flag.check)
        if flag.assignment:
            by_work.setdefault(flag.assignment, []).append(flag.check)
    return {
        "answers": (ANSWER, _list_answers(work, by_work)),
        "assignments": (ASSIGNMENT, _list_assignments(work, by_work)),
        "raters": (RATER, _list_raters(work, by_rater)),
        "flags": (FLAG, (asdict(one) | {"rater": work.raters[one.rater].name} for one in flags)),
    }


def _describe_work(
    work: Work, one: WorkAssignment, flags: Mapping[str, list[str]]
) -> dict[str, Any]:
    return {
        "assignment": one.id,
        "task": work.tasks[one.task].number,
        "kind": work.kind_of(one),
        "rater": work.raters[one.rater].name,
        "number": one.number,
        "opened_at": one.opened_at,
        "submitted_at": one.submitted_at,
        "gap_s": work.gaps_s.get(one.id),
        "visible_s": one.visible_s,
        "state": one.state,
        "is_rejected": one.is_rejected,
        "flags": tuple(dict.fromkeys(flags.get(one.id, ()))),
    }


def _list_answers(work: Work, flags: Mapping[str, list[str]]) -> Iterator[Mapping[str, Any]]:
    """A row an answer; to a question that compares stories, one row for all of them."""
    for one in work.submitted:
        told = _describe_work(work, one, flags)
        for question in work.definition.questions:
            for place in [""] if question.compares else one.shown:
                answer = one.answer(question, place)
                if answer is None:
                    continue
                story = work.stories[place].story if place else None
                yield told | {
                    "story": story.id if story else None,
                    "system": story.system if story else None,
                    "item": story.item if story else None,
                    "question": question.name,
                    "question_kind": question.kind,
                    "answer": _name_stories(work, question, answer),
                    "value": _find_value(question, answer),
                }


def _name_stories(work: Work, question: Question, answer: Any) -> Any:
    """Call stories in an answer by their names."""
    if not question.compares:
        return answer
    if isinstance(answer, Mapping):
        return {end: _name_stories(work, question, place) for end, place in answer.items()}
    if isinstance(answer, list):
        return [_name_stories(work, question, place) for place in answer]
    return work.stories[answer].story.id if answer in work.stories else answer


def _find_value(question: Question, answer: Any) -> float | None:
    """Give the one number that an answer stands for, if it is one."""
    values = dict(score_answer(question, answer))
    return values.get(question.name)


def _list_assignments(work: Work, flags: Mapping[str, list[str]]) -> Iterator[Mapping[str, Any]]:
    """A row for every task that was given out, finished or not."""
    for one in work.assignments:
        named = one.answers.get(CHARACTER)
        yield _describe_work(work, one, flags) | {
            "stories": tuple(work.stories[place].story.id for place in one.shown),
            "character": "; ".join(_list_names(named)),
            "instructed": one.answers.get(INSTRUCTED),
            "verdicts": [
                {"verdict": said.verdict, "reason": said.reason, "at": said.at.isoformat()}
                for said in one.verdicts
            ],
        }


def _list_names(named: Any) -> list[str]:
    given = named.values() if isinstance(named, Mapping) else [named]
    return [name for name in given if isinstance(name, str)]


def _list_raters(work: Work, flags: Mapping[str, list[str]]) -> Iterator[Mapping[str, Any]]:
    for rater in work.raters.values():
        done, pace = work.by_rater[rater.id], measure_pace(work, rater.id)
        is_paid = math.isfinite(pace.hourly)
        yield _describe_rater(rater) | {
            "submitted": len(done),
            "accepted": sum(one.state == "submitted" and not one.is_rejected for one in done),
            "rejected": sum(one.is_rejected for one in done),
            "surplus": sum(one.state == "surplus" for one in done),
            "median_gap_s": pace.median_s if pace.tasks else None,
            "hourly_pay": round(pace.hourly, 2) if is_paid else None,
            "currency": pace.currency if is_paid else None,
            "flags": tuple(dict.fromkeys(flags.get(rater.id, ()))),
        }


def _describe_rater(rater: WorkRater) -> dict[str, Any]:
    return {
        "rater": rater.name,
        "way": rater.way,
        "is_excluded": rater.excluded_at is not None,
        "came_at": rater.created_at,
        "finished_at": rater.finished_at,
    }


def _write_table(studio: Studio, work: Work, folder: Path) -> dict[str, int]:
    """Write the stories, what people and scorers say of them, and choices between them."""
    paths = _write_pictures(studio, work, folder)
    dataset = make_dataset(work)
    stories = [
        replace(story, images=tuple(paths.get(one, one) for one in story.images))
        for story in dataset.stories
    ]
    table = ScoreTable(stories, [*dataset.ratings, *dataset.scores])
    table.save(folder)
    counts = {STORIES: len(table.stories), SCORES: len(table)}
    if any(question.compares for question in work.definition.questions):
        rows = (asdict(choice) for choice in dataset.preferences)
        counts[PREFERENCES] = write_rows(folder / PREFERENCES, "jsonl", PREFERENCE, rows)
    return counts


def _write_pictures(studio: Studio, work: Work, folder: Path) -> dict[str, str]:
    """Write the pictures that were shown; gives their paths by digest."""
    paths: dict[str, str] = {}
    table = campaign_pictures
    with studio.read() as db:
        for row in db.execute(select(table).where(table.c.campaign_id == work.id)):
            path = folder / _PICTURES / f"{row.digest}.{_SUFFIXES.get(row.media_type, 'bin')}"
            write_bytes(path, row.data)
            paths[row.digest] = str(path.absolute())
    return paths
