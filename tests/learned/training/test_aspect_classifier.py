from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from fabula.core.errors import InputError, PackageMissing, SettingError
from fabula.learned.training.aspect_classifier import (
    OutOfFold,
    cross_validate,
    fit_classifier,
    stems_of,
)

SAID = {
    "opening": ["The opening hooked me", "A slow opening, no hooks", "That opening hooks readers"],
    "ending": ["The ending fell flat", "Such a flat end!", "I loved how it ended, flatly"],
    "funny": ["I laughed at every joke", "Jokes that made me laugh", "No joke made anyone laugh"],
}
TEXTS = [text for texts in SAID.values() for text in texts]
ASPECTS = [aspect for aspect, texts in SAID.items() for _ in texts]
STORIES = ["1", "2", "3"] * 3
NEW = ["An opening with a hook", "It ended", "laughing, laughing, at the joke", "", "Zyzzyva"]


@pytest.mark.parametrize("count", [6, 9], ids=["two aspects", "three aspects"])
def test_probabilities_are_those_of_scikit_learn(count):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    vectorizer = TfidfVectorizer(analyzer=stems_of, min_df=2, sublinear_tf=True)
    model = LogisticRegression(C=30, max_iter=2000)
    model.fit(vectorizer.fit_transform(TEXTS[:count]), ASPECTS[:count])
    expected = model.predict_proba(vectorizer.transform(NEW))
    found = fit_classifier(TEXTS[:count], ASPECTS[:count], seed=0).probabilities(NEW)
    assert [list(one) for one in found] == [model.classes_.tolist()] * len(NEW)
    assert np.array([list(one.values()) for one in found]) == pytest.approx(expected)


def test_a_new_comment_is_told_by_the_stems_of_its_words():
    found = fit_classifier(TEXTS, ASPECTS, seed=0).probabilities(NEW[:3])
    assert [max(one, key=one.get) for one in found] == ["opening", "ending", "funny"]


def test_no_comment_is_told_by_a_classifier_that_saw_its_story():
    # Each story has a word of its own that gives the aspect away, if its story was seen.
    texts = [f"same words secret{story}" for story in "abcdef" for _ in range(2)]
    aspects = [aspect for aspect in ("opening", "ending") * 3 for _ in range(2)]
    groups = [story for story in "abcdef" for _ in range(2)]
    found = cross_validate(texts, aspects, groups, folds=6, seed=0)
    assert found.gold == tuple(aspects)
    # Five stories are left, three of the other aspect: it is the likelier one each time.
    assert found.accuracy() == 0


def test_predictions_out_of_fold_stand_in_the_order_of_the_comments():
    found = cross_validate(TEXTS, ASPECTS, STORIES, folds=3, seed=0)
    rest = [number for number, story in enumerate(STORIES) if story != "2"]
    fitted = fit_classifier([TEXTS[n] for n in rest], [ASPECTS[n] for n in rest], seed=0)
    assert list(found.probabilities[1::3]) == fitted.probabilities(TEXTS[1::3])
    assert cross_validate(TEXTS, ASPECTS, STORIES, folds=3, seed=0) == found


def test_accuracy_share_and_confusion_by_hand():
    found = OutOfFold(
        ("a", "a", "b", "c"),
        ({"a": 0.95, "b": 0.05}, {"a": 0.3, "b": 0.7}, {"a": 0.1, "b": 0.9}, {"a": 0.6, "b": 0.4}),
    )
    assert found.predicted == ("a", "b", "b", "a")
    assert found.accuracy() == 0.5
    assert (found.share(0.9), found.accuracy(0.9)) == (0.5, 1.0)
    assert found.share(0.99) == 0
    assert math.isnan(found.accuracy(0.99))
    assert found.confusion() == {
        "a": {"a": 1, "b": 1, "c": 0},
        "b": {"a": 0, "b": 1, "c": 0},
        "c": {"a": 1, "b": 0, "c": 0},
    }


def test_comments_that_tell_nothing_apart_are_refused():
    for texts, aspects in ([], []), (["Flat end"] * 3, ["ending"] * 3), (["x", "y"], ["a", "b"]):
        with pytest.raises(InputError, match="nothing to tell apart"):
            fit_classifier(texts, aspects, seed=0)
    with pytest.raises(InputError, match="9 comments, but 8 aspects"):
        fit_classifier(TEXTS, ASPECTS[:8], seed=0)
    with pytest.raises(InputError, match="9 comments, but 8 groups"):
        cross_validate(TEXTS, ASPECTS, STORIES[:8], seed=0)


@pytest.mark.parametrize("folds", [1, 4])
def test_folds_without_groups_are_refused(folds):
    with pytest.raises(SettingError, match=f"{folds} folds of 3 groups"):
        cross_validate(TEXTS, ASPECTS, STORIES, folds=folds, seed=0)


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    with pytest.raises(PackageMissing, match=r"pip install .*\[train\]"):
        fit_classifier(TEXTS, ASPECTS, seed=0)


def test_comments_of_the_release_are_told_far_above_the_commonest_aspect(shared):
    from fabula.datasets import load_dataset

    ratings = list(load_dataset("storyer_ratings", shared / "data" / "storyer").ratings)
    found = cross_validate(
        [one.note for one in ratings],
        [one.aspect for one in ratings],
        [one.story for one in ratings],
        seed=0,
    )
    # 58 of 303 comments are on characters.
    assert len(found.gold) == 303
    assert found.accuracy() > 0.45 > 58 / 303
    assert found.accuracy(0.9) > 0.8
