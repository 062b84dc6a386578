"""`fabula campaign raters`, `flags`, `reject` and what else is said of work, as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabula.cli import cli
from fabula.core.errors import UserError
from fabula.core.table import ScoreTable
from fabula.studio.campaigns.definition import Checks, Pay
from fabula.studio.database import open_studio
from fabula.studio.migrations import migrate
from fakes.campaign_work import make_campaign, make_stories, make_work, put_work, spread
from fakes.studio_people import put_person


@pytest.fixture
def url(tmp_path):
    """A studio with a campaign of two raters, who did three tasks each: r2 all at once."""
    url = f"sqlite:///{tmp_path / 'studio.sqlite'}"
    studio = open_studio(url)
    migrate(studio)
    campaign = make_campaign(checks=Checks(floor_s=30), pay=Pay(0.5, "EUR", 60))
    given = {
        rater: {f"s{i}": {"relevance": 1 + i, "empathy": 3} for i in range(3)}
        for rater in ("r1", "r2")
    }
    put_work(
        studio,
        put_person(studio, "rea", "researcher"),
        make_work(campaign, make_stories(3), spread(given), gap_s=10),
    )
    studio.close()
    return url


@pytest.fixture
def run(url, tmp_path, monkeypatch):
    """Runs `fabula campaign …`: what it prints, as rows where it can, or its error's sentence."""
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FABULA_DATABASE_URL", url)
    monkeypatch.chdir(tmp_path)

    def run(*words):
        done = CliRunner().invoke(cli, ["campaign", *map(str, words)])
        if isinstance(done.exception, UserError):
            return str(done.exception)
        assert done.exit_code == 0, (done.output, done.exception)
        return json.loads(done.stdout) if "json" in words else done.output

    return run


def test_raters_are_listed_with_what_an_hour_paid(run):
    rows = run("raters", "tales", "-f", "json")
    assert [row["rater"] for row in rows] == ["r1", "r2"]
    # Three tasks of ten seconds at 0.50 each.
    assert (rows[0]["submitted"], rows[0]["median_s"]) == (3, 10)
    assert rows[0]["paid_an_hour"] == 180
    assert rows[0]["flags"] >= 3


def test_flags_name_work_as_reject_wants_it(run):
    rows = run("flags", "tales", "-f", "json")
    assert {"r1/1", "r1/2", "r1/3"} <= {row["work"] for row in rows}
    assert "2 tasks rejected" in run("reject", "tales", "r1/1", "r1/2", "--reason", "hurried")
    assert run("raters", "tales", "-f", "json")[0]["rejected"] == 2
    assert "1 task restored" in run("restore", "tales", "r1/2")
    assert run("raters", "tales", "-f", "json")[0]["rejected"] == 1
    assert "there is no work r9/1 in tales" in run("reject", "tales", "r9/1", "--reason", "x")
    assert "needs a reason" in run("reject", "tales", "r1/2", "--reason", " ")


def test_a_rater_is_excluded_and_taken_in_again(run):
    assert "r2: 3 tasks rejected" in run("exclude", "tales", "r2", "--reason", "a script")
    assert run("raters", "tales", "-f", "json")[1]["state"] == "excluded"
    assert "r2: 3 tasks restored" in run("include", "tales", "r2", "--reason", "a mistake")
    assert run("raters", "tales", "-f", "json")[1]["state"] == ""


def test_payments_stand_under_the_crowd_sites_names_until_they_are_forgotten(run):
    rows = run("payments", "tales", "-f", "json")
    assert [(row["name"], row["amount"]) for row in rows] == [("crowd-1", 1.5), ("crowd-2", 1.5)]
    run("forget", "tales", "r1")
    assert [row["name"] for row in run("payments", "tales", "-f", "json")] == ["", "crowd-2"]
    assert "there is no rater x" in run("forget", "tales", "x")


def test_an_export_is_read_by_agree_and_stands_beside_a_run_of_metrics(run, tmp_path):
    printed = run("export", "tales", "-o", "people")
    assert f"{Path('people') / 'stories.jsonl'}\t3 rows" in printed
    done = CliRunner().invoke(cli, ["score", "people/stories.jsonl", "-m", "words", "-o", "run"])
    assert done.exit_code == 0, done.output
    assert run("add-scorer", "tales", "run") == "words\t3 scores\n"
    run("export", "tales", "-o", "people", "-f", "jsonl", "--overwrite")
    table = ScoreTable.load(tmp_path / "people")
    assert table.scorers == ["human:r1", "human:r2", "words"]
    done = CliRunner().invoke(cli, ["agree", "people", "-f", "json"])
    assert done.exit_code == 0, (done.output, done.exception)


def test_scores_of_other_texts_are_refused(run, tmp_path):
    run("export", "tales", "-o", "people")
    rows = (tmp_path / "people" / "stories.jsonl").read_text().splitlines()
    changed = json.loads(rows[0]) | {"text": "Another."}
    (tmp_path / "other.jsonl").write_text("\n".join([json.dumps(changed), *rows[1:]]))
    CliRunner().invoke(cli, ["score", "other.jsonl", "-m", "words", "-o", "run"])
    assert "story 'tale-0' has another text than in campaign tales" in run(
        "add-scorer", "tales", "run"
    )
    (tmp_path / "other.jsonl").write_text(json.dumps({"id": "z", "text": "Rain."}))
    CliRunner().invoke(cli, ["score", "other.jsonl", "-m", "words", "-o", "run", "--overwrite"])
    assert "nothing is scored that campaign tales asks about" in run("add-scorer", "tales", "run")
