"""A game as a story to be read: how long its scenes are, who wrote what, and all of it as a file.

Marks are those of the draft that an entry was published from, for who may read that draft: its
author, and researchers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from fabula.studio.authorship import Marks, Origin, parse_marks
from fabula.studio.database import Studio
from fabula.studio.games import find_game, need_member
from fabula.studio.people import Person
from fabula.studio.tables import characters, drafts, entries, scenes

NARRATOR = "Narrator"


@dataclass(frozen=True)
class Passage:
    """What one told at a time; the teller is a character, or the narrator."""

    teller: str
    text: str


@dataclass(frozen=True)
class Chapter:
    """A scene of a story."""

    number: int
    title: str
    passages: tuple[Passage, ...]

    @property
    def heading(self) -> str:
        """What stands over it."""
        return self.title or f"Scene {self.number}"


@dataclass(frozen=True)
class ToldStory:
    """A whole game as a story: entries without text are not in it."""

    title: str
    description: str
    last_told_at: datetime | None
    chapters: tuple[Chapter, ...]


def count_entries(studio: Studio, person: Person, game_id: str) -> dict[str, int]:
    """Give the number of entries of each scene of a game, by the scene's identity."""
    told = select(func.count()).select_from(entries).where(entries.c.scene_id == scenes.c.id)
    number = told.scalar_subquery().label("told")
    query = select(scenes.c.id, number).where(scenes.c.game_id == game_id)
    with studio.read() as db:
        need_member(db, person, game_id)
        return {row.id: row.told for row in db.execute(query)}


def read_marks(
    studio: Studio, person: Person, game_id: str, entry_ids: Sequence[str]
) -> dict[str, Marks]:
    """Give who wrote which characters of entries, for those whose draft one may read."""
    query = (
        select(entries.c.id, drafts.c.marks)
        .join(drafts, drafts.c.id == entries.c.draft_id)
        .where(
            entries.c.game_id == game_id,
            entries.c.id.in_(entry_ids),
            # A text that was emptied for a person has no author any more.
            func.length(entries.c.text) == func.length(drafts.c.text),
        )
    )
    if not person.may("researcher"):
        query = query.where(drafts.c.author_id == person.id)
    with studio.read() as db:
        need_member(db, person, game_id)
        return {entry_id: parse_marks(marks) for entry_id, marks in db.execute(query)}


def split_by_origin(text: str, marks: Marks) -> Iterator[tuple[Origin, str]]:
    """Cut a text where its author changes."""
    start = 0
    for run in marks:
        if run.length:
            yield run.origin, text[start : start + run.length]
        start += run.length
    if start < len(text):
        yield "person", text[start:]


def read_story(studio: Studio, person: Person, game_id: str) -> ToldStory:
    """Give a whole game as a story, in its order."""
    told = (
        select(entries.c.scene_id, entries.c.text, entries.c.published_at, characters.c.name)
        .outerjoin(characters, characters.c.id == entries.c.character_id)
        .where(entries.c.game_id == game_id, entries.c.text != "")
        .order_by(entries.c.seq_id)
    )
    order = select(scenes).where(scenes.c.game_id == game_id).order_by(scenes.c.number)
    with studio.snapshot() as db:
        game = find_game(db, person, game_id)
        rows = db.execute(told).all()
        chapters = db.execute(order).all()
    passages: dict[str, list[Passage]] = {}
    for row in rows:
        passages.setdefault(row.scene_id, []).append(Passage(row.name or NARRATOR, row.text))
    return ToldStory(
        game.title,
        game.description,
        max((row.published_at for row in rows), default=None),
        tuple(
            Chapter(scene.number, scene.title, tuple(passages.get(scene.id, ())))
            for scene in chapters
        ),
    )


def write_plain(story: ToldStory) -> str:
    """Write a story as text alone."""
    parts = [story.title, story.description]
    for chapter in story.chapters:
        parts += [chapter.heading, *(passage.text.strip() for passage in chapter.passages)]
    return "\n\n".join(part for part in parts if part) + "\n"


def write_markdown(story: ToldStory) -> str:
    """Write a story as Markdown; what people wrote stays as it is, for they may have meant it."""
    parts = [f"# {_one_line(story.title)}", story.description]
    for chapter in story.chapters:
        parts.append(f"## {_one_line(chapter.heading)}")
        for passage in chapter.passages:
            parts += [f"**{_one_line(passage.teller)}**", passage.text.strip()]
    return "\n\n".join(part for part in parts if part) + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())
