"""Pages that need nothing else: markup written safely, templates filled once, files whole."""

from __future__ import annotations

import base64
import hashlib
import html
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from fabula.core.files import (
    note_written,
    refuse_foreign,
    refuse_input,
    unwritable,
    write_text,
)
from fabula.core.table import without_halves
from fabula.reports.tables import Cell, Table, latex_table, records_csv, table_csv
from fabula.text.escapes import markdown_cell, xml_text

_PART_ENDS = re.compile(r"([_(,:])")
_PLACE = re.compile(r"\{\{(\w+)\}\}")


def escape(text: str) -> str:
    """Write text so that a browser shows it as it is; what XML cannot hold becomes �."""
    return html.escape(xml_text(text))


def tag(name: str, inside: str = "", **attributes: object) -> str:
    """Write an element around markup; `class_` is class, None leaves an attribute out."""
    parts = [
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    ]
    return f"<{name}{''.join(parts)}>{inside}</{name}>"


def isolate_name(text: str, nothing: str = "all") -> str:
    """Write a name that may run from right to left among other words."""
    return tag("bdi", escape(text or nothing))


def break_spec(scorer: str) -> str:
    """Write a spec that may break where its parts end."""
    return _PART_ENDS.sub(r"\1<wbr>", escape(scorer))


def markdown_table(table: Table) -> str:
    """Write a table as Markdown; title and notes are left to the page."""
    sides = "".join("---:|" if right else "---|" for right in table.right_aligned)
    rows = [[head.name for head in table.heads], *table.texts]
    lines = [f"| {' | '.join(map(markdown_cell, row))} |" for row in rows]
    return "\n".join([lines[0], f"|{sides}", *lines[1:]])


def html_table(table: Table, *, kind: str = "sortable") -> str:
    """Write a table whose heads sort it, the first column naming the rows."""
    right = table.right_aligned
    heads = [
        tag(
            "th",
            tag("button", break_spec(head.name), type="button", class_="sort"),
            scope="col",
            class_=_html_class(place, right[place]),
            data_first="descending" if right[place] else "ascending",
        )
        for place, head in enumerate(table.heads)
    ]
    lines = [
        tag("tr", "".join(
            _html_cell(cell, text, place, right[place])
            for place, (cell, text) in enumerate(zip(cells, texts, strict=True))
        ))
        for cells, texts in zip(table.cells, table.texts, strict=True)
    ]  # fmt: skip
    inside = tag("thead", tag("tr", "".join(heads))) + tag("tbody", "\n".join(lines))
    return tag("table", inside, class_=kind)


def _html_class(place: int, right: bool) -> str | None:
    return "system" if place == 0 else "num" if right else None


def _html_cell(cell: Cell, text: str, place: int, right: bool) -> str:
    kinds = [_html_class(place, right), f"tone-{cell.tone}" if cell.tone else None]
    shown = escape(f"{text} {cell.aside}".strip())
    if cell.tone and cell.title:
        shown += tag("span", f" ({escape(cell.title)})", class_="unseen")
    number = isinstance(cell.value, int | float) and math.isfinite(cell.value)
    return tag(
        "td" if place else "th",
        shown,
        scope=None if place else "row",
        class_=" ".join(filter(None, kinds)) or None,
        title=cell.title,
        data_value=f"{cell.value:.9g}" if number else None,
    )


def read_static(name: str) -> str:
    """Read a file that pages are made of."""
    return (files("fabula.reports") / "_static" / name).read_text(encoding="utf-8")


def join_static(names: Iterable[str]) -> str:
    """Read several such files as one."""
    return "".join(read_static(name) for name in names)


def bundle_scripts(names: Iterable[str]) -> str:
    """Put scripts into one scope of their own, so that the page's window stays clean."""
    scripts = "\n".join(read_static(name) for name in names)
    return f'(() => {{\n"use strict";\n{scripts}}})();'


def content_policy(script: str, *, pictures: bool = False) -> str:
    """Allow our own script alone, and nothing from elsewhere: a second lock behind escaping.

    With `pictures` those that the page itself holds are shown.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        f"{'img-src data:; ' if pictures else ''}base-uri 'none'; form-action 'none'"
    )


def fill_template(template: str, parts: Mapping[str, str]) -> str:
    """Fill the places of a template in one pass, so that what is filled in is never filled."""
    return _PLACE.sub(lambda place: parts[place[1]], template)


def write_page(
    path: Path,
    page: str,
    beside: Callable[[Path], None],
    *,
    named: bool = False,
    inputs: Iterable[Path] = (),
    overwrite: bool = False,
) -> Path:
    """Write a page; `beside` writes other files, and folders of them, into the folder it is given.

    Files in the way that Fabula did not write are refused unless `overwrite`; a page that the user
    `named` may be there. What is read, the `inputs`, is never written over.
    """
    from fabula.scoring.folder import make_partial

    with make_partial(path.parent) as partial:
        try:
            (partial / path.name).write_text(page, encoding="utf-8")
            beside(partial)
            files = (file for file in partial.rglob("*") if file.is_file())
            names = sorted(file.relative_to(partial).as_posix() for file in files)
            refuse_input(path, inputs)
            unasked = [name for name in names if name != path.name or not named]
            refuse_foreign(path.parent, unasked, inputs=inputs, overwrite=overwrite)
            note_written(path.parent, names, partial)
            _put_in_place(partial, path)
        except OSError as error:
            raise unwritable(path, error) from error
    return path


def _put_in_place(partial: Path, path: Path) -> None:
    """Rename what is whole, the page last, so that nobody ever opens half a page."""
    page = partial / path.name
    for file in [file for file in partial.rglob("*") if file.is_file() and file != page]:
        target = path.parent / file.relative_to(partial)
        target.parent.mkdir(exist_ok=True)
        file.replace(target)
    page.replace(path)


def write_table(
    folder: Path, name: str, table: Table, records: Sequence[Mapping[str, Any]] | None = None
) -> None:
    """Write a table as `name`.csv for programs and `name`.tex for papers.

    Where `records` are given, the CSV holds them and not the table.
    """
    rows = table_csv(table) if records is None else records_csv(records)
    write_text(folder / f"{name}.csv", without_halves(f"{rows}\n"))
    write_text(folder / f"{name}.tex", without_halves(f"{latex_table(table)}\n"))
