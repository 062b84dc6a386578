"""How much is wanted: ranges of characters, words, tokens or sentences, as STORIUM spells them.

`words=0-249` are the first 250 words of a text, both ends told and both inside; `words=-50` the
next fifty, wherever the text stands; `words=100-` all from the 101st. Characters are those of the
text in NFC, words runs of word characters or of other signs, tokens what lies between blanks.
"""

from __future__ import annotations

import re
import unicodedata
from typing import get_args

from fabula.core.author import Unit, Wanted
from fabula.core.errors import InputError, closest

UNITS: tuple[Unit, ...] = get_args(Unit)

_WORD = re.compile(r"\w+|[^\w\s]+")
_TOKEN = re.compile(r"\S+")
_RANGE = re.compile(r"(\d{0,9})\s*-\s*(\d{0,9})", re.ASCII)
_REMEDY = "write it as words=0-249, words=-50 (the next 50) or words=100-"

# A sentence ends after two word characters (so that no initial does), a run of marks whose last
# one is . ? or ! but for what closes after it, and a blank before something that can begin one.
_MARKS = re.compile(r"\w\w([^\w\s](?:[^\w\s]|_)*+)(?:\s++|$)")
_CLOSING = "\"'”’»*_~`)]"
OPENING = "\"'“‘„«*_~`(["
_BEGIN = re.compile(rf"[{re.escape(OPENING)}]*(\w?)")


def parse_ranges(text: str) -> list[Wanted]:
    """Read a unit and its ranges, parted by commas."""
    name, equals, listed = text.partition("=")
    unit = name.strip().lower()
    if not equals:
        raise InputError(f"the range {text[:80]!r} names no unit", _REMEDY)
    if unit not in UNITS:
        raise InputError(f"no unit is called {unit[:40]!r}", closest(unit, UNITS))
    return [_parse_range(unit, part.strip()) for part in listed.split(",") if part.strip()]


def parse_wanted(text: str) -> Wanted:
    """Read the one range that a text to be written on can have."""
    ranges = parse_ranges(text)
    if len(ranges) != 1:
        raise InputError(f"{text[:80]!r} has {len(ranges)} ranges, not one", _REMEDY)
    return ranges[0]


def _parse_range(unit: Unit, text: str) -> Wanted:
    parts = _RANGE.fullmatch(text)
    if not parts or parts[0].strip() == "-":
        raise InputError(f"{text[:80]!r} is no range of {unit}", _REMEDY)
    first, last = parts.groups()
    if not first:
        return Wanted(unit, count=int(last))
    wanted = Wanted(unit, start=int(first), stop=int(last) if last else None)
    if wanted.stop is not None and wanted.stop < int(first):
        raise InputError(f"the range {text!r} ends before it begins", _REMEDY)
    return wanted


def format_ranges(unit: Unit, ranges: list[Wanted]) -> str:
    """Spell several ranges of one unit, as a header has them."""
    return f"{unit}={','.join(format_wanted(one).partition('=')[2] for one in ranges)}"


def format_wanted(wanted: Wanted) -> str:
    """Spell a range; nothing told is all from the first on."""
    if wanted.count is not None:
        return f"{wanted.unit}=-{wanted.count}"
    stop = "" if wanted.stop is None else str(wanted.stop)
    return f"{wanted.unit}={wanted.start or 0}-{stop}"


def next_range(length: int, most: int = 250, chunk: int = 50, unit: Unit = "words") -> list[Wanted]:
    """Give the range to ask for next of a text that has `length` units and may have `most`.

    None where it has too many. With `most` units it is one that holds nothing more to write.
    """
    remaining = most - length
    if remaining > chunk:
        return [Wanted(unit, count=chunk)]
    if remaining > 0:
        return [Wanted(unit, start=length, stop=most - 1)]
    return [Wanted(unit, start=length, stop=length)] if remaining == 0 else []


def full_range(most: int = 250, unit: Unit = "words") -> Wanted:
    """Give the range of a whole text of at most so many units."""
    return Wanted(unit, start=0, stop=most - 1)


def count_remaining(wanted: Wanted, text: str) -> int | None:
    """Count the units that may still be written after a text; None: as many as one likes.

    An end is told from the beginning of the whole text, so what stands there already counts.
    """
    if wanted.count is not None:
        return wanted.count
    if wanted.stop is None:
        return None
    length = count_units(text, wanted.unit, keep_fragments=False)
    return max(0, wanted.stop + 1 - max(length, wanted.start or 0))


def split_units(text: str, unit: Unit = "words", *, keep_fragments: bool = True) -> list[str]:
    """Part a text into units. Without fragments, the last sentence counts only if it has ended."""
    if unit == "chars":
        return list(unicodedata.normalize("NFC", text))
    return [text[start:stop] for start, stop in locate_units(text, unit, keep_fragments)]


def count_units(text: str, unit: Unit = "words", *, keep_fragments: bool = True) -> int:
    """Count the units of a text."""
    if unit == "chars":
        return len(unicodedata.normalize("NFC", text))
    return len(locate_units(text, unit, keep_fragments))


def locate_units(text: str, unit: Unit, keep_fragments: bool = True) -> list[tuple[int, int]]:
    """Say where the units of a text begin and end; characters are taken as they stand."""
    if unit == "chars":
        return [(place, place + 1) for place in range(len(text))]
    if unit != "sentences":
        pattern = _WORD if unit == "words" else _TOKEN
        return [match.span() for match in pattern.finditer(text)]
    spans, start = [], len(text) - len(text.lstrip())
    for end, after in locate_ends(text):
        spans.append((start, end))
        start = after
    if keep_fragments and start < len(text.rstrip()):
        spans.append((start, len(text.rstrip())))
    return spans


def locate_ends(text: str) -> list[tuple[int, int]]:
    """Where each sentence that has ended does so, and where the next one begins."""
    ends = []
    for match in _MARKS.finditer(text):
        if match[1].rstrip(_CLOSING)[-1:] not in (".", "?", "!"):
            continue
        begin = _BEGIN.match(text, match.end())
        letter = begin[1] if begin else ""
        if match.end() == len(text) or letter.isupper():
            ends.append((match.end(1), match.end()))
    return ends


def trim_to(text: str, most: int, unit: Unit = "words", *, compat: bool = False) -> str:
    """Cut a text after so many units; one that has no more stays as it is.

    `compat`: before the last place where what the first unit too many says stands in the text,
    which may be far behind it, as STORIUM's platform was released.
    """
    whole, text = text, unicodedata.normalize("NFC", text) if unit == "chars" else text
    spans = locate_units(text, unit)
    if len(spans) <= most:
        return whole
    if compat:
        start, stop = spans[max(most, 0)]
        return text[: text.rindex(text[start:stop])]
    return text[: spans[most - 1][1]] if most > 0 else ""


def limit_sentences(text: str, most: int) -> str:
    """Cut a text after so many sentences."""
    return trim_to(text, most, "sentences")


def drop_fragment(text: str) -> str:
    """Cut off a last sentence that has not ended; of a text without an end nothing is left."""
    spans = locate_units(text, "sentences", keep_fragments=False)
    return text[: spans[-1][1]] if spans else ""
