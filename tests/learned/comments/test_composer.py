from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.comments.composer import (
    band_of,
    compose_comment,
    put_in_quotes,
    templates,
)
from fabula.learned.comments.evidence import Evidence, find_evidence
from fabula.text.words import locate_words
from fakes.review import TEXT

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
