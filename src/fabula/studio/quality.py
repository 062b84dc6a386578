"""How good machines are: what authors say of their suggestions, and what they kept of them.

Eleven qualities of every suggestion whose entry was published: four ratings, ROUGE and USER. A
page prints what these functions give. Games that were excluded (those of machine text alone, say)
are left out; what is missing is NaN and counts nowhere.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from itertools import combinations, compress
from typing import Any, Literal, get_args

import numpy as np
from sqlalchemy import ColumnElement, Connection, Select, func, or_, select

from fabula.core.errors import InputError
from fabula.meta.coefficients import pearson
from fabula.meta.distributions import t_tail
from fabula.studio.database import Studio
from fabula.studio.kept import KEPT, kept_metrics
from fabula.studio.people import Person
from fabula.studio.ratings import QUESTIONS
from fabula.studio.tables import games, machines, ratings, scores, suggestions
from fabula.text.diff import matching_blocks

Measure = Literal["precision", "recall", "f"]
Values = np.ndarray[Any, np.dtype[np.float64]]
RATED = tuple(QUESTIONS)
# Most people write little: how many suggestions people have, at most.
CROWDS = (1.0, 5.0, 10.0, 20.0, math.inf)
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Opinions:
    """Suggestions, the machine and the person of each, and `values`: a row for a suggestion, a
    column for a quality of `labels`."""

    suggestions: tuple[str, ...]
    machines: tuple[str, ...]
    people: tuple[str | None, ...]
    labels: tuple[str, ...]
    values: Values  # (suggestions, labels)

    def of(self, machine: str) -> Opinions:
        """Those of one machine."""
        chosen = [name == machine for name in self.machines]
        return Opinions(
            tuple(compress(self.suggestions, chosen)),
            tuple(compress(self.machines, chosen)),
            tuple(compress(self.people, chosen)),
            self.labels,
            self.values[np.array(chosen, dtype=bool)],
        )


@dataclass(frozen=True)
class QualityCell:
    """Mean and standard deviation of what is there; NaN below one and below two values."""

    n: int
    mean: float
    deviation: float


@dataclass(frozen=True)
class Correlation:
    """Pearson's r of two qualities over the `n` suggestions that have both; p against none."""

    left: str
    right: str
    r: float
    p: float
    n: int


@dataclass(frozen=True)
class DiffBlock:
    """A part of what was published (`kept`, `neutral`: kept, but of stop words alone, `added`)
    or of what was suggested (`deleted`)."""

    kind: Literal["kept", "neutral", "added", "deleted"]
    text: str


def read_opinions(
    studio: Studio,
    person: Person,
    *,
    measure: Measure = "precision",
    status: str | None = None,
) -> Opinions:
    """Read the qualities of all published suggestions; `status` chooses machines by theirs."""
    person.need("researcher")
    columns = _columns(measure)
    with studio.read() as db:
        rows = db.execute(
            select_published(
                suggestions.c.id, machines.c.name, suggestions.c.person_id, status=status
            ).order_by(suggestions.c.asked_at, suggestions.c.id)
        ).all()
        places = {row.id: place for place, row in enumerate(rows)}
        values = np.full((len(rows), len(columns)), np.nan)
        names = {key: column for column, (_, key) in enumerate(columns)}
        for suggestion, scorer, aspect, value in _read_values(db, measure, status):
            if suggestion in places and (scorer, aspect) in names:
                values[places[suggestion], names[scorer, aspect]] = value
    labels = tuple(label for label, _ in columns)
    which, machine, people = zip(*rows, strict=True) if rows else ((), (), ())
    return Opinions(tuple(which), tuple(machine), tuple(people), labels, values)


def _columns(measure: Measure) -> list[tuple[str, tuple[str, str]]]:
    """Label, scorer and aspect of each quality; that of a rating has no scorer."""
    if measure not in get_args(Measure):
        raise InputError(f"there is no measure {measure!r}", f"take {', '.join(get_args(Measure))}")
    user, rouges = kept_metrics()
    rated = [(QUESTIONS[aspect].title, ("", aspect)) for aspect in RATED]
    kept = [(f"ROUGE-{rouge.n}", (rouge.spec, measure)) for rouge in rouges]
    return [*rated, *kept, ("USER", (user.spec, measure))]


def select_published(*columns: ColumnElement[Any], status: str | None) -> Select[Any]:
    """Ask for suggestions that were published in games that are not excluded."""
    query = (
        select(*columns)
        .select_from(suggestions)
        .join(machines, machines.c.id == suggestions.c.machine_id)
        .outerjoin(games, games.c.id == suggestions.c.game_id)
        .where(suggestions.c.published.is_not(None), suggestions.c.status == "done")
        .where(or_(games.c.id.is_(None), games.c.is_excluded.is_(False)))
    )
    return query.where(machines.c.status == status) if status is not None else query


def _read_values(
    db: Connection, measure: Measure, status: str | None
) -> list[tuple[str, str, str, float]]:
    """Ratings (the mean of those who rated) and scores, with suggestion, scorer and aspect."""
    rated = (
        select_published(
            ratings.c.suggestion_id, ratings.c.aspect, func.avg(ratings.c.value), status=status
        )
        .join(ratings, ratings.c.suggestion_id == suggestions.c.id)
        .where(ratings.c.value.is_not(None))
        .group_by(ratings.c.suggestion_id, ratings.c.aspect)
    )
    columns = (scores.c.suggestion_id, scores.c.scorer, scores.c.aspect, scores.c.value)
    scored = (
        select_published(*columns, status=status)
        .join(scores, scores.c.suggestion_id == suggestions.c.id)
        .where(scores.c.aspect == measure, scores.c.value.is_not(None))
    )
    read = [(row[0], "", row[1], float(row[2])) for row in db.execute(rated)]
    return read + [(row[0], row[1], row[2], float(row[3])) for row in db.execute(scored)]


def describe_machines(opinions: Opinions) -> dict[str, dict[str, QualityCell]]:
    """Give mean, standard deviation and number of every quality, machine by machine."""
    return {
        machine: describe_qualities(opinions.of(machine))
        for machine in sorted(set(opinions.machines))
    }


def describe_qualities(opinions: Opinions) -> dict[str, QualityCell]:
    """Give mean, standard deviation and number of every quality."""
    cells = {}
    for label, column in zip(opinions.labels, opinions.values.T, strict=True):
        there = column[~np.isnan(column)]
        mean = float(there.mean()) if len(there) else math.nan
        deviation = float(there.std(ddof=1)) if len(there) > 1 else math.nan
        cells[label] = QualityCell(len(there), mean, deviation)
    return cells


def count_people(opinions: Opinions) -> dict[float, int]:
    """How many people have at most 1, 5, 10, 20 suggestions, and how many there are."""
    counts = Counter(person for person in opinions.people if person is not None)
    return {most: sum(count <= most for count in counts.values()) for most in CROWDS}


def correlate_qualities(opinions: Opinions) -> list[Correlation]:
    """Correlate each quality with each, over the suggestions that have both."""
    pairs = []
    for left, right in combinations(range(len(opinions.labels)), 2):
        both = opinions.values[:, (left, right)]
        both = both[~np.isnan(both).any(axis=1)]
        r = float(pearson(both[:, 0], both[:, 1])) if len(both) > 1 else math.nan
        names = opinions.labels[left], opinions.labels[right]
        pairs.append(Correlation(*names, r, _find_p(r, len(both)), len(both)))
    return pairs


def _find_p(r: float, n: int) -> float:
    """Two-sided p of Pearson's r by Student's t with n - 2 degrees of freedom."""
    if n < 3 or math.isnan(r):
        return math.nan
    if abs(r) == 1:
        return 0.0
    t = np.float64(abs(r) * math.sqrt((n - 2) / (1 - r * r)))
    return 2 * float(t_tail(t, n - 2))


def count_statuses(studio: Studio, person: Person) -> dict[str, Counter[str]]:
    """How many suggestions each machine was asked for, by what became of them."""
    person.need("researcher")
    query = (
        select(machines.c.name, suggestions.c.status, func.count())
        .join(suggestions, suggestions.c.machine_id == machines.c.id)
        .group_by(machines.c.name, suggestions.c.status)
    )
    counts: dict[str, Counter[str]] = {}
    with studio.read() as db:
        for machine, status, count in db.execute(query):
            counts.setdefault(machine, Counter())[status] = count
    return counts


def count_sentences(
    studio: Studio, *, machine: str | None = None, status: str | None = None
) -> dict[int, int]:
    """How many published sentences come from the first, second, … sentence of a suggestion.

    Numbers without a word of anybody's: for all, as on STORIUM's dashboard.
    """
    query = (
        select_published(scores.c.aspect, func.sum(scores.c.value), status=status)
        .join(scores, scores.c.suggestion_id == suggestions.c.id)
        .where(scores.c.scorer == KEPT, scores.c.aspect.startswith("sentence:"))
        .group_by(scores.c.aspect)
    )
    if machine is not None:
        query = query.where(machines.c.name == machine)
    with studio.read() as db:
        counts = {int(aspect.partition(":")[2]): int(count) for aspect, count in db.execute(query)}
    return dict(sorted(counts.items()))


def diff_suggestion(generated: str, published: str) -> list[DiffBlock]:
    """Lay a suggestion and what was published side by side, in the blocks of USER.

    The blocks that are not deleted are, one after the other, the published text.
    """
    left_out = kept_metrics()[0].left_out
    (words, left_at), (others, right_at) = _locate(generated), _locate(published)
    diff: list[DiffBlock] = []
    left = right = 0
    for block in matching_blocks(words, others, autojunk=False):
        kept, end = words[block.left : block.left + block.size], block.right + block.size
        diff += [
            DiffBlock("deleted", generated[left_at[left] : left_at[block.left]]),
            DiffBlock("added", published[right_at[right] : right_at[block.right]]),
            DiffBlock(
                "neutral" if left_out.issuperset(kept) else "kept",
                published[right_at[block.right] : right_at[end]],
            ),
        ]
        left, right = block.left + block.size, end
    diff += [
        DiffBlock("deleted", generated[left_at[left] :]),
        DiffBlock("added", published[right_at[right] :]),
    ]
    return [block for block in diff if block.text]


def _locate(text: str) -> tuple[list[str], list[int]]:
    """Words, and where each begins with what stands before the first; at last the end."""
    found = list(_WORD.finditer(text))
    starts = [0, *(match.start() for match in found[1:]), len(text)]
    return [match[0].lower() for match in found], starts
