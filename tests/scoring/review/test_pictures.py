"""A review of a story with pictures: the same steps, and what is seen beside them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from fabula.core.score import Missing
from fabula.core.story import Story
from fabula.learned.rovist_vg import RovistVg
from fabula.scoring.evaluate import evaluate
from fabula.scoring.review import review_story
from fabula.scoring.review.pictures import WEAK_SHARE, picture_story
from fakes.grounding import ToldGrounder, plain_nouns, save_picture, told

__all__ = ["plain_nouns", "told"]

TEXT = "A dog ran to the sea. The dog and a wuwi swam far out. A dog ran to the sea again."


@pytest.fixture
def story(tmp_path: Path, told: ToldGrounder) -> Story:
    # One blind noun in twenty is as like the first picture as the dog, all are more so than a cat.
    from fabula.learned.grounding.chance import choose_blind

    blind = {noun: [0.9 if at % 20 == 0 else 0.3] for at, noun in enumerate(choose_blind())}
    told.told = {
        "a.png": {**blind, "dog": [0.8], "sea": [0.2]},
        "b.png": {**{noun: [0.1, 0.1] for noun in blind}, "dog": [0.1, 0.5], "sea": [0.1, 0.25]},
    }
    images = tuple(save_picture(tmp_path / name) for name in told.told)
    return Story("by the sea", TEXT, images=images)


def review(story: Story, **options: object):
    *_, last = review_story(story, weights="fake", order="fake", **options)
    return last


def test_a_story_with_pictures_is_looked_for_in_them_and_one_without_is_not(story: Story) -> None:
    pictured = review(story).pictured
    assert pictured is not None
    assert [(noun.text, noun.place) for noun in pictured.nouns] == [
        ("dog", (0, 0)), ("sea", (1, 1)), ("dog", (0, 0)), ("wuwi", None), ("dog", (0, 0)),
        ("sea", (1, 1)),
    ]  # fmt: skip
    assert [TEXT[slice(*noun.span)] for noun in pictured.unknown] == ["wuwi"]
    assert review(Story("plain", TEXT)).pictured is None


def test_weak_is_what_more_than_a_tenth_of_blind_nouns_match_as_well(story: Story) -> None:
    pictured = review(story).pictured
    assert pictured is not None
    dog, sea = pictured.nouns[:2]
    assert dog.chance == pytest.approx(0.05, abs=0.005)
    assert sea.chance == pytest.approx(1.0, abs=0.005)
    assert dog.chance < WEAK_SHARE < sea.chance
    assert [noun.text for noun in pictured.seen] == ["dog"] * 3
    assert [noun.text for noun in pictured.weak] == ["sea"] * 2
    assert math.isnan(pictured.unknown[0].chance)
    assert not pictured.unknown[0].is_weak


def test_values_are_those_that_score_gives_in_both_variants(story: Story) -> None:
    found = review(story)
    assert found.pictured is not None
    values = {(value.part, value.variant): value for value in found.pictured.values}
    assert len(values) == 8
    told = {score.aspect: score.value for score in evaluate([story], ["rovist_vg"])}
    assert values["grounding", "a noun"].value == told[""]
    assert values["grounding", "as in the paper"].value == told["original"]
    order = values["order", "by probability"]
    assert order.spec == "rovist_c(weights='fake')"
    assert order.value == found.order
    assert {value.spec for value in found.pictured.values} <= found.signatures.keys()
    assert found.pictured.transitions == found.transitions
    assert [run.text for run in found.pictured.repetition] == ["A dog ran to the sea"]


def test_each_picture_and_noun_is_looked_at_by_one_grounder(
    story: Story, told: ToldGrounder
) -> None:
    review(story)
    names = {nouns for _, nouns in told.looks}
    # What a story names, and the blind nouns: nothing else is ever asked.
    assert {nouns for nouns in names if len(nouns) < 10} == {("dog", "sea", "wuwi")}
    assert len(names) == 2


def test_what_cannot_be_looked_at_is_said_and_the_rest_is_there(
    story: Story, told: ToldGrounder, tmp_path: Path
) -> None:
    (tmp_path / "b.png").write_text("no picture")
    found = review(story)
    assert found.pictured is None
    [lack] = [lack for lack in found.missing if lack.part == "pictures"]
    assert "b.png" in lack.why
    assert found.transitions
    told.absence = "asset 'eyes' is not here; run: fabula models pull eyes"
    [lack] = [lack for lack in review(story).missing if lack.part == "pictures"]
    assert lack.why == told.absence


def test_weights_that_only_a_run_knows_are_not_made_up(story: Story) -> None:
    pictured = picture_story(story, RovistVg(idf="run"))
    assert all(math.isnan(noun.grounded.weight) for noun in pictured.nouns)
    assert pictured.nouns[0].match == 0.8


def test_a_story_that_names_nothing_says_so(tmp_path: Path, told: ToldGrounder) -> None:
    silent = Story("silent", "We ran.", images=(save_picture(tmp_path / "a.png"),))
    with pytest.raises(Missing, match="names nothing"):
        picture_story(silent, RovistVg())
