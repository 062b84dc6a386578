from __future__ import annotations

from pathlib import Path

import pytest

from fabula.metrics.meteor import SYNONYM, Matcher, align
from fabula.text import wordnet
from fabula.text.wordnet import WordNet
from fakes.assets import need_asset

# Lemma, part, synsets, pointers and their signs, senses, tagged senses, offsets; a made-up WordNet.
NOUNS = """\
  1 A line of the licence begins with two blanks.
dog n 2 3 @ ~ + 2 1 00000010 00000020
hound n 1 0 1 0 00000010
goose n 1 1 @ 1 0 00000030
watchman n 1 0 1 0 00000040
church n 1 0 1 0 00000050
story n 1 0 1 0 00000060
box n 1 0 1 0 00000070
ax n 1 0 1 0 00000080
hot_dog n 1 0 1 0 00000090
"""
VERBS = """\
run v 1 0 1 1 00000010
be v 1 0 1 1 00000020
hope v 1 0 1 1 00000030
carry v 1 0 1 1 00000040
bed v 1 0 1 1 00000050
"""
ADJECTIVES = """\
fine a 1 0 1 1 00000010
cold a 1 0 1 1 00000020
good a 1 0 1 1 00000030
fore a 1 0 1 1 00000040
"""
ADVERBS = """\
well r 1 0 1 1 00000010
"""
EXCEPTIONS = {
    "noun": "geese goose\naxes ax axis\n",
    "verb": "ran run\nbed bed\n",
    "adj": "better good well\nforest forest\n",
    "adv": "better well\n",
}
NOUN, VERB, ADJECTIVE, ADVERB = range(4)


def synset(offset: int, part: int) -> int:
    return 4 * offset + part


@pytest.fixture
def small(tmp_path) -> WordNet:
    indices = {"noun": NOUNS, "verb": VERBS, "adj": ADJECTIVES, "adv": ADVERBS}
    for part, lines in indices.items():
        (tmp_path / f"index.{part}").write_text(lines, encoding="utf-8")
        (tmp_path / f"{part}.exc").write_text(EXCEPTIONS[part], encoding="utf-8")
    return WordNet(tmp_path)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("dog", {synset(10, NOUN), synset(20, NOUN)}),
        ("hound", {synset(10, NOUN)}),
        ("dogs", {synset(10, NOUN), synset(20, NOUN)}),
        ("geese", {synset(30, NOUN)}),  # by the list of exceptions
        ("watchmen", {synset(40, NOUN)}),  # -men, -man
        ("churches", {synset(50, NOUN)}),  # -ches, -ch
        ("stories", {synset(60, NOUN)}),  # -ies, -y
        ("boxes", {synset(70, NOUN)}),  # -xes, -x
        ("axes", {synset(80, NOUN)}),  # of its two lemmas only ax is in the index
        ("ran", {synset(10, VERB)}),
        ("runs", {synset(10, VERB)}),
        ("hoped", {synset(30, VERB)}),  # -ed, -e
        ("hoping", {synset(30, VERB)}),  # -ing, -e
        ("carries", {synset(40, VERB)}),
        ("carried", set()),  # no rule: in the real WordNet an exception
        ("finer", {synset(10, ADJECTIVE)}),  # -er, -e
        ("coldest", {synset(20, ADJECTIVE)}),  # -est
        ("better", {synset(30, ADJECTIVE), synset(10, ADVERB)}),
        ("unheard", set()),
        ("", set()),
    ],
)
def test_a_word_has_the_synsets_of_the_words_it_is_a_form_of(small, word, expected):
    assert small.synsets(word) == expected
    assert small.synsets(word) == expected  # and again, when it is known


@pytest.mark.parametrize(("word", "other"), [("bed", "be"), ("forest", "fore")])
def test_a_word_of_the_exceptions_is_no_form_of_others(small, word, other):
    # WordNet's morphology (morphy, 7WN): what the list of exceptions holds, the rules leave alone.
    assert not small.synsets(word) & small.synsets(other)


def test_synsets_of_different_parts_are_different(small):
    # All four files have an offset of 10.
    found = [small.synsets(word) for word in ("hound", "run", "fine", "well")]
    assert len(frozenset.union(*found)) == 4


def test_phrases_are_left_out(small):
    assert small.synsets("hot_dog") == set()


def test_words_met_so_far_are_related_by_a_synset_in_both_directions(small):
    assert small.find_related("hound") == set()
    assert small.find_related("goose") == set()
    assert small.find_related("dogs") == {"hound"}
    assert small.find_related("hound") == {"dogs"}


@pytest.mark.parametrize("most", [2, 3, 100])
def test_a_reference_keeps_its_synonyms_however_many_words_were_met(small, monkeypatch, most):
    monkeypatch.setattr(wordnet, "_MOST_RELATED", most)
    reference = Matcher(["hound", "goose", "box"], str, small.find_related)
    assert align(["dog"], reference) == [(0, 0, SYNONYM)]


@pytest.fixture(scope="module")
def folder() -> Path:
    return need_asset("wordnet") / "corpora" / "wordnet"


@pytest.fixture(scope="module")
def real(folder) -> WordNet:
    return WordNet(folder)


@pytest.fixture(scope="module")
def nltks(folder):
    """NLTK 3.10's reader of the same files."""
    nltk = pytest.importorskip("nltk")
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nltk.data, "path", [str(folder.parents[1]), *nltk.data.path])
        with pytest.warns(UserWarning, match="multilingual"):
            yield WordNetCorpusReader(nltk.data.FileSystemPathPointer(str(folder)), None)


def of_nltk(nltks, word: str) -> set[int]:
    """Synsets of all forms of a word in all parts of speech."""
    return {
        synset(found.offset(), number)
        for number, part in enumerate("nvar")
        for form in nltks._morphy(word, part)
        for found in nltks.synsets(form, part)
        if form in {lemma.lower() for lemma in found.lemma_names()}
    }


WORDS = (
    "dog dogs geese mice feet children men women watches boxes stories axes wolf run ran running "
    "runs better best good well worse went gone going be is are was were being hoped hoping tried "
    "dying lying sat said told colder coldest finer happier happiest quick quickly slowly never "
    "house houses whisper whispered dragon candle forest number bed after offer guest modest "
    "matter gas his ashes unheardof the of and"
).split()


@pytest.mark.assets
@pytest.mark.parametrize("word", WORDS)
def test_synsets_are_those_of_nltk(real, nltks, word):
    assert real.synsets(word) == of_nltk(nltks, word)


@pytest.mark.assets
def test_words_of_one_sense_share_a_synset(real):
    # WordNet 3.0: car, auto, automobile, machine, motorcar.
    assert real.synsets("car") & real.synsets("automobiles")
    assert real.synsets("big") & real.synsets("large")
    assert not real.synsets("car") & real.synsets("dog")


@pytest.mark.parametrize(
    ("word", "lemma"),
    [
        ("dogs", "dog"),
        ("geese", "goose"),
        ("stories", "story"),
        ("hoping", "hope"),
        ("ran", "run"),
        ("colder", "cold"),
        ("well", "well"),
        ("bed", "bed"),
        ("zyzzyva", "zyzzyva"),
    ],
)
def test_a_lemma_is_the_first_form_that_is_listed_and_an_unknown_word_is_its_own(
    small, word, lemma
):
    assert small.lemma(word) == lemma


@pytest.mark.assets
def test_lemmas_are_those_of_nltks_morphy(real, nltks):
    text = (
        "wolves ran faster than the geese had been flying across colder mountains while children "
        "told stories about brave sailors leaving better harbours and dropped glasses"
    )
    assert [real.lemma(word) for word in text.split()] == [
        nltks.morphy(word) or word for word in text.split()
    ]
