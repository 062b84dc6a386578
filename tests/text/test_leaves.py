"""A context as leaves: what stands where, what marks it, and that it fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from fabula.core.author import MARKS, Context, Segment
from fabula.text.context.leaves import TEXT_MARKS, LaidOut, LeafSigns, find_marks, lay_out
from fabula.text.context.segments import storium_context
from fakes.storium_games import FLOOD, LADLE, NARRATOR, card, entry, game

SIGNS = LeafSigns((1,), 2, 3)
PLACE = card("c9", "place", description="Nets and rain.") | {"name": "Harbour"}


def encode(text: str) -> list[int]:
    """A token a character, above all signs."""
    return [ord(sign) + 10 for sign in text]


def decode(ids: Sequence[int]) -> str:
    return "".join(chr(number - 10) for number in ids)


def show(laid: LaidOut) -> list[tuple[tuple[str, ...], str]]:
    """Leaves with their texts; a dot stands for a sign."""
    return [
        (leaf.marks, "".join("." if n < 10 else chr(n - 10) for n in leaf.ids))
        for leaf in laid.leaves
    ]


def played_game() -> dict:
    opening = entry(1, "Rain fell.", format="establishment", place_card=PLACE, **NARRATOR)
    other = entry(2, "Bo runs.", role="character:2")
    own = entry(3, "Ida waits.")
    last = entry(4, "Bo swims.", role="character:2")
    move = entry(5, "Ida stirs.", target_challenge_card=FLOOD, cards_played_on_challenge=[LADLE])
    people = [
        {"character_seq_id": 1, "name": "Ida", "description": "A cook."},
        {"character_seq_id": 2, "name": "Bo", "description": ""},
    ]
    return game("g", [opening, other, own, last, move], characters=people)


def lay(budget: int = 1000, history: int = 1, **settings) -> LaidOut:
    told = played_game()
    move = told["scenes"][0]["entries"][-1]
    context = storium_context(told, move, story="g", history=history)
    return lay_out(context, SIGNS, encode, decode, budget, **settings)


def test_leaves_stand_in_the_order_of_the_paper_each_after_its_sign():
    stakes = "The river rises!\nIf it goes well: Dry.\nIf it goes badly: Wet."
    assert show(lay()) == [
        (("character", "name_field"), ".Ida"),
        (("character", "description"), ".A cook."),
        (("establishment", "name_field"), ".Harbour"),
        (("establishment", "description"), ".Nets and rain.\nRain fell."),
        # Two entries back and one: how far back is said as often.
        (("previous", "previous", "same_character", "name_field"), ".Ida"),
        (("previous", "previous", "same_character", "description"), ".Ida waits."),
        (("previous", "diff_character", "name_field"), ".Bo"),
        (("previous", "diff_character", "description"), ".Bo swims."),
        (("obstacle", "name_field"), ".."),
        (("obstacle", "description"), f".{stakes}"),
        (("strength", "name_field"), ".."),
        (("strength", "description"), ".A long ladle"),
        (TEXT_MARKS, ".Ida stirs."),
    ]
    assert lay().leaves[0].ids[0] == 1 and lay().leaves[1].ids[0] == 2
    assert lay().leaves[8].ids == (2, 3)  # a card without a name misses it


def test_without_history_no_entry_before_is_shown():
    assert not any("previous" in marks for marks, _ in show(lay(history=0)))


def test_all_marks_are_known():
    assert {mark for leaf in lay(history=4).leaves for mark in leaf.marks} <= {*MARKS}
    assert find_marks(Segment("no such kind", "text")) == ()


@pytest.mark.parametrize("packing", ["solver", "greedy", "none"])
@pytest.mark.parametrize("budget", [64, 100, 150, 300])
def test_leaves_never_take_more_than_the_budget(packing, budget):
    assert lay(budget, packing=packing).tokens <= budget


def test_the_text_keeps_the_end_that_is_asked_for():
    context = Context("s", (), "abcdef")
    first = lay_out(context, SIGNS, encode, decode, 4, keep="start")
    last = lay_out(context, SIGNS, encode, decode, 4, keep="end")
    assert (first.seen[-1].text, last.seen[-1].text) == ("abc", "def")
    assert not first.is_whole and lay_out(context, SIGNS, encode, decode, 7).is_whole


def test_names_give_way_where_they_would_take_a_quarter():
    names = [Segment("person", "Somebody.", "Name " + "x" * 30, minimum=3) for _ in range(4)]
    context = Context("s", tuple(names), "text")
    assert not any("name_field" in marks for marks, _ in show(
        lay_out(context, SIGNS, encode, decode, 100)
    ))  # fmt: skip
    told = lay_out(context, SIGNS, encode, decode, 400)
    # A name has at most sixteen tokens.
    assert [len(leaf.ids) for leaf in told.leaves if "name_field" in leaf.marks] == [17] * 4


def test_what_a_character_s_description_misses_is_said():
    nameless = Segment("character", "", "Bo")
    laid = lay_out(Context("s", (nameless,), ""), SIGNS, encode, decode, 100)
    assert [leaf.ids for leaf in laid.leaves] == [(1, *encode("Bo")), (2, 3), (2,)]


def test_the_release_gives_every_leaf_a_token_and_spends_the_budget():
    laid = lay(150, compat=True)
    assert laid.tokens <= 150 and all(segment.tokens for segment in laid.seen)
    assert replace(laid, leaves=laid.leaves[:1]).tokens == len(laid.leaves[0].ids)
