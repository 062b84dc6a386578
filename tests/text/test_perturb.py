from __future__ import annotations

import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.errors import SettingError, UnknownName
from fabula.text.perturb import PERTURBATIONS, choose_perturbations
from fabula.text.places import find_words, part_letters, part_sentences
from fabula.text.words import words

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)
SENTENCE = st.lists(
    st.sampled_from("the cat was here Anna Ben walked don't it's 7 of café".split()),
    min_size=1,
    max_size=8,
).map(lambda found: "So " + " ".join(found) + ".")
PROSE = st.lists(SENTENCE, max_size=12).map(" ".join)
STORY = (
    "Anna met Ben. It rained, and Anna ran.\n\n“Wait!” said Ben. She didn’t wait.\n"
    "They never saw the bus. It left 3 minutes early, as ever. The end was near, said Ben."
)
OTHER = "A cat sat. A dog ran. The cow ate. All slept."


@pytest.mark.parametrize("name", PERTURBATIONS)
@given(text=st.one_of(ANY_TEXT, PROSE), seed=st.integers(0, 5))
def test_any_text_gives_another_text_or_none_and_twice_the_same(name, text, seed):
    changed = PERTURBATIONS[name](text, seed=seed, other=OTHER)
    assert changed != text
    assert changed == PERTURBATIONS[name](text, seed=seed, other=OTHER)
    # Every sentence said twice with a blank, or every blank tripled, is the most there can be;
    # titles, notes, names and other stories' ends are of their own length.
    assert changed is None or len(changed) <= 7 * len(text) + 100


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_a_story_can_be_perturbed_in_every_way(name):
    assert PERTURBATIONS[name](STORY, other=OTHER) is not None


@pytest.mark.parametrize("name", PERTURBATIONS)
@pytest.mark.parametrize("text", ["", " \n ", "\u2029", "👍🏽"])
def test_where_there_is_nothing_to_perturb_it_is_not_applicable(name, text):
    if name == "repeat" and text.strip():
        assert PERTURBATIONS[name](text) == "👍🏽 👍🏽"
    else:
        assert PERTURBATIONS[name](text, other=OTHER) is None


@pytest.mark.parametrize("name", ["shuffle", "shuffle_words", "repeat", "typos", "spacing"])
def test_another_seed_gives_another_text(name):
    texts = {PERTURBATIONS[name](STORY, share=0.5, seed=seed) for seed in range(8)}
    assert len(texts) > 2


@pytest.mark.parametrize("name", ["drop_ending", "truncate", "swap_names", "quotes"])
def test_where_there_is_no_chance_the_seed_does_not_matter(name):
    assert len({PERTURBATIONS[name](STORY, seed=seed) for seed in range(8)}) == 1


def test_shuffled_sentences_stand_in_the_same_gaps():
    assert PERTURBATIONS["shuffle"]("One.  Two.\n\n") == "Two.  One.\n\n"


@given(PROSE, st.floats(0.01, 1), st.integers(0, 9))
def test_shuffling_keeps_every_sentence(text, share, seed):
    changed = PERTURBATIONS["shuffle"](text, share=share, seed=seed)
    if changed is None:
        assert len(set(part_sentences(text).sentences)) < 2
    else:
        before, after = part_sentences(text), part_sentences(changed)
        assert Counter(before.sentences) == Counter(after.sentences)
        assert before.gaps == after.gaps


def test_equal_sentences_have_no_other_order():
    assert PERTURBATIONS["shuffle"]("The same. The same. The same.") is None
    assert PERTURBATIONS["shuffle"]("One sentence only.") is None


def test_shuffled_words_leave_marks_and_the_first_capital_in_place():
    texts = {PERTURBATIONS["shuffle_words"]("“The cat, Tom.”", seed=seed) for seed in range(30)}
    assert "“Cat the, Tom.”" in texts
    # "Tom" is never capitalised within a sentence but here, so it stays a name.
    assert texts <= {
        "“Cat the, Tom.”", "“Cat Tom, the.”", "“The Tom, cat.”", "“Tom cat, the.”",
        "“Tom the, cat.”",
    }  # fmt: skip


@given(PROSE, st.integers(0, 9))
def test_shuffling_words_keeps_every_word(text, seed):
    changed = PERTURBATIONS["shuffle_words"](text, seed=seed)
    assert changed is None or Counter(words(changed)) == Counter(words(text))


def test_a_repeated_sentence_stands_beside_itself():
    assert PERTURBATIONS["repeat"]("Go. Stay.\n\nEnd", share=1) == "Go. Go. Stay. Stay.\n\nEnd End"
    assert PERTURBATIONS["repeat"]("雨。", share=1) == "雨。雨。"


@given(PROSE)
def test_a_share_of_the_sentences_is_repeated(text):
    count = len(part_sentences(text).sentences)
    changed = PERTURBATIONS["repeat"](text, share=0.5)
    if count:
        assert len(part_sentences(changed).sentences) == count + max(1, round(0.5 * count))


def test_the_ending_is_the_last_fifth_of_the_sentences():
    text = " A. B.\n\nC. D. E.  "
    # Single capitals are initials and end no sentence, so these are words.
    text = text.replace("A", "Ah").replace("B", "Bo").replace("C", "Co").replace("D", "Do")
    assert PERTURBATIONS["drop_ending"](text) == " Ah. Bo.\n\nCo. Do."
    assert PERTURBATIONS["drop_ending"](text, share=0.6) == " Ah. Bo."
    assert PERTURBATIONS["drop_ending"]("One sentence only.") is None


@pytest.mark.parametrize("name", ["drop_ending", "truncate"])
@given(text=st.one_of(ANY_TEXT, PROSE), share=st.floats(0.01, 1))
def test_what_is_cut_off_leaves_a_beginning(name, text, share):
    changed = PERTURBATIONS[name](text, share=share)
    assert changed is None or (text.startswith(changed) and changed.strip())


def test_a_story_breaks_off_within_a_sentence():
    assert PERTURBATIONS["truncate"]("One two three four.", share=0.5) == "One two"
    # Half of six words ends the first sentence; the nearest place within one is a word earlier.
    assert PERTURBATIONS["truncate"]("One two three. Four five six.", share=0.5) == "One two"
    assert PERTURBATIONS["truncate"]("Word.") is None


@given(ANY_TEXT)
def test_sentences_and_gaps_together_are_the_text(text):
    parted = part_sentences(text)
    assert parted.joined(list(parted.sentences)) == text


@given(ANY_TEXT)
def test_no_word_begins_with_a_mark_that_belongs_to_the_letter_before(text):
    for start, end in find_words(text):
        assert unicodedata.category(text[start])[0] != "M"
        assert end == len(text) or unicodedata.category(text[end]) != "Mn"


def test_letters_keep_their_marks_and_emoji_are_whole():
    assert part_letters("e\u0301a👨‍👩‍👧") == ["e\u0301", "a", "👨‍👩‍👧"]


@pytest.mark.parametrize("share", [0.0, -0.1, 1.5, float("nan")])
def test_a_share_is_above_0_and_at_most_1(share):
    with pytest.raises(SettingError, match="share="):
        PERTURBATIONS["repeat"](STORY, share=share)


def test_perturbations_are_chosen_by_name():
    assert [one.name for one in choose_perturbations("typos, shuffle,typos")] == [
        "typos", "shuffle",
    ]  # fmt: skip
    assert len(choose_perturbations()) == len(PERTURBATIONS) == 22
    with pytest.raises(UnknownName, match="did you mean 'shuffle'"):
        choose_perturbations(["shufle"])
    with pytest.raises(SettingError, match="no perturbation"):
        choose_perturbations(" ,")
