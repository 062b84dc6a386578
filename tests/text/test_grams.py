from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.text import grams
from fabula.text.grams import count_codes, gram_codes, look_up, word_codes

words = st.lists(st.sampled_from("a b c the cat".split()) | st.text(max_size=3), max_size=60)
CODES = "from fabula.text.grams import word_codes; print(*word_codes(['the', 'été', '漢字']))"


def tuples(sequence, n):
    return [tuple(sequence[i : i + n]) for i in range(len(sequence) - n + 1)]


@given(words, st.integers(1, 5))
def test_counts_are_those_of_a_counter(sequence, order):
    for n, codes in enumerate(gram_codes(word_codes(sequence), order), 1):
        expected = Counter(tuples(sequence, n))
        kinds, counts = count_codes(codes)
        assert sorted(counts.tolist()) == sorted(expected.values())
        by_code = dict(zip(kinds.tolist(), counts.tolist(), strict=True))
        places = dict(zip(tuples(sequence, n), codes.tolist(), strict=True))
        assert {gram: by_code[code] for gram, code in places.items()} == expected


@given(words, words)
def test_n_grams_of_two_texts_share_a_number_when_they_are_the_same(left, right):
    for n, (ours, theirs) in enumerate(
        zip(gram_codes(word_codes(left), 4), gram_codes(word_codes(right), 4), strict=True), 1
    ):
        shared = set(tuples(left, n)) & set(tuples(right, n))
        assert len(set(ours.tolist()) & set(theirs.tolist())) == len(shared)


def test_the_order_of_words_counts():
    forth, back = (gram_codes(word_codes(text.split()), 3) for text in ("a b c", "c b a"))
    assert set(forth[0].tolist()) == set(back[0].tolist())
    assert not set(forth[1].tolist()) & set(back[1].tolist())
    assert not set(forth[2].tolist()) & set(back[2].tolist())


def test_n_grams_of_different_n_do_not_share_numbers():
    found = gram_codes(word_codes(["a"] * 6), 4)
    assert len({int(code) for codes in found for code in codes}) == 4


def test_a_hundred_thousand_different_n_grams_have_as_many_numbers():
    sequence = [f"w{(i * i) % 317}" for i in range(100_000)]
    for n, codes in enumerate(gram_codes(word_codes(sequence), 4), 1):
        assert len(np.unique(codes)) == len(set(tuples(sequence, n)))


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_a_text_too_short_for_an_order_has_no_n_grams_of_it(size):
    found = gram_codes(word_codes(["a"] * size), 4)
    assert [len(codes) for codes in found] == [max(0, size - n + 1) for n in (1, 2, 3, 4)]
    assert all(codes.dtype == np.uint64 for codes in found)


def test_a_words_number_is_its_blake2_digest():
    [code] = word_codes(["the"])
    expected = hashlib.blake2b(b"the", digest_size=8).hexdigest()
    assert f"{int(code):016x}" == expected


@pytest.mark.parametrize("seed", ["0", "1", "4711"])
def test_a_words_number_is_the_same_in_every_process(seed):
    done = subprocess.run(
        [sys.executable, "-c", CODES],
        env=os.environ | {"PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [str(code) for code in word_codes(["the", "été", "漢字"])]


def test_forgetting_the_numbers_of_words_changes_none(monkeypatch):
    before = word_codes(["one", "two", "three"]).tolist()
    monkeypatch.setattr(grams, "_MOST", 2)
    assert word_codes(["one", "two", "three"]).tolist() == before
    assert word_codes(["one", "two", "three"]).tolist() == before


def test_what_is_not_there_has_the_default():
    kinds, values = np.array([3, 5, 9], dtype=np.uint64), np.array([30, 50, 90])
    wanted = np.array([9, 4, 3, 2**63], dtype=np.uint64)
    assert look_up(wanted, kinds, values).tolist() == [90, 0, 30, 0]
    assert look_up(wanted, kinds, values, default=-1).tolist() == [90, -1, 30, -1]
    assert look_up(wanted, kinds[:0], values[:0], default=2).tolist() == [2, 2, 2, 2]
    assert look_up(wanted[:0], kinds, values).tolist() == []
