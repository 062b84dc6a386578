from __future__ import annotations

import math

import pytest

from fabula.core.errors import InputError, SettingError
from fabula.learned.training.augmentation import Augmented, Comment, augment


def said(story: str, aspect: str, sure: float = 0.95, words: int = 20) -> Comment:
    """A comment whose first two words tell the made-up classifier what to answer."""
    return Comment(
        story, " ".join([aspect, f"{sure:.2f}".replace(".", "p"), *["word"] * words][:words])
    )


def classify(texts):
    answers = []
    for text in texts:
        aspect, sure = text.split()[0], float(text.split()[1].replace("p", "."))
        answers.append({"other": 1 - sure, aspect: sure})
    return answers


def rate(texts):
    return [{"scene": 1, "ending": 5, "funny": 4}.get(text.split()[0], math.nan) for text in texts]


def made(comments, **settings) -> Augmented:
    return augment(comments, **({"classify": classify, "rate": rate, "seed": 0} | settings))


def test_a_sure_comment_of_fit_length_gets_aspect_confidence_and_rating():
    comments = [said("a", "scene"), said("b", "ending", 0.9), said("c", "funny")]
    found = made(comments)
    # (1 - 1) / 4, (5 - 1) / 4 and (4 - 1) / 4.
    assert [(one.story, one.aspect, one.confidence, one.rating) for one in found.kept] == [
        ("a", "scene", 0.95, 0.0),
        ("b", "ending", 0.9, 1.0),
        ("c", "funny", 0.95, 0.75),
    ]
    assert [one.text for one in found.kept] == [one.text for one in comments]
    assert found.left_out == {}


def test_what_is_left_out_is_counted_by_its_reason():
    found = made(
        [
            said("a", "scene", words=14),
            said("b", "scene", words=15),
            said("c", "scene", words=50),
            said("d", "scene", words=51),
            said("e", "scene", 0.89),
            said("f", "plot"),
            said("b", "scene", words=15),
        ]
    )
    assert [one.story for one in found.kept] == ["b", "c"]
    assert found.left_out == {
        "too short": 1,
        "too long": 1,
        "of no sure aspect": 1,
        "without a rating": 1,
        "said twice": 1,
    }


def test_an_aspect_with_many_comments_is_drawn_from_and_one_with_few_is_kept_whole():
    comments = [said(str(n), "scene") for n in range(30)] + [said("x", "funny")]
    found = made(comments, per_aspect=10)
    assert [one.aspect for one in found.kept] == ["scene"] * 10 + ["funny"]
    assert found.left_out == {"beyond the aspect's share": 20}


def test_a_draw_follows_from_the_seed_and_not_from_the_order_or_from_other_aspects():
    comments = [said(str(n), "scene") for n in range(30)]
    drawn = set(made(comments, per_aspect=10).kept)
    assert set(made(comments[::-1], per_aspect=10).kept) == drawn
    more = made([*comments, said("x", "funny")], per_aspect=10).kept
    assert {one for one in more if one.aspect == "scene"} == drawn
    assert set(made(comments, per_aspect=10, seed=1).kept) != drawn


def test_without_comments_nobody_is_asked():
    assert made([], classify=None, rate=None) == Augmented((), {})


@pytest.mark.parametrize("rating", [0, 5.5, math.inf])
def test_a_rating_off_the_scale_is_refused_by_story(rating):
    with pytest.raises(
        InputError, match=r"comment on story 'a' has the rating .*; rate from 1 to 5"
    ):
        made([said("a", "scene")], rate=lambda texts: [rating] * len(texts))


def test_a_classifier_that_skips_a_comment_is_a_bug():
    with pytest.raises(ValueError, match="shorter"):
        made([said("a", "scene")], classify=lambda texts: [])


@pytest.mark.parametrize("settings", [{"words": (9, 8)}, {"per_aspect": 0}, {"least": 90}], ids=str)
def test_settings_that_keep_nothing_are_refused(settings):
    with pytest.raises(SettingError, match="keep nothing"):
        made([said("a", "scene")], **settings)
