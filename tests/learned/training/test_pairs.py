from __future__ import annotations

import pytest

from fabula.core.dataset import Dataset, DatasetCard, Preference
from fabula.core.errors import InputError, SettingError
from fabula.core.story import Story
from fabula.learned.training.pairs import (
    Pair,
    build_pairs,
    pairs_of,
    part_posts,
    split_by_prompt,
)
from fabula.learned.training.posts import Post


def tale(name: str, words: int = 300) -> str:
    return " ".join(f"{name}{number}" for number in range(words))


def post(name: str, votes: float, prompt: str = "p", **rest) -> Post:
    return Post(name, prompt, **({"text": tale(name), "votes": votes} | rest))


def names(pairs: list[Pair]) -> list[tuple[str, str]]:
    return [(pair.better.id, pair.worse.id) for pair in pairs]


POSTS = [post("a", 50), post("b", 900), post("c", 0), post("d", -3), post("e", 49), post("f", 1)]


def test_every_liked_post_is_paired_with_every_disliked_one_of_its_prompt():
    posts = [*POSTS, post("x", 60, "q"), post("y", 0, "r")]
    assert names(build_pairs(posts, seed=0)) == [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")]


def test_pairs_do_not_depend_on_the_order_of_the_posts():
    assert build_pairs(POSTS[::-1], seed=0) == build_pairs(POSTS, seed=0)


def test_a_pair_is_a_preference_by_upvotes():
    pair = build_pairs(POSTS, seed=0)[0]
    assert (pair.better.id, pair.worse.id, pair.rater) == ("a", "c", "upvotes")
    assert pair.item == "p"


@pytest.mark.parametrize(("words", "kept"), [(199, 0), (200, 1), (800, 1), (801, 0)])
def test_words_are_counted_after_cleaning(words, kept):
    text = tale("w", words) + "\nThanks for reading, all of you!"
    sides = part_posts([post("w", 50, text=text)])
    assert len(sides.liked) == kept
    assert sum(sides.left_out.values()) == 1 - kept
    if kept:
        assert sides.liked["p"][0].text == tale("w", words)


def test_posts_left_out_are_counted_by_the_reason():
    posts = [
        *POSTS,
        post("s", 50, text=tale("s", 10)),
        post("l", 0, text=tale("l", 1000)),
        post("twin", 70, text=tale("a")),
    ]
    sides = part_posts(posts)
    assert sides.left_out == {
        "between the votes": 2, "too short": 1, "too long": 1, "with the text of another": 1,
    }  # fmt: skip
    assert [story.id for story in sides.liked["p"]] == ["b", "twin"]


def test_pairs_of_a_prompt_are_drawn_whatever_other_prompts_there_are():
    one = [post(f"h{n}", 99) for n in range(6)] + [post(f"l{n}", 0) for n in range(6)]
    other = [post("u", 99, "q"), post("v", 0, "q")]
    drawn = build_pairs(one, seed=3, per_prompt=4)
    assert len(set(names(drawn))) == 4
    both = build_pairs([*other, *one], seed=3, per_prompt=4)
    assert [pair for pair in both if pair.item == "p"] == drawn
    assert len(both) == 5
    assert build_pairs(one, seed=4, per_prompt=4) != drawn


def test_no_pair_at_all_says_what_was_left_out():
    with pytest.raises(InputError, match=r"50 votes or more and one of 0 .*2 between the votes"):
        build_pairs([post("e", 49), post("f", 1)], seed=0)


@pytest.mark.parametrize("settings", [{"low": 50}, {"words": (9, 8)}, {"per_prompt": 0}], ids=str)
def test_settings_that_leave_nothing_are_refused(settings):
    with pytest.raises(SettingError):
        build_pairs(POSTS, seed=0, **settings)


def test_two_posts_with_one_id_are_refused():
    with pytest.raises(InputError, match="two posts share the id 'a'"):
        build_pairs([*POSTS, post("a", 0)], seed=0)


def test_a_pair_is_of_one_item():
    with pytest.raises(InputError, match="do not share an item"):
        Pair(Story("a", "A", item="1"), Story("b", "B", item="2"))


def some_pairs(prompts: int, each: int = 2) -> list[Pair]:
    return [
        Pair(
            Story(f"{p}h{n}", tale(f"{p}h{n}", 5), item=str(p)), Story(f"{p}l", f"{p}", item=str(p))
        )
        for p in range(prompts)
        for n in range(each)
    ]


@pytest.mark.parametrize(
    ("prompts", "counts"), [(118, [94, 12, 12]), (10, [8, 1, 1]), (3, [1, 1, 1]), (4, [2, 1, 1])]
)
def test_sets_share_no_prompt_and_have_their_share_of_them(prompts, counts):
    pairs = some_pairs(prompts)
    sets = split_by_prompt(pairs, seed=5)
    assert [len({pair.item for pair in one}) for one in sets] == counts
    assert sorted(names([pair for one in sets for pair in one])) == sorted(names(pairs))
    items = [{pair.item for pair in one} for one in sets]
    assert not items[0] & items[1] | items[1] & items[2] | items[0] & items[2]


def test_a_split_follows_from_the_seed_and_not_from_the_order():
    pairs = some_pairs(40)
    held = {pair.item for pair in split_by_prompt(pairs, seed=1)[2]}
    assert {pair.item for pair in split_by_prompt(pairs[::-1], seed=1)[2]} == held
    assert {pair.item for pair in split_by_prompt(pairs, seed=2)[2]} != held


def test_prompts_that_share_a_text_stand_in_one_set():
    twins = [
        Pair(
            Story(f"t{p}", "The same old tale.", item=str(p)), Story(f"o{p}", f"{p}.", item=str(p))
        )
        for p in (0, 7, 19)
    ]
    for seed in range(5):
        sets = split_by_prompt([*some_pairs(20), *twins], seed=seed)
        assert len([one for one in sets if any(pair in twins for pair in one)]) == 1


def test_more_sets_than_prompts_are_refused():
    with pytest.raises(InputError, match="2 prompts cannot fill 3 sets"):
        split_by_prompt(some_pairs(2), seed=0)
    with pytest.raises(SettingError, match="not all positive"):
        split_by_prompt(some_pairs(9), (1, 0), seed=0)


def test_preferences_of_a_data_set_become_pairs_of_cleaned_stories():
    stories = (
        Story("1", "It rained.\nEdit: a word", item="p"),
        Story("2", "It *snowed*.", item="p"),
    )
    found = pairs_of(
        Dataset(
            "mine", DatasetCard("m", "m", "m"), stories, preferences=(Preference("1", "2", "r"),)
        )
    )
    assert [(pair.better.text, pair.worse.text) for pair in found] == [("It rained.", "It snowed.")]
    assert (found[0].better.id, found[0].worse.id, found[0].rater) == ("1", "2", "r")


def test_the_pairs_of_the_release_are_all_pairs_of_its_prompts(shared):
    from fabula.datasets import load_dataset

    found = load_dataset("storyer", shared / "data" / "storyer")
    liked = {one.better for one in found.preferences}
    posts = [
        Post(story.id, story.item or "", story.text, 50 if story.id in liked else 0)
        for story in found.stories
    ]
    built = build_pairs(posts, seed=0, words=(1, 10_000))
    chosen = {Preference(pair.better.id, pair.worse.id, pair.rater) for pair in built}
    assert chosen == set(found.preferences)


def test_posts_that_are_not_cleaned_keep_their_notes():
    noted = [post("a", 60, text=f"{tale('a', 210)}\nEdit: thanks!"), post("b", 0)]
    cleaned, raw = (build_pairs(noted, seed=0, cleaned=how)[0].better.text for how in (True, False))
    assert not cleaned.endswith("Edit: thanks!") and raw.endswith("Edit: thanks!")
