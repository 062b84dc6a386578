"""Stories spoiled as a whole."""

from __future__ import annotations

from collections import Counter

from fabula.text.perturb import PERTURBATIONS
from fabula.text.spoil import change_name, graft, loop, mix_words, swap_paragraphs
from fabula.text.words import words

STORY = "Anna met Ben. It rained on Anna. Ben ran. Anna called for Anna's dog. They left."
OTHER = "A cat sat. A dog ran. The cow ate. All slept."


def test_a_loop_says_the_beginning_until_the_text_is_as_long() -> None:
    looped = loop(STORY)
    assert looped == " ".join(["Anna met Ben. It rained on Anna."] * 2)
    assert abs(len(loop(STORY * 9) or "") - 9 * len(STORY)) <= 32
    assert loop("One. Two.") is None


def test_a_salad_holds_the_same_words_in_another_order() -> None:
    mixed = mix_words(STORY, seed=1)
    assert mixed is not None
    assert mixed != STORY
    assert Counter(words(mixed)) == Counter(words(STORY))
    assert [sign for sign in mixed if sign in ".'"] == [sign for sign in STORY if sign in ".'"]
    assert mix_words("so so so") is None


def test_paragraphs_change_places_and_stay_whole() -> None:
    assert swap_paragraphs("One.\n\nTwo.\n") == "Two.\n\nOne.\n"
    assert swap_paragraphs("Same.\nSame.") is None
    flat = " ".join(f"Sentence {n}." for n in range(6))
    wanted = "Sentence 4. Sentence 5. Sentence 0. Sentence 1. Sentence 2. Sentence 3."
    assert swap_paragraphs(flat) == wanted
    assert swap_paragraphs("One. Two. Three.") is None


def test_the_main_person_has_another_name_from_the_middle_on() -> None:
    changed = change_name(STORY, seed=3)
    assert changed is not None
    kept, new = changed.split("Ben ran.")
    assert kept == "Anna met Ben. It rained on Anna. "
    assert "Anna" not in new
    name = new.split()[0]
    assert new == f" {name} called for {name}'s dog. They left."
    assert change_name("It rained. Nobody came.") is None


def test_a_graft_goes_on_with_the_end_of_another_story() -> None:
    assert graft("One. Two. Three. Four.", other=OTHER) == "One. Two. The cow ate. All slept."
    assert graft("One. Two. Three. Four.") is None
    assert graft("One.", other=OTHER) is None
    assert PERTURBATIONS["graft"]("One. Two.", share=0.5, other=OTHER) == (
        "One. The cow ate. All slept."
    )
