"""What was read of stories: kept within its memory, handed out as copies."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.authors.sampling.prefixes import PrefixCache, count_common


@dataclass
class Read:
    """A state of ten bytes a token."""

    ids: list[int] = field(default_factory=list)

    @property
    def nbytes(self) -> int:
        return 10 * len(self.ids)

    def copy(self, length: int) -> Read:
        return Read(self.ids[:length])


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [([], [1], 0), ([1, 2, 3], [1, 2, 4], 2), ([1, 2], [1, 2, 3], 2), ([1, 2, 3], [1, 2], 2)],
)
def test_common_tokens_are_those_at_the_beginning(one, other, common):
    assert count_common(one, other) == count_common(other, one) == common


def test_the_longest_common_beginning_is_handed_out_as_a_copy():
    cache = PrefixCache(1000)
    kept = Read([1, 2, 3, 4])
    cache.keep("story", kept)
    taken = cache.take("story", [1, 2, 3, 9, 9])
    assert taken == Read([1, 2, 3])
    taken.ids.append(9)
    assert kept.ids == [1, 2, 3, 4]


def test_the_last_token_is_always_read_anew():
    cache = PrefixCache(1000)
    cache.keep("story", Read([1, 2, 3]))
    assert cache.take("story", [1, 2, 3]) == Read([1, 2])
    assert cache.take("story", [1]) is None
    assert cache.take("story", [7, 2]) is None
    assert cache.take("other", [1, 2]) is None


def test_the_least_recently_used_stories_give_way():
    cache = PrefixCache(100)
    for name in "abc":
        cache.keep(name, Read([1, 2, 3]))
    cache.take("a", [1, 2])
    cache.keep("d", Read([1, 2, 3]))
    assert ["a" in cache, "b" in cache, "c" in cache, "d" in cache] == [True, False, True, True]
    assert cache.nbytes == 90


def test_a_story_has_one_state_and_one_too_large_is_not_kept():
    cache = PrefixCache(100)
    cache.keep("a", Read([1] * 4))
    cache.keep("a", Read([1] * 9))
    assert (len(cache), cache.nbytes) == (1, 90)
    cache.keep("a", Read([1] * 11))
    assert (len(cache), cache.nbytes) == (0, 0)
    cache.keep("b", Read([1]))
    cache.clear()
    assert (len(cache), cache.nbytes) == (0, 0)


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.integers(0, 12))))
def test_it_never_holds_more_than_it_may(steps):
    cache = PrefixCache(100)
    sizes: dict[str, int] = {}
    for name, length in steps:
        cache.keep(name, Read([1] * length))
        sizes[name] = 10 * length
        assert cache.nbytes == sum(sizes[each] for each in "abcde" if each in cache) <= 100
