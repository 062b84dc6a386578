"""Readers beside writers: when they part, and of which texts writers' opinion is withheld."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from fabula.core.score import Score
from fabula.learned.writers import Ends, WriterOpinion, find_parting
from fabula.reports.review import render_review
from fabula.scoring.review import Review
from fabula.scoring.review.steps import assemble_review
from fabula.text.odd_words import OddWords
from fakes.review import STORY, made_up_opinions

NAN = math.nan


@pytest.mark.parametrize(
    ("readers", "score", "parting"),
    [
        ((24, (10, 51)), 6.8, "writers"),  # nine of ten human stories have less than 6.5
        ((85, (57, 99)), 6.8, ""),
        ((50, (20, 95)), 6.8, ""),  # far apart, and readers are not sure
        ((70, (50, 80)), 5.4, "readers"),
        ((2, (0, 7)), 5.9, ""),  # where most human stories are
    ],
)
def test_a_score_beyond_what_most_stories_have_parts_from_readers(
    readers: tuple[float, Ends], score: float, parting: str
) -> None:
    writers = WriterOpinion(score, usual=(5.5, 6.5))
    assert find_parting(*readers, writers) == parting
    assert find_parting(*readers, replace(writers, usual=None)) == ""
    assert find_parting(*readers, WriterOpinion(NAN, usual=(5.5, 6.5), withheld="broken")) == ""


def opinions_of(
    coherence: float,
    order: float,
    odd: OddWords = OddWords(),  # noqa: B008
    spec: str = "coherence",
) -> Review:
    """A review by the weights that bounds are known of."""
    opinions = made_up_opinions()
    said = {
        "writers": {"": Score("x", "writers", "", 6.9)},
        "coherence": {"": Score("x", "coherence", "", coherence)},
        "rovist_c": {"": Score("x", "rovist_c", "", order)},
    }
    names = ("writers(interval=True)", spec, "rovist_c")
    signatures = {**opinions.signatures, **dict.fromkeys(names, "x")}
    scores = {**opinions.scores, **said}
    return assemble_review(STORY, replace(opinions, scores=scores, signatures=signatures, odd=odd))


@pytest.mark.parametrize(
    ("coherence", "order", "odd", "why"),
    [
        (-1.01, 0.6, OddWords(), "coherence is lower than that of 39 of 40 human stories"),
        (-0.8, 0.5, OddWords(), "hardly hold together"),
        (1.0, 0.6, OddWords(0.11, ("fredom", "wsa", "teh")), "11 % of its words are mistyped"),
    ],
)
def test_of_spoiled_prose_writers_say_nothing_in_any_form(
    coherence: float, order: float, odd: OddWords, why: str
) -> None:
    found = opinions_of(coherence, order, odd)
    assert found.writers and why in found.writers.withheld
    assert found.parting == "" and found.plain()["writers"]["score"] is None
    for form in ("text", "md", "html"):
        shown = " ".join(render_review(form, found).split())
        assert "Writers: no opinion" in shown and why in shown
        assert "6.9" not in shown and "would think more" not in shown
    assert any(warning.startswith("spelling: ") for warning in found.warnings) == odd.are_many


def test_of_sound_prose_the_score_is_held_against_human_stories() -> None:
    found = opinions_of(0.5, 0.6)
    assert found.writers == WriterOpinion(6.9, usual=(5.5, 6.5)) and not found.warnings
    shown = " ".join(render_review("text", found).split())
    assert "score it 6.9 of 10, higher than nine of ten human stories (beyond 6.5)." in shown


@pytest.mark.parametrize(
    ("spec", "coherence", "withheld", "usual"),
    [
        ("coherence", -0.4, False, (-0.7, 1.6)),
        ("coherence(weights='large')", -0.4, True, (-0.15, 1.6)),
        ("coherence(weights='both')", -0.4, False, (-0.25, 1.5)),
        ("coherence(weights='mine')", -9.0, False, None),  # nothing is known of others by these
    ],
)
def test_a_value_is_held_against_what_others_have_by_the_same_weights(
    spec: str, coherence: float, withheld: bool, usual: Ends | None
) -> None:
    found = opinions_of(coherence, 0.6, spec=spec)
    assert found.writers and bool(found.writers.withheld) == withheld
    gauge = found.gauges[0]
    assert gauge.name == "coherence" and gauge.value == coherence
    assert (gauge.peers.usual if gauge.peers else None) == usual
