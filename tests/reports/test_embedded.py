from __future__ import annotations

import json
import math

import pytest

from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.reports._embedded import kept_spans, page_json, script_safe, user_metric
from fabula.reports.pages import break_spec, escape, tag
from fabula.reports.run_data import read_report_data

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!-- <script>",
    "half \ud800 a character",
    "\u202eright to left שלום\u2028\u2029",
    "nul \x00 and \\ and \" and '",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_can_end_a_script_element_and_all_come_back_whole(text: str) -> None:
    safe = script_safe(json.dumps({"text": text}, ensure_ascii=False))
    assert not set("<>&\u2028\u2029") & set(safe)
    safe.encode()
    assert json.loads(safe) == {"text": text}


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_becomes_markup(text: str) -> None:
    shown = tag("td", escape(text), title=text)
    assert shown.count("<") == 2 and shown.count(">") == 2
    shown.encode()


def test_an_attribute_that_is_none_is_left_out() -> None:
    assert tag("th", "x", class_="a b", data_value=3, title=None) == (
        '<th class="a b" data-value="3">x</th>'
    )


def test_a_spec_may_break_where_its_parts_end() -> None:
    assert break_spec("type_token(n=1, x='<')") == (
        "type_<wbr>token(<wbr>n=1,<wbr> x=&#x27;&lt;&#x27;)"
    )


def test_values_have_four_digits_and_missing_ones_their_status(make_run) -> None:
    stories = [Story("a", "x", references=("r",), system="s"), Story("b", "y")]
    scores = [
        Score("a", "bleu", "", 1 / 3),
        Score("b", "bleu", "", math.nan, Status.MISSING_REFERENCE),
    ]
    data = read_report_data(make_run(stories, "bleu", table=ScoreTable(stories, scores)))
    page = json.loads(page_json(data, [0]))
    assert page["values"][0][0] == 0.3333
    assert page["statuses"][int(page["values"][0][1])] == "missing_reference"
    assert page["system"] == {"names": ["s"], "of": [0, -1]}
    assert page["texts"] == {"all": ["x", "r"], "shown": {"0": {"text": 0, "references": [1]}}}


def test_user_blocks_are_where_text_and_reference_agree() -> None:
    user = user_metric(["bleu", "user(stop_words='')"])
    assert user is not None
    story = Story("a", "🙂 Green lamps burn low.", references=("At night green lamps burn.",))
    [(start, end, there, there_end)] = kept_spans(user, story)
    # JavaScript counts the face as two.
    assert story.text[start - 1 : end - 1] == "Green lamps burn"
    assert story.references[0][there:there_end] == "green lamps burn"


def test_runs_without_user_have_no_blocks() -> None:
    assert user_metric(["bleu", "human:ann"]) is None
