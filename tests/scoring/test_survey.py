from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.errors import InputError
from fabula.core.metric import Metric
from fabula.core.story import Story
from fabula.scoring.survey import SetDigest, digest_parts, digest_story, digest_whole, survey


def test_a_doubled_id_names_both_stories() -> None:
    doubled = [Story("a", "x"), Story("b", "y"), Story("a", "z")]
    with pytest.raises(InputError, match="story 3 has the id 'a' of story 1"):
        survey(doubled, [])


def test_no_stories_are_an_error() -> None:
    with pytest.raises(InputError, match="no stories"):
        survey([], [])


def test_the_count_and_digest_do_not_depend_on_order(stories: list[Story]) -> None:
    one, other = survey(stories, []), survey(stories[::-1], [])
    assert one.count == other.count == 70
    assert one.digest.hex() == other.digest.hex()


def test_only_batch_metrics_have_batches(stories: list[Story], toy: Callable[..., Metric]) -> None:
    metrics = [toy("counted"), toy("spread")]
    found = survey(stories, metrics)
    assert list(found.batches) == ["spread"]
    assert sorted(found.batches["spread"].digests) == ["a", "b", "c"]


def test_a_story_without_text_is_in_the_digest_of_its_batch_but_not_gathered(
    toy: Callable[..., Metric],
) -> None:
    found = survey([Story("1", " "), Story("2", "text")], [toy("spread")])
    batches = found.batches["spread"]
    assert batches.gathered[""].count == 1
    assert batches.digests[""].count == 2


TEXTS = st.lists(st.text(max_size=5), max_size=5)


def set_digest(members: list[bytes]) -> str:
    digest = SetDigest()
    for member in members:
        digest.add(member)
    return digest.hex()


@given(TEXTS, TEXTS)
def test_digests_agree_exactly_when_the_parts_do(one: list[str], other: list[str]) -> None:
    assert (digest_parts(one) == digest_parts(other)) == (one == other)


def test_where_a_part_ends_counts() -> None:
    assert digest_parts(["ab", "c"]) != digest_parts(["a", "bc"]) != digest_parts(["abc"])
    assert digest_parts(["", "a"]) != digest_parts(["a", ""]) != digest_parts(["a"])


def test_a_lone_surrogate_has_a_digest() -> None:
    assert digest_parts(["\ud800"]) != digest_parts(["?"])


def test_the_id_system_and_item_are_not_read() -> None:
    one = Story("1", "text", prompt="p", references=("r",), system="a", item="x")
    other = Story("2", "text", prompt="p", references=("r",), system="b", item="y")
    reads = ("prompt", "reference", "images")
    assert digest_story(one, reads) == digest_story(other, reads)
    assert digest_whole(one) != digest_whole(other)


def test_a_part_counts_only_for_those_who_read_it() -> None:
    one, other = Story("1", "text", prompt="p"), Story("1", "text", prompt="q")
    assert digest_story(one, ("reference",)) == digest_story(other, ("reference",))
    assert digest_story(one, ("prompt",)) != digest_story(other, ("prompt",))


def test_references_and_images_are_not_mistaken_for_each_other() -> None:
    one = Story("1", "t", references=("a", "b"), images=("c",))
    other = Story("1", "t", references=("a",), images=("b", "c"))
    swapped = Story("1", "t", references=("b", "a"), images=("c",))
    assert len({digest_whole(one), digest_whole(other), digest_whole(swapped)}) == 3


@given(st.lists(st.binary(min_size=20, max_size=20), max_size=8), st.randoms())
def test_a_set_digest_does_not_depend_on_order(members: list[bytes], random: object) -> None:
    shuffled = list(members)
    random.shuffle(shuffled)
    assert set_digest(members) == set_digest(shuffled)


def test_a_set_digest_knows_how_often_a_member_came() -> None:
    member = digest_parts(["a"])
    assert len({set_digest([member] * count) for count in range(5)}) == 5
    assert set_digest([b"\0" * 20]) != set_digest([])
