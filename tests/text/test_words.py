from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.tokenizers import DefaultTokenizer

from fabula.text.words import ascii_words, bare_words, words

ascii_text = st.text(st.characters(max_codepoint=127))
any_text = st.text(st.characters(exclude_categories=()))
western = st.text(st.characters(codec="cp1252"))
marked = st.text(st.sampled_from("aeouncAEO \u0301\u0308\u0323\u0302\u0327é"))


@given(ascii_text)
def test_ascii_words_are_those_of_rouge_score_0_1_2(text):
    expected = DefaultTokenizer(use_stemmer=False).tokenize(text)
    assert bare_words(text) == expected
    assert ascii_words(text) == expected


@given(any_text)
def test_the_ascii_rule_is_rouge_scores_for_every_text(text):
    assert ascii_words(text) == DefaultTokenizer(use_stemmer=False).tokenize(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't stop!", ["don't", "stop"]),
        ("It’s ‘quoted’ and 'so' is this", ["it's", "quoted", "and", "so", "is", "this"]),
        ("rock 'n' roll, o'clock's", ["rock", "n", "roll", "o'clock's"]),
        ("the dogs' tails", ["the", "dogs", "tails"]),
        ("snake_case and kebab-case", ["snake", "case", "and", "kebab", "case"]),
        ("3.5 apples, 2nd", ["3", "5", "apples", "2nd"]),
        ("CAFÉ Straße ŒUVRE", ["café", "straße", "œuvre"]),
        ("Привет, мир!", ["привет", "мир"]),
        ("Ἀθῆναι", ["ἀθῆναι"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("안녕 세상", ["안녕", "세상"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("l’été 😀 fini", ["l'été", "fini"]),
        ("", []),
        (" ... !? 😀 ", []),
    ],
)
def test_words_of_many_scripts(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize("find", [words, bare_words])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("漢字かな", ["漢", "字", "か", "な"]),
        ("今日はGPT4です。", ["今", "日", "は", "gpt4", "で", "す"]),
        ("カメラ", ["カ", "メ", "ラ"]),
        ("か\u3099", ["が"]),
    ],
)
def test_where_no_blanks_are_written_a_character_is_a_word(find, text, expected):
    assert find(text) == expected


@pytest.mark.parametrize("find", [words, bare_words])
def test_a_thai_run_stays_whole(find):
    assert find("สวัสดีชาวโลก ลาก่อน") == ["สวัสดีชาวโลก", "ลาก่อน"]


def test_both_apostrophes_are_one():
    assert words("It’s") == words("it's") == ["it's"]


def test_bare_words_part_at_apostrophes():
    assert bare_words("Don't — it’s") == ["don", "t", "it", "s"]


@pytest.mark.parametrize("find", [words, bare_words])
@pytest.mark.parametrize("text", ["café", "Ångström", "Tiếng Việt", "한국어", "ἄνθρωπος", "がぎ"])
def test_a_letter_typed_in_two_ways_is_one_letter(find, text):
    composed, parted = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert composed != parted
    assert find(composed) == find(parted)


@pytest.mark.parametrize("find", [words, bare_words])
@given(text=marked)
def test_the_order_and_kind_of_marks_do_not_matter(find, text):
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]
    assert find(forms[0]) == find(forms[1])


@pytest.mark.parametrize("find", [words, bare_words])
@given(text=western | any_text)
def test_the_short_ways_find_what_the_long_way_finds(find, text):
    assert find(text) == find(text + " 漢")[:-1]


@pytest.mark.parametrize("find", [words, bare_words, ascii_words])
@given(text=any_text)
def test_words_are_lower_case_and_never_empty(find, text):
    found = find(text)
    assert all(found)
    assert not any(char.isspace() for word in found for char in word)


@pytest.mark.parametrize("find", [words, bare_words])
def test_lone_surrogates_and_nul_bytes_part_words(find):
    assert find("one\ud800two\x00three") == ["one", "two", "three"]
