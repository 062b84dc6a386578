"""A whole campaign by its own verbs: what was clicked comes out, and careless hands are flagged."""

from __future__ import annotations

import csv

from fabula.core.table import ScoreTable
from fabula.studio.campaigns.checks import find_flags
from fabula.studio.campaigns.definition import Checks, PlantedStory
from fabula.studio.campaigns.export import export_campaign
from fabula.studio.campaigns.verdicts import exclude_rater
from fabula.studio.campaigns.work import read_work
from fakes.open_campaign import make_stories, open_campaign

CHECKS = Checks(character=True, planted=3, duplicates=4, instructed=3, words_per_minute=0.0)


def rate_honestly(hand, clicked):
    """Rate by the length of the story's name, poor stories low; give back what was clicked."""
    while assignment := hand.take().assignment:
        [story] = assignment.stories
        value = 1 if "Dog the" in story.text else 2 + len(clicked) % 3
        value = clicked.setdefault(story.id, value)
        more = {"_character": {story.id: "None"}}
        if assignment.instructed:
            more["_instructed"] = assignment.instructed.value
        hand.submit(assignment, value, **more)


def rate_carelessly(hand):
    """Give 5 to everything, the same name to all, and the wrong answer where one is asked for."""
    while assignment := hand.take().assignment:
        more = {"_character": {story.id: "Bartholomew" for story in assignment.stories}}
        if asked := assignment.instructed:
            more["_instructed"] = asked.low if asked.value != asked.low else asked.high
        hand.submit(assignment, 5, **more)


def read_rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_check_that_a_campaign_makes_is_seen_and_only_its_own_stories_count(studio, tmp_path):
    opened = open_campaign(
        studio,
        make_stories(6, 2),
        checks=CHECKS,
        planted=(PlantedStory("Dog the of cloud. Of of seven."),),
    )
    clicked: dict[str, int] = {}
    rate_honestly(opened.enter(), clicked)
    rate_carelessly(opened.enter())
    work = read_work(studio, opened.owner, "lamps")
    by_name = {rater.name: rater.id for rater in work.raters.values()}
    kinds = {work.kind_of(one) for one in work.submitted}
    assert kinds == {"story", "planted", "duplicate"}
    checks = {name: {f.check for f in find_flags(work) if f.rater == rater}
              for name, rater in by_name.items()}  # fmt: skip
    assert checks["r1"] == set()
    assert checks["r2"] >= {"character", "planted", "instructed"}
    export_campaign(studio, opened.owner, "lamps", tmp_path / "out")
    table = ScoreTable.load(tmp_path / "out")
    names = {place: one.story.id for place, one in work.stories.items() if not one.is_planted}
    mine = {score.story: score.value for score in table if score.scorer == "human:r1"}
    assert mine == {names[place]: value for place, value in clicked.items() if place in names}
    assert len(mine) == 12 and {story.id for story in table.stories} == set(names.values())
    rows = read_rows(tmp_path / "out" / "answers.csv")
    assert len(rows) == len(work.submitted)
    assert {row["kind"] for row in rows if row["rater"] == "r1"} == kinds


def test_a_rater_who_is_excluded_opens_the_places_for_another(studio):
    opened = open_campaign(studio, make_stories(3, 2), raters=1)
    first = opened.enter()
    assert len(first.rate_all(5)) == 6
    assert opened.enter().take().assignment is None
    exclude_rater(studio, opened.owner, "lamps", "r1", reason="fives to everything")
    assert len(opened.enter().rate_all(2)) == 6
    work = read_work(studio, opened.owner, "lamps")
    assert {one.answers["fluency"][one.shown[0]] for one in work.accepted} == {2}
    assert len(work.accepted) == 6 and len(work.submitted) == 12
