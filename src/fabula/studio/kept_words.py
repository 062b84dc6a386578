"""Of what kind is what people keep: parts of speech, and names that a story knew or did not.

A tagger takes long, so nothing of it happens when an entry is published: a worker with nothing
else to do reads suggestions that wait for it, a few at a time, and stores what it has counted as
scores. Where no tagger is installed nothing is stored, and the dashboard says why.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, Row, Select, func, select

from fabula.core.errors import UserError
from fabula.core.score import Missing, Score
from fabula.meta.arrays import Values
from fabula.meta.resampling import Estimate, estimate_ratios
from fabula.models.reading.tagging import tag_text, tagger_trait
from fabula.studio.database import Studio, make_insert
from fabula.studio.filters import EVERYTHING, UNIT, Filter, check_filter, select_published
from fabula.studio.kept import KEPT_WORDS, kept_metrics
from fabula.studio.people import Person
from fabula.studio.publishing import write_scores
from fabula.studio.quality import need_reader
from fabula.studio.tables import (
    cards,
    characters,
    entries,
    machines,
    scores,
    settings,
    stories,
    suggestions,
)
from fabula.text.kept_words import (
    count_tags,
    list_kept_names,
    locate_kept,
    sort_names,
    spell_plainly,
)

_REVISION = 1
_KNOWN, _NEW = "entities:known", "entities:new"
_GENERATED, _KEPT = "generated:", "kept:"
# Where a worker notes why it does not read.
_SETTING = "kept_words"
_RESAMPLES, _SEED = 1000, 0
# What tells names in STORIUM's JSON.
_NAMED = ("name", "title", "description", "text", "success_stakes", "failure_stakes")


@dataclass(frozen=True)
class TagShare:
    """A part of speech: how many words of it machines wrote and people kept; its share of all
    words that were written and of those that were kept, and how many of its own were kept."""

    tag: str
    generated: int
    kept: int
    of_generated: Estimate
    of_kept: Estimate
    rate: Estimate


@dataclass(frozen=True)
class KeptWords:
    """What was kept of a machine's suggestions: parts of speech, the most kept first, and the
    share of kept names that the story knew. `waiting` were not read yet, `unread` cannot be."""

    suggestions: int
    waiting: int
    unread: int
    tags: tuple[TagShare, ...]
    known: Estimate
    names: int


@dataclass(frozen=True)
class KeptWordsReport:
    """The same for every machine, and why nothing more is read, where a worker has said so."""

    machines: Mapping[str, KeptWords]
    problem: str


def read_waiting(studio: Studio, *, most: int = 20, within_s: float = 1.0) -> int:
    """Read suggestions that were published and not read yet, as many as time allows; how many.

    What was read is stored one by one: who is stopped goes on where it was. Two workers may read
    the same, and store it once.
    """
    with studio.read() as db:
        waiting = list(db.scalars(_select_waiting().limit(most)))
    if not waiting:
        return 0
    try:
        signature = f"{KEPT_WORDS}|tagger:{tagger_trait(tags=True)}|rev:{_REVISION}"
    except UserError as error:
        note_problem(studio, str(error))
        return 0
    note_problem(studio, "")
    deadline, game = time.monotonic() + within_s, _Game()
    for done, suggestion in enumerate(waiting, 1):
        with studio.read() as db:
            row = db.execute(_ROW.where(suggestions.c.id == suggestion)).first()
            if row is not None:
                game = game if game.is_of(row) else _read_game(db, row)
        if row is not None:
            texts = row.generated, row.published
            counted = count_words(*texts, game.list_before(row), story=suggestion)
            _store(studio, suggestion, counted, signature)
        if time.monotonic() > deadline:
            return done
    return len(waiting)


def _select_waiting() -> Select[Any]:
    """Ask for suggestions that were not read, those of one game after the other."""
    was_read = (scores.c.suggestion_id == suggestions.c.id) & (scores.c.scorer == KEPT_WORDS)
    return (
        select(suggestions.c.id)
        .where(suggestions.c.published.is_not(None), suggestions.c.status == "done")
        .where(suggestions.c.generated != "", ~select(scores.c.id).where(was_read).exists())
        .order_by(suggestions.c.game_id, suggestions.c.story_id, suggestions.c.published_at)
    )


_COLUMNS: list[ColumnElement[Any]] = [
    *(suggestions.c[name] for name in ("game_id", "story_id", "generated", "published", "context")),
    entries.c.seq_id,
]
_ROW = (
    select(*_COLUMNS)
    .select_from(suggestions)
    .outerjoin(entries, entries.c.id == suggestions.c.entry_id)
)


def note_problem(studio: Studio, problem: str) -> None:
    """Note why nothing is read, for the dashboard; nothing is written where it is known."""
    with studio.read() as db:
        if _read_problem(db) == problem:
            return
    with studio.write() as db:
        row = make_insert(db, settings).values(name=_SETTING, value={"problem": problem})
        kept = row.on_conflict_do_update(
            index_elements=["name"], set_={"value": {"problem": problem}}
        )
        db.execute(kept)


def _read_problem(db: Connection) -> str:
    value = db.scalar(select(settings.c.value).where(settings.c.name == _SETTING))
    return str(value.get("problem", "")) if isinstance(value, Mapping) else ""


@dataclass(frozen=True)
class _Game:
    """What a story holds, spelled plainly: characters and cards, and entries by their numbers."""

    identity: str | None = None
    names: str = ""
    entries: tuple[tuple[int, str], ...] = ()

    def is_of(self, row: Row[Any]) -> bool:
        return self.identity is not None and self.identity == (row.game_id or row.story_id)

    def list_before(self, row: Row[Any]) -> list[str]:
        """What was there before a suggestion: the text up to the cursor is its context's."""
        last = math.inf if row.seq_id is None else row.seq_id
        before = str((row.context or {}).get("text") or "")
        texts = [text for number, text in self.entries if number < last]
        return [self.names, spell_plainly(before), *texts]


def _read_game(db: Connection, row: Row[Any]) -> _Game:
    """Read the characters, cards and entries of a game, or an uploaded story's names and texts.

    Characters and cards are those of now: when they came is not recorded.
    """
    if row.game_id is None:
        story = db.scalar(select(stories.c.story).where(stories.c.id == row.story_id))
        return _Game(row.story_id, spell_plainly("\n".join(_list_texts(story))))
    told = [
        f"{name}\n{description}"
        for table in (characters, cards)
        for name, description in db.execute(
            select(table.c.name, table.c.description).where(table.c.game_id == row.game_id)
        )
    ]
    written = select(entries.c.seq_id, entries.c.text).where(entries.c.game_id == row.game_id)
    texts = [(number, spell_plainly(text)) for number, text in db.execute(written)]
    return _Game(row.game_id, spell_plainly("\n".join(told)), tuple(texts))


def _list_texts(value: Any) -> list[str]:
    """List what an object of somebody else's JSON calls names and texts, however deep."""
    texts, waiting = [], [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, Mapping):
            texts += [inner[key] for key in _NAMED if isinstance(inner.get(key), str)]
            waiting += inner.values()
        elif isinstance(inner, list):
            waiting += inner
    return texts


def count_words(
    generated: str, published: str, known: Sequence[str] = (), *, story: str = "suggestion"
) -> list[Score]:
    """Count the words of a suggestion by parts of speech, and those and the names that stand in
    what was published; `known` is what the story held before, spelled plainly."""
    try:
        tagged = tag_text(generated)
    except Missing as missing:
        return [
            Score(story, KEPT_WORDS, aspect, math.nan, missing.status, 0.0, missing.note)
            for aspect in (_KNOWN, _NEW)
        ]
    kept = locate_kept(generated, published, stop_words=kept_metrics()[0].left_out)
    kinds = count_tags(generated, tagged.words, kept)
    names = sort_names(list_kept_names(generated, tagged.names, kept), known)
    counts = {f"{_GENERATED}{tag}": count for tag, count in kinds.generated.items()}
    counts |= {f"{_KEPT}{tag}": count for tag, count in kinds.kept.items()}
    counts |= {_KNOWN: names.known, _NEW: names.new}
    return [
        Score(story, KEPT_WORDS, aspect, float(count)) for aspect, count in sorted(counts.items())
    ]


def _store(studio: Studio, suggestion: str, scored: Sequence[Score], signature: str) -> None:
    with studio.write() as db:
        # Locked: another worker may have read it meanwhile, or its owner may be erasing it.
        mine = select(suggestions.c.id).where(suggestions.c.id == suggestion).with_for_update()
        was_read = (scores.c.suggestion_id == suggestion) & (scores.c.scorer == KEPT_WORDS)
        if db.scalar(mine) is not None and not db.scalar(select(scores.c.id).where(was_read)):
            write_scores(db, scored, signature=signature)


def read_kept_words(
    studio: Studio, person: Person | None, chosen: Filter = EVERYTHING
) -> KeptWordsReport:
    """Read what was kept, machine by machine, with 95 % intervals by drawing games again."""
    need_reader(person, chosen)
    is_count = (scores.c.suggestion_id == suggestions.c.id) & (scores.c.scorer == KEPT_WORDS)
    counted = (
        select_published(chosen, machines.c.name, UNIT, scores.c.aspect, func.sum(scores.c.value))
        .join(scores, is_count)
        .where(scores.c.value.is_not(None))
        .group_by(machines.c.name, UNIT, scores.c.aspect)
    )
    numbers = (
        select_published(
            chosen,
            machines.c.name,
            func.count(),
            func.count(scores.c.id),
            func.count(scores.c.value),
        )
        .outerjoin(scores, is_count & (scores.c.aspect == _KNOWN))
        .where(suggestions.c.generated != "")
        .group_by(machines.c.name)
        .order_by(machines.c.name)
    )
    with studio.snapshot() as db:
        check_filter(db, chosen)
        problem = _read_problem(db)
        counts: dict[str, dict[str, dict[str, float]]] = {}
        for machine, unit, aspect, count in db.execute(counted):
            counts.setdefault(machine, {}).setdefault(unit, {})[aspect] = float(count)
        report = {
            machine: _describe(counts.get(machine, {}), total, seen, read)
            for machine, total, seen, read in db.execute(numbers)
        }
    return KeptWordsReport(report, problem)


def _describe(
    games: Mapping[str, Mapping[str, float]], total: int, seen: int, read: int
) -> KeptWords:
    tags = sorted({
        aspect.partition(":")[2]
        for counts in games.values()
        for aspect in counts
        if aspect.startswith(_GENERATED)
    })  # fmt: skip

    def lay_out(*aspects: str) -> Values:
        rows = [[counts.get(aspect, 0.0) for aspect in aspects] for counts in games.values()]
        return np.array(rows, dtype=np.float64).reshape(len(games), len(aspects))  # (games, n)

    generated = lay_out(*(f"{_GENERATED}{tag}" for tag in tags))
    kept = lay_out(*(f"{_KEPT}{tag}" for tag in tags))
    names = lay_out(_KNOWN, _NEW)
    sums = np.hstack([generated, kept, kept, names[:, :1]])
    all_of = [
        np.repeat(side.sum(axis=1, keepdims=True), len(tags), 1) for side in (generated, kept)
    ]
    sizes = np.hstack([*all_of, generated, names.sum(axis=1, keepdims=True)])
    shares = estimate_ratios(sums, sizes, resamples=_RESAMPLES, seed=_SEED)
    count = len(tags)
    rows = [
        TagShare(
            tag,
            int(generated[:, place].sum()),
            int(kept[:, place].sum()),
            *(shares[place + step * count] for step in range(3)),
        )
        for place, tag in enumerate(tags)
    ]
    rows.sort(key=lambda row: (-row.kept, -row.generated, row.tag))
    return KeptWords(read, total - seen, seen - read, tuple(rows), shares[-1], int(names.sum()))
