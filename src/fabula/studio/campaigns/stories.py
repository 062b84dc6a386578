"""Stories for a campaign: any file that `fabula score` reads, with what else is shown of each.

What a campaign shows has to be there: a story without text, a picture that cannot be read, an item
with fewer stories than a task compares are errors that name what lacks.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError, closest
from fabula.core.protocols import watch
from fabula.core.story import Story, count_text
from fabula.datasets.tables.stories import StoryFile, StoryLayout, open_stories
from fabula.studio.campaigns.definition import Definition
from fabula.studio.campaigns.tasks import name_item

MOST_STORIES = 100_000
# Longer texts are no story that somebody rates on one page.
MOST_CHARACTERS = 200_000
_LONGEST_NAME = 500
_FEW = 5


@dataclass(frozen=True)
class Material:
    """A story to ask about, and what else is shown of it under which name."""

    story: Story
    extra: Mapping[str, Any] = field(default_factory=dict)


def read_material(
    definition: Definition, folder: Path, say: Callable[[str], None] | None = None
) -> list[Material]:
    """Read the stories that a campaign names, from where its file lies, and check them."""
    material = load_material(definition, folder, say)
    check_material(definition, material)
    return material


def load_material(
    definition: Definition, folder: Path, say: Callable[[str], None] | None = None
) -> list[Material]:
    """Read the stories that a campaign names, whether or not they can be asked about.

    A name that is no file there may be that of a data set. `say` is told of rows that are left out
    and of a form that is not the ordinary one.
    """
    if definition.stories in ("", "-"):
        raise InputError("the campaign names no file of stories", 'write stories = "FILE"')
    path = folder / Path(definition.stories).expanduser()
    source = str(path) if path.exists() else definition.stories
    if not path.exists() and os.sep in source:
        raise InputError(f"stories = {source!r}: there is no {path}", "check the path")
    form = definition.form
    told = form.encoding, form.delimiter, form.sheet, form.skip_bad
    layout = StoryLayout(form.format, form.columns, *told, say)
    with open_stories(source, layout) as file:
        wanted = list_fields(definition)
        _need_fields(wanted, file)
        if definition.images:
            file.pictures = folder / definition.images
        pairs = list(file.pair_rows())
    items = _name_items([story for _, story in pairs])
    return [
        _make_material(row, replace(story, item=item), wanted)
        for (row, story), item in zip(pairs, items, strict=True)
    ]


def list_fields(definition: Definition) -> tuple[str, ...]:
    """Fields of a story's row that are shown, beside those that every story may have."""
    return (*(("input",) if definition.show.input else ()), *definition.show.fields)


def check_material(definition: Definition, material: Sequence[Material]) -> None:
    """Refuse stories that cannot be asked about in this way, naming them."""
    if not 0 < len(material) <= MOST_STORIES:
        raise InputError(
            f"a campaign has 1 to {MOST_STORIES:,} stories, and this one {len(material):,}",
            "name a file with stories",
        )
    if twice := [name for name, n in Counter(s.id for s in _stories(material)).items() if n > 1]:
        raise InputError(f"two stories are called {twice[0]!r}", "give each an id of its own")
    _refuse("no text", [each.story.id for each in material if not each.story.text.strip()])
    for what in ("id", "system", "item"):
        long = [s.id for s in _stories(material) if len(getattr(s, what) or "") > _LONGEST_NAME]
        _refuse(f"a longer {what} than {_LONGEST_NAME} characters", [name[:40] for name in long])
    long = [story.id for story in _stories(material) if len(story.text) > MOST_CHARACTERS]
    _refuse(f"more than {MOST_CHARACTERS:,} characters", long, "ask about a part of it")
    _check_shown(definition, material)
    if definition.unit != "story" and definition.within == "item":
        _check_items(definition, _stories(material))


def find_missing_parts(definition: Definition, material: Sequence[Material]) -> list[str]:
    """Parts that the campaign shows (`prompt`, `reference`) and that no story has."""
    parts = {
        "prompt": any(story.prompt for story in _stories(material)),
        "reference": any(story.nonblank_references for story in _stories(material)),
    }
    return [name for name, there in parts.items() if getattr(definition.show, name) and not there]


def describe_gaps(definition: Definition, material: Sequence[Material]) -> list[str]:
    """Say of what is shown how many stories lack it."""
    stories, show = _stories(material), definition.show
    lacking = {
        "prompt": [s for s in stories if show.prompt and not s.prompt],
        "reference": [s for s in stories if show.reference and not s.nonblank_references],
    }
    counts = {name: len(without) for name, without in lacking.items()}
    for name in list_fields(definition):
        counts[name] = sum(not each.extra.get(name) for each in material)
    return [
        f"{count_text(count, 'story', 'stories')} of {len(stories):,} without {name}"
        for name, count in counts.items()
        if count
    ]


def check_pictures(definition: Definition, material: Sequence[Material]) -> int:
    """Read every picture that is shown, and give how many there are; one that cannot be read is an
    error that names it."""
    if not definition.show.pictures:
        return 0
    from fabula.models.reading.pictures import PictureReader

    reader = PictureReader()
    names = dict.fromkeys(name for story in _stories(material) for name in story.images)
    with watch.get().during("reading pictures"):
        for number, name in enumerate(names, 1):
            watch.get().tell_detail(f"{number:,} of {len(names):,}")
            reader.read(name)
    return len(names)


def _stories(material: Sequence[Material]) -> list[Story]:
    return [each.story for each in material]


def _name_items(stories: Sequence[Story]) -> list[str | None]:
    """Items of stories; where there are none, stories of several systems on one prompt share one.

    Not where a system has two stories on a prompt: which would stand beside which?
    """
    if not any(story.item is not None for story in stories):
        cells = [(name_item(story), story.system) for story in stories]
        if all(item and system for item, system in cells) and len(set(cells)) == len(cells):
            return [item for item, _ in cells]
    return [story.item for story in stories]


def _make_material(row: Mapping[str, Any], story: Story, wanted: Sequence[str]) -> Material:
    return Material(story, {name: text for name in wanted if (text := _spell(row.get(name)))})


def _spell(value: Any) -> str:
    """Write what a field holds as raters read it: lists a line each, nothing for nothing."""
    if value is None or value == "":
        return ""
    if isinstance(value, list | tuple):
        return "\n".join(_spell(part) for part in value)
    if isinstance(value, Mapping):
        return "\n".join(f"{name}: {_spell(part)}" for name, part in value.items())
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def _need_fields(wanted: Sequence[str], file: StoryFile) -> None:
    """Refuse a file that has not the fields that are to be shown."""
    present: dict[str, None] = {}
    for _, row in file.rows():
        present.update(dict.fromkeys(row))
    for name in wanted:
        if name not in present:
            remedy = closest(name, present) or "add it, or change [show]"
            raise InputError(f"{file.label}: no column {name!r}, which raters are shown", remedy)


def _check_shown(definition: Definition, material: Sequence[Material]) -> None:
    for name in find_missing_parts(definition, material):
        raise InputError(
            f"raters are shown the {name}, and no story has one",
            f"name the column: form.columns.{name}{'s' * (name == 'reference')} = 'NAME', "
            f"or write {name} = false below [show]",
        )
    for name in list_fields(definition):
        if not any(each.extra.get(name) for each in material):
            raise InputError(
                f"raters are shown {name!r}, and no story has it", "add it, or change [show]"
            )
    if definition.show.pictures:
        _refuse(
            "no images", [s.id for s in _stories(material) if not s.images], "name its pictures"
        )


def _check_items(definition: Definition, stories: Sequence[Story]) -> None:
    """Refuse items that hold fewer stories than are shown side by side."""
    _refuse(
        "no item and no prompt, by which stories are compared",
        [story.id for story in stories if story.item is None and not story.prompt],
        "give stories of one task the same item, or write within = 'all'",
    )
    counts = Counter(name_item(story) or "" for story in stories)
    short = [f"{item[:60]!r} ({n})" for item, n in counts.items() if n < definition.shown]
    if short:
        raise InputError(
            f"a task shows {definition.shown} stories of one item, and"
            f" {count_text(len(short), 'item has', 'items have')} fewer: {_list(short)}",
            "add the stories of other systems, or leave these items out",
        )


def _refuse(what: str, names: Sequence[str], remedy: str = "mend it, or leave it out") -> None:
    if names:
        several = "stories have" if len(names) > 1 else "story has"
        raise InputError(
            f"{len(names)} {several} {what}: {_list([repr(n) for n in names])}", remedy
        )


def _list(names: Sequence[str]) -> str:
    more = len(names) - _FEW
    return ", ".join(names[:_FEW]) + (f" and {more:,} more" if more > 0 else "")
