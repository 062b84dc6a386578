"""What a campaign will be: counted, paid and timed by hand; and what raters see, as text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabula.core.story import Story
from fabula.studio.campaigns.definition import Pay, Show, make_definition, read_definition
from fabula.studio.campaigns.outlook import describe_outlook, foresee, preview
from fabula.studio.campaigns.preset_files import find_preset
from fabula.studio.campaigns.stories import Material

SCALE = {"name": "quality", "kind": "scale", "text": "How good is it?"}
PLANTED = {"text": "The the the."}


def make(**changed):
    plain = {"name": "try", "title": "A try", "instructions": "Read.", "questions": [SCALE]}
    return make_definition({**plain, **changed})


def stories(items=6, systems="ab", words=260):
    return [
        Material(Story(f"{i}{s}", " ".join(["word"] * words), system=s, item=str(i)))
        for i in range(items)
        for s in systems
    ]


def test_ratings_cost_and_hours_follow_from_raters_stories_and_pay():
    made = make(raters=3, pay={"amount": 0.5, "expected_s": 120})
    outlook = foresee(made, stories())
    assert (outlook.stories, outlook.systems, outlook.items, outlook.tasks) == (12, 2, 6, 12)
    assert outlook.ratings == 36
    assert outlook.cost == 18.0
    assert outlook.hours == 36 * 120 / 3600
    assert outlook.hourly == 15.0
    assert describe_outlook(outlook, made) == [
        "12 stories by 2 systems: 12 tasks, 3 raters each: 36 ratings",
        "about 72 minutes of work, 120 s a task",
        "18.00 USD at 0.50 a task, which is 15.00 an hour (what a crowd site takes comes on top)",
    ]


def test_checks_of_raters_are_paid_too():
    made = make(
        raters=5,
        planted=[PLANTED],
        checks={"planted": 10, "duplicates": 20},
        pay={"amount": 1.0, "expected_s": 60},
    )
    outlook = foresee(made, stories())
    assert (outlook.ratings, outlook.checks, outlook.cost) == (60, 6 + 3, 69.0)
    assert "9 tasks more to check raters, about" in describe_outlook(outlook, made)


def test_an_overlap_of_a_half_asks_all_raters_about_half_of_the_tasks():
    made = make(raters=3, overlap=0.5)
    assert foresee(made, stories()).ratings == 6 * 3 + 6
    assert (
        "3 raters for 50% of them and one for the others"
        in describe_outlook(foresee(made, stories()), made)[0]
    )


def test_without_an_expected_time_it_is_reckoned_from_the_words_that_are_shown():
    # 260 words are a minute, and a scale takes six seconds.
    assert foresee(make(), stories()).task_s == pytest.approx(66)
    pair = make(unit="pair", questions=[SCALE, {"name": "b", "kind": "best", "text": "Best?"}])
    outlook = foresee(pair, stories())
    assert (outlook.tasks, outlook.task_s) == (6, pytest.approx(120 + 2 * 6 + 6))
    with_reference = [
        replace(each, story=replace(each.story, references=("word " * 130,))) for each in stories()
    ]
    shown = replace(make(), show=Show(reference=True))
    assert foresee(shown, with_reference).task_s == pytest.approx(96)


def test_nothing_is_said_of_money_where_nobody_is_paid():
    made = replace(make(), pay=Pay(expected_s=60))
    assert not any("USD" in line for line in describe_outlook(foresee(made, stories()), made))


def test_the_preview_shows_what_raters_will_see():
    hanna = read_definition(find_preset("hanna"))
    story = Story("1", "Mira rowed. " * 100, "A boat.", ("Nobody rowed.",), system="a")
    seen = preview(hanna, [Material(story)])
    assert seen.startswith("Six questions about a story\n")
    assert "Prompt:\n  A boat.\n" in seen
    assert "For comparison:\n  Nobody rowed.\n" in seen
    assert "Story:\n  Mira rowed." in seen
    assert "…" in seen  # a long story is cut
    assert "Relevance: How well does the story fit its prompt?" in seen
    assert "  5  I would like to read how it goes on." in seen
    assert "(1 good example, 1 bad example, 2 stories to practise on)" in seen
    assert seen.endswith("Who is named first in the story? (a name, or None)")


def test_the_preview_of_a_comparison_shows_every_story_and_what_they_share_once():
    pairwise = read_definition(find_preset("pairwise"))
    both = [Material(Story(s, f"By {s}.", "A boat.", system=s)) for s in "ab"]
    seen = preview(pairwise, both)
    assert seen.count("A boat.") == 1
    assert "Story 1:\n" in seen
    assert "Story 2:\n" in seen
    assert "one of the stories, or tie" in seen
    assert "What spoke for this story or against it, if you can say? (may be left out)" in seen
