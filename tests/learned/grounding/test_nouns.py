"""Nouns of stories as the grounder looks for them, and the table of what they weigh."""

from __future__ import annotations

import math

import pytest

from fabula.core.errors import InputError
from fabula.learned.grounding.nouns import (
    EXAMPLES,
    count_examples,
    count_nouns,
    open_weights,
    read_nouns,
)
from fabula.text.grounding import write_table
from fabula.text.nouns import NounRules


def names(text, *args, **settings):
    return [noun.text for noun in read_nouns(text, *args, **settings)]


@pytest.mark.assets
@pytest.mark.usefixtures("spacy_small")
class TestWithTheParser:
    """What comes of a real parse."""

    def test_nouns_of_a_story_by_default_and_as_released(self):
        text = "[male] saw two fire trucks. The trucks were red, and i liked the dogs and a dog."
        assert names(text) == ["male", "fire truck", "truck", "dog"]
        assert names(text, NounRules(compounds=False)) == ["male", "fire", "truck", "truck", "dog"]
        released = ["male", "fire", "trucks", "trucks", "dogs", "dog"]
        assert names(text, compat=True) == released

    def test_places_are_those_of_the_text_with_its_brackets(self):
        text = "At [location] a dog met [female]."
        found = [text[noun.start : noun.stop] for noun in read_nouns(text)]
        assert found == ["location", "dog", "female"]

    def test_a_table_of_ones_own_stories(self, tmp_path):
        stories = [
            "A dog saw a cat.",
            "The dog slept.",
            "Two dogs were barking.",
            "A cat and a bird came.",
        ]
        write_table(tmp_path / "mine.tsv", count_nouns(stories, least=2))
        table = open_weights(str(tmp_path / "mine.tsv"))
        assert (table.stories, dict(table.counts)) == (4, {"dog": 3, "cat": 2})
        assert table.weigh("bird") == table.weigh("cat") == pytest.approx(math.log(4 / 3))

    def test_examples_are_what_stands_in_quotation_marks(self, tmp_path):
        for part in ("noun", "verb", "adj", "adv"):
            (tmp_path / f"data.{part}").write_text('  1 a licence with a "dog"\n')
        lines = [f'0{n} x | a {n}; "the dog barked"; "a cat slept"\n' for n in range(5)]
        with (tmp_path / "data.noun").open("a") as file:
            file.writelines(lines)
        # Ten sentences are two stories: those in even places speak of dogs, the others of cats.
        table = count_examples(tmp_path, least=1)
        assert (table.stories, dict(table.counts)) == (2, {"dog": 1, "cat": 1})


def test_the_table_that_ships_weighs_plain_words_less_than_rare_ones():
    table = open_weights("examples")
    assert table.stories == 48_339 // 5
    assert min(table.counts.values()) == 3
    weights = [table.weigh(noun) for noun in ("time", "dog", "beach", "gondola")]
    assert weights == sorted(weights)
    assert table.weigh("dgo") == pytest.approx(math.log(table.stories / 4))
    assert "WordNet" in EXAMPLES.read_text(encoding="utf-8")[:2000]


def test_a_table_that_is_not_there_is_for_the_user_to_mend():
    with pytest.raises(InputError, match="cannot be read"):
        open_weights("no such table.tsv")
