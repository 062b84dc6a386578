from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.metrics.dialogue import Dialogue
from fabula.metrics.mattr import Mattr
from fabula.metrics.repetition import Repetition
from fabula.metrics.type_token_ratio import TypeTokenRatio
from fabula.metrics.word_length import WordLength
from fabula.text.features import FEATURE_NAMES, feature_row, features, paragraphs
from fakes.factories import find_slowness, many_kinds_text, usual_text, value_of, within

TALE = 'I waited... The ship came, at last!\n"Where is my brother?" I asked. Nobody answered me.'


def test_the_features_of_a_small_story_by_hand():
    found = features(TALE)
    # i waited the ship came at last where is my brother i asked nobody answered me: 16 words
    assert found["log_words"] == pytest.approx(math.log(17))
    assert found["log_unique_words"] == pytest.approx(math.log(16))  # "i" comes twice
    assert found["type_token_ratio"] == 15 / 16
    # Sentences: 2, 5, 4 ("Where is my brother?"), 2 ("I asked."), 3 words.
    assert found["sentence_length"] == 16 / 5
    assert found["sentence_spread"] == pytest.approx(
        math.sqrt((1.44 + 3.24 + 0.64 + 1.44 + 0.04) / 5)
    )
    assert found["quoted_share"] == 4 / 16
    assert found["repeated_trigrams"] == 0
    assert found["log_paragraphs"] == pytest.approx(math.log(3))
    assert found["paragraph_length"] == 8
    letters = 1 + 6 + 3 + 4 + 4 + 2 + 4 + 5 + 2 + 2 + 7 + 1 + 5 + 6 + 8 + 2
    assert found["word_length"] == letters / 16
    assert found["long_words"] == 2 / 16  # brother, answered
    assert found["ellipses"] == found["exclamations"] == found["questions"] == 1 / 16
    assert found["commas"] == 1 / 16
    assert found["first_person"] == 4 / 16  # i, my, i, me


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("moving_type_token_ratio", Mattr()),
        ("quoted_share", Dialogue()),
        ("repeated_trigrams", Repetition()),
        ("type_token_ratio", TypeTokenRatio()),
        ("word_length", WordLength()),
    ],
)
@pytest.mark.parametrize("text", [TALE, usual_text(4000), "Ja. " * 80 + "«Nein, nein!» rief er."])
def test_a_feature_is_what_the_metric_of_that_name_gives(name, metric, text):
    assert features(text)[name] == pytest.approx(value_of(metric, text))


def test_rows_are_in_the_order_of_the_names():
    assert len(FEATURE_NAMES) == 17
    assert feature_row(TALE) == [features(TALE)[name] for name in FEATURE_NAMES]


@pytest.mark.parametrize(
    "text",
    ["", " \n\n ", "word", "!!!", "…", "😀 😀", "我们走吧，好吗？他说。", "\u0000", "\ud800", '"'],
)
def test_odd_texts_have_finite_features(text):
    assert all(map(math.isfinite, feature_row(text)))


@given(st.text())
def test_any_text_has_finite_features_that_are_not_negative(text):
    assert all(math.isfinite(value) and value >= 0 for value in feature_row(text))


@given(st.text())
def test_a_row_that_is_remembered_is_that_of_the_text_and_nobody_elses(text):
    first = feature_row(text)
    first[0] = -1.0
    assert feature_row(text) == list(features(text).values())


def test_an_empty_text_has_only_zeros():
    assert set(feature_row("")) == {0.0}


def test_marks_of_other_scripts_count():
    found = features("我们走吧，好吗？他说、走！")
    assert found["commas"] == 2 / 9
    assert found["questions"] == found["exclamations"] == 1 / 9


def test_ellipses_are_counted_however_they_are_typed():
    assert features("so… so... so. . . so.... so.")["ellipses"] == 4 / 5


@pytest.mark.parametrize("end", ["\n", "\n\n", "\r\n", "\r\n\r\n", "\n \n\n", "\u2029"])
def test_paragraphs_end_alike_however_lines_do(end):
    first = (
        "A line that is longer than a hundred characters, as those are that nobody has wrapped " * 2
    )
    assert paragraphs(f"{first}{end}Two.{end}***{end}Three.") == [first.strip(), "Two.", "Three."]


def test_wrapped_lines_are_one_paragraph():
    wrapped = "It rained all\nnight, and then\nit stopped.\n\nWe went\nout."
    assert paragraphs(wrapped) == ["It rained all\nnight, and then\nit stopped.", "We went\nout."]


def test_short_lines_without_blank_ones_between_are_paragraphs():
    assert paragraphs("Who?\nMe.\nNo!") == ["Who?", "Me.", "No!"]


@pytest.mark.parametrize(
    "text",
    [
        usual_text(600_000),
        many_kinds_text(500_000),
        "word " * 100_000,
        "a\n" * 100_000,
        '"a" ' * 100_000,
        "我们走。" * 25_000,
        "😀 " * 100_000,
        ". . . A" * 50_000,
        (" " * 1000 + "\n") * 300,
    ],
    ids="usual kinds one-sentence lines quotes cjk emoji dots blanks".split(),
)
def test_long_texts_take_time_that_grows_with_their_length(text):
    with within(3.0):
        feature_row(text)


def test_a_story_of_500_words_takes_less_than_5_ms():
    text = usual_text(2_500)
    features(text)
    times = []
    for _ in range(20):
        begin = time.process_time()
        features(text)
        times.append(time.process_time() - begin)
    assert min(times) < 0.005 * find_slowness()
