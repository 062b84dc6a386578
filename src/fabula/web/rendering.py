"""Templates filled, what a browser may load for a page, and the files that pages are made of."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from fabula._version import __version__
from fabula.core.errors import NotFound
from fabula.reports.figures.colours import palette_css
from fabula.reports.pages import read_static
from fabula.web.markdown import render_markdown

# Everything is our own, nothing is inline: what slips through escaping is not run.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)
_LONGEST_NAME = 100
_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


def _read_review_style() -> str:
    # Reviews know all that learns; a process that shows none need not.
    from fabula.reports.review_page import parts_style

    return parts_style()


# What the studio shares with the pages of reports: colours, letters, figures.
_SHARED: Mapping[str, Callable[[], str]] = {
    "page.css": lambda: read_static("page.css"),
    "review.css": _read_review_style,
    "figures.css": lambda: read_static("figures.css") + palette_css(),
}


@cache
def _templates() -> Environment:
    loader = PackageLoader("fabula.web", "templates")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"static": spell_static, "version": __version__}
    environment.filters |= {"sentence": spell_sentence, "markdown": render_markdown}
    return environment


def spell_sentence(words: str) -> str:
    """Write what an error says as a sentence of a page: with a capital, and an end. The name of a
    file or a field stays as it is."""
    first = words.split(maxsplit=1)[0].rstrip(",:;.") if words.strip() else ""
    begun = words[:1].upper() + words[1:] if first.isalpha() else words
    return begun if words.endswith((".", "!", "?")) else f"{begun}."


def compile_templates() -> None:
    """Compile all templates, so that the first who opens a page need not wait for it."""
    for name in _templates().list_templates():
        _templates().get_template(name)


def fill(template: str, values: Mapping[str, Any]) -> str:
    """Fill a template; every string in it is escaped, and what is not given is an error."""
    return _templates().get_template(template).render(values)


def answer_page(page: str, status: int = 200) -> HTMLResponse:
    """Answer with a page that loads what is ours and nothing else."""
    return HTMLResponse(page, status, {"Content-Security-Policy": POLICY})


@cache
def read_file(name: str) -> bytes:
    """Read a file that pages are made of; read once, kept for good."""
    if make := _SHARED.get(name):
        return make().encode()
    path = files("fabula.web") / "static" / name
    # A name has no folders: nothing outside can be named. One that is too long cannot be asked for.
    is_name = not {"/", "\\", "\0"} & set(name) and not name.startswith(".")
    if not is_name or len(name) > _LONGEST_NAME or not path.is_file():
        raise NotFound("there is nothing at this address")
    return path.read_bytes()


@cache
def spell_static(name: str) -> str:
    """Spell the address of such a file; what it holds is in it, so that browsers may keep it."""
    return f"/static/{name}?v={hashlib.sha256(read_file(name)).hexdigest()[:12]}"


def answer_file(name: str) -> Response:
    """Answer with such a file."""
    suffix = name[name.rfind(".") :]
    if suffix not in _KINDS:
        raise NotFound("there is nothing at this address")
    # A module imports others by their plain name: browsers ask whether these have changed.
    etag = f'"{hashlib.sha256(read_file(name)).hexdigest()[:16]}"'
    headers = {"Cache-Control": "no-cache", "ETag": etag}
    return Response(read_file(name), media_type=_KINDS[suffix], headers=headers)
