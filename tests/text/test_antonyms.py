from __future__ import annotations

from pathlib import Path

import pytest

from fabula.core.errors import InputError
from fabula.text.antonyms import Antonyms, read_wordnet
from fabula.text.inflect import inflect, match_case, plain_forms
from fakes.assets import need_asset

# Offset, file, kind, number of words (hexadecimal), words with their ids, number of pointers,
# pointers (sign, offset, part, words from and to), gloss; a made-up WordNet.
DATA = {
    "adj": """\
  1 A line of the licence begins with two blanks.
00000010 00 a 02 hot 0 warm 0 002 & 00000050 a 0000 ! 00000020 a 0101 | of high ! temperature
00000020 00 a 01 cold(p) 0 001 ! 00000010 a 0101 | of low temperature
00000030 00 a 01 hot 1 001 ! 00000040 a 0102 | spicy
00000040 00 a 02 bland 0 mild 0 001 ! 00000030 a 0201 | not spicy
""",
    "verb": """\
00000010 30 v 01 love 0 001 ! 00000020 v 0101 01 + 08 00 | feel love
00000020 30 v 01 hate 0 001 ! 00000010 v 0101 01 + 08 00 | feel hate
""",
    "noun": "",
    "adv": "",
}
INDEX = {
    "adj": """\
  1 A line of the licence begins with two blanks.
bland a 1 1 ! 1 0 00000040
cold a 1 1 ! 1 1 00000020
hot a 2 1 ! 2 2 00000030 00000010
mild a 1 1 ! 1 0 00000040
warm a 1 0 1 0 00000010
""",
    "verb": "hate v 1 1 ! 1 1 00000020\nlove v 1 1 ! 1 1 00000010\n",
    "noun": "",
    "adv": "",
}


@pytest.fixture
def small(tmp_path) -> Antonyms:
    for part in DATA:
        (tmp_path / f"data.{part}").write_text(DATA[part], encoding="utf-8")
        (tmp_path / f"index.{part}").write_text(INDEX[part], encoding="utf-8")
    return read_wordnet(tmp_path)


def test_wordnet_gives_direct_antonyms_in_the_order_of_senses(small):
    # The index of hot lists sense 30 (spicy) before 10; warm shares a synset but no pointer.
    assert small.pairs == {
        "hot": ("mild", "cold"), "cold": ("hot",), "mild": ("hot",),
        "love": ("hate",), "hate": ("love",),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("hot", ("mild", "cold")), ("Hotter", ("Milder", "Colder")), ("coldest", ("hottest",)),
        ("loved", ("hated",)), ("LOVES", ("HATES",)), ("hating", ("loving",)), ("spoon", ()),
    ],
)  # fmt: skip
def test_an_antonym_has_the_form_and_case_of_its_word(small, word, expected):
    assert small.of(word) == expected


def test_a_folder_without_wordnet_is_the_users_to_mend(tmp_path):
    with pytest.raises(InputError, match=r"data\.noun"):
        read_wordnet(tmp_path)


# Forms as in any English grammar.
FORMS = """
stop:past:stopped carry:past:carried hope:past:hoped open:past:opened go:past:went put:past:put
play:past:played fix:past:fixed agree:past:agreed closed:past:closed run:ing:running
make:ing:making lie:ing:lying see:ing:seeing begin:ing:beginning open:ing:opening
watch:third:watches carry:third:carries have:third:has go:third:goes box:plural:boxes
city:plural:cities child:plural:children boy:plural:boys big:more:bigger happy:most:happiest
nice:more:nicer good:most:best dog:plain:dog
""".split()


@pytest.mark.parametrize("triple", FORMS)
def test_a_plain_word_takes_a_form_and_gives_it_back(triple):
    plain, form, inflected = triple.split(":")
    assert inflect(plain, form) == inflected
    if inflected not in ("put", "closed", "lying"):  # these do not show their form
        assert (plain, form) in plain_forms(inflected)


def test_long_adjectives_take_more_and_most():
    assert inflect("careful", "more") == "more careful"
    assert inflect("careful", "most") == "most careful"


def test_capitals_are_those_of_the_word():
    assert [match_case(one, "cold") for one in ("hot", "Hot", "HOT", "I")] == [
        "cold", "Cold", "COLD", "Cold",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def folder() -> Path:
    return need_asset("wordnet") / "corpora" / "wordnet"


@pytest.fixture(scope="module")
def nltks(folder):
    """NLTK 3.10's reader of the same files."""
    nltk = pytest.importorskip("nltk")
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nltk.data, "path", [str(folder.parents[1]), *nltk.data.path])
        with pytest.warns(UserWarning, match="multilingual"):
            yield WordNetCorpusReader(nltk.data.FileSystemPathPointer(str(folder)), None)


@pytest.mark.assets
def test_antonyms_are_those_that_nltk_reads(folder, nltks):
    real = read_wordnet(folder)
    for (
        word
    ) in "hot cold good bad open man day love go begin fast early happy up win spoon".split():
        expected = {
            other.name().lower()
            for synset in nltks.synsets(word)
            for lemma in synset.lemmas()
            if lemma.name().lower() == word
            for other in lemma.antonyms()
        }
        assert set(real.pairs.get(word, ())) == {one for one in expected if one.isalpha()}
