"""Colours that the colour-blind can tell apart, on light paper and on dark."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fabula.reports.pages import read_static

DIVERGING, SEQUENTIAL = 21, 13
# Orange to blue and pale to teal; in the dark the pale end is the dark one.
_STOPS = {
    "light": {
        "d": ("#86370a", "#e3a66b", "#f4f1ea", "#86b8dd", "#0f4474"),
        "q": ("#f4f1ea", "#8bc0b8", "#0a4449"),
    },
    "dark": {
        "d": ("#ffb469", "#a66831", "#1f2123", "#407dae", "#8fccff"),
        "q": ("#1f2123", "#358180", "#aeeee2"),
    },
}
# After Okabe and Ito (2008), darkened or lightened for the ground they stand on.
_SERIES = {
    "light": "#0067a8 #c94f00 #00825f #b85590 #b97a00 #3d8fc4 #6d4a9c #5d5a54".split(),
    "dark": "#5eb0ec #ff9257 #35c99c #ea9fc9 #efbb45 #a5dbff #bda4ea #bdb8ad".split(),
}
SERIES = len(_SERIES["light"])
_OTHERS = {
    "light": {
        "undefined": "#d9d5cb",
        "on-strong": "#ffffff",
        "on-middle": "#000000",
        "band": "#e6ddc3",
    },
    "dark": {
        "undefined": "#4a4b4c",
        "on-strong": "#101112",
        "on-middle": "#000000",
        "band": "#4a4431",
    },
}
_VARIABLE = re.compile(r"--([\w-]+):\s*(#[0-9a-f]{6})\b")


def palette(scheme: str) -> dict[str, str]:
    """Every colour of the figures by name, for a `light` or a `dark` page."""
    colours = dict(_OTHERS[scheme])
    for head, count in (("d", DIVERGING), ("q", SEQUENTIAL)):
        stops = _STOPS[scheme][head]
        shares = [place / (count - 1) for place in range(count)]
        colours |= {f"{head}{n}": _between(stops, share) for n, share in enumerate(shares)}
    return colours | {f"s{n}": colour for n, colour in enumerate(_SERIES[scheme])}


def printed_palette() -> dict[str, str]:
    """Every colour for a figure that stands alone, on white paper."""
    root = read_static("page.css").partition("}")[0]
    return dict(_VARIABLE.findall(root)) | palette("light") | {"paper": "#ffffff"}


def palette_css() -> str:
    """Write the colours as variables of a page, and the classes of cells and series."""
    dark = f"@media (prefers-color-scheme: dark) {{ :root {{ {_variables(palette('dark'))} }} }}"
    return "\n".join([f":root {{ {_variables(palette('light'))} }}", dark, classes_css()]) + "\n"


def classes_css() -> str:
    """Write one class a colour: cells are strokes, series are what they are drawn with."""
    cells = [f"{head}{n}" for head, count in (("d", DIVERGING), ("q", SEQUENTIAL)) for n in
             range(count)]  # fmt: skip
    lines = [f".fig .{name} {{ stroke: var(--{name}) }}" for name in cells]
    lines += [f".s{n} {{ --series: var(--s{n}) }}" for n in range(SERIES)]
    return "\n".join(lines)


def _variables(colours: Mapping[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())


def _between(stops: Sequence[str], share: float) -> str:
    """Mix the two nearest stops in OKLab, where equal steps look equal (Ottosson, 2020)."""
    place = min(int(share * (len(stops) - 1)), len(stops) - 2)
    part = share * (len(stops) - 1) - place
    one, other = (_oklab(stops[place]), _oklab(stops[place + 1]))
    return _hex([a + (b - a) * part for a, b in zip(one, other, strict=True)])


def channels(colour: str) -> list[float]:
    """Red, green and blue light of a colour, 0 to 1."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def _oklab(colour: str) -> list[float]:
    r, g, b = channels(colour)
    long = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3)
    middle = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3)
    short = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3)
    return [
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    ]


def _hex(lab: Sequence[float]) -> str:
    lightness, a, b = lab
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    light = (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )
    return "#" + "".join(f"{round(255 * _curve(min(max(c, 0.0), 1.0))):02x}" for c in light)


def _curve(light: float) -> float:
    return 12.92 * light if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055
