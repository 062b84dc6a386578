"""How good machines are: what authors say of their suggestions, and what they kept of them.

Eleven qualities of every suggestion whose entry was published: four ratings, ROUGE and USER. What
is made of them is in `findings.py`, what people made of the texts in `diffs.py`. Which suggestions
are meant says a `Filter`; what is missing is NaN and counts nowhere.

Whoever reads is a researcher, or nobody (None): the public, to whom a page shows numbers without a
word of anybody's where the studio has chosen to.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import compress
from typing import Any

import numpy as np
from sqlalchemy import Connection, case, func, select

from fabula.meta.arrays import Flags, Values
from fabula.studio.database import Studio
from fabula.studio.filters import (
    EVERYTHING,
    UNIT,
    Filter,
    check_filter,
    select_asked,
    select_published,
)
from fabula.studio.kept import KEPT, kept_metrics
from fabula.studio.people import Person
from fabula.studio.ratings import QUESTIONS
from fabula.studio.tables import audit, machines, ratings, scores, suggestions

RATED = tuple(QUESTIONS)
# Most people write little: how many suggestions people have, at most.
CROWDS = (1.0, 5.0, 10.0, 20.0, math.inf)
_DEEDS = (
    "exclude_game", "exclude_story", "add_machine", "change_machine", "correct_rating",
    "delete_person",
)  # fmt: skip


@dataclass(frozen=True)
class Opinions:
    """Suggestions in the order they were published, of each the machine, the person, the game and
    the moment; and `values`: a row for a suggestion, a column for a quality of `labels`."""

    suggestions: tuple[str, ...]
    machines: tuple[str, ...]
    people: tuple[str | None, ...]
    games: tuple[str, ...]
    moments: tuple[datetime, ...]
    labels: tuple[str, ...]
    values: Values  # (suggestions, labels)

    def of(self, machine: str) -> Opinions:
        """Those of one machine."""
        return self.where(np.array([name == machine for name in self.machines], dtype=bool))

    def where(self, chosen: Flags) -> Opinions:
        """Those of the suggestions that are chosen."""
        return replace(
            self,
            suggestions=tuple(compress(self.suggestions, chosen)),
            machines=tuple(compress(self.machines, chosen)),
            people=tuple(compress(self.people, chosen)),
            games=tuple(compress(self.games, chosen)),
            moments=tuple(compress(self.moments, chosen)),
            values=self.values[chosen],
        )


def read_opinions(studio: Studio, person: Person | None, chosen: Filter = EVERYTHING) -> Opinions:
    """Read the qualities of the published suggestions that a filter chooses."""
    need_reader(person, chosen)
    about = (
        suggestions.c.id,
        machines.c.name,
        suggestions.c.person_id,
        UNIT,
        suggestions.c.published_at,
    )
    order = (suggestions.c.published_at, suggestions.c.id)
    with studio.snapshot() as db:
        check_filter(db, chosen)
        rows = db.execute(select_published(chosen, *about).order_by(*order)).all()
        values = _read_values(db, chosen, {row.id: place for place, row in enumerate(rows)})
    labels = tuple(label for label, _ in list_columns(chosen))
    which, names_of, people, units, moments = zip(*rows, strict=True) if rows else ((),) * 5
    return Opinions(which, names_of, people, units, moments, labels, values)


def need_reader(person: Person | None, chosen: Filter = EVERYTHING) -> None:
    """Refuse who may not read what others have written; everybody may read of their own, and the
    public is the page's to let in."""
    if person is not None and chosen.author != person.id:
        person.need("researcher")


def list_columns(chosen: Filter) -> list[tuple[str, tuple[str, str]]]:
    """Label, scorer and aspect of each quality; that of a rating has no scorer."""
    user, rouges = kept_metrics()
    rated = [(QUESTIONS[aspect].title, ("", aspect)) for aspect in RATED]
    kept = [(f"ROUGE-{rouge.n}", (rouge.spec, chosen.measure)) for rouge in rouges]
    return [*rated, *kept, ("USER", (user.spec, chosen.measure))]


def _read_values(db: Connection, chosen: Filter, places: Mapping[str, int]) -> Values:
    """Read ratings (the mean of those who rated) and scores: a row for each of the places."""
    columns = [key for _, key in list_columns(chosen)]
    values = np.full((len(places), len(columns)), np.nan)
    # What takes a look at all games and people was chosen by already: others fall through.
    wider = replace(chosen, include_flagged=True, at_least=None, at_most=None)
    # A row of all values of a suggestion: drivers take longer for a row than for a number.
    means = [
        func.avg(case((ratings.c.aspect == aspect, ratings.c.value)))
        for scorer, aspect in columns
        if not scorer
    ]
    scorers = [scorer for scorer, _ in columns if scorer]
    kept = [func.max(case((scores.c.scorer == scorer, scores.c.value))) for scorer in scorers]
    rated = select_published(wider, ratings.c.suggestion_id, *means)
    rated = rated.join(ratings, ratings.c.suggestion_id == suggestions.c.id)
    scored = select_published(wider, scores.c.suggestion_id, *kept)
    scored = scored.join(scores, scores.c.suggestion_id == suggestions.c.id)
    scored = scored.where(scores.c.scorer.in_(scorers), scores.c.aspect == chosen.measure)
    for query, table, where in (
        (rated, ratings, slice(0, len(means))),
        (scored, scores, slice(len(means), None)),
    ):
        for suggestion, *found in db.execute(query.group_by(table.c.suggestion_id)):
            if suggestion in places:
                values[places[suggestion], where] = [np.nan if v is None else v for v in found]
    return values


def count_people(opinions: Opinions) -> dict[float, int]:
    """How many people have at most 1, 5, 10, 20 suggestions, and how many there are."""
    counts = Counter(person for person in opinions.people if person is not None)
    return {most: sum(count <= most for count in counts.values()) for most in CROWDS}


def count_statuses(
    studio: Studio, person: Person | None, chosen: Filter = EVERYTHING
) -> dict[str, Counter[str]]:
    """How many suggestions each machine was asked for, by what became of them.

    Days of the filter choose by publishing, and nothing here, where some were not published.
    """
    need_reader(person, chosen)
    ever = replace(chosen, since=None, until=None)
    query = select_asked(ever, machines.c.name, suggestions.c.status, func.count())
    counts: dict[str, Counter[str]] = {}
    with studio.read() as db:
        for machine, status, count in db.execute(
            query.group_by(machines.c.name, suggestions.c.status)
        ):
            counts.setdefault(machine, Counter())[status] = count
    return counts


def count_sentences(studio: Studio, chosen: Filter = EVERYTHING) -> dict[int, int]:
    """How many published sentences come from the first, second, … sentence of a suggestion.

    Numbers without a word of anybody's: for all, as on STORIUM's dashboard.
    """
    query = (
        select_published(chosen, scores.c.aspect, func.sum(scores.c.value))
        .join(scores, scores.c.suggestion_id == suggestions.c.id)
        .where(scores.c.scorer == KEPT, scores.c.aspect.startswith("sentence:"))
        .group_by(scores.c.aspect)
    )
    with studio.read() as db:
        counts = {int(aspect.partition(":")[2]): int(count) for aspect, count in db.execute(query)}
    return dict(sorted(counts.items()))


def last_change(studio: Studio) -> str:
    """Give a mark that is another whenever what a dashboard shows may be.

    For pages that ask every other second: the ends of three indices, and the last deed in the
    audit log that changes figures of what was published before.
    """
    deeds = select(audit.c.id).where(audit.c.action.in_(_DEEDS)).order_by(audit.c.id.desc())
    newest: list[Any] = [
        select(func.max(suggestions.c.published_at)).scalar_subquery(),
        select(func.max(ratings.c.rated_at)).scalar_subquery(),
        select(func.max(scores.c.id)).scalar_subquery(),
        deeds.limit(1).scalar_subquery(),
    ]
    with studio.read() as db:
        row = db.execute(select(*newest)).one()
    return "|".join("" if value is None else str(value) for value in row)
