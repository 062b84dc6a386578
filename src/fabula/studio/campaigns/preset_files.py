"""Presets: campaign files that lack stories only, one TOML in `presets` each; its name is its name.

A campaign is made of one as a person would: the lines of its own are changed, comments and all the
rest stay as they are.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError, UnknownName, closest
from fabula.studio.campaigns.definition import Definition, make_definition, read_definition
from fabula.studio.campaigns.stories import (
    Material,
    check_material,
    find_missing_parts,
    load_material,
)

FOLDER = Path(__file__).with_name("presets")
_HEADER = re.compile(r"\[+\s*([\w.-]+)\s*\]+")
_LONGEST_NAME = 100


def list_presets() -> dict[str, Definition]:
    """All presets by name."""
    return {path.stem: read_definition(path) for path in sorted(FOLDER.glob("*.toml"))}


def find_preset(name: str) -> Path:
    """Find the file of a preset, or a campaign file of one's own to begin from."""
    if (path := FOLDER / f"{name}.toml").parent == FOLDER and path.is_file():
        return path
    if name.endswith(".toml"):
        return Path(name)
    names = [path.stem for path in FOLDER.glob("*.toml")]
    problem = f"there is no preset {name!r}, and it is no .toml"
    raise UnknownName(problem, closest(name, names))


def fill_preset(preset: Path, changes: Mapping[str, Any]) -> str:
    """Give the text of a preset with some values changed; `show.prompt` is a key in a table.

    What comes out is read again: it has these values, and all others as before.
    """
    read_definition(preset)
    text = preset.read_text(encoding="utf-8")
    wanted = tomllib.loads(text)
    for key, value in changes.items():
        table, _, name = key.rpartition(".")
        text = _set_line(text, table, name, value)
        target = wanted
        for part in filter(None, table.split(".")):
            target = target.setdefault(part, {})
        target[name] = value
    try:
        is_same = tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:  # a value of several lines was there
        is_same = False
    if not is_same:
        raise InputError(
            f"{preset} cannot be filled in by itself", f"write {', '.join(changes)} by hand"
        )
    make_definition(wanted, str(preset))
    return text


@dataclass(frozen=True)
class NewCampaign:
    """A campaign that was made of a preset: its file's text, what that says, the stories it will
    ask about, and parts of a preset that no story has and that are therefore not shown."""

    text: str
    definition: Definition
    material: list[Material]
    hidden: tuple[str, ...]


def make_campaign(
    preset: Path,
    changes: Mapping[str, Any],
    folder: Path,
    say: Callable[[str], None] | None = None,
) -> NewCampaign:
    """Fill in a preset for a file in that folder, and look at the stories that it names."""

    def read(text: str) -> Definition:
        return make_definition(tomllib.loads(text), str(preset))

    text = fill_preset(preset, changes)
    material = load_material(read(text), folder, say)
    hidden = tuple(find_missing_parts(read(text), material))
    if hidden:
        text = fill_preset(preset, {**changes, **{f"show.{name}": False for name in hidden}})
    definition = read(text)
    check_material(definition, material)
    return NewCampaign(text, definition, material, hidden)


def to_plain(definition: Definition) -> dict[str, Any]:
    """Give a campaign as plain values, as it is stored and as a file would say it."""
    plain: dict[str, Any] = json.loads(json.dumps(asdict(definition)))
    return plain


def make_name(stem: str) -> str:
    """Make a campaign's name, which stands in addresses, of the name of a file."""
    plain = re.sub(r"[^a-z0-9_-]+", "-", stem.lower()).strip("-_")
    return plain[:_LONGEST_NAME] or "campaign"


def _set_line(text: str, table: str, name: str, value: Any) -> str:
    """Change the line of a key, or add it where its table begins; the table is added at the end."""
    lines = text.splitlines()
    start, stop = _find_table(lines, table)
    line = f"{name} = {_spell_value(value)}"
    if start is None or stop is None:
        return "\n".join([*lines, "", f"[{table}]", line, ""])
    for at in range(start, stop):
        if re.match(rf"{re.escape(name)}\s*=", lines[at]):
            # What stands behind a value is about the one that was there.
            return "\n".join([*lines[:at], line, *lines[at + 1 :], ""])
    return "\n".join([*lines[:start], line, *lines[start:], ""])


def _find_table(lines: list[str], table: str) -> tuple[int | None, int | None]:
    """Where a table's lines begin and end; without a name, those before the first table."""
    first = next(at for at, line in enumerate(lines) if re.match(r"\w+\s*=", line))
    heads = [("", first - 1)]
    is_text = False
    for at, line in enumerate(lines):
        # Within a text of several lines a line only looks like a header.
        if not is_text and (found := _HEADER.match(line)):
            heads.append((found[1], at))
        if line.count('"""') % 2:
            is_text = not is_text
    ends = [at for _, at in heads[1:]] + [len(lines)]
    places = ((at + 1, end) for (name, at), end in zip(heads, ends, strict=True) if name == table)
    return next(places, (None, None))


def _spell_value(value: Any) -> str:
    """Write a value as TOML does: a string of JSON is one of TOML, and so are numbers."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
