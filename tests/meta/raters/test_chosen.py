from __future__ import annotations

import math

import pytest
from scipy.stats import kendalltau, spearmanr

from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.meta.raters.agreement import agree
from fabula.meta.raters.chosen import ChosenAgreement, agree_on_chosen
from fabula.reports.agreement import agreement_words

OFFERED = ("opening", "middle", "ending", "humour")
# By story and rater, what was chosen and how it was rated.
TOLD = {
    "s1": {"a": {"opening": 4, "ending": 2}, "b": {"opening": 5, "ending": 1}},
    "s2": {"a": {"middle": 3, "humour": 5}, "b": {"middle": 2, "opening": 4}},
    "s3": {"a": {"ending": 1}, "b": {"humour": 3}, "c": {"ending": 2, "humour": 5}},
    "s4": {"a": {"middle": 3}},
}


def scores_of(told: dict[str, dict[str, dict[str, int]]]) -> list[Score]:
    scores = []
    for story, raters in told.items():
        for rater, own in raters.items():
            for aspect in OFFERED:
                chosen = float(aspect in own)
                scores.append(Score(story, f"human:{rater}", f"chosen:{aspect}", chosen))
                if chosen:
                    scores.append(Score(story, f"human:{rater}", aspect, float(own[aspect])))
    return scores


def found_in(told: dict[str, dict[str, dict[str, int]]]) -> ChosenAgreement:
    found = agree_on_chosen(scores_of(told), resamples=200)
    assert found is not None
    return found


def test_the_share_is_of_aspects_that_anybody_chose_where_two_could() -> None:
    """s1: opening and ending, both twice. s2: three, of which middle twice. s3: two, both twice.
    s4 has one rater and says nothing."""
    found = found_in(TOLD)
    assert (found.stories, found.chosen, found.aspects) == (3, 7, 4)
    assert found.shared.value == pytest.approx(5 / 7)
    assert found.shared.low <= 5 / 7 <= found.shared.high


def test_ratings_of_shared_aspects_correlate_as_scipy_says_whatever_the_order() -> None:
    pairs = [(4, 5), (2, 1), (3, 2), (1, 2), (3, 5)]
    both = pairs + [(b, a) for a, b in pairs]
    found = found_in(TOLD)
    assert found.pairs == 5
    assert found.spearman.value == pytest.approx(spearmanr(*zip(*both, strict=True))[0])
    assert found.kendall.value == pytest.approx(kendalltau(*zip(*both, strict=True))[0])


def test_chance_by_hand() -> None:
    """Two raters, two of four each: some choose an aspect with 1 - 1/4, both with 1/4."""
    assert found_in({"s1": TOLD["s1"]}).chance == pytest.approx((1 / 4) / (3 / 4))


def test_without_two_who_chose_there_is_nothing_to_say() -> None:
    assert agree_on_chosen(scores_of({"s4": TOLD["s4"]})) is None
    assert agree_on_chosen([Score("s", "human:a", "plot", 3.0)]) is None


def test_too_few_pairs_have_no_correlation() -> None:
    found = found_in({"s1": {"a": {"opening": 4}, "b": {"opening": 5}}})
    assert found.pairs == 1 and math.isnan(found.spearman.value)


def test_agree_says_it_in_a_sentence() -> None:
    table = ScoreTable([Story(name, "Once.") for name in TOLD], scores_of(TOLD))
    [said] = [
        words for words in agreement_words(agree(table, resamples=50)) if "chosen aspect" in words
    ]
    assert said.startswith("Of 7 chosen aspects of 3 stories, 71 % [")
    assert "chance would give" in said and "(5 pairs)" in said
