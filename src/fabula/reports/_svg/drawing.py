"""The root of a figure, short numbers, widths of words, and figures that stand alone."""

from __future__ import annotations

import html
import re

from fabula.reports._markup import escaped, tag
from fabula.reports._svg.colours import SERIES, classes_css, printed_palette
from fabula.reports._template import static

# Shares of the letter height, after Helvetica; letters not named are as wide as most are.
_WIDTHS = {letter: width for width, letters in (
    (0.25, "ijl|!'.,:;"), (0.31, "ftrI()[]{}-/ "), (0.68, "ABCDEFGHJKLNOPQRSTUVXYZ&"),
    (0.84, "mwMW%@−×"), (0.5, "ckszvxyJ"),
) for letter in letters}  # fmt: skip
# Verdana and DejaVu Sans, which many systems have, are wider than Helvetica.
_WIDER = 1.16
_USED = re.compile(r"var\(--([\w-]+)\)")


def drawing(
    width: float, height: float, inside: str, *, title: str, desc: str = "", **attributes: object
) -> str:
    """Write the root of a figure; `title` and `desc` are what a screen reader reads."""
    kind = attributes.pop("kind", "")
    head = {
        "xmlns": "http://www.w3.org/2000/svg",
        "class_": f"fig {kind}".strip(),
        "width": short(width),
        "height": short(height),
        "viewBox": f"0 0 {short(width)} {short(height)}",
        "role": "img",
        "aria_label": title,
    }
    words = tag("desc", escaped(desc)) if desc else ""
    return tag("svg", f"{words}{inside}", **head, **attributes)


def standalone(svg: str) -> str:
    """Give a figure its own title and style, in light colours, for a file or a paper."""
    head, sign, rest = svg.partition(">")
    named = re.search(r'aria-label="([^"]*)"', head)
    title = tag("title", escaped(html.unescape(named[1]))) if named else ""
    return f"{head}{sign}{title}{tag('style', _printed_style())}{rest}\n"


def _printed_style() -> str:
    """The style of figures with its variables spelled out, as few programs know them."""
    values = printed_palette() | {"sans": "Helvetica, Arial, sans-serif"}
    rules = f"{static('figures.css')}{classes_css()}".splitlines()
    return "\n".join(["", *(_spelled_out(rule, values) for rule in rules), ""])


def _spelled_out(rule: str, values: dict[str, str]) -> str:
    """Spell the variables of a rule out; a rule of series becomes one for each of them."""
    if "--series:" in rule:
        return ""
    if "var(--series)" not in rule:
        return _USED.sub(lambda found: values[found[1]], rule)
    selector, _, rest = rule.partition(" {")
    each = [f"{selector}.s{n} {{{rest.replace('--series', f'--s{n}')}" for n in range(SERIES)]
    return "\n".join(_spelled_out(one, values) for one in each)


def short(number: float) -> str:
    """Write a coordinate with no more digits than can be seen."""
    return f"{round(number, 1) + 0.0:.1f}".removesuffix(".0")


def width_of(text: str, size: float = 12) -> float:
    """Guess how wide a text is, without a font at hand; rather too wide than too narrow."""
    return _WIDER * size * sum(_WIDTHS.get(letter, 0.556) for letter in text)


def cut(text: str, room: float, size: float = 12) -> str:
    """Shorten a text to the room there is."""
    if width_of(text, size) <= room:
        return text
    while text and width_of(f"{text}…", size) > room:
        text = text[:-1]
    return f"{text.rstrip()}…"


def words(text: str, x: float, y: float, **attributes: object) -> str:
    """Write a text at a place."""
    return tag("text", escaped(text), x=short(x), y=short(y), **attributes)
