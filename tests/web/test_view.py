"""The browser of run folders: what it lists, shows, compares, and to whom."""

from __future__ import annotations

import html
import json
import os
import re

import pytest
from starlette.testclient import TestClient

from fabula.web.view import create_view
from fakes.judged_runs import JUDGE, certify
from fakes.runs import write_run
from scoring.test_run_list import begin, spell

HOME = "http://127.0.0.1:8010"


@pytest.fixture
def folder(tmp_path):
    write_run(tmp_path / "runs" / "ferry")
    write_run(tmp_path / "runs" / "later" / "ferry", words=9)
    return tmp_path / "runs"


@pytest.fixture
def client(folder):
    return TestClient(create_view(folder), base_url=HOME, client=("127.0.0.1", 5000))


def test_the_list_names_all_runs_and_what_is_in_them(client):
    page = client.get("/").text
    assert "2 of 2 runs" in page
    assert 'href="/run?name=ferry"' in page
    assert 'href="/run?name=later/ferry"' in page
    assert "one, two" in page


def test_judges_are_shown_with_what_they_are_worth(tmp_path, monkeypatch):
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    write_run(tmp_path / "runs" / "judged", metrics=f"{JUDGE}, judge_checklist(model='fake()')")
    certify({"coherence": "worse", "empathy": "beyond baselines"})
    client = TestClient(create_view(tmp_path / "runs"), base_url=HOME, client=("127.0.0.1", 5000))
    for page in ("/run?name=judged", "/compare?a=judged&b=judged", "/report?name=judged"):
        shown = html.unescape(client.get(page).text)
        assert "coherence worse (toy), empathy beyond baselines (toy)" in shown
        assert "relevance no certificate" in shown
        assert "judge_checklist(model='fake'): no certificate. Nobody knows" in shown


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("q=later", 1),
        ("q=WORDS+ferry", 2),
        ("q=bleu", 0),
        ("state=going", 0),
        ("state=finished", 2),
    ],
)
def test_the_list_is_filtered_by_the_address(client, query, count):
    assert f"{count} of 2 runs" in client.get(f"/?{query}").text


def test_an_empty_folder_says_how_to_make_a_run(tmp_path):
    client = TestClient(create_view(tmp_path), base_url=HOME, client=("127.0.0.1", 5000))
    assert "fabula score" in client.get("/").text


def test_a_run_shows_its_means_and_what_to_quote(client, folder):
    page = client.get("/run", params={"name": "ferry"}).text
    record = json.loads((folder / "ferry" / "run.json").read_text())
    means = {(row["scorer"], row["system"]): row["mean"] for row in record["summary"]}
    shown = [float(value) for value in re.findall(r'data-value="([^"]+)"', page)]
    assert means["words", "one"] in shown
    assert means["words", "two"] in shown
    assert "sha256:" in page


def test_the_report_is_shown_under_its_own_policy_and_not_written(client, folder):
    answer = client.get("/report", params={"name": "ferry"})
    assert answer.status_code == 200
    assert "<title>" in answer.text
    assert "sha256-" in answer.headers["content-security-policy"]
    assert not (folder / "ferry" / "report.html").exists()


def test_two_runs_are_compared_item_by_item_the_largest_difference_first(client):
    where = {"a": "ferry", "b": "later/ferry", "metric": "words", "order": "second"}
    page = client.get("/compare", params=where).text
    assert "The ferry left at dawn." in page
    assert "Write of harbour 0." in page
    assert page.count('class="pair"') == 3


def test_systems_of_one_run_are_compared_as_well(client):
    where = {"a": "ferry", "b": "ferry", "metric": "words", "order": "second"}
    page = client.get("/compare", params=where).text
    # Each story of `two` has one sentence, five words, more.
    assert page.count("−5.00") >= 3 or page.count("−5.0") >= 3


@pytest.mark.parametrize(
    "path", ["/run?name=nothing", "/report?name=../ferry", "/compare?a=x&b=ferry"]
)
def test_no_run_can_be_named_that_was_not_found(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert "there is no run" in answer.json()["message"]


def test_a_run_that_goes_on_is_followed(client, folder):
    partial = begin(folder / "new", os.getpid(), stories=4)
    (partial / "scores.jsonl").write_text(spell("a", "1", 2.0) + spell("a", "2", 4.0))
    assert client.get("/state").json()["new"] == {
        "state": "going", "moment": "2026-02-03T10:00:00+00:00", "stories": 2,
    }  # fmt: skip
    part = client.get("/run/part", params={"name": "new"}).text
    assert "2 of 4 stories" in part
    assert 'data-value="3"' in part
    assert client.get("/report", params={"name": "new"}).status_code == 422


def test_other_machines_are_refused(folder):
    other = TestClient(create_view(folder), base_url=HOME, client=("10.0.0.7", 5000))
    assert other.get("/").status_code == 403
    client = TestClient(
        create_view(folder), base_url="http://evil.example", client=("127.0.0.1", 1)
    )
    assert client.get("/").status_code == 400


def test_what_stories_hold_is_shown_and_not_run(tmp_path):
    write_run(tmp_path / "<b>run", systems=("<script>alert(1)</script>", "two"))
    client = TestClient(create_view(tmp_path), base_url=HOME, client=("127.0.0.1", 5000))
    for path in ("/", "/run?name=%3Cb%3Erun", "/compare?a=%3Cb%3Erun&b=%3Cb%3Erun"):
        page = client.get(path)
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        assert "<b>run" not in page.text
