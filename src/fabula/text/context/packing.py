"""Context packing: which segment gets how many tokens where there is not room for all.

Every segment declares what it asks for: a minimum, a preferred length, a priority. The lengths are
those with the least shortfall from the minimums, by priority, and among these with the least
shortfall from the preferred lengths, by priority; of equals the earlier goes first. Cassowary (by
kiwisolver) finds them, after Akoury et al. (2020).

All that couples the lengths is the budget, and a token costs the same wherever it goes. So
strengths need only decrease from each shortfall to the next: to move a token to a stronger one
always pays, and none has to outweigh all weaker ones together. 1, 2, 3, … will do, which floats
add exactly, and every corner of what the constraints allow has whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from fabula.core.author import Context, SeenSegment, Segment
from fabula.core.errors import InputError, PackageMissing, SettingError
from fabula.text.context.segments import SHARES, Share

Packing = Literal["solver", "greedy", "none"]

# What is called cassowary where one chooses, after the algorithm.
PACKINGS: dict[str, Packing] = {"cassowary": "solver", "greedy": "greedy", "none": "none"}
# As released: what a leaf other than the entry's text is given, and what the text asks for.
_LEAF_TOKENS, ENTRY_TOKENS = 100, 256
# A name is told whole unless it is longer than any name, and names take no more than a quarter.
NAME_TOKENS, NAMES_SHARE = 16, 4
_LONGEST_CHARACTER = 8
_LABELS = {"intro": "Scene", "previous": "Before, by"}


@dataclass(frozen=True, slots=True)
class Need:
    """What a segment has, and what it asks for, in tokens; `preferred` None is all of it."""

    available: int
    minimum: int = 0
    preferred: int | None = None
    priority: int = 0

    @property
    def least(self) -> int:
        """What it should get before anybody gets more than that."""
        return min(self.available, self.minimum)

    @property
    def most(self) -> int:
        """What it gets where there is room."""
        wanted = self.available if self.preferred is None else self.preferred
        return min(self.available, max(self.minimum, wanted))


def pack(
    needs: Sequence[Need], budget: int, *, packing: Packing = "solver", compat: bool = False
) -> list[int]:
    """Give each segment its length in tokens; together they are never longer than the budget.

    `greedy` gives each all it prefers before the next of lower priority gets anything; `none` lays
    out 100 tokens of each, all of the last (the text itself), and cuts at the budget. `compat`
    has the constraints of STORIUM's release, which have no unique solution: what kiwisolver finds.
    """
    for need in needs:
        if need.available < 0 or need.minimum < 0 or (need.preferred or 0) < 0:
            raise SettingError(f"{need} asks for less than nothing", "give 0 or more tokens")
    if compat:
        return _pack_as_released(needs, budget)
    if packing == "none":
        lengths = [min(need.available, _LEAF_TOKENS) for need in needs[:-1]]
        return _spend(budget, [*lengths, *(need.available for need in needs[-1:])])
    ranks = sorted(range(len(needs)), key=lambda place: -needs[place].priority)
    if packing == "greedy":
        given = dict(zip(ranks, _spend(budget, [needs[i].most for i in ranks]), strict=True))
        return [given[place] for place in range(len(needs))]
    wanted = [need.most for need in needs]
    # What fits whole needs no solver, and no package that has one.
    return wanted if sum(wanted) <= budget else _solve(needs, ranks, max(0, budget))


def _spend(budget: int, wanted: Sequence[int]) -> list[int]:
    """Give each what it wants, in order, while there is something left."""
    lengths, left = [], max(0, budget)
    for length in wanted:
        lengths.append(min(length, left))
        left -= lengths[-1]
    return lengths


def _solve(needs: Sequence[Need], ranks: Sequence[int], budget: int) -> list[int]:
    """Declare what is asked for, the strongest first, and read what the solver made of it."""
    kiwi = _kiwisolver()
    solver, lengths = kiwi.Solver(), [kiwi.Variable() for _ in needs]
    for length in lengths:
        solver.addConstraint(length >= 0)
    # Where not all fits, a token more than anybody prefers is one that somebody else lacks: the
    # optimum has none, and lengths need no upper bound.
    solver.addConstraint(kiwi.Expression([kiwi.Term(each) for each in lengths]) <= budget)
    strength = 2 * len(needs)
    for wanted in ([need.least for need in needs], [need.most for need in needs]):
        for place in ranks:
            if wanted[place]:
                solver.addConstraint((lengths[place] >= wanted[place]) | strength)
            strength -= 1
    solver.updateVariables()
    return [round(length.value()) for length in lengths]


def _pack_as_released(needs: Sequence[Need], budget: int) -> list[int]:
    """One token at least and all that is there at most; the whole budget spent; the rest is wishes.

    In the release a length of 0 means that the leaf is not limited; no leaf can get it here.
    """
    if budget < len(needs):
        raise InputError(
            f"{budget} tokens are too few for {len(needs)} segments of one token at least",
            "give a larger budget or leave compat off",
        )
    kiwi = _kiwisolver()
    solver = kiwi.Solver()
    strong, stronger = kiwi.strength.strong, kiwi.strength.create(10, 0, 0)
    lengths = [kiwi.Variable() for _ in needs]
    for length, need in zip(lengths, needs, strict=True):
        solver.addConstraint(length >= 1)
        solver.addConstraint(length <= max(1, need.available))
    available = sum(max(1, need.available) for need in needs)
    total = kiwi.Expression([kiwi.Term(each) for each in lengths])
    if needs:
        solver.addConstraint(total == min(budget, available))
    # Twice, for the release adds this set again where it means the weaker ones.
    for _ in range(2):
        for length, need in zip(lengths, needs, strict=True):
            if need.preferred is None:
                solver.addConstraint((length == _LEAF_TOKENS) | strong)
            else:
                solver.addConstraint((length == need.preferred) | stronger)
    solver.updateVariables()
    return [
        min(need.available, round(length.value()))
        for length, need in zip(lengths, needs, strict=True)
    ]


def _kiwisolver() -> Any:
    try:
        import kiwisolver
    except ImportError:
        raise PackageMissing("kiwisolver", "web") from None
    return kiwisolver


@dataclass(frozen=True)
class Packed:
    """What is left of a context: titled blocks, the text to write on, and what the model saw.

    `blocks` is for `fabula.text.prompting`. `ids` are the tokens of each block's text and, last,
    of the text; `tokens` counts them and those of titles and blank lines.
    """

    blocks: tuple[tuple[str, str], ...]
    text: str
    ids: tuple[tuple[int, ...], ...]
    seen: tuple[SeenSegment, ...]
    tokens: int


def pack_context(
    context: Context,
    encode: Callable[[str], Sequence[int]],
    decode: Callable[[Sequence[int]], str],
    budget: int,
    *,
    packing: Packing = "solver",
    compat: bool = False,
    entry: Share = SHARES["entry"],
) -> Packed:
    """Cut the segments of a context and its text so that all of them fit into a budget of tokens.

    `encode` gives the tokens of a text alone, without a beginning or an end. `entry` is what the
    text before the cursor asks for.
    """
    text = Segment(
        "entry", context.text, minimum=entry.minimum, priority=entry.priority, keep="end"
    )
    if compat:
        text = replace(text, preferred=ENTRY_TOKENS)
    shown = [each for each in context.segments if each.text.strip() or each.title.strip()]
    titles = [_cut_title(each, encode, decode) for each in shown]
    frame = [len(encode(f"{title}:\n\n\n")) for title in titles]
    if sum(frame) > budget // NAMES_SHARE:
        titles, frame = [""] * len(shown), [len(encode("\n\n"))] * len(shown)
    tokens = [list(encode(each.text)) for each in (*shown, text)]
    needs = [
        Need(len(ids), each.minimum, each.preferred, each.priority)
        for ids, each in zip(tokens, (*shown, text), strict=True)
    ]
    lengths = pack(needs, budget - sum(frame), packing=packing, compat=compat)
    return _cut_all((*shown, text), tokens, lengths, [*titles, ""], [*frame, 0], decode)


def _cut_all(
    segments: Sequence[Segment],
    tokens: Sequence[list[int]],
    lengths: Sequence[int],
    titles: Sequence[str],
    frame: Sequence[int],
    decode: Callable[[Sequence[int]], str],
) -> Packed:
    blocks, kept, seen, total = [], [], [], 0
    for segment, ids, length, title, around in zip(
        segments, tokens, lengths, titles, frame, strict=True
    ):
        text, left = cut_segment(segment, ids, length, decode)
        seen.append(SeenSegment(segment.kind, text, len(left), len(ids), segment.title))
        if segment is segments[-1]:
            total += len(left)
        elif text or (title and not segment.text.strip()):
            blocks.append((title, text) if text else _part_title(segment, title))
            total += len(left) + around
        else:
            continue
        kept.append(tuple(left))
    return Packed(tuple(blocks), seen[-1].text, tuple(kept), tuple(seen), total)


def cut_segment(
    segment: Segment, ids: list[int], length: int, decode: Callable[[Sequence[int]], str]
) -> tuple[str, list[int]]:
    """Keep so many tokens of one end, or a few less where the cut goes through a character."""
    if length >= len(ids):
        return segment.text, ids
    for fewer in range(max(0, length - _LONGEST_CHARACTER), length + 1)[::-1]:
        left = ids[:fewer] if segment.keep == "start" else ids[len(ids) - fewer :]
        text = decode(left) if left else ""
        if "\ufffd" not in (text[-1:] if segment.keep == "start" else text[:1]):
            return text, left
    return "", []


def _cut_title(
    segment: Segment,
    encode: Callable[[str], Sequence[int]],
    decode: Callable[[Sequence[int]], str],
) -> str:
    """What stands above a segment: what it is, and its name."""
    label = _LABELS.get(segment.kind, segment.kind.capitalize())
    if segment.kind == "prompt" and not segment.title:
        return ""
    ids = list(encode(segment.title.strip()))
    named = replace(segment, text=segment.title.strip(), keep="start")
    return f"{label} {cut_segment(named, ids, NAME_TOKENS, decode)[0]}".strip()


def _part_title(segment: Segment, title: str) -> tuple[str, str]:
    """A segment that has a name alone: what it is stands above, the name below."""
    label = _LABELS.get(segment.kind, segment.kind.capitalize())
    return label, title.removeprefix(label).strip()
