"""Stories and scores as a release is read: no key twice, no score of an unknown story."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.datasets._release import rating

T = TypeVar("T")
Placed = tuple[str, T]


def unique_stories(found: Iterable[Placed[Story]]) -> tuple[Story, ...]:
    """Gather stories; an id that comes again names both places."""
    return tuple(_unique(found, lambda story: story.id, lambda story: f"story {story.id!r}"))


def score_table(stories: Collection[Story], found: Iterable[Placed[Score]]) -> ScoreTable:
    """Make a table of scores that are each there once, and about stories that are there."""
    known = {story.id for story in stories}

    def placed() -> Iterator[Placed[Score]]:
        for where, score in found:
            if score.story not in known:
                raise InputError(f"{where}: no story {score.story!r} in this release", "drop it")
            yield where, score

    return ScoreTable(stories, _unique(placed(), _key, _words))


def slot_ratings(
    story: str, values: Sequence[Any], where: str, *, aspect: str, scale: tuple[float, float]
) -> Iterator[Placed[Score]]:
    """Read a list of ratings whose raters are places in the list: `human:1`, `human:2` …"""
    for slot, value in enumerate(values, 1):
        yield where, Score(story, f"human:{slot}", aspect, rating(value, where, scale))


@dataclass(frozen=True)
class PromptShelf:
    """Stories by prompt: the same text under one prompt is one story.

    An id is the number of the prompt and that of the story below it, `12.3`; the item is the
    prompt's number. Stories without a prompt are items of their own.
    """

    _shelves: dict[tuple[str, str], dict[str, Story]] = field(default_factory=dict)

    def put(self, prompt: str, text: str) -> Story:
        """Give the story of that prompt and text, the one that is there already if there is."""
        key = prompt, "" if prompt else text
        shelf = self._shelves.setdefault(key, {})
        if text not in shelf:
            item = next(iter(shelf.values())).item if shelf else str(len(self._shelves))
            shelf[text] = Story(f"{item}.{len(shelf) + 1}", text, prompt=prompt or None, item=item)
        return shelf[text]

    @property
    def stories(self) -> tuple[Story, ...]:
        """All stories, by prompt."""
        return tuple(story for shelf in self._shelves.values() for story in shelf.values())


def _unique(
    found: Iterable[Placed[T]], key: Callable[[T], Hashable], words: Callable[[T], str]
) -> Iterator[T]:
    seen: dict[Hashable, str] = {}
    for where, one in found:
        if (known := key(one)) in seen:
            before = f"was there before, at {seen[known]}"
            raise InputError(f"{where}: {words(one)} {before}", "keep one of the two")
        seen[known] = where
        yield one


def _key(score: Score) -> Hashable:
    return score.story, score.scorer, score.aspect


def _words(score: Score) -> str:
    aspect = f" on {score.aspect!r}" if score.aspect else ""
    return f"a score of {score.scorer!r} for story {score.story!r}{aspect}"
