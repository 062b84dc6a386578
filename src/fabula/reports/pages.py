"""Pages that need nothing else: markup written safely, templates filled once, files whole."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files
from pathlib import Path

from fabula.core.files import unwritable

_PART_ENDS = re.compile(r"([_(,:])")
_HALVES = re.compile("[\ud800-\udfff\x00]")
_PLACE = re.compile(r"\{\{(\w+)\}\}")


def escape(text: str) -> str:
    """Write text so that a browser shows it as it is; halves of characters become �."""
    return html.escape(_HALVES.sub("\ufffd", text))


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


def content_policy(script: str) -> str:
    """Allow our own script alone, and nothing from elsewhere: a second lock behind escaping."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )


def fill_template(template: str, parts: Mapping[str, str]) -> str:
    """Fill the places of a template in one pass, so that what is filled in is never filled."""
    return _PLACE.sub(lambda place: parts[place[1]], template)


def write_page(path: Path, page: str, beside: Callable[[Path], None]) -> Path:
    """Write a page; `beside` writes folders of files into the folder it is given."""
    from fabula.scoring.folder import RunFolder

    with RunFolder(path.parent).partial() as partial:
        try:
            (partial / path.name).write_text(page, encoding="utf-8")
            beside(partial)
            _put_in_place(partial, path)
        except OSError as error:
            raise unwritable(path, error) from error
    return path


def _put_in_place(partial: Path, path: Path) -> None:
    """Rename what is whole, the page last, so that nobody ever opens half a page."""
    for folder in filter(Path.is_dir, partial.iterdir()):
        (path.parent / folder.name).mkdir(exist_ok=True)
        for file in folder.iterdir():
            file.replace(path.parent / folder.name / file.name)
    (partial / path.name).replace(path)
