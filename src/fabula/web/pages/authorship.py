"""Who wrote it: shares of person, machine and machine-then-edited text, of a draft and of a game,
as bars, tables and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from fabula.reports.figures.bars import Bar, draw_bars
from fabula.reports.figures.drawing import NARROW, make_standalone
from fabula.reports.numbers import number_text
from fabula.reports.tables import csv_text
from fabula.studio.authorship import (
    ORIGINS,
    Origin,
    Shares,
    count_characters,
    count_words,
    share_counts,
)
from fabula.studio.drafts import Draft, read_draft
from fabula.studio.film import Origins, read_origins, read_place
from fabula.studio.shares import Counts, GameCounts, count_game
from fabula.studio.suggestions import Suggestion, list_suggestions
from fabula.web.identity import Id, Reader
from fabula.web.pages import make_page_router, show

router = make_page_router()

WORDS = {"person": "person", "edited": "machine, then edited", "machine": "machine"}
# Of the colours of figures those that the marks of a text have: blue, green, and grey for people.
_SERIES = {WORDS["person"]: 7, WORDS["edited"]: 2, WORDS["machine"]: 0}
_WIDE = 720
# Of a game's figure; the table has them all.
_MOST_AUTHORS = 20
ENTRIES_A_PAGE = 100
_GONE = "somebody who has left"


@dataclass(frozen=True)
class ShareRow:
    """A row of a table of shares: what it is of, how much there is, and parts as they read."""

    label: str
    n: int
    counts: Mapping[Origin, int]
    texts: Mapping[Origin, str]


def make_share_row(label: str, shares: Shares) -> ShareRow:
    """Make a row of shares."""
    counts = {origin: round(getattr(shares, origin) * shares.n) if shares.n else 0
              for origin in ORIGINS}  # fmt: skip
    texts = {origin: percent_text(getattr(shares, origin)) for origin in ORIGINS}
    return ShareRow(label, shares.n, counts, texts)


def percent_text(share: float) -> str:
    """Write a share; a dash where there is none."""
    text = number_text(100 * share, 1)
    return f"{text} %" if share == share else text


def _make_bar(label: str, shares: Shares) -> Bar:
    parts = {word: 100 * getattr(shares, origin) for origin, word in WORDS.items()}
    return Bar(label, parts, note="" if shares.n else "no text")


def draw_shares(rows: Sequence[Bar], title: str, width: int = _WIDE) -> str:
    """Draw rows of shares as bars."""
    return draw_bars(
        rows, title=title, x_label="%", high=100, decimals=1, width=width, series=_SERIES,
        totals=False,
    )  # fmt: skip


def _answer_file(text: str, name: str) -> Response:
    kind = "image/svg+xml" if name.endswith(".svg") else "text/csv; charset=utf-8"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=kind, headers=headers)


def _share_draft(draft: Draft) -> dict[str, Shares]:
    return {
        "characters": share_counts(count_characters(draft.marks)),
        "words": share_counts(count_words(draft.text, draft.marks)),
    }


@dataclass(frozen=True)
class TextPart:
    """A passage as it stands in the text, with what is said of it."""

    text: str
    origin: str
    words: str
    suggestion: int | None
    began_at: str
    ended_at: str


def _cut_text(text: str, origins: Origins, numbers: Mapping[str, int]) -> list[TextPart]:
    return [
        TextPart(
            text[part.start : part.stop],
            part.origin,
            WORDS[part.origin],
            numbers.get(part.suggestion_id or ""),
            part.began_at.isoformat(timespec="seconds"),
            part.ended_at.isoformat(timespec="seconds"),
        )
        for part in origins.passages
    ]


def _count_kept(draft: Draft, suggestions: Sequence[Suggestion]) -> list[tuple[int, int]]:
    """Characters of each suggestion that stand as it had them, and that stand rewritten."""
    return [
        (
            sum(run.length for run in draft.marks if run[1:3] == ("machine", suggestion.id)),
            sum(run.length for run in draft.marks if run[1:3] == ("edited", suggestion.id)),
        )
        for suggestion in suggestions
    ]


@router.get("/drafts/{draft_id}/authorship")
def show_draft(call: Reader, draft_id: Id) -> Response:
    """Show who wrote a draft, and when."""
    place = read_place(call.studio, call.person, draft_id)
    origins = read_origins(call.studio, call.person, draft_id)
    asked = list_suggestions(call.studio, call.person, draft_id)
    shares = _share_draft(place.draft)
    bars = [_make_bar(label, part) for label, part in shares.items()]
    title = "Shares of characters and of words, in per cent"
    return show(
        call,
        "authorship.html",
        place=place,
        rows=[make_share_row(label, part) for label, part in shares.items()],
        figures={"wide": draw_shares(bars, title), "narrow": draw_shares(bars, title, NARROW)},
        origins=WORDS,
        parts=_cut_text(
            place.draft.text, origins, {one.id: number for number, one in enumerate(asked, 1)}
        ),
        sittings=list(zip(origins.sittings, origins.moments, strict=True)),
        suggestions=list(zip(asked, _count_kept(place.draft, asked), strict=True)),
    )


@router.get("/drafts/{draft_id}/authorship.csv")
def send_draft_table(call: Reader, draft_id: Id) -> Response:
    """Send the shares of a draft as CSV."""
    head = ["of", "n", *(f"{origin}_{what}" for what in ("n", "share") for origin in ORIGINS)]
    rows = []
    for label, shares in _share_draft(read_draft(call.studio, call.person, draft_id)).items():
        counts = make_share_row(label, shares).counts
        parts = [getattr(shares, origin) for origin in ORIGINS]
        rows.append([label, shares.n, *counts.values(), *(parts if shares.n else [None] * 3)])
    return _answer_file(csv_text(head, rows), "authorship.csv")


@router.get("/drafts/{draft_id}/authorship.svg")
def send_draft_figure(call: Reader, draft_id: Id) -> Response:
    """Send the shares of a draft as a figure."""
    shares = _share_draft(read_draft(call.studio, call.person, draft_id))
    bars = [_make_bar(label, part) for label, part in shares.items()]
    figure = draw_shares(bars, "Shares of characters and of words, in per cent")
    return _answer_file(make_standalone(figure), "authorship.svg")


def _draw_game(counted: GameCounts, width: int = _WIDE) -> str:
    rows = [("all", counted.total)]
    rows += [(one.name or _GONE, one.counts) for one in counted.authors[:_MOST_AUTHORS]]
    bars = [_make_bar(label, counts.share()[1]) for label, counts in rows]
    return draw_shares(bars, "Shares of words, in all and by author, in per cent", width)


def _make_words_row(label: str, counts: Counts | None) -> ShareRow:
    return make_share_row(label, (counts or Counts()).share()[1])


@router.get("/games/{game_id}/authorship")
def show_game(
    call: Reader, game_id: Id, page: Annotated[int, Query(ge=1, le=1_000_000)] = 1
) -> Response:
    """Show whose words a game is made of."""
    counted = count_game(call.studio, call.person, game_id)
    pages = max(1, -(-len(counted.entries) // ENTRIES_A_PAGE))
    page = min(page, pages)
    names = {one.author_id: one.name for one in counted.authors}
    shown = counted.entries[(page - 1) * ENTRIES_A_PAGE : page * ENTRIES_A_PAGE]
    is_researcher = call.person.may("researcher")
    return show(
        call,
        "game_authorship.html",
        game=counted.game,
        unknown=counted.unknown,
        total=_make_words_row("all", counted.total),
        authors=[(one, _make_words_row(one.name or _GONE, one.counts)) for one in counted.authors],
        figures={"wide": _draw_game(counted), "narrow": _draw_game(counted, NARROW)},
        origins=WORDS,
        entries=[
            (
                entry,
                _make_words_row(names.get(entry.author_id, "") or _GONE, entry.counts),
                # To whom the draft is there.
                entry.draft_id and (is_researcher or entry.author_id == call.person.id),
            )
            for entry in shown
        ],
        number=len(counted.entries),
        page=page,
        pages=pages,
    )


@router.get("/games/{game_id}/authorship.csv")
def send_game_table(call: Reader, game_id: Id) -> Response:
    """Send the counts of every entry of a game as CSV; of whom nobody knows the cells are empty."""
    counted = count_game(call.studio, call.person, game_id)
    names = {one.author_id: one.name for one in counted.authors}
    head = ["entry", "scene", "format", "character", "author", "published_at"]
    head += [f"{what}_{origin}" for what in ("characters", "words") for origin in ORIGINS]
    rows = []
    for entry in counted.entries:
        what = [entry.seq_id, entry.scene, entry.format, entry.character]
        what += [names.get(entry.author_id, ""), entry.published_at.isoformat()]
        counts = entry.counts
        numbers = [kind[origin] for kind in (counts.characters, counts.words) for origin in ORIGINS
                   ] if counts else [None] * 6  # fmt: skip
        rows.append([*what, *numbers])
    return _answer_file(csv_text(head, rows), "authorship.csv")


@router.get("/games/{game_id}/authorship.svg")
def send_game_figure(call: Reader, game_id: Id) -> Response:
    """Send the shares of a game as a figure."""
    counted = count_game(call.studio, call.person, game_id)
    return _answer_file(make_standalone(_draw_game(counted)), "authorship.svg")
