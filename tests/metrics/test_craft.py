"""Craft checks as metrics: values with a note that says what was found, and where."""

from __future__ import annotations

import pytest

from fabula.core.score import Status
from fabula.reports.cards import card_page
from fabula.scoring.catalogue import METRICS, choose_metrics
from fabula.text.craft.facts import CHECKS
from fabula.text.craft.reference import read_reference
from fakes.factories import make_story

TEXT = (
    "The mill stood above the river. Nobody went there after dark. Rain came from the hills. "
    "He ran. He hid in the barn. He waited for dawn. Then he slept."
)


def test_a_note_says_what_was_found_and_where():
    share, run, paragraphs = METRICS.build("repeated_openings").score([make_story(TEXT)])
    assert (share.value, run.value, paragraphs.value) == (pytest.approx(2 / 6), 3.0, 1.0)
    start, end = TEXT.index("He ran"), TEXT.index(" Then")
    said = "three sentences in a row begin with “He”"
    assert run.note == f"{said} (characters {start + 1} to {end})"


def test_what_cannot_be_checked_is_missing_with_the_reason():
    [score] = METRICS.build("filter_words").score([make_story("He saw it.")])
    assert score.status is Status.UNDEFINED
    assert score.note == "fewer than 20 words are too few to show a habit"


def test_the_set_of_checks_holds_every_check_and_no_other_metric():
    names = {metric.name for metric in choose_metrics("checks")}
    assert names == {check.metric for check in CHECKS}
    assert not names & {metric.name for metric in choose_metrics("strings")}


def test_every_value_of_a_check_can_be_compared_with_human_stories():
    for metric in choose_metrics("checks"):
        for aspect in metric.aspects:
            assert f"{metric.name}.{aspect}".rstrip(".") in read_reference()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_a_fact_speaks_of_a_value_of_its_metric(check):
    aspects = METRICS.get(check.metric).card.aspects
    assert aspects[check.at] == check.aspect


@pytest.mark.parametrize("metric", choose_metrics("checks"), ids=lambda metric: metric.name)
def test_line_breaks_move_no_value_but_that_of_paragraphs(metric):
    sentences = TEXT + " “Go,” she growled softly. “No,” Ann said. “Yes,” Ann cried. Ann was seen."
    flat = sentences * 3
    broken = flat.replace(". ", ".\n\n")
    for one, other in zip(
        *(metric.score([make_story(text)]) for text in (flat, broken)), strict=True
    ):
        if one.aspect != "paragraphs":
            assert one.value == pytest.approx(other.value, nan_ok=True)


def test_the_page_of_a_check_shows_what_human_stories_have():
    page = card_page(METRICS.get("person_slips"))
    known = read_reference()["person_slips"][300]
    row = f"| 300 | {known.count} | 0.00 | 0.00 | {known.at(0.9):.2f} | {known.at(0.95):.2f} |"
    assert row in page
    assert "Human stories" not in card_page(METRICS.get("dialogue"))
