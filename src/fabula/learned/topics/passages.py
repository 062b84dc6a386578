"""What topics are looked for in: stories or their parts, and the entries of games."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.datasets import storium
from fabula.datasets.story_games.game import Card, Game
from fabula.text.features import paragraphs
from fabula.text.sentences import split_sentences

Unit = Literal["story", "paragraph", "sentence"]
WorldField = Literal["system", "item", "prompt"]
# Texts on the table, which nobody says in turn.
CHALLENGE = "challenge"


@dataclass(frozen=True)
class Passage:
    """A text that has a topic.

    `story` is the story or game that it is a part of, `world` what that is one of (a world of
    STORIUM, a system), and `role` who speaks: one role's passages of a story follow each other, in
    the order given, those of the role `challenge` apart.
    """

    id: str
    text: str
    story: str
    world: str = ""
    role: str = ""


def split_stories(
    stories: Iterable[Story], *, unit: Unit = "story", world: WorldField = "system"
) -> list[Passage]:
    """Make passages of stories: whole, or by paragraph or sentence; blank ones are left out."""
    return [
        Passage(
            story.id if unit == "story" else f"{story.id}/{number}",
            text,
            story.id,
            getattr(story, world) or "",
        )
        for story in stories
        for number, text in enumerate(_split(story.text, unit), 1)
    ]


def _split(text: str, unit: Unit) -> list[str]:
    parts = {
        "story": lambda: [text],
        "paragraph": lambda: paragraphs(text),
        "sentence": lambda: split_sentences(text),
    }[unit]()
    return [part for part in parts if part.strip()]


def read_games(path: Path) -> list[Passage]:
    """Read the entries and the challenges of exported games: a file, or a folder of them.

    A challenge's text is its name, description and stakes; it comes once a game.
    """
    passages = [passage for game in storium.games(path) for passage in split_game(game)]
    if not passages:
        raise InputError(f"{path}: no game has an entry with text", "export games that were played")
    return passages


def split_game(game: Game) -> Iterator[Passage]:
    """Make passages of a game: its entries with text in order, then its challenges."""
    challenges: dict[str, Card] = {}
    for scene in game.scenes:
        for entry in scene.entries:
            challenges |= {card.id: card for card in entry.challenges}
            if entry.text.strip():
                name = f"{game.id}/{scene.number}/{entry.id}"
                yield Passage(name, entry.text, game.id, game.world, entry.role)
    for card in challenges.values():
        text = " ".join([f"{card.name}." if card.name else "", card.description, *card.stakes])
        if text.strip():
            name = f"{game.id}/{CHALLENGE}/{card.id}"
            yield Passage(name, text.strip(), game.id, game.world, CHALLENGE)
