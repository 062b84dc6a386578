"""Two drafts: values by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from fabula.learned.writers import WriterOpinion
from fabula.reports.review_changes import Move, list_moves, render_changes, render_moves
from fabula.scoring.review import MissingPart
from fakes.review import made_up_review


@pytest.mark.parametrize(
    ("before", "after", "direction", "noise", "verdict"),
    [
        (1.0, 2.0, "higher", math.nan, "better"),
        (2.0, 1.0, "higher", math.nan, "worse"),
        (2.0, 1.0, "lower", math.nan, "better"),
        (1.0, 1.004, "higher", math.nan, "same"),
        (1.0, 2.0, "higher", 1.5, "within noise"),
        (1.0, 2.0, "higher", 0.5, "better"),
        (1.0, 2.0, "descriptive", math.nan, "other"),
    ],
)
def test_a_change_is_called_by_the_direction_of_its_metric(
    before, after, direction, noise, verdict
):
    assert Move("x", before, after, direction, noise=noise).verdict == verdict


def test_less_than_half_the_width_of_the_interval_is_noise():
    before = made_up_review()  # percentile 63.2, between 41.0 and 80.4: half of that is 19.7
    for percentile, verdict in ((82.8, "within noise"), (83.0, "better"), (43.0, "worse")):
        after = replace(before, percentile=percentile)
        [move] = [m for m in list_moves(before, after) if m.name == "preference, percentile"]
        assert move.noise == pytest.approx(19.7) and move.verdict == verdict


def test_what_writers_would_say_moves_beside_what_readers_would():
    before, after = (
        replace(made_up_review(), writers=WriterOpinion(5.0, place, (place - 10, place + 10)))
        for place in (40.0, 52.0)
    )
    [move] = [m for m in list_moves(before, after) if m.name == "writers, percentile"]
    assert (move.before, move.after, move.noise, move.verdict) == (40, 52, 10, "better")
    names = [m.name for m in list_moves(before, replace(after, writers=None))]
    assert "writers, percentile" not in names


def test_scores_that_one_draft_lacks_are_not_compared_and_what_is_missing_is_said_once():
    before = made_up_review()
    lack = MissingPart("coherence", "no weights; run: fabula models pull coherence")
    after = replace(before, coherence=math.nan, missing=(lack,))
    before = replace(before, missing=(lack,))
    assert "coherence" not in [move.name for move in list_moves(before, after)]
    parts = render_moves(before, after)
    assert parts["lacking"].count("models pull") == 1
    assert "Criteria: empathy" in parts["moved"] and "Words" in parts["counted"]


def test_an_arrow_says_where_it_went_and_a_word_whether_that_is_good():
    before = made_up_review()
    after = replace(before, coherence=before.coherence - 1, statistics={"words": 300.0})
    parts = render_moves(before, after)
    assert '▼ </span>−1.00 <span class="said">worse</span>' in parts["moved"]
    assert "▲ </span>+71<" in parts["counted"] and "better" not in parts["counted"]


def test_what_is_gone_and_what_is_new_is_marked_and_escaped():
    parts = render_changes("The <b>lamp</b> went out.", "The <b>lamp</b> & all went out.")
    assert parts["before"] == "The &lt;b&gt;lamp&lt;/b&gt; went out."
    assert parts["after"] == "The &lt;b&gt;lamp&lt;/b&gt; <ins>&amp; all</ins> went out."
    assert parts["changed"] == "6 words kept, 0 gone, 1 new."
    assert render_changes("Same.", "Same.")["changed"] == "Both drafts are the same."
