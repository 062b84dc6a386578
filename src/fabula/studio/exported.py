"""Suggestions and what became of them, read from an export of a studio, or from a table like it.

An export is what `fabula studio export` writes: `suggestions`, and `games`, which tell characters,
cards and what was written before. Any table with the columns `generated` and `published` will do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError
from fabula.datasets import coauthor
from fabula.datasets.story_games.studio_export import (
    GAMES,
    SUGGESTIONS,
    find_table,
    read_json_cell,
)
from fabula.datasets.tables.rows import Row, read_rows
from fabula.datasets.tables.text_file import TextFile
from fabula.studio.edit_kinds import EditedSuggestion, Told
from fabula.text.kept_words import spell_name, spell_plainly

_NEEDED = ("generated", "published")
_NOBODY = "unknown"
# What a co-author was shown under a character's name, and under none; all else is cards, and the
# opening of a scene stands under that of its place.
_BY_CHARACTERS, _UNNAMED = ("character", "previous"), ("prompt",)
_CARD_KEYS = (
    "cards", "challenge_cards", "cards_played_on_challenge", "cards_for_pickup",
    "target_challenge_card", "place_card",
)  # fmt: skip
_DESCRIBED = ("description", "success_stakes", "failure_stakes")


@dataclass(frozen=True)
class ReadEdits:
    """Suggestions that were published, and how many rows were not: nobody has kept or cut them."""

    edits: tuple[EditedSuggestion, ...]
    unpublished: int


def read_export(path: Path) -> ReadEdits:
    """Read the suggestions of a folder that was exported, or of a table by itself."""
    table = find_table(path, SUGGESTIONS) if path.is_dir() else path
    if table is None:
        raise InputError(
            f"{path}: no export of a studio (suggestions.json, .jsonl, .csv or .parquet)",
            f"make one with fabula studio export -o {path}",
        )
    if not table.exists():
        raise InputError(f"{path}: there is no such file or folder", "check the path")
    beside = find_table(path, GAMES) if path.is_dir() else None
    games = _read_games(beside) if beside else {}
    edits, unpublished = [], 0
    for number, (where, row) in enumerate(read_rows(TextFile(table, table.name)), 1):
        edit = _read_edit(row, where, number, games)
        if edit is None:
            unpublished += 1
        else:
            edits.append(edit)
    if not edits:
        raise InputError(f"{table}: no suggestion was published", "export again once some were")
    return ReadEdits(tuple(edits), unpublished)


def read_coauthor(path: Path | None) -> ReadEdits:
    """Read CoAuthor's suggestions that were taken, beside what stands there at the end."""
    edits = [
        EditedSuggestion(
            taken.id,
            taken.system,
            taken.writer,
            taken.session,
            taken.text,
            taken.left,
            taken.moment,
            Told(texts=(spell_plainly(taken.before),)),
        )
        for taken in coauthor.list_taken(path)
    ]
    return ReadEdits(tuple(edits), 0)


def _read_edit(
    row: Row, where: str, number: int, games: Mapping[str, _ExportedGame]
) -> EditedSuggestion | None:
    """Read a row; None where nothing was made, or nothing published."""
    missing = [name for name in _NEEDED if name not in row]
    if missing:
        raise InputError(
            f"{where}: no column {' and no column '.join(missing)}",
            "give the text of a machine in `generated` and what became of it in `published`",
        )
    generated, published = (_text(row.get(name)) for name in _NEEDED)
    if not generated.strip() or not published.strip():
        return None
    identity = _text(row.get("suggestion")) or f"row {number}"
    game = _text(row.get("game")) or _text(row.get("story")) or identity
    return EditedSuggestion(
        identity,
        _text(row.get("machine")) or _NOBODY,
        _text(row.get("author")) or game,
        game,
        generated,
        published,
        _read_moment(row.get("published_at"), where),
        _tell(read_json_cell(row.get("context"), where), games.get(game), published),
    )


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _read_moment(value: Any, where: str) -> datetime | None:
    if value is None or value == "":
        return None
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError:
        raise InputError(
            f"{where}: published_at {value!r} is no time", "write 2027-01-02T03:04:05+00:00"
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@dataclass(frozen=True)
class _ExportedGame:
    """What a game holds, spelled plainly; entries with their texts, to find one's place."""

    told: Told
    entries: tuple[tuple[str, str], ...]

    def tell_before(self, published: str) -> tuple[str, ...]:
        """Give the texts before the entry that was published; all where it is none of them."""
        before = []
        for text, plain in self.entries:
            if text.strip() == published.strip():
                break
            before.append(plain)
        return tuple(before)


def _read_games(file: Path) -> dict[str, _ExportedGame]:
    games = {}
    for where, row in read_rows(TextFile(file, file.name)):
        name = _text(row.get("game")) or _text(row.get("story"))
        games[name] = _read_game(read_json_cell(row.get("json"), where))
    return games


def _read_game(game: Mapping[str, Any]) -> _ExportedGame:
    scenes = [_list_entries(scene) for scene in _objects(game.get("scenes"))]
    entries = [entry for scene in scenes for entry in scene]
    people = _objects(game.get("characters"))
    cards = [card for holder in (game, *entries) for card in _list_cards(holder)]
    told = Told(
        _spell_names(people),
        _spell_names(cards),
        tuple(spell_plainly(text) for each in (*people, *cards) for text in _describe(each)),
    )
    texts = [_text(entry.get("description")) for entry in entries]
    return _ExportedGame(told, tuple((text, spell_plainly(text)) for text in texts if text))


def _list_entries(scene: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return _objects(scene.get("entries"))


def _objects(value: Any) -> list[Mapping[str, Any]]:
    """What is an object in somebody else's JSON: in a list, or by itself."""
    several = value if isinstance(value, list) else [value]
    return [each for each in several if isinstance(each, Mapping)]


def _list_cards(holder: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    return (card for key in _CARD_KEYS for card in _objects(holder.get(key)))


def _spell_names(named: list[Mapping[str, Any]]) -> tuple[str, ...]:
    names = dict.fromkeys(spell_name(_text(each.get("name"))) for each in named)
    return tuple(name for name in names if name.strip())


def _describe(each: Mapping[str, Any]) -> list[str]:
    return [_text(each[key]) for key in _DESCRIBED if each.get(key)]


def _tell(context: Mapping[str, Any], game: _ExportedGame | None, published: str) -> Told | None:
    """Say what a story held before a suggestion: what its model was shown, and what is known of
    its game; None where neither is there."""
    if not context and game is None:
        return None
    shown = _objects(context.get("segments"))
    characters = [each for each in shown if each.get("kind") in _BY_CHARACTERS]
    cards = [each for each in shown if each.get("kind") not in (*_BY_CHARACTERS, *_UNNAMED)]
    texts = [_text(each.get("text")) for each in shown] + [_text(context.get("text"))]
    known = game.told if game else Told()
    return Told(
        (*_spell_titles(characters), *known.characters),
        (*_spell_titles(cards), *known.cards),
        (
            *(spell_plainly(text) for text in texts if text),
            *known.texts,
            *(game.tell_before(published) if game else ()),
        ),
    )


def _spell_titles(shown: list[Mapping[str, Any]]) -> tuple[str, ...]:
    return _spell_names([{"name": each.get("title")} for each in shown])
