from __future__ import annotations

from dataclasses import replace

import pytest

from fabula.core.errors import InputError
from fabula.learned.training.corpus import Text, split_texts
from fabula.learned.training.stories import near_duplicate_groups, word_runs
from fakes.tiny_encoder import RECIPE

CASED = "Tom didn't find his boat at the pier. He walked home along the cold river and wept."
LOWER = "tom did n't find his boat at the pier . he walked home along the cold river and wept ."
MASKED = LOWER.replace("tom", "[MALE]")
OTHER = "Nobody in the village had ever seen snow before that long and silent winter began."


def tale(number: int) -> str:
    return " ".join(f"word{number}x{place}" for place in range(12))


def recipe(**changes):
    return replace(RECIPE, **({"sources": ("a", "b"), "held_out": {"a": 3}} | changes))


def test_the_forms_of_one_story_are_one_group():
    assert near_duplicate_groups([CASED, OTHER, MASKED, LOWER]) == [0, 1, 0, 0]


def test_a_story_cut_off_is_in_the_group_of_the_whole_one():
    assert near_duplicate_groups([tale(1), OTHER, " ".join(tale(1).split()[:7])]) == [0, 1, 0]


def test_short_and_empty_texts_are_alone():
    assert near_duplicate_groups(["", "one two", "one two", ""]) == [0, 1, 2, 3]
    assert near_duplicate_groups([]) == []


def test_sides_share_neither_near_duplicates_nor_items():
    texts = [Text("a", tale(n), item=f"item {n // 2}") for n in range(20)]
    texts += [Text("b", " ".join(tale(n).split()[:9])) for n in range(20)]
    texts += [Text("b", tale(n)) for n in range(20, 25)]
    split = split_texts(texts, recipe())
    runs = {int(code) for text in split.held_out["a"] for code in word_runs(text)}
    assert len(split.held_out["a"]) == 4  # items are drawn whole
    for source in ("a", "b"):
        assert split.train[source]
        assert not any(
            int(code) in runs for text in split.train[source] for code in word_runs(text)
        )
    held = {texts[[t.text for t in texts].index(text)].item for text in split.held_out["a"]}
    trained = {one.item for one in texts if one.text in split.train["a"]}
    assert not held & trained


def test_what_resembles_a_story_left_out_is_not_trained_on():
    texts = [Text("a", tale(n)) for n in range(10)] + [Text("rated", tale(4).upper())]
    split = split_texts(texts, recipe(left_out=("rated",), sources=("a",)))
    assert tale(4) not in {*split.train["a"], *split.held_out["a"]}
    assert split.counts["a"] == {
        "trained on": 6, "held out, or like one held out": 3, "left out": 1,
    }  # fmt: skip


@pytest.mark.parametrize("forms", [(MASKED, LOWER, CASED), (CASED, MASKED, LOWER)])
def test_of_near_duplicates_the_cased_one_with_names_is_kept(forms):
    split = split_texts([Text("a", form) for form in forms], recipe(held_out={}, sources=("a",)))
    assert split.train["a"] == (CASED,)
    assert split.counts["a"]["near duplicate"] == 2


def test_stories_with_masked_names_are_not_held_out():
    texts = [Text("a", f"[MALE] {tale(n)}") for n in range(9)] + [
        Text("a", tale(n)) for n in range(9, 12)
    ]
    split = split_texts(texts, recipe(sources=("a",)))
    assert set(split.held_out["a"]) == {tale(n) for n in range(9, 12)}


def test_the_same_stories_are_held_out_whatever_else_is_there():
    texts = [Text("a", tale(n)) for n in range(30)]
    more = [Text("b", tale(n)) for n in range(50, 90)]
    assert split_texts(texts, recipe()).held_out == split_texts([*more, *texts], recipe()).held_out


def test_more_held_out_stories_than_there_are_is_an_error():
    with pytest.raises(InputError, match="3 held-out stories are wanted of 1"):
        split_texts([Text("a", tale(1))], recipe())


def test_a_stray_at_sign_at_the_end_is_stripped(tmp_path):
    from fabula.learned.training.corpus import read_texts

    (tmp_path / "rocstories").mkdir()
    (tmp_path / "rocstories" / "ROCStories_made_up.csv").write_text(
        "storyid,storytitle,sentence1,sentence2,sentence3,sentence4,sentence5\n"
        "x,Rain,It rained.,We ran.,We hid.,It stopped.,We wrote to me@home. @\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fabula.datasets.check_counts", lambda found: found)
        (found,) = read_texts("rocstories", tmp_path)
    assert found.text == "It rained. We ran. We hid. It stopped. We wrote to me@home."


@pytest.mark.slow
def test_the_release_is_split_without_anything_in_common(shared):
    from fabula.learned.training.corpus import read_split
    from fabula.learned.training.encoder import EncoderRecipe

    split = read_split(
        EncoderRecipe(sources=("rocstories",), held_out={"rocstories": 200}), shared / "data"
    )
    both = [*split.held_out["rocstories"], *split.train["rocstories"]]
    groups = near_duplicate_groups(both)
    held = len(split.held_out["rocstories"])
    assert not set(groups[:held]) & set(groups[held:])
    assert not any(text.endswith("@") for text in both)
