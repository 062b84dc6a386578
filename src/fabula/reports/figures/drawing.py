"""What figures are drawn with: their root, scales and axes, short numbers, widths of words."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from fabula.reports.figures.colours import SERIES, classes_css, printed_palette
from fabula.reports.numbers import number_text
from fabula.reports.pages import escape, read_static, tag

# How wide a figure is that a phone shows as it is.
NARROW = 360
# Shares of the letter height, after Helvetica; letters not named are as wide as most are.
_WIDTHS = {letter: width for width, letters in (
    (0.25, "ijl|!'.,:;"), (0.31, "ftrI()[]{}-/ "), (0.68, "ABCDEFGHJKLNOPQRSTUVXYZ&"),
    (0.84, "mwMW%@−×"), (0.5, "ckszvxyJ"),
) for letter in letters}  # fmt: skip
# Verdana and DejaVu Sans, which many systems have, are wider than Helvetica.
_WIDER = 1.16
_USED = re.compile(r"var\(--([\w-]+)\)")


def draw_figure(
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
    words = tag("desc", escape(desc)) if desc else ""
    return tag("svg", f"{words}{inside}", **head, **attributes)


def make_standalone(svg: str) -> str:
    """Give a figure its own title and style, in light colours, for a file or a paper."""
    head, sign, rest = svg.partition(">")
    named = re.search(r'aria-label="([^"]*)"', head)
    title = tag("title", escape(html.unescape(named[1]))) if named else ""
    return f"{head}{sign}{title}{tag('style', _printed_style())}{rest}\n"


def _printed_style() -> str:
    """The style of figures with its variables spelled out, as few programs know them."""
    values = printed_palette() | {"sans": "Helvetica, Arial, sans-serif"}
    rules = f"{read_static('figures.css')}{classes_css()}".splitlines()
    return "\n".join(["", *(_spell_out(rule, values) for rule in rules), ""])


def _spell_out(rule: str, values: dict[str, str]) -> str:
    """Spell the variables of a rule out; a rule of series becomes one for each of them."""
    if "--series:" in rule:
        return ""
    if "var(--series)" not in rule:
        return _USED.sub(lambda used: values[used[1]], rule)
    selector, _, rest = rule.partition(" {")
    each = [f"{selector}.s{n} {{{rest.replace('--series', f'--s{n}')}" for n in range(SERIES)]
    return "\n".join(_spell_out(one, values) for one in each)


def short(number: float) -> str:
    """Write a coordinate with no more digits than can be seen."""
    return f"{round(number, 1) + 0.0:.1f}".removesuffix(".0")


def width_of(text: str, size: float = 12) -> float:
    """Guess how wide a text is, without a font at hand; rather too wide than too narrow."""
    return _WIDER * size * sum(_WIDTHS.get(letter, 0.556) for letter in text)


def shorten(text: str, room: float, size: float = 12) -> str:
    """Shorten a text to the room there is."""
    if width_of(text, size) <= room:
        return text
    while text and width_of(f"{text}…", size) > room:
        text = text[:-1]
    return f"{text.rstrip()}…"


def shorten_names(names: Iterable[str], room: float, size: float = 12) -> dict[str, str]:
    """Shorten names to the room there is, in their middle: those of models often differ at the
    end."""
    return {name: _cut_middle(name, room, size) for name in names}


def _cut_middle(text: str, room: float, size: float) -> str:
    if width_of(text, size) <= room:
        return text
    head, tail = text, ""
    for length in range(len(text), 0, -1):
        head, tail = text[: length // 2], text[len(text) - (length - length // 2) :]
        if width_of(f"{head}…{tail}", size) <= room:
            break
    return f"{head}…{tail}"


def words(text: str, x: float, y: float, **attributes: object) -> str:
    """Write a text at a place."""
    return tag("text", escape(text), x=short(x), y=short(y), **attributes)


@dataclass(frozen=True)
class Scale:
    """Puts values from `low` to `high` on a line from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Place of a value."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[float]:
        """Round values on the line, no more than asked for."""
        step = round_step(self.high - self.low, most)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def round_step(reach: float, most: int) -> float:
    """Smallest step of 1, 2 or 5 times a power of ten that makes few enough ticks."""
    power = 10.0 ** math.floor(math.log10(reach / most))
    return next(step * power for step in (1, 2, 5, 10, 20) if reach / (step * power) <= most)


def reach_of(values: Iterable[float], *, room: float = 0.04) -> tuple[float, float]:
    """Ends of an axis for some values, with room beyond them; NaN are left out."""
    there = [value for value in values if math.isfinite(value)]
    if not there:
        return 0.0, 1.0
    low, high = min(there), max(there)
    more = (high - low) * room if high > low else max(abs(high) * 0.1, 0.5)
    return low - more, high + more


def tick_words(value: float, step: float) -> str:
    """Write a tick with the decimals its step needs."""
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return number_text(value, decimals)


def bottom_axis(scale: Scale, top: float, bottom: float, *, label: str = "", most: int = 7) -> str:
    """Draw ticks as thin lines over the whole height, with numbers below and what they mean."""
    ticks = scale.ticks(most)
    step = round_step(scale.high - scale.low, most)
    lines = "".join(f"M{short(scale(tick))} {short(top)}V{short(bottom)}" for tick in ticks)
    numbers = [
        words(tick_words(tick, step), scale(tick), bottom + 16, class_="tick", text_anchor="middle")
        for tick in ticks
    ]
    middle = (scale.start + scale.end) / 2
    name = words(label, middle, bottom + 36, class_="axis-name", text_anchor="middle")
    return tag("path", d=lines, class_="grid") + "".join(numbers) + (name if label else "")


def left_axis(scale: Scale, left: float, right: float, *, label: str = "", most: int = 6) -> str:
    """Draw ticks as thin lines over the whole width, with numbers left of them."""
    ticks = scale.ticks(most)
    step = round_step(abs(scale.high - scale.low), most)
    lines = "".join(f"M{short(left)} {short(scale(tick))}H{short(right)}" for tick in ticks)
    numbers = [
        words(tick_words(tick, step), left - 8, scale(tick) + 4, class_="tick", text_anchor="end")
        for tick in ticks
    ]
    name = words(label, 0, 14, class_="axis-name")
    return tag("path", d=lines, class_="grid") + "".join(numbers) + (name if label else "")
