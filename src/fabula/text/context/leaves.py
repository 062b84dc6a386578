"""A context as STORIUM's model reads it: leaves of tokens, each marked by what it is.

Akoury et al. (2020). A segment is two leaves, its name and what is said of it; the last leaf is the
text of the entry. Every leaf begins with a sign that parts it from the one before, the first with
that of a beginning. A leaf's marks are what its tokens' embeddings are added to: the kind of its
segment, the field, how far back an entry lies. Training and co-author lay out by the same rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fabula.core.author import MARKS, Context, SeenSegment, Segment
from fabula.text.context.packing import (
    ENTRY_TOKENS,
    NAME_TOKENS,
    NAMES_SHARE,
    Need,
    Packing,
    cut_segment,
    pack,
)
from fabula.text.context.segments import SHARES, Share

Marks = tuple[str, ...]
# What the text of the entry is marked by: people's moves are all that is learned and written.
TEXT_MARKS: Marks = ("move",)
# Kinds of segments that have other names among the marks.
_MARKS_OF = {"intro": "establishment", "prompt": "establishment", "challenge": "obstacle"}
# Of these a name, or what is said of them, is missed where it is not there.
_NAMELESS = ("previous", "prompt", "intro")


@dataclass(frozen=True)
class LeafSigns:
    """Tokens that stand for no text: at the very beginning, between leaves, for what is missing."""

    begin: tuple[int, ...]
    separator: int
    missing: int


@dataclass(frozen=True)
class Leaf:
    """Tokens that belong together, their sign first, and what they are marked by."""

    marks: Marks
    ids: tuple[int, ...]


@dataclass(frozen=True)
class LaidOut:
    """A context as leaves, the last of which is the text; what was left of every segment."""

    leaves: tuple[Leaf, ...]
    seen: tuple[SeenSegment, ...]

    @property
    def tokens(self) -> int:
        """Tokens of all leaves."""
        return sum(len(leaf.ids) for leaf in self.leaves)

    @property
    def is_whole(self) -> bool:
        """Whether nothing of the text was cut off."""
        return self.seen[-1].tokens == self.seen[-1].available


def lay_out(
    context: Context,
    signs: LeafSigns,
    encode: Callable[[str], Sequence[int]],
    decode: Callable[[Sequence[int]], str],
    budget: int,
    *,
    packing: Packing = "solver",
    compat: bool = False,
    keep: Literal["start", "end"] = "end",
    entry: Share = SHARES["entry"],
) -> LaidOut:
    """Cut the segments of a context and its text so that their leaves fit into a budget of tokens.

    `keep` is the end of the text that stays: the last words where somebody writes on, the first
    where the text is learned. `entry` is what the text asks for. Names are told in full before
    anything else, as far as they are names; where they would take more than a quarter of the
    budget, there are none.
    """
    preferred = ENTRY_TOKENS if compat else None
    text = Segment(
        "entry", context.text, "", entry.minimum, preferred, entry.priority, keep, TEXT_MARKS
    )
    segments = [each for each in context.segments if each.text.strip() or each.title.strip()]
    names = [_cut_name(each, signs, encode, decode) for each in segments]
    if sum(len(ids) + 1 for ids in names if ids) > budget // NAMES_SHARE:
        names = [[] for _ in names]
    # A sign before every leaf, and one for what is missing.
    frame = sum(1 + (len(ids) + 1 if ids else 0) for ids in names) + max(1, len(signs.begin))
    frame += sum(_is_missed(each) for each in segments)
    tokens = [list(encode(each.text)) for each in (*segments, text)]
    needs = [
        Need(len(ids), each.minimum, each.preferred, each.priority)
        for ids, each in zip(tokens, (*segments, text), strict=True)
    ]
    lengths = pack(needs, budget - frame, packing=packing, compat=compat)
    return _cut_leaves([*segments, text], [*names, []], tokens, lengths, signs, decode)


def _cut_leaves(
    segments: Sequence[Segment],
    names: Sequence[list[int]],
    tokens: Sequence[list[int]],
    lengths: Sequence[int],
    signs: LeafSigns,
    decode: Callable[[Sequence[int]], str],
) -> LaidOut:
    leaves: list[Leaf] = []
    seen = []

    def add(marks: Marks, ids: Sequence[int]) -> None:
        sign = (signs.separator,) if leaves or not signs.begin else signs.begin
        leaves.append(Leaf(marks, (*sign, *ids)))

    for segment, name, ids, length in zip(segments, names, tokens, lengths, strict=True):
        marks = find_marks(segment)
        left, kept = cut_segment(segment, ids, length, decode)
        seen.append(SeenSegment(segment.kind, left, len(kept), len(ids), segment.title))
        if segment is segments[-1]:
            add(marks, kept)
            continue
        if name:
            add((*marks, "name_field"), name)
        if kept:
            add((*marks, "description"), kept)
        elif _is_missed(segment):
            add((*marks, "description"), [signs.missing])
    return LaidOut(tuple(leaves), tuple(seen))


def _is_missed(segment: Segment) -> bool:
    """Whether a segment should say more than its name, and does not."""
    return not segment.text.strip() and segment.kind not in _NAMELESS


def find_marks(segment: Segment) -> Marks:
    """Say what a segment is in the words of the model: its own marks, else those of its kind."""
    if segment.marks:
        return segment.marks
    mark = _MARKS_OF.get(segment.kind, segment.kind)
    return (mark,) if mark in MARKS else ()


def _cut_name(
    segment: Segment,
    signs: LeafSigns,
    encode: Callable[[str], Sequence[int]],
    decode: Callable[[Sequence[int]], str],
) -> list[int]:
    """Tokens of a segment's name; those that should have one and have none miss it."""
    title = segment.title.strip()
    if not title:
        return [] if segment.kind in _NAMELESS else [signs.missing]
    named = replace(segment, text=title, keep="start")
    return cut_segment(named, list(encode(title)), NAME_TOKENS, decode)[1]
