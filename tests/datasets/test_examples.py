from __future__ import annotations

from collections import Counter

import pytest

from fabula import load_dataset
from fabula.core.errors import UnknownName
from fabula.datasets import DATASETS


def test_every_prompt_is_answered_by_four_writers() -> None:
    stories = load_dataset("examples").stories
    assert Counter(story.system for story in stories) == dict.fromkeys(
        ("human", "loop", "scatter", "stray"), 14
    )
    assert set(Counter(story.item for story in stories).values()) == {4}
    assert all(story.text and story.prompt and story.references for story in stories)


def test_the_name_of_a_data_set_is_known_and_another_is_not() -> None:
    assert "examples" in DATASETS and DATASETS.names() == sorted(DATASETS.names())
    with pytest.raises(UnknownName, match="did you mean 'examples'"):
        load_dataset("example")


def test_the_example_stories_may_be_freely_used() -> None:
    card = load_dataset("examples").card
    assert card.licence == "Apache-2.0" and "14 prompts" in card.about
