"""Stories that tasks are made of, kept apart from what people rated."""

from __future__ import annotations

import pytest

from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.errors import InputError, SettingError
from fabula.core.story import Story
from fabula.learned.training.recipe import Task
from fabula.learned.training.stories import (
    KEPT_BACK,
    UnratedStories,
    human_references,
    is_kept_back,
    task_stories,
    vist_part,
)
from fakes.tiny_tasks import tale

CARD = DatasetCard("made up", "made up", "none")


def dataset(name: str, *stories: Story) -> Dataset:
    return Dataset(name, CARD, stories)


def learned_texts(count: int, first: int = 0) -> list[str]:
    """Give texts that are not kept back for measuring."""
    found = (tale(number) for number in range(first, first + 10_000))
    return [text for _, text in zip(range(count), filter(_is_learned, found), strict=False)]


def _is_learned(text: str) -> bool:
    return not is_kept_back(text)


ONE, TWO, THREE = learned_texts(3)


def test_what_resembles_a_rated_story_is_not_learned_from():
    corpus = dataset("corpus", Story("a", ONE), Story("b", f"{TWO} The end."), Story("c", THREE))
    found = UnratedStories([dataset("rated", Story("x", TWO))]).stories([corpus])
    assert [one.id for one in found] == ["corpus:a", "corpus:c"]


def test_what_begins_as_a_rated_story_or_its_prompt_does_is_not_either():
    opening = ONE.partition(".")[0] + "."
    later = " ".join(learned_texts(2, 500)[1].split(". ")[1:])
    rated = dataset("rated", Story("x", "Quite another story. It ends.", prompt=opening))
    free = UnratedStories([rated])
    assert not free.allows(f"{opening} {later}")
    assert not free.allows(opening.upper())
    assert not free.allows("quite another story . and goes on .")
    assert free.allows(TWO)
    corpus = dataset("corpus", Story("a", f"{opening} {later}"), Story("b", TWO))
    assert [one.id for one in free.stories([corpus])] == ["corpus:b"]


def test_of_near_duplicates_the_one_with_capitals_is_kept_then_the_longest():
    corpus = dataset("corpus", Story("a", f"{ONE} And so on.".lower()), Story("b", ONE))
    assert [one.id for one in UnratedStories([]).stories([corpus])] == ["corpus:b"]
    longer = dataset("corpus", Story("a", ONE), Story("b", f"{ONE} And so on."))
    assert [one.id for one in UnratedStories([]).stories([longer])] == ["corpus:b"]


def test_where_no_story_is_left_the_user_is_told():
    with pytest.raises(InputError, match="no story is left to learn from; check data and left_out"):
        rated = [dataset("rated", Story("x", ONE))]
        UnratedStories(rated).stories([dataset("corpus", Story("a", ONE))])


def test_a_few_stories_are_kept_back_for_measuring_whatever_their_form():
    texts = [f"Story {number} of many." for number in range(4000)]
    share = sum(map(is_kept_back, texts)) / 4000
    assert share == pytest.approx(KEPT_BACK, abs=0.01)
    assert all(is_kept_back(text) == is_kept_back(text.upper()) for text in texts[:200])
    kept = next(text for text in texts if is_kept_back(text))
    corpus = dataset("corpus", Story("a", ONE), Story("b", kept))
    free = UnratedStories([])
    assert [one.id for one in free.stories([corpus])] == ["corpus:a"]
    assert [one.id for one in free.stories([corpus], kept_back=True)] == ["corpus:b"]


def test_stories_are_written_alike_and_their_items_are_of_their_data_set():
    story = Story("a", "He did n't , [MALE] said .", prompt="A hat .", item="i1")
    task = Task("ratings", ("made_up",), "head", aspects=("x",), with_prompt=True)
    [found] = task_stories(dataset("set", story), task)
    assert found.text == "A hat. He didn't, MALE said."
    assert found.item == "set:i1"
    [alone] = task_stories(dataset("set", Story("a", "One.")), task)
    assert alone.item == "set:a"


def test_references_of_systems_stories_are_taken_once():
    one = Story("a", "x", references=("A dog ran.", "A cat sat."), item="1")
    two = Story("b", "y", references=("A dog ran .",), item="1")
    found = human_references(dataset("set", one, two), "")
    assert [(story.text, story.item) for story in found] == [
        ("A dog ran.", "set:1"), ("A cat sat.", "set:1"),
    ]  # fmt: skip


def test_albums_of_vist_that_two_systems_told_are_of_its_validation_set():
    stories = [
        Story(f"{system}/{item}", "x", system=system, item=item)
        for item, systems in (("1", ("AREL", "XE-ss")), ("2", ("AREL", "XE-ss", "GLAC")))
        for system in systems
    ]
    vist = dataset("vist", *stories)
    assert {one.item for one in vist_part(vist, "val")} == {"1"}
    assert {one.item for one in vist_part(vist, "test")} == {"2"}
    with pytest.raises(SettingError, match="say test or val"):
        vist_part(vist, "train")
