"""Who and what a story names."""

from __future__ import annotations

import pytest

from fabula.core.errors import SettingError
from fabula.core.story import Story
from fabula.learned.training.cast import CastFinder, Finder
from fabula.text.names import learn_names


def find(text: str, *others: str, names: Finder = "capitals") -> list[tuple[str, str, int]]:
    stories = [Story(str(number), each) for number, each in enumerate((text, *others))]
    cast = CastFinder(stories, names).find(text)
    return [(member.name, member.kind, len(member.places)) for member in cast]


def test_a_name_that_stands_at_beginnings_alone_is_known_by_another_story() -> None:
    assert find("Tamsin slept. Tamsin woke.") == []
    assert find("Tamsin slept. Tamsin woke.", "They saw Tamsin.") == [("Tamsin", "person", 2)]


def test_a_word_that_is_often_small_is_no_name() -> None:
    assert learn_names(["He saw May and Hope.", "Then hope and hope again"]) == frozenset()
    assert learn_names(["He saw Hope."] * 20 + ["no hope"]) == {"Hope"}


def test_words_side_by_side_are_one_name_and_its_parts_are_the_same() -> None:
    text = "They met Ada Brandt and her dog. Ada laughed. So did Ada-Brandt junior and Brandt."
    assert ("Ada Brandt", "person", 3) in find(text)
    # Either of two may be meant.
    two = "He knew Ada Brandt and Olaf Brandt. Then Brandt came."
    assert [member[0] for member in find(two)] == ["Ada Brandt", "Olaf Brandt", "Brandt"]


def test_names_that_often_stand_alone_are_two_where_they_meet() -> None:
    text = "He left Halden to Mira. Mira loved Halden. In Halden Mira slept. He missed Mira."
    assert find(text) == [("Halden", "person", 3), ("Mira", "person", 4)]


def test_a_place_is_where_one_is_in() -> None:
    text = "She lived in Halden. He was born near Halden. They saw Halden. He met Mira there."
    assert find(text) == [("Halden", "place", 3), ("Mira", "person", 1)]


def test_words_of_places_belong_to_the_name_that_follows() -> None:
    text = "He loved New York. The new house was old. York was far. They saw Chinese boats."
    assert find(text) == [("New York", "place", 2)]


def test_texts_in_small_letters_say_nothing_of_names() -> None:
    small = "then oskar came home and nobody knew. " * 9
    assert find("They met Oskar. Oskar left.", small) == [("Oskar", "person", 2)]


def test_who_tells_the_story_is_i_unless_another_says_it() -> None:
    assert find("I came. Then I'd seen it.") == [("I", "person", 2)]
    assert find('"I came," he said. "I won."') == []
    assert find("He read Henry I.") == [("Henry", "person", 1)]


def test_an_unknown_way_to_find_names_is_refused() -> None:
    with pytest.raises(SettingError, match="capitals or spacy"):
        CastFinder([], "guess")  # type: ignore[arg-type]


@pytest.mark.assets
def test_spacy_tells_places_and_groups_from_people() -> None:
    pytest.importorskip("spacy")
    text = "John Miller flew to Paris. He works for Microsoft. In Paris he met Anna Smith's friend."
    found = find(text, names="spacy")
    assert {(name, kind) for name, kind, _ in found} == {
        ("John Miller", "person"), ("Paris", "place"), ("Microsoft", "thing"),
        ("Anna Smith", "person"),
    }  # fmt: skip
