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
    assert (found.count, found.text, found.share) == (8, "tick tock", 1.0)
    [found] = repetitions("ha " * 50_000)
    assert (found.count, found.text) == (50_000, "ha")


def test_a_sentence_said_ten_times_is_one_finding_of_ten_times() -> None:
    loop = "He looked at the door and nothing came. "
    [found] = repetitions(f"The king sat alone. {loop * 10}Then a messenger came in.")
    assert (found.count, found.text, found.exact) == (10, loop[:-2], True)
    # By hand: ten times eight words, and nine others.
    assert found.share == 80 / 89


def test_a_round_of_several_sentences_is_told_as_the_round() -> None:
    [found] = repetitions("The rain fell on us. We sang an old song. " * 4)
    assert (found.count, found.text) == (4, "The rain fell on us. We sang an old song")


def test_a_text_that_is_copied_whole_is_the_same_and_not_nearly() -> None:
    words = " ".join(f"word{number}" for number in range(450))
    [found] = repetitions(f"{words}. {words}. {words}.")
    assert (found.count, found.exact, found.share) == (3, True, 1.0)


def test_what_is_said_oftenest_is_not_hidden_by_two_times_that_go_on_alike() -> None:
    gate = "He shut the old gate."
    [found] = repetitions(f"{gate} Then rain. {gate} Snow came. {gate} Then rain.")
    assert (found.count, found.text) == (3, gate[:-1])


def test_sentences_that_differ_by_a_word_are_nearly_the_same() -> None:
    text = "".join(
        f"He opened the {hue} door and looked inside the room. {after} "
        for hue, after in {"red": "She slept.", "blue": "It rained.", "green": "Nobody."}.items()
    )
    [found] = repetitions(text)
    assert (found.count, found.exact) == (3, False)
    assert found.text == "He opened the red door and looked inside the room"
    assert [text[slice(*place)][14:18] for place in found.places] == ["red ", "blue", "gree"]


@given(st.lists(st.sampled_from("red dog ran home far".split()), max_size=40).map(" ".join))
def test_no_place_is_repeated_twice(text: str) -> None:
    spans = sorted(place for one in repetitions(text) for place in one.places)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    for one in repetitions(text):
        said = {tuple(w.word for w in locate_words(text, *place)) for place in one.places}
        assert one.count >= 2 and (len(said) == 1) == one.exact
