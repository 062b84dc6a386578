from __future__ import annotations

import pytest

from fabula.core.errors import InputError
from fabula.learned.topics.corpus import WordRules, find_common_names, gather_words
from fabula.learned.topics.passages import Passage, split_stories
from fakes.planted_topics import plant_stories

PLAIN = WordRules(lemmas=False, least_count=1, least_stories=1)
FILLER = " ".join(f"{a}{b}ord" for a in "bcdfg" for b in "aeiou")  # words enough for a corpus


def words_of(*texts: str, rules: WordRules = PLAIN) -> list[set[str]]:
    """The telling words of texts, but for those that only make a corpus of them."""
    passages = [Passage(str(n), f"{text} {FILLER}", str(n)) for n, text in enumerate(texts)]
    corpus = gather_words(passages, rules)
    filler = set(FILLER.split())
    return [{corpus.vocabulary[place] for place in row.indices} - filler for row in corpus.counts]


def test_stop_words_numbers_short_words_and_links_tell_no_topic():
    text = "The dog and 42 ox it's at https://example.org/cat?x=1 www.example.org [MALE] harbour"
    assert words_of(text) == [{"dog", "harbour"}]


def test_names_are_known_from_texts_with_capitals_and_found_in_those_without():
    texts = ("We saw Tom at the harbour.", "then tom saw the harbour")
    assert words_of(*texts) == [{"saw", "harbour"}, {"saw", "harbour"}]
    kept = WordRules(names=True, lemmas=False, least_count=1, least_stories=1)
    assert words_of(*texts, rules=kept)[1] == {"tom", "saw", "harbour"}


def test_a_word_that_more_often_has_no_capital_is_no_name():
    texts = ["We ate with Rose.", "He gave a rose.", "She cut a rose, and Ann left."]
    assert find_common_names(texts) == {"ann"}


def test_a_word_that_begins_sentences_and_never_comes_small_is_a_name():
    texts = ["Magda left. Then Magda came back.", "Magda wept.", "Suddenly it rained, suddenly."]
    assert find_common_names(texts) == {"magda"}
    assert find_common_names(["Suddenly it rained.", "Suddenly it stopped."]) == frozenset()


@pytest.mark.assets
def test_lemmas_are_wordnets():
    rules = WordRules(least_count=1, least_stories=1)
    assert words_of("sailors wolves running bravest", rules=rules) == [
        {"sailor", "wolf", "running", "brave"}
    ]


def test_longer_words_alone_may_be_asked_for():
    rules = WordRules(least_letters=5, lemmas=False, least_count=1, least_stories=1)
    assert words_of("dog boat sailor", rules=rules) == [{"sailor"}]


def test_rare_words_name_no_topic_but_are_counted():
    passages = split_stories(plant_stories())
    rare = Passage("rare", "unicorn unicorn unicorn harbour", "rare")
    corpus = gather_words(
        [*passages, rare], WordRules(lemmas=False, least_count=3, least_stories=2)
    )
    assert "unicorn" in corpus.vocabulary
    assert "unicorn" not in corpus.names
    assert "harbour" in corpus.names
    assert corpus.named_counts.shape == (161, len(corpus.names))


def test_passages_without_a_telling_word_are_counted_as_left_out():
    passages = split_stories(plant_stories())
    corpus = gather_words(
        [*passages, Passage("x", "It is.", "x"), Passage("y", "12 !", "y")], PLAIN
    )
    assert corpus.left_out == 2
    assert len(corpus.passages) == 160


def test_too_few_words_are_refused_with_what_is_needed():
    with pytest.raises(InputError, match="0 words frequent enough to name a topic in 1 passage;"):
        gather_words([Passage("1", "A harbour.", "1")], WordRules(lemmas=False))


@pytest.mark.parametrize(
    ("passages", "least"), [(10, 3), (5_000, 10), (50_000, 30)], ids=["few", "some", "many"]
)
def test_how_often_a_naming_word_must_come_fits_the_number_of_passages(passages, least):
    assert WordRules().count_for(passages) == least
    assert WordRules(least_count=7).count_for(passages) == 7
