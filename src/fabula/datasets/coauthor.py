"""CoAuthor: suggestions of a language model, and which of them a writer took."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard, Preference, ScorerCard
from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.datasets.releases.reading import (
    check_object,
    fit_card,
    get_field,
    get_text,
    get_texts,
    require_file,
)
from fabula.datasets.tables.rows import Row, read_rows
from fabula.datasets.tables.text_file import TextFile

PLACE = "place"
# Characters of the text before a request by which its place is found again, and how much further
# than a suggestion its remains are looked for.
_TAIL, _MARGIN = 40, 200
CARD = DatasetCard(
    title="CoAuthor: choices among suggestions",
    about="Writers at work on a short story asked a language model how to go on, and took one of "
    "up to five suggestions. A story is a suggestion, its prompt is the text before the cursor; "
    "the one that was taken is preferred to each of the others, by its writer (the rater). An "
    "item is a session, `PROMPT:SESSION`; a system is the temperature the model wrote at. "
    "`place` is where a suggestion stood in the list, from 1.",
    licence="none stated",
    citation="Lee, Liang and Yang (2022). CoAuthor: Designing a human-AI collaborative writing "
    "dataset for exploring language model capabilities. CHI, article 388.",
    source="CoAuthor v1.0, the creative part",
    files={
        "requests.jsonl": "session, t, cursor, context, suggestions (1 to 5), chosen (which, from "
        "0, or null)",
        "sessions.jsonl": "session, worker, prompt_code, prompt, final, meta (temperature, …)",
    },
    checksums={
        "requests.jsonl": "2bc570058d64f7acea04741976573f1299b3790091a447036a60990df22e1b9d",
        "sessions.jsonl": "5afcc1fd1d66ce1c29536e07702fccf43325fddf3988db315dd8e5176abe8dc1",
    },
    counts={"stories": 35_269, "items": 816, "systems": 2, "scores": 35_269, "pairs": 27_340},
    quirks=(
        "Of 10,650 requests 2,515 ended without a choice; they and those with one suggestion make "
        "no pair and are left out.",
        "The first of a list is taken far more often than any other: the earlier of two wins 69 % "
        "of the pairs. A metric has to be held against `place`, or with places apart.",
        "The text before a later request of a session holds what was taken before. Part data by "
        "item, better by the prompt before the colon, or by rater; never by request.",
        "57 writers; one of them made a sixth of the choices.",
        "A suggestion is 12 words, up to the end of a sentence or of what the model may write. It "
        "may go on in the middle of a word or sentence (`'s late.`), and blanks before it are "
        "lost.",
        "The same suggestion twice in a list is one story, at its first place.",
        "Writers are the release's pseudonyms. `meta` holds their identifiers on the platform, "
        "which are not read.",
    ),
)


@dataclass(frozen=True)
class _Session:
    """What all requests of a session share."""

    item: str
    writer: str
    system: str
    final: str


@dataclass(frozen=True)
class TakenSuggestion:
    """A suggestion that was taken, when, and what stands there in the text as it was at last."""

    id: str
    session: str
    writer: str
    system: str
    before: str
    text: str
    left: str
    moment: datetime


@dataclass(frozen=True)
class _Request:
    """Different suggestions with their places in the list, by text, and which was taken."""

    prompt: str
    places: dict[str, int]
    taken: str


def load(path: Path | None = None) -> Dataset:
    """Load the suggestions of every request that ended in a choice between several."""
    folder = path.parent if path is not None and path.is_file() else path
    files = [require_file(folder, name) for name in ("requests.jsonl", "sessions.jsonl")]
    sessions = _read_sessions(files[1])
    numbers: Counter[str] = Counter()
    stories: list[Story] = []
    scores: list[Score] = []
    preferences: list[Preference] = []
    for session, request in _read_requests(files[0], sessions):
        numbers[session.item] += 1
        asked = f"{session.item}/{numbers[session.item]}"
        ids = {text: f"{asked}.{place}" for text, place in request.places.items()}
        for text, name in ids.items():
            context = request.prompt or None
            stories.append(Story(name, text, context, system=session.system, item=session.item))
            scores.append(Score(name, PLACE, "", float(request.places[text])))
        taken = ids.pop(request.taken)
        preferences += (Preference(taken, other, session.writer) for other in ids.values())
    return Dataset(
        "coauthor",
        fit_card(CARD, *files),
        tuple(stories),
        scores=ScoreTable(stories, scores),
        scorers={PLACE: ScorerCard("baseline", "lower")},
        preferences=tuple(preferences),
    )


def list_taken(path: Path | None = None) -> Iterator[TakenSuggestion]:
    """Go through all suggestions that were taken, of one or of several, in the order of the file.

    What became of one is looked for where the text before it ends, over twice its length and some
    more: further on a word of it would be found by chance.
    """
    folder = path.parent if path is not None and path.is_file() else path
    files = [require_file(folder, name) for name in ("requests.jsonl", "sessions.jsonl")]
    sessions = _read_sessions(files[1])
    for number, (where, row) in enumerate(read_rows(files[0]), 1):
        name = get_text(row, "session", where)
        session, request = _find_session(sessions, name, where), _read_request(row, where)
        if request is None:
            continue
        start = _find_end(session.final, request.prompt, row["cursor"])
        stop = start + 2 * len(request.taken) + _MARGIN
        yield TakenSuggestion(
            f"{session.item}/{number}",
            session.item,
            session.writer,
            session.system,
            request.prompt,
            request.taken,
            session.final[start:stop],
            _read_moment(row, where),
        )


def _find_end(final: str, before: str, cursor: int) -> int:
    """Say where the text before a request ends in what became of it: near the cursor."""
    tail = before[-_TAIL:]
    places = [match.end() for match in re.finditer(re.escape(tail), final)] if tail else []
    return min(places, key=lambda place: abs(place - cursor), default=max(0, cursor - _MARGIN))


def _read_moment(row: Row, where: str) -> datetime:
    stamp = get_field(row, "t", where)
    if type(stamp) is not int or stamp < 0:
        raise InputError(f"{where}: t {stamp!r} is no time", "give milliseconds since 1970")
    return datetime.fromtimestamp(stamp / 1000, UTC)


def _find_session(sessions: dict[str, _Session], name: str, where: str) -> _Session:
    if name not in sessions:
        raise InputError(f"{where}: no session {name!r} in sessions.jsonl", "fetch both again")
    return sessions[name]


def _read_sessions(file: TextFile) -> dict[str, _Session]:
    sessions: dict[str, _Session] = {}
    for where, row in read_rows(file):
        name, writer, code = (
            get_text(row, field, where) for field in ("session", "worker", "prompt_code")
        )
        if name in sessions:
            raise InputError(f"{where}: session {name!r} has a row already", "keep one of the two")
        meta = check_object(get_field(row, "meta", where), f"{where}, meta")
        temperature = str(get_field(meta, "temperature", f"{where}, meta"))
        final, system = str(row.get("final") or ""), f"temperature {temperature}"
        sessions[name] = _Session(f"{code}:{name}", writer, system, final)
    return sessions


def _read_requests(
    file: TextFile, sessions: dict[str, _Session]
) -> Iterator[tuple[_Session, _Request]]:
    """Go through the requests with a choice between several suggestions."""
    for where, row in read_rows(file):
        session = _find_session(sessions, get_text(row, "session", where), where)
        request = _read_request(row, where)
        if request and len(request.places) > 1:
            yield session, request


def _read_request(row: Row, where: str) -> _Request | None:
    """Read a request; None where nothing was taken."""
    suggestions = get_texts(row, "suggestions", where)
    chosen, cursor = row.get("chosen"), get_field(row, "cursor", where)
    if chosen is None:
        return None
    if type(chosen) is not int or chosen not in range(len(suggestions)):
        problem = f"{where}: chosen {chosen!r} is none of {len(suggestions)} suggestions"
        raise InputError(problem, "count from 0; null where nothing was taken")
    if type(cursor) is not int or cursor < 0:
        raise InputError(f"{where}: cursor {cursor!r} is no place in the text", "mend it")
    texts = [text.strip() for text in suggestions]
    places: dict[str, int] = {}
    for place, text in enumerate(texts, 1):
        places.setdefault(text, place)
    return _Request(get_text(row, "context", where)[:cursor].strip(), places, texts[chosen])
