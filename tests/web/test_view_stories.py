"""All stories of a run in the browser of runs: paged, searched, sorted, of one system."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from fabula.core.table import ScoreTable
from fabula.web.view import create_view
from fakes.large_runs import make_rows, take_for_large, write_in_parts, write_scored

HOME = "http://127.0.0.1:8010"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("view")
    rows = make_rows(20)
    rows[0]["text"] = "<script>alert(1)</script> " + rows[0]["text"]
    write_in_parts(write_scored(home / "one", rows), home / "runs" / "parts")
    return home / "runs"


@pytest.fixture(scope="module")
def client(runs: Path) -> TestClient:
    return TestClient(create_view(runs), base_url=HOME, client=("127.0.0.1", 5000))


def list_ids(page: str) -> list[str]:
    return [
        html.unescape(name) for name in re.findall(r"<bdi>((?:ash|birch|cedar)-\d+)</bdi>", page)
    ]


def get(client: TestClient, **asked: object) -> str:
    answer = client.get("/stories", params={"name": "parts", **asked})
    assert answer.status_code == 200
    return answer.text


def test_pages_hold_all_stories_once_in_the_order_of_the_run(client, runs: Path) -> None:
    known = [story.id for story in ScoreTable.load(runs / "parts").stories]
    shown = [name for offset in (0, 20, 40) for name in list_ids(get(client, offset=offset))]
    assert shown == known and len(known) == 60
    assert list_ids(get(client, offset=60)) == []
    assert "21–40 of 60" in get(client, offset=20)


def test_a_run_has_a_link_to_its_stories(client) -> None:
    page = client.get("/run", params={"name": "parts"}).text
    assert 'href="/stories?name=parts"' in page


def test_stories_are_sorted_by_a_metric_the_better_end_first(client, runs: Path) -> None:
    values = {s.story: s.value for s in ScoreTable.load(runs / "parts").of("repetition") if s.ok}
    best = list_ids(get(client, sort="repetition"))
    assert [values[name] for name in best] == sorted(values.values())[:20]
    worst = list_ids(get(client, sort="repetition", turned=1))
    assert [values[name] for name in worst] == sorted(values.values(), reverse=True)[:20]
    last = list_ids(get(client, sort="rouge(n=1).f", offset=40))
    assert last[-2:] == ["birch-1", "cedar-1"]  # what has no value


def test_stories_are_searched_within_a_system(client) -> None:
    assert list_ids(get(client, q="Harbour 12.")) == ["ash-12", "birch-12", "cedar-12"]
    assert list_ids(get(client, q="Harbour 12.", system="birch")) == ["birch-12"]
    assert "20 of 60 stories" in get(client, system="cedar")
    assert "No story is like that" in get(client, q="zeppelin")


def test_a_story_is_shown_whole_and_nothing_in_it_runs(client) -> None:
    page = client.get("/story", params={"name": "parts", "place": 0}).text
    assert "&lt;script&gt;alert(1)" in page and "<script>alert" not in page
    assert "ROUGE-1 F1" in page and "Write of harbour 0." in page
    assert "<script>alert" not in get(client)


def test_what_is_not_there_is_said(client) -> None:
    assert client.get("/story", params={"name": "parts", "place": 999}).status_code == 404
    assert client.get("/stories", params={"name": "nothing"}).status_code == 404
    bad = client.get("/stories", params={"name": "parts", "sort": "wrds"})
    assert bad.status_code == 422 and "did you mean" in html.unescape(bad.text)


def test_others_are_refused(runs: Path) -> None:
    stranger = TestClient(create_view(runs), base_url=HOME, client=("10.0.0.9", 5000))
    assert stranger.get("/stories", params={"name": "parts"}).status_code == 403


def test_large_runs_are_compared_and_reported_alike(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = ("/compare?a=parts&b=parts&metric=repetition&order=close&offset=5",)

    def show() -> list[str]:
        client = TestClient(create_view(runs), base_url=HOME, client=("127.0.0.1", 5000))
        return [client.get(address).text for address in addresses]

    held = show()
    take_for_large(monkeypatch)
    assert show() == held
    client = TestClient(create_view(runs), base_url=HOME, client=("127.0.0.1", 5000))
    assert "are of all 60 stories" in client.get("/report?name=parts").text
