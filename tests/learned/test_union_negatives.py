from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from fabula.core.errors import SettingError
from fabula.learned.negatives import union
from fabula.learned.negatives.contrary import contrary
from fabula.learned.negatives.corpus import Corpus
from fabula.learned.negatives.tags import light_tag
from learned.small_stories import ANTONYMS, BAKER, CORPUS, SAILOR, TEACHER

SEEDS = range(200)


def test_repeating_overwrites_three_of_five_with_the_first_of_them():
    for seed in SEEDS:
        found = union.repeat_sentences(BAKER, seed=seed)
        ((sentence, times),) = Counter(found).most_common(1)
        assert found[0] == BAKER[0]
        assert times == 3  # 1 + 5 // 2, with the one that is repeated
        assert found.index(sentence) == BAKER.index(sentence)


def test_words_are_said_twice_in_a_row_in_two_rounds_of_five_sentences():
    sizes = Counter()
    for seed in SEEDS:
        found = union.repeat_grams(BAKER, seed=seed)
        more = sum(len(one.split()) for one in found) - sum(len(one.split()) for one in BAKER)
        sizes[more] += 1
        assert found[0] == BAKER[0]
    assert set(sizes) <= set(range(2, 9))  # two rounds of one to four words


def test_words_said_twice_stand_side_by_side():
    assert union.repeat_grams(["A.", "He ran."], seed=1) == ["A.", "He ran ran."]


def test_in_compat_words_are_repeated_only_where_they_would_run_over_the_end():
    # Of 6 tokens and lengths 1 to 4 with the start at 0 to 5, starts 5, 4, 3 overrun with 3, 2
    # and 1 lengths (2 to 4, 3 to 4, 4): 6 of 24. One round: n // 2 of a story of two sentences.
    story = ["It began .", "one two three four five six"]
    times = sum(
        union.repeat_grams(story, seed=seed, compat=True) is not None for seed in range(4000)
    )
    assert times / 4000 == pytest.approx(6 / 24, abs=0.025)
    found = {
        union.repeat_grams(story, seed=seed, compat=True)[1]
        for seed in SEEDS
        if union.repeat_grams(story, seed=seed, compat=True)
    }
    assert "one two three two three four five six" not in found
    assert "one two three four five four five six" in found  # start 5, length 2


def test_sentences_are_replaced_by_those_of_one_other_story():
    counts = Counter()
    for seed in SEEDS:
        found = union.replace_sentences(BAKER, others=CORPUS, seed=seed)
        new = [one for one in found if one not in BAKER]
        counts[len(new)] += 1
        assert found[0] == BAKER[0]
        assert set(new) <= set(SAILOR) or set(new) <= set(TEACHER)
        assert len(set(new)) == len(new)
    assert set(counts) == {1, 2, 3, 4}


def test_a_corpus_of_this_story_alone_has_no_sentence_to_give():
    assert union.replace_sentences(BAKER, others=Corpus.of([BAKER]), seed=0) is None


def changed_words(before, after):
    pairs = [
        (one.strip(".,"), other.strip(".,"))
        for old, new in zip(before, after, strict=True)
        for one, other in zip(old.split(), new.split(), strict=True)
    ]
    return [(one, other) for one, other in pairs if one != other]


def test_words_are_replaced_by_antonyms_or_by_words_of_their_tag():
    told = set()
    for seed in SEEDS:
        found = union.replace_words(BAKER, others=CORPUS, seed=seed, antonyms=ANTONYMS)
        words = changed_words(BAKER, found)
        told.update(pair for pair in words if pair[0] in ("cold", "opened"))
        # Content words after the first sentence: bought flour lemon market oven cold light kind
        # neighbour opened warm kitchen happily shared cake; 15 % of these 15 are 2.
        assert 1 <= len([one for one in words if one not in (("a", "an"), ("A", "An"))]) <= 2
        assert found[0] == BAKER[0]
    assert told == {("cold", "hot"), ("opened", "closed")}


def test_a_word_without_antonyms_becomes_another_of_its_tag():
    for seed in SEEDS:
        found = union.replace_words(BAKER, others=CORPUS, seed=seed)
        for one, other in changed_words(BAKER, found):
            if one.lower() not in ("a", "an"):
                assert light_tag(one.lower()) == light_tag(other.lower())


def test_compat_leaves_antonyms_plain_and_articles_as_they_were():
    story = ["First.", "He opened a door."]
    corpus = Corpus.of([["He opened it."]])
    antonyms_of = {"antonyms": ANTONYMS, "others": corpus, "seed": 0}
    assert union.replace_words(story, **antonyms_of)[1] == "He closed a door."
    assert union.replace_words(story, **antonyms_of, compat=True)[1] == "He close a door."


def test_shuffling_moves_two_to_four_sentences_and_always_moves_some():
    moved = Counter()
    for seed in SEEDS:
        found = union.shuffle(BAKER, seed=seed)
        assert found[0] == BAKER[0]
        assert sorted(found) == sorted(BAKER)
        moved[sum(one != other for one, other in zip(found, BAKER, strict=True))] += 1
    assert set(moved) == {2, 3, 4}


def test_shuffling_finds_the_one_sentence_that_differs():
    story = ["First.", "Rain.", "Rain.", "Rain.", "Sun."]
    assert all(union.shuffle(story, seed=seed) not in (None, story) for seed in SEEDS)
    in_compat = [union.shuffle(story, seed=seed, compat=True) for seed in SEEDS]
    assert None in in_compat


def test_one_to_four_sentences_are_turned_into_their_contrary():
    turned = Counter()
    for seed in SEEDS:
        found = union.negate(BAKER, seed=seed)
        pairs = list(zip(BAKER, found, strict=True))
        assert all(new in (old, contrary(old)) for old, new in pairs)
        assert found[0] == BAKER[0]
        turned[sum(old != new for old, new in pairs)] += 1
    # All four can be turned, and their number is uniform.
    assert set(turned) == {1, 2, 3, 4}
    assert min(turned.values()) > 30


def test_corrupting_never_alters_the_first_sentence_and_says_what_was_done():
    for seed in SEEDS:
        found = union.corrupt(BAKER, others=CORPUS, seed=seed, antonyms=ANTONYMS)
        assert found.changed and found.sentences != BAKER
        assert found.sentences[0] == BAKER[0]
        assert len(found.sentences) == 5
        assert len(set(found.techniques)) == len(found.techniques) >= 1
        assert found.impossible == ()


def test_numbers_and_kinds_of_corruptions_follow_the_recipe():
    done = [union.corrupt(BAKER, others=CORPUS, seed=seed).techniques for seed in range(4000)]
    numbers = Counter(map(len, done))
    firsts = Counter(names[0] for names in done)
    for number, share in {1: 0.5, 2: 0.2, 3: 0.2, 4: 0.1}.items():
        assert numbers[number] / 4000 == pytest.approx(share, abs=0.025)
    for name, share in {"repeat": 0.1, "replace": 0.3, "shuffle": 0.4, "negate": 0.2}.items():
        assert firsts[name] / 4000 == pytest.approx(share, abs=0.025)


def test_a_recipe_can_ask_for_one_corruption_alone():
    how = union.UnionRecipe((1.0,), repeat=0, replace=0, shuffle=1, negate=0)
    found = union.corrupt(BAKER, others=CORPUS, seed=3, how=how)
    assert found.techniques == ("shuffle",)
    assert sorted(found.sentences) == sorted(BAKER)


@pytest.mark.parametrize(
    "settings",
    [{"repeat": -1.0}, {"counts": ()}, {"counts": (0.0,)}, {"word_share": 2.0},
     {"counts": (1.0,) * 5}, {"longest_gram": 0},
     {"repeat": 0.0, "replace": 0.0, "shuffle": 0.0, "negate": 0.0}],
)  # fmt: skip
def test_a_recipe_that_cannot_be_drawn_by_is_refused(settings):
    with pytest.raises(SettingError):
        union.UnionRecipe(**settings)


def test_the_older_setting_is_at_hand():
    assert union.OLDER.counts == (0.2, 0.4, 0.3, 0.1)
    assert union.OLDER.repeat == 0.6


@pytest.mark.parametrize("story", [(), ("Alone.",)])
@pytest.mark.parametrize("compat", [False, True])
def test_a_story_that_is_too_short_comes_back_and_says_so(story, compat):
    found = union.corrupt(story, others=CORPUS, seed=1, compat=compat)
    assert found.sentences == story
    assert not found.changed
    assert found.techniques == ()
    if not compat:
        assert set(found.impossible) == set(union.TECHNIQUES) == set(union.NEEDS)


def test_another_corruption_stands_in_for_an_impossible_one():
    story = ("First.", "Anna saw the lake.")  # nothing to shuffle
    how = union.UnionRecipe((1.0,), repeat=0, replace=0, shuffle=1e9, negate=1)
    found = union.corrupt(story, others=CORPUS, seed=1, how=how)
    assert found.sentences == ("First.", "Anna did not see the lake.")
    assert (found.techniques, found.impossible) == (("negate",), ("shuffle",))
    in_compat = union.corrupt(story, others=CORPUS, seed=1, how=how, compat=True)
    assert (in_compat.changed, in_compat.impossible) == (False, ("shuffle",))


def test_the_same_seed_gives_the_same_negative_in_every_process():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from learned.small_stories import *\n"
        "from fabula.learned.negatives import union, manplts\n"
        "for s in range(20):\n"
        " print(union.corrupt(BAKER, others=CORPUS, seed=f'{s}:a', antonyms=ANTONYMS))\n"
        " print(manplts.rewrite(BAKER, others=CORPUS, seed=s, antonyms=ANTONYMS, events=EVENTS))"
    )
    folder = str(Path(__file__).parents[1])
    told = [
        subprocess.run(
            [sys.executable, "-c", code, folder],
            capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert told[0] == told[1] != ""


def test_a_prompt_leads_and_the_story_follows():
    assert union.part("A lamp", "It rained. She left.") == ["A lamp", "It rained.", "She left."]
    assert union.part("", "It rained. She left.") == ["It rained.", "She left."]


def test_in_compat_a_story_is_parted_at_every_full_stop():
    text = "mr . fox ran . he hid . he slept ."
    assert union.part("a fox", text, compat=True) == [
        "a fox .", "mr .", "fox ran .", "he hid .", "he slept .",
    ]  # fmt: skip
    assert union.part("Why?", "He ran. He hid.", compat=True) is None  # fewer than four
