"""HTML and SVG written safely: whatever a story, system or note holds, it stays text."""

from __future__ import annotations

import html
import re

_PART_ENDS = re.compile(r"([_(,:])")
_HALVES = re.compile("[\ud800-\udfff\x00]")


def escaped(text: str) -> str:
    """Write text so that a browser shows it as it is; halves of characters become �."""
    return html.escape(_HALVES.sub("\ufffd", text))


def tag(name: str, inside: str = "", **attributes: object) -> str:
    """Write an element around markup; `class_` is class, None leaves an attribute out."""
    parts = [
        f' {key.rstrip("_").replace("_", "-")}="{escaped(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    ]
    return f"<{name}{''.join(parts)}>{inside}</{name}>"


def named(text: str, nothing: str = "all") -> str:
    """Write a name that may run from right to left among other words."""
    return tag("bdi", escaped(text or nothing))


def spelled(scorer: str) -> str:
    """Write a spec that may break where its parts end."""
    return _PART_ENDS.sub(r"\1<wbr>", escaped(scorer))
