"""A campaign from its preset to the report: three people rate at once in browsers of their own, one
leaves half-way, another comes; what is exported is what was clicked."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import select, update

from fabula.cli import cli
from fabula.studio.campaigns.preset_files import list_presets
from fabula.studio.tables import campaign_assignments, campaign_raters, campaign_stories, now
from fakes.rated_campaign import write_story

pytestmark = pytest.mark.browser

CRITERIA = ("relevance", "coherence", "empathy", "surprise", "engagement", "complexity")
STORIES, RATERS = 12, 3
READY = "html[data-task=ready]"


@dataclass
class Rater:
    """Somebody at a browser: their page, and what they clicked, by story."""

    page: Any
    number: int
    clicked: dict[str, dict[str, Any]] = field(default_factory=dict)

    def come_in(self) -> None:
        """Agree, read, and practise until it is right."""
        page = self.page
        page.get_by_label("I have read this and agree to take part.").check()
        page.get_by_role("button", name="Begin").click()
        page.get_by_role("link", name="Begin to practise").click()
        for story in list_presets()["hanna"].training:
            page.wait_for_selector(READY)
            for right in story.answers.values():
                page.keyboard.press(str(right[0]))
            page.keyboard.press("Control+Enter")
            with page.expect_navigation():
                page.get_by_role("link", name="Go on").click()

    def answer(self, names: dict[str, str]) -> str:
        """Answer the task on the page by keyboard: every rater in a way of their own."""
        page = self.page
        page.wait_for_selector(READY)
        story = names[page.locator("[data-text]").get_attribute("data-text")]
        number = int(story.removeprefix("s"))
        for at, name in enumerate(CRITERIA):
            value = 1 + (number // 2 + 2 * (number % 2) + at * self.number) % 5
            self.clicked.setdefault(story, {})[name] = value
            page.keyboard.press(str(value))
        page.keyboard.type(f"Ida {self.number}")
        return story

    def submit(self) -> None:
        """Go on to the next task, or to the end."""
        with self.page.expect_navigation():
            self.page.keyboard.press("Control+Enter")

    @property
    def is_done(self) -> bool:
        """Whether there is nothing more for them."""
        return self.page.locator("#code").count() > 0


def run(*words: str) -> str:
    """Type a command; give what it printed."""
    result = CliRunner().invoke(cli, [*words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def write_material(path: Path) -> None:
    rows = [
        {
            "id": f"s{n}",
            "text": write_story(n),
            "prompt": f"Prompt {n // 2}: a keeper climbs a lighthouse.",
            "reference": write_story(n // 2 + 20, 3),
            "system": f"model-{n % 2}",
            "item": f"item-{n // 2}",
        }
        for n in range(STORIES)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def name_stories(served) -> dict[str, str]:
    table = campaign_stories
    with served.studio.read() as db:
        return {row.id: row.name for row in db.execute(select(table.c.id, table.c.name))}


def run_out(served, number: int) -> None:
    """Let the lease of a rater run out, as if an hour had passed."""
    work, raters = campaign_assignments, campaign_raters
    left = select(raters.c.id).where(raters.c.number == number).scalar_subquery()
    with served.studio.write() as db:
        is_it = (work.c.rater_id == left) & (work.c.state == "leased")
        past = now() - timedelta(minutes=1)
        assert db.execute(update(work).where(is_it).values(leased_until=past)).rowcount == 1


def rate_together(served, raters: list[Rater], come) -> None:
    """Three take turns; the third leaves a task half-way, and somebody else comes by the link."""
    names, leaving = name_stories(served), raters[2]
    for _ in range(STORIES // 2):
        for rater in raters:
            rater.answer(names)
            rater.submit()
    left = leaving.answer(names)
    leaving.page.wait_for_selector("#state:text-is('Saved')")
    leaving.page.close()
    # Work that was not handed in counts for nothing.
    del leaving.clicked[left]
    run_out(served, leaving.number)
    raters[2] = fourth = come(4)
    while not all(rater.is_done for rater in raters):
        for rater in raters:
            if not rater.is_done:
                rater.answer(names)
                rater.submit()
    assert left in fourth.clicked
    raters.append(leaving)


Ratings = dict[tuple[str, str, str], Any]


def read_table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_answers(folder: Path) -> Ratings:
    """What was answered, by rater, story and question."""
    rows = read_table(folder / "answers.csv")
    return {
        (row["rater"], row["story"], row["question"]): json.loads(row["answer"]) for row in rows
    }


def read_scores(folder: Path) -> Ratings:
    """The same of the table of scores."""
    lines = (folder / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    rows = map(json.loads, lines)
    return {
        (row["scorer"].removeprefix("human:"), row["story"], row["aspect"]): row["value"]
        for row in rows
    }


def read_annotations(folder: Path) -> Ratings:
    """The same in HANNA's layout, whose rows also hold the character that was named."""
    told = {write_story(n): f"s{n}" for n in range(STORIES)}
    rows = read_table(folder / "hanna_stories_annotations.csv")
    assert all(row["Name"] == f"Ida {row['Worker ID'][1:]}" for row in rows)
    return {
        (row["Worker ID"], told[row["Story"]], name): int(row[name.capitalize()])
        for row in rows
        for name in CRITERIA
    }


def test_a_campaign_goes_from_its_preset_to_the_report_and_holds_what_was_clicked(
    visit, served, tmp_path
):
    database = ("--database", str(served.studio.engine.url))
    write_material(tmp_path / "stories.jsonl")
    file = str(tmp_path / "lamps.toml")
    run("campaign", "new", "hanna", "--stories", str(tmp_path / "stories.jsonl"), "-o", file)
    link = run("campaign", "open", file, "--user", "dan", *database).strip()
    door = link[link.index("/campaigns/") :]

    def come(number: int) -> Rater:
        rater = Rater(visit(door, None), number)
        rater.come_in()
        return rater

    raters = [come(number) for number in range(1, RATERS + 1)]
    rate_together(served, raters, come)
    folder = tmp_path / "people"
    run("campaign", "export", "lamps", "-o", str(folder), *database)

    clicked = {
        (f"r{rater.number}", story, name): value
        for rater in raters
        for story, answers in rater.clicked.items()
        for name, value in answers.items()
    }
    places = Counter(story for _, story, name in clicked if name == "relevance")
    assert places == {f"s{n}": RATERS for n in range(STORIES)}
    assert read_answers(folder) == clicked == read_scores(folder) == read_annotations(folder)
    run("study", "run", str(folder / "study.toml"), "-o", str(tmp_path / "report"))
    report = (tmp_path / "report" / "study.html").read_text(encoding="utf-8")
    assert "12 stories, 4 raters" in report and "rovist_nr" in report
