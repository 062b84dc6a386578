"""Nouns of sentences parsed by hand: which, how they are written, and where they stand."""

from __future__ import annotations

from fabula.core.model import ParsedSentence, ParsedWord
from fabula.text.nouns import (
    RELEASED,
    NounRules,
    blank_brackets,
    find_nouns,
    find_placeholders,
)


def parse(text: str, *words: str, start: int = 0) -> ParsedSentence:
    """A sentence from `word/tag`, `word/tag/lemma` or `word/tag/lemma/relation/head`."""
    sentence = []
    for place, word in enumerate(words):
        form, tag, lemma, relation, head = (*word.split("/"), *[""] * 4)[:5]
        start = text.index(form, start)
        sentence.append(
            ParsedWord(
                form, lemma or form, tag, relation, int(head or place), start, start + len(form)
            )
        )
        start += len(form)
    return tuple(sentence)


def texts(*sentences: ParsedSentence, rules: NounRules | None = None) -> list[str]:
    return [noun.text for noun in find_nouns(sentences, rules)]


DOGS = parse(
    "Dogs ran to the Beach and dogs barked at Ann",
    "Dogs/NNS/dog", "ran/VBD", "to/IN", "the/DT", "Beach/NNP", "and/CC",
    "dogs/NNS/dog", "barked/VBD", "at/IN", "Ann/NNP",
)  # fmt: skip


def test_a_noun_counts_once_in_a_sentence_and_again_in_the_next():
    assert texts(DOGS) == ["dog", "beach", "ann"]
    assert texts(DOGS, DOGS) == ["dog", "beach", "ann"] * 2
    assert [noun.sentence for noun in find_nouns([DOGS, DOGS])] == [0, 0, 0, 1, 1, 1]


def test_the_released_way_keeps_case_and_plurals():
    assert texts(DOGS, rules=RELEASED) == ["Dogs", "Beach", "dogs", "Ann"]
    assert texts(DOGS, rules=NounRules(lemmas=False)) == ["dogs", "beach", "ann"]


def test_places_are_those_of_the_first_mention():
    text = "Dogs ran to the Beach and dogs barked at Ann"
    assert [text[n.start : n.stop] for n in find_nouns([DOGS])] == ["Dogs", "Beach", "Ann"]


TRUCKS = parse(
    "two old fire trucks and a t-shirt",
    "two/CD", "old/JJ", "fire/NN/fire/compound/3", "trucks/NNS/truck", "and/CC", "a/DT",
    "t/NN/t/compound/8", "-/HYPH", "shirt/NN",
)  # fmt: skip


def test_what_the_parse_calls_a_compound_is_one_noun():
    assert texts(TRUCKS) == ["fire truck", "t-shirt"]
    assert texts(TRUCKS, rules=NounRules(compounds=False)) == ["fire", "truck", "t", "shirt"]


def test_nouns_side_by_side_that_are_no_compound_stay_apart():
    gave = parse(
        "gave Ann flowers", "gave/VBD", "Ann/NNP/Ann/dative/0", "flowers/NNS/flower/dobj/0"
    )
    assert texts(gave) == ["ann", "flower"]
    # The driver is of the fire truck: a chain of parts is one noun, too.
    chain = parse(
        "fire truck driver", "fire/NN/fire/compound/1", "truck/NN/truck/compound/2", "driver/NN"
    )
    assert texts(chain) == ["fire truck driver"]


def test_the_token_i_and_nouns_without_a_letter_are_dropped():
    assert texts(parse("i saw 50 %", "i/NN", "saw/VBD", "50/CD", "%/NN")) == []
    assert texts(parse("I", "I/NNP"), rules=RELEASED) == ["I"]


def test_placeholders_are_bare_words_in_the_same_place():
    text = "[male] met [ Female ] at [location] [sic] ."
    bare = blank_brackets(text)
    assert bare == " male  met   Female   at  location  [sic] ."
    assert len(bare) == len(text)
    assert find_placeholders(text) == {1, 13, 26}


def test_a_placeholder_is_a_noun_whatever_the_tagger_says():
    text = "[male] is here"
    sentence = parse(blank_brackets(text), "male/JJ", "is/VBZ", "here/RB")
    assert texts(sentence) == []
    assert [n.text for n in find_nouns([sentence], placeholders=find_placeholders(text))] == [
        "male"
    ]
