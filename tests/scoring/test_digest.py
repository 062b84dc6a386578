from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fabula.core.story import Story
from fabula.scoring.digest import SetDigest, digest_parts, digest_story, digest_whole

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
