"""A studio full of published suggestions, written into its tables at once.

They are what publishing leaves behind: entries, drafts with marks, suggestions with real scores,
ratings, comments. Texts are made of a few hundred words; the same seed gives the same studio.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from sqlalchemy import Table, insert

from fabula.core.score import Score
from fabula.studio.authorship import Run, plain_marks
from fabula.studio.database import Studio
from fabula.studio.kept import KEPT_WORDS, score_suggestion
from fabula.studio.people import Person
from fabula.studio.publishing import write_scores
from fabula.studio.ratings import COMMENT, QUESTIONS
from fabula.studio.tables import (
    characters,
    drafts,
    entries,
    games,
    members,
    new_id,
    ratings,
    scenes,
    suggestions,
)
from fakes.studio_people import put_person
from fakes.studio_writing import put_machine

# As many different pairs of texts are scored; suggestions take turns with them.
_PAIRS = 25
_NAMES = ("Mara", "Tobin", "Aldermoor", "Captain Voss", "Lord Hale", "Brindle")
_TAGS = {
    "NOUN": 0.25, "VERB": 0.2, "DET": 0.12, "ADP": 0.12, "PROPN": 0.1, "PRON": 0.08, "ADJ": 0.07,
    "ADV": 0.06, "AUX": 0.05, "CCONJ": 0.04, "PART": 0.03,
}  # fmt: skip
_WORDS = (
    "the a of to and in was with her his ferry river lantern wolves snow crossed grey old burned "
    "waited harbour rope quietly door opened night road salt mountain voice blade hand looked "
    "slowly under bridge horses stone water dark light ran fell stood wind cold every heard"
).split()


_TABLES = (games, members, scenes, characters, drafts, entries, suggestions, ratings)
Rows = dict[Table, list[dict[str, object]]]


@dataclass(frozen=True)
class Many:
    """Who may look at it, who wrote, and in which games."""

    researcher: Person
    people: tuple[Person, ...]
    games: tuple[str, ...]
    suggestions: tuple[str, ...]


def add_many(
    studio: Studio,
    count: int = 1000,
    *,
    machines: tuple[str, ...] = ("topk", "nucleus"),
    people: int = 20,
    games_of: int = 10,
    begin: datetime = datetime(2024, 1, 1, tzinfo=UTC),
    seed: int = 0,
) -> Many:
    """Publish so many suggestions, `games_of` of them in a game, one every three hours.

    Machines take turns game by game; the first is the better. Two in three are rated.
    """
    rng = random.Random(seed)
    named = {name: put_machine(studio, name, status="active") for name in machines}
    researcher = put_person(studio, f"researcher{seed}", "researcher", "author")
    writers = tuple(put_person(studio, f"writer{seed}-{place}") for place in range(people))
    rows: Rows = {table: [] for table in _TABLES}
    scored: list[Score] = []
    for place in range(count):
        number, seq_id = divmod(place, games_of)
        if seq_id == 0:
            # Some write much and most write little, as people do.
            author = writers[min(int(rng.expovariate(6 / people)), people - 1)]
            _add_game(rows, number, author)
        machine = number % len(machines)
        moment = begin + timedelta(hours=3 * place)
        texts = _make_pair(rng.randrange(_PAIRS), machine)
        which = _add_entry(rows, author, seq_id + 1, texts, moment)
        rows[suggestions][-1]["machine_id"] = named[machines[machine]]
        scored += [replace(each, story=which) for each in _score_pair(*texts)]
        scored += _count_words(which, rng)
        if rng.random() < 2 / 3:
            _add_ratings(rows[ratings], rng, which, author, machine, moment)
    _write(studio, rows, scored)
    ids = [tuple(str(row["id"]) for row in rows[table]) for table in (games, suggestions)]
    return Many(researcher, writers, ids[0], ids[1])


def _write(studio: Studio, rows: Rows, scored: list[Score]) -> None:
    with studio.write() as db:
        for table, values in rows.items():
            if values:
                db.execute(insert(table), values)
        write_scores(db, scored)


def _add_game(rows: Rows, number: int, owner: Person) -> None:
    game = new_id()
    title = f"The salt road, part {number + 1}"
    rows[games].append({"id": game, "pid": game, "owner_id": owner.id, "title": title})
    rows[members].append({"game_id": game, "person_id": owner.id, "part": "narrator"})
    rows[scenes].append({"id": new_id(), "game_id": game, "number": 1, "title": "At the ferry"})
    rows[characters].append({"id": new_id(), "game_id": game, "seq_id": 1, "name": "Mara"})


def _add_entry(
    rows: Rows, author: Person, seq_id: int, texts: tuple[str, str], moment: datetime
) -> str:
    generated, published = texts
    draft, entry, which = new_id(), new_id(), new_id()
    game = rows[games][-1]["id"]
    place = {"game_id": game, "scene_id": rows[scenes][-1]["id"]}
    half = Run(len(published) // 2, "machine", which)
    marks = plain_marks((half, Run(len(published) - half.length, "person")))
    rows[drafts].append(
        {"id": draft, **place, "author_id": author.id, "key": draft, "format": "addition",
         "text": published, "marks": marks, "version": 1, "state": "published"}
    )  # fmt: skip
    rows[entries].append(
        {"id": entry, **place, "seq_id": seq_id, "format": "addition", "author_id": author.id,
         "text": published, "draft_id": draft, "published_at": moment}
    )  # fmt: skip
    rows[suggestions].append(
        {"id": which, "key": which, "person_id": author.id, "game_id": game, "draft_id": draft,
         "entry_id": entry, "context": {}, "generated": generated, "published": published,
         "status": "done", "wanted": "words=0-249", "seed": 1, "asked_at": moment,
         "ended_at": moment, "published_at": moment}
    )  # fmt: skip
    return which


def _add_ratings(
    rows: list[dict[str, object]],
    rng: random.Random,
    which: str,
    rater: Person,
    machine: int,
    moment: datetime,
) -> None:
    liking = rng.gauss(3.6 - 0.4 * machine, 0.8)
    for aspect in QUESTIONS:
        value = min(5, max(1, round(rng.gauss(liking, 0.7))))
        rows.append({"suggestion_id": which, "rater": rater.id, "aspect": aspect, "value": value,
                     "comment": "", "rated_at": moment})  # fmt: skip
    if rng.random() < 0.2:
        rows.append({"suggestion_id": which, "rater": rater.id, "aspect": COMMENT, "value": None,
                     "comment": "It knew the ferry.", "rated_at": moment})  # fmt: skip


@lru_cache(maxsize=256)
def _make_pair(number: int, machine: int) -> tuple[str, str]:
    """A suggestion of some eighty words, and an entry that kept more or less of it."""
    rng = random.Random(1000 * machine + number)
    sentences = [_make_sentence(rng) for _ in range(8)]
    share = rng.betavariate(2 - 0.5 * machine, 3)
    kept = [each if rng.random() < share else _make_sentence(rng) for each in sentences]
    return " ".join(sentences), " ".join(kept)


def _make_sentence(rng: random.Random) -> str:
    words = [rng.choice(_WORDS).capitalize(), *rng.choices(_WORDS, k=8)]
    words.insert(rng.randrange(1, 9), rng.choice(_NAMES))
    return f"{' '.join(words)}."


def _count_words(which: str, rng: random.Random) -> list[Score]:
    """Counts as a tagger's could be: names are kept more often than other words."""
    counts = {"entities:known": rng.randrange(4), "entities:new": rng.randrange(3)}
    for tag, share in _TAGS.items():
        counts[f"generated:{tag}"] = wrote = rng.randrange(1, 2 + round(80 * share))
        counts[f"kept:{tag}"] = round(wrote * rng.uniform(0.2, 0.9 if tag == "PROPN" else 0.5))
    return [Score(which, KEPT_WORDS, aspect, float(count)) for aspect, count in counts.items()]


@lru_cache(maxsize=256)
def _score_pair(generated: str, published: str) -> tuple[Score, ...]:
    half = Run(len(published) // 2, "machine", "suggestion")
    marks = (half, Run(len(published) - half.length, "person"))
    return tuple(score_suggestion(generated, published, marks=marks))
