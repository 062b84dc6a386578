"""Which words and names were kept, by hand."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from fabula.text.kept_words import (
    count_tags,
    list_kept_names,
    locate_kept,
    share_blocks,
    sort_names,
    spell_plainly,
)

STOP = frozenset({"the", "a", "and"})
TEXT = "The grey ferry didn't wait, and Mara Voss left."


def tag(text, **tags):
    """Places and tags of words, in order; each word is looked for after the one before it."""
    placed, at = [], 0
    for word, kind in tags.items():
        at = text.index(word.replace("_", "'"), at)
        placed.append((at, at + len(word), kind))
        at += len(word)
    return placed


def test_blocks_of_stop_words_alone_do_not_count():
    blocks = share_blocks(TEXT, "The old ferry and Mara Voss", stop_words=STOP)
    kept = [(TEXT[slice(*block.left)], block.counts) for block in blocks]
    assert kept == [("The ", False), ("ferry ", True), ("and Mara Voss ", True)]
    assert [TEXT[slice(*place)] for place in locate_kept(TEXT, "the FERRY!", stop_words=STOP)] == [
        "ferry "
    ]


def test_words_are_counted_by_their_tags_and_marks_are_not():
    words = tag(TEXT, The="DET", ferry="NOUN", did="AUX", n_t="PART", wait="VERB", Mara="PROPN")
    comma = TEXT.index(",")
    words.append((comma, comma + 1, "PUNCT"))
    kept = locate_kept(TEXT, "A ferry did wait for Mara", stop_words=STOP)
    counted = count_tags(TEXT, words, kept)
    assert counted.generated == {"DET": 1, "NOUN": 1, "AUX": 1, "PART": 1, "VERB": 1, "PROPN": 1}
    # `didn't` is the words `didn` and `t`, neither of which was kept.
    assert counted.kept == {"NOUN": 1, "VERB": 1, "PROPN": 1}


def test_a_name_is_kept_whole_or_not():
    start = TEXT.index("Mara")
    names = [(start, start + len("Mara Voss"))]
    kept = locate_kept(TEXT, "Then Mara Voss ran.", stop_words=STOP)
    assert list_kept_names(TEXT, names, kept) == ["Mara Voss"]
    assert list_kept_names(TEXT, names, locate_kept(TEXT, "Then Mara ran.")) == []


def test_names_are_known_where_their_words_stand_together():
    told = [spell_plainly("Captain Mara VOSS, of the Salt-Road."), spell_plainly("Hale sleeps")]
    names = ["Mara Voss", "the Salt Road's", "Voss Mara", "Lord Hale", "Hale’s", "Hal", "Mara Voss"]
    assert sort_names(names, told) == (4, 3)
    assert sort_names(names) == (0, 7)
    assert sort_names([], told) == (0, 0)
    assert sort_names(["the"], [spell_plainly("the end")]) == (1, 0)


_TEXTS = st.lists(st.sampled_from(["The", "ferry", "'s", "é", ",", "日本", "\n"])).map(" ".join)


@given(_TEXTS, _TEXTS)
def test_no_more_is_kept_than_there_is(text, other):
    kept = locate_kept(text, other, stop_words=STOP)
    words = [(at, at + 1, "X") for at in range(len(text))]
    counted = count_tags(text, words, kept)
    assert counted.kept["X"] <= counted.generated["X"]
    whole = count_tags(text, words, locate_kept(text, text))
    assert whole.kept == whole.generated
    assert count_tags(text, words, []).kept == Counter()
