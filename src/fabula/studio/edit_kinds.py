"""Of what kind is what people keep of suggestions, counted over an export: no database is needed.

Akoury et al. (2020), section 6, ask which parts of speech and which names authors keep. Here every
kind is a column: so many of it were generated, so many of these were kept. A kind's share is their
ratio over all suggestions, and intervals come of drawing authors (or games) again: suggestions of
one author are not independent of each other.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Literal, NamedTuple

import numpy as np

from fabula.core.protocols import Progress, track
from fabula.core.score import Missing
from fabula.meta.arrays import Values
from fabula.meta.resampling import (
    FEWEST_UNITS,
    Estimate,
    estimate,
    estimate_ratios,
    resample_means,
)
from fabula.metrics.user import User
from fabula.models.reading.tagging import tag_text, tagger_trait
from fabula.text.kept_words import (
    count_tags,
    flag_kept,
    locate_kept,
    match_sentences,
    spell_name,
)
from fabula.text.sentences import split_sentences

Period = Literal["day", "week", "month"]
DrawnUnit = Literal["author", "game"]
EditKind = Literal["suggestions", "words", "names", "known", "sentences", "time", "experience"]
# Where a name stood before: in a character's name, in a card's, elsewhere in the story, nowhere.
ORIGINS = ("character", "card", "text", "new")
# How many suggestions an author had published before and with this one, at most.
_EXPERIENCE = (1, 5, 10, 20, math.inf)
# What lies further back in a suggestion is counted together.
_MOST_SENTENCES = 10
_REVISION = 1


@dataclass(frozen=True)
class Told:
    """What a story held before a suggestion, spelled plainly: names of its characters and of its
    cards, and all texts there were."""

    characters: tuple[str, ...] = ()
    cards: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    def find_origin(self, name: str) -> str:
        """Say where a name comes from; `Captain Mara` and `Mara Voss` are both the one `Mara`."""
        wanted = spell_name(name)
        for origin, names in (("character", self.characters), ("card", self.cards)):
            if any(wanted in known or known in wanted for known in names if known.strip()):
                return origin
        return "text" if any(wanted in text for text in self.texts) else "new"


@dataclass(frozen=True)
class EditedSuggestion:
    """A suggestion, and what was published where it was made; `told` is None where nothing is
    known of the story before it."""

    id: str
    machine: str
    author: str
    game: str
    generated: str
    published: str
    moment: datetime | None = None
    told: Told | None = None


class EditColumn(NamedTuple):
    """What is counted: a name among those of its kind, such as NOUN among words."""

    kind: EditKind
    name: str


_WHOLE = EditColumn("suggestions", "")


@dataclass(frozen=True)
class EditCounts:
    """How many of every column a suggestion has, and how many of them were kept. For suggestions
    themselves, what was kept is USER: the share of their words."""

    edit: EditedSuggestion
    generated: Mapping[EditColumn, float]
    kept: Mapping[EditColumn, float]
    problem: str = ""


@dataclass(frozen=True)
class KindShare:
    """How much of a column was kept: of all machines together (`machine` is empty) or of one.

    `rate` is the share of it that was kept. `of_generated` and `of_kept` are its shares of all
    that is of its kind, and `gain` the second less the first: kept more often than it is written.
    """

    machine: str
    column: EditColumn
    generated: float
    kept: float
    rate: Estimate
    of_generated: Estimate
    of_kept: Estimate
    gain: Estimate


@dataclass(frozen=True)
class EditAnalysis:
    """What was found, and of how much; `signature` says what it depends on."""

    shares: tuple[KindShare, ...]
    machines: Mapping[str, int]
    authors: int
    games: int
    unit: DrawnUnit
    unread: tuple[str, ...]
    signature: str

    def of(self, kind: EditKind, machine: str = "") -> list[KindShare]:
        """Those of a kind, of all machines together or of one."""
        return [
            each for each in self.shares if each.column.kind == kind and each.machine == machine
        ]


def analyse_edits(
    edits: Sequence[EditedSuggestion],
    *,
    unit: DrawnUnit = "author",
    by: Period = "month",
    resamples: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
) -> EditAnalysis:
    """Count what was kept of every suggestion and estimate all shares, over all and by machine."""
    user = User()
    signature = f"{user.signature()}|tagger:{tagger_trait(tags=True)}|unit:{unit}|rev:{_REVISION}"
    counted = _add_time([count_edit(edit, user) for edit in track(edits, progress)], by)
    machines = Counter(edit.machine for edit in edits)
    groups = {"": counted} | {
        name: [each for each in counted if each.edit.machine == name]
        for name in (sorted(machines) if len(machines) > 1 else ())
    }
    shares = [
        share
        for name, part in groups.items()
        for share in _estimate_shares(name, part, unit, resamples, seed)
    ]
    return EditAnalysis(
        tuple(shares),
        dict(sorted(machines.items())),
        len({edit.author for edit in edits}),
        len({edit.game for edit in edits}),
        unit,
        tuple(f"{each.edit.id}: {each.problem}" for each in counted if each.problem),
        signature,
    )


def count_edit(edit: EditedSuggestion, user: User) -> EditCounts:
    """Count what a suggestion holds and what of it was kept.

    A suggestion that cannot be compared, or not be tagged, has no counts of what it would take.
    """
    generated: dict[EditColumn, float] = {}
    kept: dict[EditColumn, float] = {}
    problem = ""
    try:
        value = user.compare(edit.generated, edit.published)
        assert isinstance(value, tuple)
        generated[EditColumn("suggestions", "")], kept[EditColumn("suggestions", "")] = (
            1.0,
            value[-1],
        )
        origins = set(match_sentences(edit.generated, edit.published))
        for place in range(len(split_sentences(edit.generated))):
            column = EditColumn("sentences", str(min(place + 1, _MOST_SENTENCES)))
            generated[column] = generated.get(column, 0.0) + 1.0
            kept[column] = kept.get(column, 0.0) + (place in origins)
        _count_words(edit, user, generated, kept)
    except Missing as missing:
        problem = missing.note
    return EditCounts(edit, generated, kept, problem)


def _count_words(
    edit: EditedSuggestion,
    user: User,
    generated: dict[EditColumn, float],
    kept: dict[EditColumn, float],
) -> None:
    """Add the counts that need a tagger: parts of speech, and names by where they come from."""
    text, tagged = edit.generated, tag_text(edit.generated)
    places = locate_kept(text, edit.published, stop_words=user.left_out)
    kinds = count_tags(text, tagged.words, places)
    generated |= {EditColumn("words", tag): float(count) for tag, count in kinds.generated.items()}
    kept |= {EditColumn("words", tag): float(count) for tag, count in kinds.kept.items()}
    if edit.told is None:
        return
    stays = flag_kept(text, tagged.names, places)
    for (start, stop), is_kept in zip(tagged.names, stays, strict=True):
        origin = edit.told.find_origin(text[start:stop])
        known = "new" if origin == "new" else "known"
        for column in (EditColumn("names", origin), EditColumn("known", known)):
            generated[column] = generated.get(column, 0.0) + 1.0
            kept[column] = kept.get(column, 0.0) + is_kept


def _add_time(counted: Sequence[EditCounts], by: Period) -> list[EditCounts]:
    """Count every suggestion once more by when it was published, and as its author's how manieth.

    Those without a moment are in no period, and come first among those of their author.
    """
    beginning = datetime.min.replace(tzinfo=UTC)
    numbers: Counter[str] = Counter()
    placed = []
    for each in sorted(counted, key=lambda each: each.edit.moment or beginning):
        author, moment = each.edit.author, each.edit.moment
        numbers[author] += 1
        columns = [EditColumn("experience", name_experience(numbers[author]))]
        columns += [EditColumn("time", find_start(moment, by).isoformat())] if moment else []
        if _WHOLE in each.generated:
            ones = dict.fromkeys(columns, 1.0)
            users = dict.fromkeys(columns, each.kept[_WHOLE])
            each = replace(each, generated={**each.generated, **ones}, kept={**each.kept, **users})
        placed.append(each)
    return placed


def name_experience(number: int) -> str:
    """Name the stretch that an author's suggestion of this number belongs to: `1`, `2–5`, …"""
    place = next(place for place, most in enumerate(_EXPERIENCE) if number <= most)
    first = int(_EXPERIENCE[place - 1]) + 1 if place else 1
    last = _EXPERIENCE[place]
    if math.isinf(last):
        return f"{first} and on"
    return str(first) if first == last else f"{first}–{last}"


def find_start(moment: datetime, by: Period) -> date:
    """Give the first day of a moment's period (of UTC; weeks begin on Monday)."""
    day = moment.astimezone(UTC).date()
    if by == "day":
        return day
    return day.replace(day=1) if by == "month" else day - timedelta(days=day.weekday())


def _estimate_shares(
    machine: str, counted: Sequence[EditCounts], unit: DrawnUnit, resamples: int, seed: int
) -> list[KindShare]:
    columns = _order_columns({column for each in counted for column in each.generated})
    generated, kept = (_add_up(counted, side, columns, unit) for side in ("generated", "kept"))
    kinds = [column.kind for column in columns]
    # What all columns of a kind have together stands beside each of them.
    same = np.array([[left == right for right in kinds] for left in kinds], dtype=np.float64)
    all_generated, all_kept = generated @ same, kept @ same  # (units, columns)
    sums = np.hstack([kept, generated, kept])
    sizes = np.hstack([generated, all_generated, all_kept])
    found = estimate_ratios(sums, sizes, resamples=resamples, seed=seed)
    count = len(columns)
    gains = _estimate_gains(sums[:, count:], sizes[:, count:], resamples, seed)
    return [
        KindShare(
            machine,
            column,
            float(generated[:, place].sum()),
            float(kept[:, place].sum()),
            rate=found[place],
            of_generated=found[place + count],
            of_kept=found[place + 2 * count],
            gain=gains[place],
        )
        for place, column in enumerate(columns)
    ]


def _order_columns(columns: Iterable[EditColumn]) -> list[EditColumn]:
    """Order columns by kind: names by their origin, all else by number or name."""

    def place_of(column: EditColumn) -> tuple[str, int, str]:
        if column.kind == "names":
            return column.kind, ORIGINS.index(column.name), ""
        number = column.name.partition("–")[0].partition(" ")[0]
        return column.kind, int(number) if number.isdigit() else 0, column.name

    return sorted(columns, key=place_of)


def _add_up(
    counted: Sequence[EditCounts], side: str, columns: Sequence[EditColumn], unit: DrawnUnit
) -> Values:
    """Add up counts by unit: (units, columns)."""
    rows: dict[str, Values] = defaultdict(lambda: np.zeros(len(columns)))
    for each in counted:
        counts: Mapping[EditColumn, float] = getattr(each, side)
        rows[getattr(each.edit, unit)] += [counts.get(column, 0.0) for column in columns]
    return np.array(list(rows.values())).reshape(len(rows), len(columns))


def _estimate_gains(sums: Values, sizes: Values, resamples: int, seed: int) -> list[Estimate]:
    """Estimate the share of what was kept less that of what was generated, column by column."""
    if not len(sums):
        return []
    count = sums.shape[1] // 2
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = sums.sum(axis=0) / sizes.sum(axis=0)
    draws = resample_means(sums, sizes, resamples, seed)
    values, moved = shares[count:] - shares[:count], draws[:, count:] - draws[:, :count]
    enough = (sizes[:, :count] > 0).sum(axis=0) >= FEWEST_UNITS
    return [
        estimate(float(value), moved[:, place]) if enough[place] else Estimate(float(value))
        for place, value in enumerate(values)
    ]
