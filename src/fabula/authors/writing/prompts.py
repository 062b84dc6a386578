"""Prompts to write on, of any table, data set or text; one a line, or one an item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.datasets.tables.rows import TEXTS
from fabula.datasets.tables.stories import StoryColumns, StoryFile, StoryLayout, open_stories

# What people's own stories are called in tables that hold several systems.
_PEOPLE = {"human", "humans", "people", "writer", "gold"}
_REMEDY = "name it with --column prompt=NAME"


@dataclass(frozen=True)
class Prompt:
    """What is to be written on, the item it is, and what people wrote on it."""

    item: str
    text: str
    references: tuple[str, ...] = ()


def read_prompts(source: str, layout: StoryLayout) -> list[Prompt]:
    """Read the prompts of a file or data set, each once.

    Of a text, every line that is not blank is a prompt. Rows of one item are one prompt; stories
    of people on it (a column of references, or texts without a system or with one that says so)
    are its references.
    """
    with open_stories(source, layout) as file:
        is_text = file.kind in TEXTS
        prompts = _read_lines(file) if is_text else _join_items(_read_stories(file))
    if not prompts:
        raise InputError(f"{file.label}: holds no prompts", "check that it is the right file")
    return prompts


def _read_lines(file: StoryFile) -> list[Prompt]:
    lines = [line.strip() for story in file for line in story.text.splitlines()]
    return [Prompt(str(n), line) for n, line in enumerate(filter(None, lines), 1)]


def _read_stories(file: StoryFile) -> Iterable[tuple[Story, bool]]:
    """Give rows as stories, and whether each has a text of its own."""
    rows = list(file.rows())
    present = dict.fromkeys(name for _, row in rows for name in row)
    if not rows:
        raise InputError(f"{file.label}: holds no prompts", "check that it is the right file")
    columns = StoryColumns.choose(
        list(present), file.given, rows[0][0], need="prompt", remedy=_REMEDY
    )
    has_text = "text" in columns.names
    # A story has a text: of a table without any, its prompt stands in.
    columns = StoryColumns({"text": columns.names["prompt"], **columns.names})
    for number, (where, row) in enumerate(rows, 1):
        story = columns.make_story(_fill(row, columns), number, where)
        if not (story.prompt or "").strip():
            raise InputError(f"{where}: the prompt is empty", "fill it, or take the row out")
        yield story, has_text and bool(story.text.strip())


def _fill(row: Mapping[str, Any], columns: StoryColumns) -> Mapping[str, Any]:
    """Let a row without a text pass: it is there for its prompt."""
    (name,) = columns.names["text"]
    return row if row.get(name) is not None else {**row, name: ""}


def _join_items(stories: Iterable[tuple[Story, bool]]) -> list[Prompt]:
    texts: dict[str, str] = {}
    references: dict[str, dict[str, None]] = {}
    for story, has_text in stories:
        item = story.item or story.id
        prompt = str(story.prompt).strip()
        if texts.setdefault(item, prompt) != prompt:
            raise InputError(
                f"item {item!r} has two prompts, {texts[item][:40]!r} and {prompt[:40]!r}",
                "give every prompt an item of its own, or no column for items",
            )
        own = references.setdefault(item, {})
        own.update(dict.fromkeys(story.nonblank_references))
        if has_text and (story.system is None or story.system.lower() in _PEOPLE):
            own.setdefault(story.text)
    return [Prompt(item, text, tuple(references[item])) for item, text in texts.items()]
