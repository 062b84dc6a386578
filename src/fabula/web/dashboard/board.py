"""All parts of the dashboard, for one viewer and one filter, kept until something changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

from fabula.core.errors import InputError
from fabula.studio.database import Studio
from fabula.studio.edit_kinds import Period
from fabula.studio.filters import Filter
from fabula.studio.findings import (
    compare_machines,
    correlate_qualities,
    describe_machines,
    follow_quality,
)
from fabula.studio.flags import FlaggedGame, flag_games
from fabula.studio.kept_words import read_kept_words
from fabula.studio.people import Person
from fabula.studio.printed import printed_figures
from fabula.studio.quality import (
    count_people,
    count_sentences,
    count_statuses,
    last_change,
    read_opinions,
)
from fabula.web.dashboard.correlations import show_correlations
from fabula.web.dashboard.kept import show_names, show_words
from fabula.web.dashboard.live import spell_mark
from fabula.web.dashboard.machines import (
    show_differences,
    show_qualities,
    show_ratings,
    show_time,
    show_user,
)
from fabula.web.dashboard.parts import MEASURES, Part
from fabula.web.dashboard.writing import (
    show_flagged,
    show_people,
    show_sentences,
    show_statuses,
)

# Boards that are kept: of so many filters and viewers.
MOST_BOARDS = 24
_PERIODS: tuple[Period, ...] = ("day", "week", "month")


@dataclass(frozen=True)
class Question:
    """What is asked of the dashboard: the filter, who asks (None: the public), what is followed
    over time, and whether printed figures stand beside. All researchers are answered the same."""

    chosen: Filter
    person: Person | None = field(compare=False)
    is_researcher: bool = False
    quality: str = "USER"
    by: Period | None = None
    beside: bool = False


@dataclass(frozen=True)
class Board:
    """What is answered. `mark` is that of the studio when it was read."""

    mark: str
    made_at: datetime
    suggestions: int
    machines: int
    games: int
    people: int
    labels: tuple[str, ...]
    by: Period
    parts: tuple[Part, ...] = field(repr=False)
    flagged: tuple[FlaggedGame, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show, not even games that were left out."""
        return not self.suggestions and not self.flagged

    def find(self, name: str) -> Part | None:
        """The part of a name, if there is one."""
        return next((part for part in self.parts if part.name == name), None)


class Boards:
    """Boards of the process: each is made once, for as long as the studio is as it was."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self._kept: OrderedDict[Question, Board] = OrderedDict()
        # Who asks while a board is made waits for it, and does not make another.
        self._lock = threading.Lock()

    def get(self, question: Question) -> Board:
        """Give the board of a question."""
        mark = spell_mark(last_change(self._studio))
        with self._lock:
            kept = self._kept.get(question)
            if kept is None or kept.mark != mark:
                kept = self._kept[question] = read_board(self._studio, question, mark)
            self._kept.move_to_end(question)
            while len(self._kept) > MOST_BOARDS:
                self._kept.popitem(last=False)
        # What is asked for and fails does not change what was published, and no mark tells of it.
        statuses = read_statuses(self._studio, question)
        parts = (statuses if part.name == statuses.name else part for part in kept.parts)
        return replace(kept, parts=tuple(parts))


def read_board(studio: Studio, question: Question, mark: str) -> Board:
    """Read all figures of the studio that a question is about."""
    chosen, person = question.chosen, question.person
    opinions = read_opinions(studio, person, chosen)
    if question.quality not in opinions.labels:
        raise InputError(
            f"quality: there is no quality {question.quality!r}",
            f"take {', '.join(opinions.labels)}",
        )
    printed = printed_figures() if question.beside else None
    described = describe_machines(opinions)
    by = question.by or choose_period([moment.date() for moment in opinions.moments])
    measure = MEASURES[chosen.measure]
    # Which games these are is for researchers.
    flagged = flag_games(studio, person, chosen) if person and question.is_researcher else []
    kept = read_kept_words(studio, person, chosen)
    parts = [
        show_user(described, measure, printed),
        show_ratings(described, printed),
        show_qualities(described, opinions.labels, printed),
        show_differences(compare_machines(opinions), list(described)),
        show_time(follow_quality(opinions, question.quality, by), question.quality, by),
        show_sentences(count_sentences(studio, chosen)),
        show_words(kept, printed),
        show_names(kept, printed),
        *([] if chosen.author else [show_people(count_people(opinions))]),
        read_statuses(studio, question),
        show_correlations(correlate_qualities(opinions), opinions.labels, printed),
        *([show_flagged(flagged)] if question.is_researcher else []),
    ]
    return Board(
        mark, datetime.now(UTC), len(opinions.suggestions), len(described),
        len(set(opinions.games)), len({name for name in opinions.people if name}),
        opinions.labels, by, tuple(parts), tuple(flagged),
    )  # fmt: skip


def read_statuses(studio: Studio, question: Question) -> Part:
    """Read what became of requests, as it is now."""
    return show_statuses(count_statuses(studio, question.person, question.chosen))


def choose_period(days: list[date]) -> Period:
    """Choose periods of which there are a few, and not too many."""
    if not days:
        return "week"
    span = (max(days) - min(days)).days
    return "day" if span <= 14 else "week" if span <= 182 else "month"


def read_period(text: str) -> Period | None:
    """Read how time is cut; nothing leaves it to what there is."""
    if not text:
        return None
    for period in _PERIODS:
        if text == period:
            return period
    raise InputError(f"by: there is no period {text!r}", f"take {', '.join(_PERIODS)}")
