from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fabula.learned.comments.evidence import word_list
from fabula.text.repetition import Repetition, find_repetitions
from fabula.text.words import locate_words


def repetitions(text: str) -> tuple[Repetition, ...]:
    return find_repetitions(text, stop_words=word_list("stop"))


def test_the_longest_runs_that_come_again_are_found_with_all_their_places() -> None:
    text = "We walked down to the sea. He slept. WE walked, down to the sea! Down to the sea."
    [found] = repetitions(text)
    assert (found.text, found.count) == ("We walked down to the sea", 2)
    assert [text[slice(*place)] for place in found.places] == [
        "We walked down to the sea", "WE walked, down to the sea",
    ]  # fmt: skip


def test_function_words_alone_and_short_runs_are_no_repetition() -> None:
    assert repetitions("It was in the box. It was in the jar. The red dog. The red dog.") == ()


def test_a_loop_is_told_without_overlaps_and_quickly() -> None:
    [found] = repetitions("tick tock " * 8)
    assert (found.count, found.text) == (2, " ".join(["tick tock"] * 4))
    assert repetitions("ha " * 50_000)


@given(st.lists(st.sampled_from("red dog ran home far".split()), max_size=40).map(" ".join))
def test_no_place_is_repeated_twice(text: str) -> None:
    spans = sorted(place for one in repetitions(text) for place in one.places)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    for one in repetitions(text):
        said = {tuple(w.word for w in locate_words(text, *place)) for place in one.places}
        assert len(said) == 1 and one.count >= 2
