from __future__ import annotations

import math
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.comments.composer import (
    band_of,
    compose_comment,
    observe,
    put_in_quotes,
    templates,
    weigh,
)
from fabula.learned.comments.evidence import Evidence, cut_span, find_cuts, find_evidence, word_list
from fabula.text.repetition import find_repetitions
from fabula.text.words import locate_words
from fakes.review import HABITS, TEXT

SENTENCES = st.lists(
    st.sampled_from(
        [
            "Mara opened the door.", "But the sea was dark and cold.", "“Who is there?” she asked.",
            "Blood ran down the wall, and the ghost screamed.", "We laughed at the silly goat.",
            "He wept at the grave of his brother.", "They hugged, and home was warm again.", "Yes.",
        ]
    ),
    min_size=1, max_size=9,
).map(" ".join)  # fmt: skip

RATINGS = st.one_of(st.floats(1, 5), st.just(math.nan))


def test_without_a_rating_nothing_is_said_of_how_good_it_is() -> None:
    assert band_of(math.nan) == "unrated"
    for bands in templates().values():
        for template in bands["unrated"]:
            assert "{rating}" not in template and "of 5" not in template
            assert "expected" not in template and "rated" not in template


def test_bands_are_those_of_whole_ratings() -> None:
    assert [band_of(rating) for rating in (1, 2, 3, 4, 5)] == [
        "low", "low", "middle", "high", "high",
    ]  # fmt: skip


def test_every_aspect_and_band_has_four_variants_that_quote_at_an_end() -> None:
    assert set(templates()) == set(ASPECTS)
    for bands in templates().values():
        assert set(bands) == {"low", "middle", "high", "unrated"}
        for variants in bands.values():
            assert len(set(variants)) >= 4
            for one in variants:
                assert one.count("{quote}") == 1
                assert one.startswith("{quote}") or one.endswith("{quote}")


@given(SENTENCES, st.sampled_from(ASPECTS), RATINGS, st.integers(0, 9))
def test_every_comment_quotes_the_story_and_has_15_to_50_words(
    text: str, aspect: str, rating: float, seed: int
) -> None:
    found = find_evidence(text, aspect)
    comment = compose_comment(text, found, rating, seed=seed)
    if comment is None:
        assert found.reason
        return
    assert found.quote in text and put_in_quotes(found.quote) in comment.text
    # A rating such as 4.2 counts as two of our words.
    assert 15 <= len(locate_words(comment.text)) <= 52
    assert comment.text.startswith(put_in_quotes(found.quote)) or comment.text.endswith(
        put_in_quotes(found.quote)
    )


def test_the_same_story_and_seed_give_the_same_comment_and_others_another() -> None:
    found = find_evidence(TEXT, "opening")
    one = compose_comment(TEXT, found, 4.0)
    assert one == compose_comment(TEXT, found, 4.0)
    assert len({compose_comment(TEXT, found, 4.0, seed=seed) for seed in range(20)}) == 4


def test_without_evidence_there_is_no_comment() -> None:
    assert compose_comment("A.", Evidence("sad", reason="nothing"), 3.0) is None


def test_marks_round_a_quote_are_not_those_within() -> None:
    assert put_in_quotes("It rained.") == "“It rained.”"
    assert put_in_quotes('"Go," she said.') == '‘"Go," she said.’'


def observed(text: str):
    return observe(text, find_repetitions(text, stop_words=word_list("stop")))


def test_an_observation_begins_with_the_line_then_pattern_comparison_and_advice() -> None:
    [filters] = [one for one in observed(HABITS) if one.name == "filter words"]
    assert HABITS[slice(*filters.span)] == filters.quote
    quoted, said = filters.text.split("” Someone ", 1)
    assert quoted == f"“{filters.shown}" and said.startswith("sees, hears or feels")
    assert filters.comparison in said and said.endswith(filters.advice)
    assert all("\n" not in one.text for one in observed(HABITS))


def test_a_quote_has_dots_where_a_sentence_is_cut_and_none_where_it_is_whole() -> None:
    text = "He ran. The long road went over the hill. She slept."
    whole, cut = (8, 41), (12, 31)
    assert find_cuts(text, whole) == (False, False) and find_cuts(text, cut) == (True, True)
    assert find_cuts(text, (8, 31)) == (False, True)
    [filters] = [one for one in observed(HABITS) if one.name == "filter words"]
    assert replace(filters, quote="the long\nroad", cut=(True, True)).shown == "… the long road …"


def test_what_is_surer_and_easier_to_act_on_comes_first_and_no_name_twice() -> None:
    observations = observed(HABITS)
    weights = [one.weight for one in observations]
    assert 2 <= len(observations) <= 5 and weights == sorted(weights, reverse=True)
    assert len({one.name for one in observations}) == len(observations)
    assert all(one.share <= 0.1 for one in observations)
    # 1 in 200 is as sure as it gets; 1 in 10 is worth log 10 / log 200 of that.
    assert weigh(0.001, 0.8) == weigh(0.005, 0.8) == 0.8
    assert math.isclose(weigh(0.1, 1.0), math.log(10) / math.log(200))


def test_a_story_that_does_nothing_unusual_is_left_alone() -> None:
    assert observed(TEXT) == ()


def test_a_loop_is_told_that_it_is_one_and_nothing_else() -> None:
    verse = "The lift stopped at four, and Anna pressed the button until the light went out again. "
    [loop] = observed(verse * 8)
    assert loop.name == "said again" and len(loop.spots) == 8
    assert "this comes 8 times; in all 100 % of the text is said more than once" in loop.said
    assert "fewer than 1 in 200 human stories repeat as much" in loop.text


def test_few_words_that_come_again_are_no_news() -> None:
    short = "The door was open. He saw that the door was open, and went in."
    assert observed(short) == ()


def test_a_passage_is_cut_to_the_part_with_most_of_its_spots() -> None:
    text = "The " + "very " * 30 + "old door, he saw, he heard, he felt, was open."
    spots = [(text.index(word), text.index(word) + len(word)) for word in ("saw", "heard", "felt")]
    start, end = cut_span(text, (0, len(text)), spots)
    assert {"saw", "heard", "felt"} <= set(text[start:end].replace(",", "").split())
    assert len(text[start:end].split()) <= 18
