"""Stories of what people have in Python: texts, rows, data frames, data sets, files.

Rows become stories as those of files do (`StoryColumns`); what will not do is named by its place.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError, SettingError
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.datasets.tables.rows import is_table
from fabula.datasets.tables.stories import StoryColumns, StoryFile, check_roles, is_there

# What `evaluate` calls the parts of all stories, and what a story calls its own.
PARTS = {
    "prompts": "prompt",
    "references": "references",
    "ids": "id",
    "systems": "system",
    "items": "item",
}
# The longest text that may be the name of a file, given by mistake.
_LONGEST_NAME = 500
_FORMS = "a text, a list of texts, rows (a DataFrame, dicts, a datasets.Dataset), Path(file)"


# The column's number gives its cells.
Table = tuple[str, list[str], Callable[[int], Iterable[Any]]]


def make_stories(
    given: Any, parts: Mapping[str, Any], columns: Mapping[str, str] | None = None
) -> list[Story]:
    """Make stories of whatever was given; `parts` give a prompt, a reference … for every one."""
    named = columns or {}
    check_roles(named)
    is_row = isinstance(given, Mapping) and _is_row(given, named)
    table = None if is_row else _open_table(given)
    if isinstance(given, os.PathLike):
        stories = list(StoryFile(Path(given), columns=named))
    elif table is not None:
        stories = _read_table(table, named)
    else:
        stories = _read_elements([given] if is_row else _list_stories(given), named)
    is_single = is_row or isinstance(given, str | Story)
    for name, values in parts.items():
        if values is not None:
            _refuse_column(name, values, table)
            cells = _read_part(name, values, len(stories), is_single=is_single)
            pairs = zip(stories, cells, strict=True)
            stories = [replace(story, **{PARTS[name]: cell}) for story, cell in pairs]
    return stories


def read_references(value: Any, where: str) -> tuple[str, ...]:
    """Give the references of one story: a text, several, or none where it is None or NaN."""
    value = clean_cell(value)
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    texts = _list_elements(value, where)
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(
                f"{where}[{index}] is {_describe(text)}", "write a text, or leave it out"
            )
    return tuple(map(str, texts))


def clean_cell(value: Any) -> Any:
    """Give a cell as plain Python has it: NaN and NA are None, arrays are lists."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, str):
        return str(value)  # numpy has strings of its own
    if isinstance(value, tuple):
        return list(value)
    to_list = getattr(value, "tolist", None) or getattr(value, "to_list", None)
    return to_list() if callable(to_list) and not isinstance(value, type) else value


def _list_stories(given: Any) -> list[Any]:
    if isinstance(given, Dataset | ScoreTable):
        return list(given.stories)
    if isinstance(given, str):
        _refuse_file_name(given)
    return [given] if isinstance(given, str | Story) else _list_elements(given, "stories")


def _refuse_file_name(text: str) -> None:
    """Refuse a text that must have been meant as a file: nobody writes the story `a.jsonl`."""
    if len(text) > _LONGEST_NAME or len(text.split()) != 1:
        return
    if is_there(Path(text)) or is_table(Path(text)):
        raise InputError(
            f"{text!r} is the name of a file, and a string is read as a text",
            f"pass Path({text!r}) for the stories of the file, [{text!r}] for these words",
        )


def _list_elements(given: Any, where: str) -> list[Any]:
    """List what comes in an order, and is not letters or bytes."""
    if isinstance(given, set | frozenset):
        raise InputError(f"{where} is a set, which has no order", "pass a list")
    if isinstance(given, bytes | bytearray):
        raise InputError(f"{where} is bytes", "decode them first: .decode('utf-8')")
    if isinstance(given, Mapping) or hasattr(given, "columns"):
        raise InputError(f"{where} is {_describe(given)}", "pass a list, or a column")
    try:
        return list(given)
    except TypeError:
        forms = _FORMS if where == "stories" else "a text or several"
        raise InputError(f"{where} is {_describe(given)}", f"pass {forms}") from None


def _read_elements(elements: list[Any], columns: Mapping[str, str]) -> list[Story]:
    """Make stories of texts, numbered from 1 on, or of rows; or take them as they are."""
    for index, element in enumerate(elements):
        if clean_cell(element) is None:
            remedy = 'write "" for an empty story, or leave it out'
            raise InputError(f"stories[{index}] is {_describe(element)}", remedy)
        kind = next((kind for kind in (str, Story, Mapping) if isinstance(element, kind)), None)
        if kind is None:
            raise InputError(f"stories[{index}] is {_describe(element)}", f"pass {_FORMS}")
        if not isinstance(elements[0], kind):
            raise InputError(
                f"stories[{index}] is {_describe(element)}, stories[0] {_describe(elements[0])}",
                "pass stories of one kind",
            )
    if elements and isinstance(elements[0], Mapping):
        return _read_rows(elements, columns)
    if columns:
        raise SettingError("columns are for rows, and these are none", "leave columns out")
    return [
        element if isinstance(element, Story) else Story(str(number), str(element))
        for number, element in enumerate(elements, 1)
    ]


def _read_rows(rows: list[Mapping[Any, Any]], columns: Mapping[str, str]) -> list[Story]:
    names = dict.fromkeys(str(name) for row in rows for name in row)
    chosen = _choose_columns(list(names), columns, "stories")
    return [
        chosen.make_story(
            {str(name): clean_cell(cell) for name, cell in row.items()}, number, where
        )
        for number, (where, row) in enumerate(
            ((f"stories[{index}]", row) for index, row in enumerate(rows)), 1
        )
    ]


def _choose_columns(names: list[str], columns: Mapping[str, str], where: str) -> StoryColumns:
    return StoryColumns.choose(names, columns, where, remedy="name it: columns={'text': NAME}")


def _is_row(given: Mapping[Any, Any], columns: Mapping[str, str]) -> bool:
    """Whether a dict is one story: a dict of columns has a list for its texts."""
    _refuse_splits(given)
    names = {str(name): name for name in given}
    [text, *_] = _choose_columns(list(names), columns, "the dict").names["text"]
    value = clean_cell(given[names[text]])
    return value is None or not isinstance(value, Iterable) or isinstance(value, str)


def _refuse_splits(given: Mapping[Any, Any]) -> None:
    """Refuse a dict of tables, as `datasets.load_dataset` gives: one of them has to be meant."""
    for name, value in given.items():
        if hasattr(value, "column_names") or hasattr(value, "columns"):
            tables = ", ".join(map(str, given))
            raise InputError(f"stories is a dict of tables: {tables}", f"pass one: …[{name!r}]")


def _open_table(given: Any) -> Table | None:
    """Open what has columns: pandas, polars, Arrow, datasets, a dict of lists; else None."""
    if isinstance(given, type):
        return None
    label, names, read = f"the {type(given).__name__}", [], None
    if isinstance(given, Mapping):
        names, read = list(given), lambda place: given[names[place]]
    elif hasattr(given, "iloc") and hasattr(given, "columns"):
        names, read = list(given.columns), lambda place: given.iloc[:, place].tolist()
    elif hasattr(given, "to_dicts") and hasattr(given, "columns"):
        names, read = list(given.columns), lambda place: given[names[place]].to_list()
    elif hasattr(given, "to_pylist") and hasattr(given, "column_names"):
        names, read = list(given.column_names), lambda place: given.column(place).to_pylist()
    elif hasattr(given, "column_names") and hasattr(given, "__len__"):
        names, read = list(given.column_names), lambda place: given[names[place]]
    if read is None:
        return None
    spelled = [str(name) for name in names]
    if doubled := [name for name, count in Counter(spelled).items() if count > 1]:
        raise InputError(f"{label}: column {doubled[0]!r} stands twice", "rename one")
    return label, spelled, read


def _read_table(table: Table, columns: Mapping[str, str]) -> list[Story]:
    """Make a story a row; only columns that are wanted are read."""
    label, names, read = table
    chosen = _choose_columns(names, columns, label)
    wanted = dict.fromkeys(name for several in chosen.names.values() for name in several)
    cells = {
        name: list(map(clean_cell, _list_elements(read(names.index(name)), f"column {name!r}")))
        for name in wanted
    }
    lengths = {name: len(column) for name, column in cells.items()}
    if len(set(lengths.values())) > 1:
        spelled = ", ".join(f"{name!r} has {length}" for name, length in lengths.items())
        raise InputError(f"{label} has columns of several lengths: {spelled}", "mend them")
    return [
        chosen.make_story(
            dict(zip(cells, row, strict=True)), index + 1, f"{label}, row {index} (from 0)"
        )
        for index, row in enumerate(zip(*cells.values(), strict=True))
    ]


def _refuse_column(name: str, values: Any, table: Table | None) -> None:
    if isinstance(values, str) and table is not None and values in table[1]:
        raise InputError(
            f"{name}={values!r} is a text, and {table[0]} has a column of that name",
            f"write columns={{{PARTS[name]!r}: {values!r}}}",
        )


def _read_part(name: str, values: Any, count: int, *, is_single: bool) -> list[Any]:
    """Read what belongs to the stories, one for each."""
    if isinstance(values, str):
        if count != 1:
            raise InputError(f"{name} is one text for {_count(count)}", "pass one for each")
        values = [values]
    cells = _list_elements(values, name)
    if is_single and name == "references" and all(isinstance(cell, str) for cell in cells):
        cells = [cells]
    if len(cells) != count:
        remedy = "pass one for each story, in order"
        if name == "references" and all(_has_length(cell, count) for cell in cells):
            # sacrebleu takes them the other way round: a list of all first references, and so on.
            remedy = "pass the references of each story together: list(zip(*references))"
        raise InputError(f"{name} has {len(cells)} entries for {_count(count)}", remedy)
    if name == "references":
        return [read_references(cell, f"{name}[{i}]") for i, cell in enumerate(cells)]
    return [_read_string(cell, name, f"{name}[{i}]") for i, cell in enumerate(cells)]


def _count(stories: int) -> str:
    return f"{stories} {'story' if stories == 1 else 'stories'}"


def _has_length(cell: Any, count: int) -> bool:
    return isinstance(cell, list | tuple) and len(cell) == count


def _read_string(cell: Any, name: str, where: str) -> str | None:
    value = clean_cell(cell)
    if value is None and name == "ids":
        raise InputError(f"{where} is {_describe(cell)}", "every story needs an id, or none")
    if name != "prompts" and type(value) in (int, float):
        return str(value)
    if value is None or isinstance(value, str):
        return value
    raise InputError(f"{where} is {_describe(cell)}", "pass a text")


def _describe(value: Any) -> str:
    """Say what a value is, for people who did not mean it."""
    if clean_cell(value) is None:
        return "None" if value is None else "NaN (a missing value)"
    if isinstance(value, Mapping):
        return "a dict"
    kind = value.__name__ if isinstance(value, type) else type(value).__name__
    if isinstance(value, type):
        return f"the class {kind}"
    shown = f" ({value!r})" if isinstance(value, int | float) else ""
    return f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}{shown}"
