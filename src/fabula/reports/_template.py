"""Pages that need nothing else: templates filled once, scripts locked in by their digest."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from importlib.resources import files

_PLACE = re.compile(r"\{\{(\w+)\}\}")


def static(name: str) -> str:
    """Read a file that pages are made of."""
    return (files("fabula.reports") / "_static" / name).read_text(encoding="utf-8")


def joined(names: Iterable[str]) -> str:
    """Read several such files as one."""
    return "".join(static(name) for name in names)


def one_script(names: Iterable[str]) -> str:
    """Put scripts into one scope of their own, so that the page's window stays clean."""
    scripts = "\n".join(static(name) for name in names)
    return f'(() => {{\n"use strict";\n{scripts}}})();'


def policy(script: str) -> str:
    """Allow our own script alone, and nothing from elsewhere: a second lock behind escaping."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )


def filled(template: str, parts: Mapping[str, str]) -> str:
    """Fill the places of a template in one pass, so that what is filled in is never filled."""
    return _PLACE.sub(lambda found: parts[found[1]], template)
