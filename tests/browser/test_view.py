"""The browser of run folders, in one: choosing, comparing, following."""

from __future__ import annotations

import os
import shutil

import pytest

from fabula.web.view import create_view
from fakes.runs import write_run
from fakes.served_studio import serve_app
from scoring.test_run_list import begin, spell

pytestmark = pytest.mark.browser


@pytest.fixture
def runs(tmp_path):
    write_run(tmp_path / "runs" / "ferry")
    write_run(tmp_path / "runs" / "later", words=9)
    with serve_app(create_view(tmp_path / "runs")) as url:
        yield tmp_path / "runs", url


def test_runs_are_chosen_compared_and_followed(runs, browser):
    folder, url = runs
    page = browser.new_page(viewport={"width": 390, "height": 800})
    troubles = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda message: troubles.append(message.text))
    page.goto(url)
    page.get_by_label("ferry is A").check()
    page.get_by_label("later is B").check()
    page.get_by_role("button", name="Compare A with B").click()
    assert page.locator("article.pair").count() == 3
    assert page.locator("article.pair .text").first.inner_text().startswith("The ferry left")

    # A head sorts the table by its numbers.
    page.get_by_role("button", name="p", exact=True).click()
    assert page.locator("th[aria-sort]").inner_text() == "p"

    partial = begin(folder / "new", os.getpid(), stories=4)
    (partial / "scores.jsonl").write_text(spell("a", "1", 2.0))
    page.goto(f"{url}/run?name=new")
    assert "1 of 4 stories" in page.locator("#part").inner_text()
    with (partial / "scores.jsonl").open("a") as file:
        file.write(spell("a", "2", 4.0))
    page.get_by_text("2 of 4 stories").wait_for(timeout=8000)
    # Done: what was being written lies in its place, and the page is that of a run.
    shutil.rmtree(partial)
    shutil.copytree(folder / "ferry", folder / "new", dirs_exist_ok=True)
    page.get_by_role("link", name="Open the report").wait_for(timeout=8000)
    page.get_by_role("link", name="Open the report").click()
    assert page.locator("h1").first.inner_text() == "ferry.jsonl"
    page.close()
    assert troubles == []
