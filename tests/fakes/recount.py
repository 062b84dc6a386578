"""Who wrote what, recounted from a log: the rules of docs/studio/writing.md with plain loops over
single characters, and nothing of the product's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

# A character, its origin, and the suggestion it belongs to.
Sign = tuple[str, str, Any]


def recount_signs(log: Iterable[Any]) -> list[Sign]:
    """Give every character that a log leads to, with who wrote it."""
    signs: list[Sign] = []
    for edit in log:
        old, new = signs[edit.start : edit.stop], list(edit.inserted)
        if edit.source == "machine":
            put = [(sign, "machine", edit.suggestion_id) for sign in new]
            signs[edit.start : edit.stop] = put
            continue
        head = 0
        while head < len(old) and head < len(new) and old[head][0] == new[head]:
            head += 1
        tail = 0
        while tail < min(len(old), len(new)) - head and old[-1 - tail][0] == new[-1 - tail]:
            tail += 1
        start, stop = edit.start + head, edit.stop - tail
        fresh = new[head : len(new) - tail]
        rewritten = edit.suggestion_id or _find_rewritten(signs, start, stop)
        origin = "edited" if rewritten else "person"
        signs[start:stop] = [(sign, origin, rewritten) for sign in fresh]
    return signs


def _find_rewritten(signs: list[Sign], start: int, stop: int) -> Any:
    gone = signs[start:stop]
    if gone:
        theirs = [sign[2] for sign in gone if sign[2] is not None]
        if 2 * len(theirs) < len(gone):
            return None
        return max(theirs, key=theirs.count)
    if start == 0 or start == len(signs) or signs[start - 1][2] != signs[start][2]:
        return None
    return None if _ends_sentence(signs, start) else signs[start][2]


def _ends_sentence(signs: list[Sign], stop: int) -> bool:
    before = "".join(sign[0] for sign in signs[max(0, stop - 12) : stop])
    words = before.rstrip()
    blanks = before[len(words) :]
    if "\n" in blanks:
        return True
    while words and words[-1] in "\"'”’»)]*_":
        words = words[:-1]
    return bool(blanks) and words[-1:] in set(".!?…。！？")


def count_signs(signs: list[Sign]) -> dict[str, int]:
    """Characters by their origin."""
    counts = {"person": 0, "machine": 0, "edited": 0}
    for _, origin, _ in signs:
        counts[origin] += 1
    return counts


def count_words(signs: list[Sign]) -> dict[str, int]:
    """Words by their origin: letters and digits, joined by single apostrophes."""
    counts, at = {"person": 0, "machine": 0, "edited": 0}, 0
    while at < len(signs):
        end = at
        while end < len(signs) and _is_in_word(signs, at, end):
            end += 1
        if end == at:
            at += 1
            continue
        origins = {origin for _, origin, _ in signs[at:end]}
        counts[origins.pop() if len(origins) == 1 else "edited"] += 1
        at = end
    return counts


def _is_in_word(signs: list[Sign], first: int, at: int) -> bool:
    if signs[at][0] not in "'’":
        return signs[at][0].isalnum()
    return at > first and signs[at - 1][0].isalnum() and signs[at + 1 : at + 2] != [] and (
        signs[at + 1][0].isalnum()
    )  # fmt: skip
