"""Packing: never over budget, minimums while they fit, and the optimum that was declared."""

from __future__ import annotations

import itertools
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.author import Context, Segment
from fabula.core.errors import InputError, PackageMissing, SettingError
from fabula.text.context.packing import Need, Packed, pack, pack_context
from fabula.text.context.segments import Share, prompt_context
from fabula.text.prompting import render_prompt

SIZES = st.integers(0, 300)
NEEDS = st.lists(st.builds(Need, SIZES, SIZES, st.none() | SIZES, st.integers(-2, 6)), max_size=16)
BUDGETS = st.integers(0, 3000)
SMALL = st.integers(0, 3)
SMALL_NEEDS = st.lists(
    st.builds(Need, SMALL, SMALL, st.none() | SMALL, st.integers(0, 2)), min_size=1, max_size=4
)


def shortfalls(needs: list[Need], lengths: list[int]) -> list[int]:
    """What is to be small: the minimums' shortfalls by priority, then those of the preferred."""
    ranks = sorted(range(len(needs)), key=lambda place: (-needs[place].priority, place))
    levels = [[need.least for need in needs], [need.most for need in needs]]
    return [max(0, wanted[place] - lengths[place]) for wanted in levels for place in ranks]


@given(SMALL_NEEDS, st.integers(0, 8))
def test_the_solver_finds_what_trying_everything_finds(needs, budget):
    tries = itertools.product(*(range(need.most + 1) for need in needs))
    best = min((each for each in tries if sum(each) <= budget), key=lambda t: shortfalls(needs, t))
    assert pack(needs, budget) == list(best)


@given(NEEDS, BUDGETS)
def test_the_solver_finds_the_optimum_by_hand(needs, budget):
    """All that couples segments is the budget: who comes first takes what it asks for."""
    lengths = [0] * len(needs)
    ranks = sorted(range(len(needs)), key=lambda place: (-needs[place].priority, place))
    for wanted in ([need.least for need in needs], [need.most for need in needs]):
        for place in ranks:
            lengths[place] += min(budget - sum(lengths), wanted[place] - lengths[place])
    assert pack(needs, budget) == lengths


@given(NEEDS, BUDGETS)
def test_minimums_are_kept_while_they_fit_and_greedy_is_never_better(needs, budget):
    lengths, greedy = pack(needs, budget), pack(needs, budget, packing="greedy")
    if sum(need.least for need in needs) <= budget:
        assert all(got >= need.least for got, need in zip(lengths, needs, strict=True))
    assert shortfalls(needs, lengths) <= shortfalls(needs, greedy)


@given(NEEDS, BUDGETS, st.sampled_from(["solver", "greedy", "none"]))
def test_nothing_is_packed_over_the_budget(needs, budget, packing):
    lengths = pack(needs, budget, packing=packing)
    assert sum(lengths) <= budget
    assert all(0 <= got <= need.available for got, need in zip(lengths, needs, strict=True))


@given(NEEDS, BUDGETS)
def test_the_release_spends_the_whole_budget_and_gives_everybody_a_token(needs, budget):
    needs = [need for need in needs if need.available]
    if budget < len(needs):
        with pytest.raises(InputError, match="too few"):
            pack(needs, budget, compat=True)
        return
    lengths = pack(needs, budget, compat=True)
    assert sum(lengths) == min(budget, sum(need.available for need in needs))
    assert all(1 <= got <= need.available for got, need in zip(lengths, needs, strict=True))


def test_the_release_gives_way_to_the_text_ten_times_as_strongly():
    needs = [Need(300), Need(300), Need(500, preferred=256)]
    assert pack(needs, 456, compat=True) == [100, 100, 256]
    assert pack(needs, 356, compat=True)[2] == 256


def test_by_hand_the_solver_keeps_minimums_where_greedy_starves_them():
    needs = [Need(200, 50, priority=1), Need(200, 100, priority=5), Need(500, 250, priority=6)]
    assert pack(needs, 600) == [50, 100, 450]
    assert pack(needs, 300) == [0, 50, 250]
    assert pack(needs, 600, packing="greedy") == [0, 100, 500]
    assert pack(needs, 600, packing="none") == [100, 100, 400]


def test_equals_are_served_in_order():
    assert pack([Need(10, 10), Need(10, 10)], 15) == [10, 5]
    assert pack([], 15) == []


def test_a_preferred_length_is_not_exceeded():
    assert pack([Need(300, 20, 40), Need(300, 50, 10)], 1000) == [40, 50]


def test_a_length_below_nothing_is_refused():
    with pytest.raises(SettingError, match="less than nothing"):
        pack([Need(5, -1)], 10)


def test_what_fits_whole_needs_no_solver(monkeypatch):
    monkeypatch.setitem(sys.modules, "kiwisolver", None)
    assert pack([Need(5), Need(7)], 12) == [5, 7]
    with pytest.raises(PackageMissing, match="kiwisolver"):
        pack([Need(5), Need(7)], 11)


def encode(text: str) -> list[int]:
    return list(text.encode())


def decode(ids: list[int]) -> str:
    return bytes(ids).decode(errors="replace")


def rendered_tokens(packed: Packed) -> int:
    return len(encode(render_prompt(packed.blocks, tag="") + packed.text))


SEGMENTS = st.lists(
    st.builds(
        Segment,
        st.sampled_from(["intro", "character", "strength", "prompt", "previous"]),
        st.text(st.sampled_from("ab é\n漢🙂"), max_size=90),
        st.sampled_from(["", "Ida", "A name that is longer than all names that people have"]),
        minimum=st.integers(0, 60),
        priority=st.integers(0, 6),
        keep=st.sampled_from(["start", "end"]),
    ),
    max_size=12,
)


@given(SEGMENTS, st.text(st.sampled_from("ab 漢🙂"), max_size=400), st.integers(60, 900))
def test_what_the_model_sees_fits_and_is_whole(segments, text, budget):
    packed = pack_context(Context("s", tuple(segments), text), encode, decode, budget)
    assert rendered_tokens(packed) <= packed.tokens <= budget
    for seen, segment in zip(packed.seen, [*filter(has_words, segments), None], strict=True):
        whole, keep = (segment.text, segment.keep) if segment else (text, "end")
        assert whole.startswith(seen.text) if keep == "start" else whole.endswith(seen.text)
        assert (seen.tokens, seen.available) == (len(encode(seen.text)), len(encode(whole)))
    assert packed.seen[-1].kind == "entry"


def has_words(segment: Segment) -> bool:
    return bool(segment.text.strip() or segment.title.strip())


def test_a_segment_is_cut_at_the_end_that_is_not_kept():
    segments = (
        Segment("character", "A brave cook.", "Ida", minimum=7, priority=2),
        Segment("previous", "She went home.", "Bo", minimum=5, priority=1, keep="end"),
    )
    packed = pack_context(Context("s", segments, "Then"), encode, decode, 300, entry=Share(4, 6))
    assert packed.blocks == (
        ("Character Ida", "A brave cook."),
        ("Before, by Bo", "She went home."),
    )
    tight = pack_context(Context("s", segments, "Then"), encode, decode, 20, entry=Share(4, 6))
    # Names would take more than a quarter; the two blank lines are four of the twenty bytes.
    assert [seen.text for seen in tight.seen] == ["A brave", "home.", "Then"]
    assert [(seen.tokens, seen.available) for seen in tight.seen] == [(7, 13), (5, 14), (4, 4)]
    assert tight.blocks == (("", "A brave"), ("", "home."))


def test_a_name_alone_is_shown():
    context = Context("s", (Segment("character", "", "Ida"),), "")
    assert pack_context(context, encode, decode, 200).blocks == (("Character", "Ida"),)


def test_a_prompt_stands_without_a_title():
    packed = pack_context(prompt_context("A mill burns.", "So", story="s"), encode, decode, 100)
    assert render_prompt(packed.blocks) == "A mill burns.\n\n***\n"
    assert (packed.text, packed.ids[-1]) == ("So", tuple(encode("So")))
