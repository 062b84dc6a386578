from __future__ import annotations

import difflib
import random
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabula.text import diff
from fabula.text.diff import Block, Change, diff_words, matching_blocks
from fakes.factories import find_slowness


def difflibs_blocks(left, right, autojunk):
    """Blocks of CPython's difflib, without the empty one that it puts at the end."""
    matcher = difflib.SequenceMatcher(None, left, right, autojunk)
    return [tuple(block) for block in matcher.get_matching_blocks()[:-1]]


@st.composite
def sequences(draw):
    """Two sequences, short or with over 200 tokens, by small alphabets; one may quote the other."""
    kinds = draw(st.sampled_from([1, 2, 3, 8, 60]))
    rng = random.Random(draw(st.integers(0, 2**32)))
    sizes = st.integers(0, 20) | st.integers(190, 400)
    left, right = ([rng.randrange(kinds) for _ in range(draw(sizes))] for _ in range(2))
    if draw(st.booleans()):
        start = rng.randrange(len(left) + 1)
        end = rng.randrange(start, len(left) + 1)
        at = rng.randrange(len(right) + 1)
        right[at:at] = left[start:end]
    return left, right


@pytest.fixture(params=["compiled", "difflib"])
def way(request, monkeypatch):
    """Each way of searching in turn."""
    if request.param == "compiled":
        pytest.importorskip("numba")
        diff._load_search.cache_clear()
        assert diff._load_search() is not None
    else:
        monkeypatch.setattr(diff, "_load_search", lambda: None)
    return request.param


# The fixture only chooses the way, so it need not be made anew for each example.
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(sequences(), st.booleans())
def test_blocks_are_those_of_difflib(way, sides, autojunk):
    left, right = sides
    found = matching_blocks(left, right, autojunk=autojunk)
    assert [tuple(block) for block in found] == difflibs_blocks(left, right, autojunk)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.lists(st.sampled_from("abc"), max_size=12),
    st.lists(st.sampled_from("abc"), max_size=12),
)
def test_blocks_of_short_sequences_are_those_of_difflib(way, left, right):
    found = matching_blocks(left, right)
    assert [tuple(block) for block in found] == difflibs_blocks(left, right, True)


@pytest.mark.parametrize("size", [198, 199, 200, 201, 299, 300, 301])
@pytest.mark.parametrize("often", [2, 3, 4, 5])
def test_what_is_too_frequent_is_decided_as_in_difflib(way, size, often):
    # At 200 tokens the limit begins: a kind that occurs over size // 100 + 1 times is popular.
    right = ["the"] * often + [f"w{number}" for number in range(size - often)]
    random.Random(size).shuffle(right)
    left = ["x", "the", "y", "the", "w1", "w2", "the"]
    found = matching_blocks(left, right, autojunk=True)
    assert [tuple(block) for block in found] == difflibs_blocks(left, right, True)


def test_the_longest_block_comes_first_and_the_rest_on_either_side(way):
    # difflib's documentation: abxcd and abcd share ab and cd.
    assert matching_blocks("abxcd", "abcd") == [Block(0, 0, 2), Block(3, 2, 2)]


def test_a_popular_token_cannot_begin_a_block_but_goes_on_with_one(way):
    rest = [f"w{number}" for number in range(196)]
    right = [*rest[:100], *["the"] * 4, *rest[100:]]
    assert matching_blocks(["the"], right) == []
    assert matching_blocks(["the"], right, autojunk=False) == [Block(0, 100, 1)]
    assert matching_blocks(["the", "w100"], right) == [Block(0, 103, 2)]


def test_a_popular_token_at_the_beginning_of_both_is_a_block_as_in_difflib(way):
    # Where nothing is found, difflib lengthens the empty block at the beginning of both.
    right = ["the"] * 4 + [f"w{number}" for number in range(196)]
    assert difflibs_blocks(["the"], right, True) == [(0, 0, 1)]
    assert matching_blocks(["the"], right) == [Block(0, 0, 1)]


@pytest.mark.parametrize(
    ("left", "right"), [([], []), (["a"], []), ([], ["a"]), (["a"], ["b"])], ids=str
)
def test_nothing_in_common_has_no_block(way, left, right):
    assert matching_blocks(left, right) == []


@pytest.mark.parametrize("kinds", [2, 50, 2_000])
@pytest.mark.parametrize("autojunk", [False, True])
def test_long_sequences_have_the_same_blocks_both_ways(monkeypatch, kinds, autojunk):
    pytest.importorskip("numba")
    rng = random.Random(kinds)
    left, right = ([rng.randrange(kinds) for _ in range(size)] for size in (1_200, 900))
    compiled = matching_blocks(left, right, autojunk=autojunk)
    monkeypatch.setattr(diff, "_load_search", lambda: None)
    assert matching_blocks(left, right, autojunk=autojunk) == compiled


@given(st.text("ab .\n", max_size=60), st.text("ab .\n", max_size=60))
def test_pieces_of_a_diff_are_both_texts(left, right):
    changes = diff_words(left, right)
    assert "".join(change.left for change in changes) == left
    assert "".join(change.right for change in changes) == right
    # Blanks may differ in what is the same.
    for change in changes:
        if change.is_same:
            assert "".join(change.left.split()) == "".join(change.right.split())


def test_words_are_compared_within_paragraphs_that_differ():
    left = "The lamp went out at nine.\n\nNobody spoke.\n\nEnd."
    right = "The lamp went out at ten.\n\nNobody spoke.\n\nA new one.\n\nEnd."
    changes = [change for change in diff_words(left, right) if not change.is_same]
    assert changes == [Change(False, "nine", "ten"), Change(False, "", "A new one.\n\n")]
    assert diff_words("", "") == [] and diff_words("One.", "One.")[0].is_same


def test_long_texts_that_have_all_words_in_common_are_compared_soon():
    words = [f"w{number % 50} " for number in range(20_000)]
    before = time.perf_counter()
    changes = diff_words("".join(words), "x " + "".join(words))
    assert time.perf_counter() - before < 10 * find_slowness()
    assert changes[0] == Change(False, "", "x ") and changes[1].is_same
