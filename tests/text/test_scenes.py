"""Tuples of sentences, from parses written by hand and from spaCy's."""

from __future__ import annotations

import pytest

from fabula.core.model import ParsedSentence, ParsedWord
from fabula.models.reading.tagging import parse_text
from fabula.text.scenes import find_tuples


def parse(*words: str) -> ParsedSentence:
    """A sentence from `word/tag/relation/head`; lemmas are the words."""
    parts = [word.split("/") for word in words]
    return tuple(
        ParsedWord(form, form, tag, relation, int(head), place, place)
        for place, (form, tag, relation, head) in enumerate(parts)
    )


def test_things_what_they_are_like_and_how_they_stand():
    sentence = parse(
        "young/JJ/amod/1", "girl/NN/nsubj/2", "stand/VBZ/ROOT/2", "on/IN/prep/2",
        "top/NN/pobj/3", "of/IN/prep/4", "tennis/NN/compound/7", "court/NN/pobj/5",
    )  # fmt: skip
    # The example of the SPICE paper (figure 1 there has `standing` for `stand`).
    assert find_tuples([sentence]) == {
        ("girl",),
        ("court",),
        ("girl", "young"),
        ("girl", "stand"),
        ("court", "tennis"),
        ("girl", "on top of", "court"),
    }


def test_verbs_without_a_thing_on_either_side_say_nothing():
    sentence = parse("she/PRP/nsubj/1", "waves/VBZ/ROOT/1", "at/IN/prep/1", "him/PRP/pobj/2")
    assert find_tuples([sentence]) == frozenset()
    assert find_tuples([]) == frozenset()


def test_a_list_without_end_ends():
    # a0 and a1 and a2 … see b0 and b1 …: all pairs would be a million.
    half = 1000
    words = [f"a{i}/NN/{'nsubj/' + str(half) if not i else f'conj/{i - 1}'}" for i in range(half)]
    words += [f"see/VBP/ROOT/{half}"]
    words += [
        f"b{i}/NN/{'dobj/' + str(half) if not i else f'conj/{half + i}'}" for i in range(half)
    ]
    tuples = find_tuples([parse(*words)])
    assert len([one for one in tuples if len(one) == 1]) == 2 * half
    assert len([one for one in tuples if len(one) == 3]) == 20 * 20


SENTENCES = {
    "The boy's dog is brown and old.": {
        ("boy",), ("dog",), ("boy", "have", "dog"), ("dog", "brown"), ("dog", "old"),
    },
    "A horse is led by a man in a red hat.": {
        ("horse",), ("man",), ("hat",), ("hat", "red"), ("man", "in", "hat"),
        ("man", "lead", "horse"),
    },
    "Two men and a woman carry boxes.": {
        ("man",), ("woman",), ("box",), ("man", "two"), ("man", "carry", "box"),
        ("woman", "carry", "box"),
    },
    "A dog that wears a collar runs out of the house.": {
        ("dog",), ("collar",), ("house",), ("dog", "run"), ("dog", "wear", "collar"),
        ("dog", "out of", "house"),
    },
    "A woman sitting on a bench reads a book.": {
        ("woman",), ("bench",), ("book",), ("woman", "sit"), ("woman", "on", "bench"),
        ("woman", "read", "book"),
    },
    "The man is a doctor and holds a cup.": {
        ("man",), ("doctor",), ("cup",), ("man", "be", "doctor"), ("man", "hold", "cup"),
    },
}  # fmt: skip


@pytest.mark.assets
@pytest.mark.usefixtures("spacy_small")
@pytest.mark.parametrize("sentence", SENTENCES)
def test_sentences_as_spacy_parses_them(sentence):
    assert find_tuples(parse_text(sentence)) == SENTENCES[sentence]
