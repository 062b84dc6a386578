"""A campaign's live page: who sees it, and that its figures are those of the work."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from fabula.core.score import Score
from fabula.meta.raters.agreement import agree
from fabula.studio.campaigns.definition import Question
from fabula.studio.campaigns.opinions import make_dataset
from fabula.studio.campaigns.scorers import add_scorer
from fabula.studio.campaigns.verdicts import reject_work
from fabula.studio.campaigns.work import read_work
from fabula.studio.tables import campaign_raters
from fakes.campaign_work import (
    make_campaign,
    make_scales,
    make_stories,
    make_work,
    put_work,
    spread,
)
from fakes.judged_runs import JUDGE, certify

PAGE = {"Accept": "text/html"}
HOSTILE = "<script>alert(1)</script> & <b>"
ROWS = ([4, 3, 5, 3, 4, 3], [5, 3, 4, 2, 4, 2], [4, 2, 5, 3, 5, 3])


@pytest.fixture
def rated(studio, world):
    """Three raters on six stories of two systems, each with a word to say."""
    questions = (*make_scales("enjoyment"), Question("why", "text", "Why?"))
    table = {
        f"r{rater}": {
            f"s{story}": {"enjoyment": value, "why": f"{HOSTILE} {rater}.{story}"}
            for story, value in enumerate(row)
        }
        for rater, row in enumerate(ROWS, 1)
    }
    work = make_work(make_campaign(questions), make_stories(6, 2), spread(table))
    put_work(studio, world.people["dan"], replace(work, name="tales"))
    return "tales"


def read_rows(answer):
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(answer.text)))


@pytest.fixture
def dan(as_reader):
    """A researcher's browser."""
    return as_reader("dan")


def test_campaigns_are_for_researchers(client, as_reader, dan, rated):
    browsers = [as_reader("ann"), as_reader("cat")]
    for path in ("/campaigns", f"/campaigns/{rated}", f"/campaigns/{rated}/figures/systems.csv"):
        assert client.get(path, headers=PAGE, follow_redirects=False).status_code == 303
        assert [browser.get(path).status_code for browser in browsers] == [403, 403]
        assert dan.get(path).status_code == 200


def test_the_list_says_how_far_each_is(dan, rated):
    page = dan.get("/campaigns").text
    assert f'href="/campaigns/{rated}"' in page and 'href="/campaigns/lamps"' in page
    assert "18 of 18 ratings" in page


def test_the_figures_are_those_of_the_work(dan, studio, world, rated):
    rows = read_rows(dan.get(f"/campaigns/{rated}/figures/agreement.csv"))
    dataset = make_dataset(read_work(studio, world.people["dan"], rated))
    expected = agree(dataset, resamples=200).line("enjoyment", "ICC(2,k)").estimate
    [row] = [row for row in rows if row["statistic"] == "ICC(2,k)"]
    assert float(row["value"]) == pytest.approx(expected.value)
    rows = read_rows(dan.get(f"/campaigns/{rated}/figures/systems.csv"))
    # System 0: 13/3, 14/3, 13/3.
    means = {row["system"]: float(row["mean"]) for row in rows}
    assert means["system 0"] == pytest.approx(4.44, abs=0.01)
    page = dan.get(f"/campaigns/{rated}").text
    assert "18 of 18 ratings are in (100 %)" in page


def test_raters_are_compared_with_the_others_and_not_told_by_name(dan, rated):
    rows = read_rows(dan.get(f"/campaigns/{rated}/figures/raters.csv"))
    assert [row["rater"] for row in rows] == ["r1", "r2", "r3"]
    # Of r1: 4, 3, 5, 3, 4, 3 where the others' means are 4.5, 2.5, 4.5, 2.5, 4.5, 2.5: 1 over 6.
    assert float(rows[0]["severity"]) == pytest.approx(1 / 6, abs=0.01)
    assert float(rows[0]["consistency"]) > 0.8
    assert "crowd-" not in dan.get(f"/campaigns/{rated}").text


def test_what_raters_wrote_is_shown_and_never_run(dan, rated):
    page = dan.get(f"/campaigns/{rated}").text
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_work_that_is_rejected_leaves_the_figures_at_once(dan, studio, world, rated):
    actor = world.people["dan"]
    before = dan.get(f"/campaigns/{rated}").text
    work = read_work(studio, actor, rated)
    reject_work(studio, actor, rated, [work.submitted[0].id], reason="a test")
    after = dan.get(f"/campaigns/{rated}").text
    assert "18 of 18 ratings are in" in before and "17 of 18 ratings are in" in after


def test_a_scorer_stands_beside_people_and_is_called_a_machine(dan, studio, world, rated):
    scores = [Score(f"tale-{n}", "words", "", float(n)) for n in range(6)]
    add_scorer(studio, world.people["dan"], rated, scores)
    page = dan.get(f"/campaigns/{rated}").text
    assert "Machines beside people" in page and "These are no people" in page


def test_a_judge_beside_people_has_its_verdict_or_no_certificate(
    dan, studio, world, rated, tmp_path, monkeypatch
):
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    certify({"coherence": "worse"})
    scores = [
        Score(f"tale-{n}", scorer, aspect, float(n))
        for n in range(6)
        for scorer, aspect in [(JUDGE, "coherence"), (JUDGE, "empathy"), ("words", "")]
    ]
    add_scorer(studio, world.people["dan"], rated, scores)
    page = dan.get(f"/campaigns/{rated}").text
    assert "Its certificate says how far it did" in page
    table = dan.get(f"/campaigns/{rated}/figures/scorers.csv").text
    worth = {(row["scorer"], row["certificate"]) for row in csv.DictReader(table.splitlines())}
    assert worth == {
        (f"{JUDGE} coherence", "worse (toy)"),
        (f"{JUDGE} empathy", "no certificate"),
        ("words", "–"),
    }


def test_a_campaign_nobody_has_rated_in_says_so(dan):
    page = dan.get("/campaigns/lamps")
    assert page.status_code == 200 and "Nobody has rated a story yet." in page.text


def test_there_is_no_part_of_another_name(dan, rated):
    assert dan.get(f"/campaigns/{rated}/figures/secrets.csv").status_code == 404
    assert dan.get("/campaigns/nothing").status_code == 404


def test_chosen_aspects_and_categories_have_figures_of_their_own(dan, studio, world):
    questions = (
        Question("aspects", "aspects", "Choose", choices=("plot", "ending", "mood")),
        Question("source", "choice", "Who?", choices=("human", "machine")),
    )
    rated = {"plot": {"rating": 4, "reason": ""}, "ending": {"rating": 2, "reason": ""}}
    table = {
        f"r{rater}": {
            f"s{story}": {
                "aspects": rated if rater < 3 else {"mood": {"rating": 3, "reason": ""}},
                "source": ("human", "machine")[story % 2 if rater < 3 else 0],
            }
            for story in range(6)
        }
        for rater in (1, 2, 3)
    }
    work = make_work(make_campaign(questions), make_stories(6, 2), spread(table))
    put_work(studio, world.people["dan"], replace(work, name="chosen"))
    [shared, *_] = read_rows(dan.get("/campaigns/chosen/figures/chosen.csv"))
    # Of plot, ending and mood two were chosen by more than one.
    assert float(shared["value"]) == pytest.approx(0.67, abs=0.01)
    rows = read_rows(dan.get("/campaigns/chosen/figures/reliability.csv"))
    beyond = {row["rater"]: float(row["beyond habit"]) for row in rows}
    assert beyond["r1"] > 0.9 and beyond["r2"] > 0.9 and beyond["r3"] < 0.1
    assert "Dawid and Skene" in dan.get("/campaigns/chosen").text


def test_who_did_not_pass_the_training_is_said(dan, studio, world, rated):
    with studio.write() as db:
        failed = campaign_raters.update().where(campaign_raters.c.number == 3)
        db.execute(failed.values(training={"done": 0, "tries": [], "failed": True}))
    rows = read_rows(dan.get(f"/campaigns/{rated}/figures/raters.csv"))
    assert [row["state"] for row in rows] == ["", "", "did not pass"]
