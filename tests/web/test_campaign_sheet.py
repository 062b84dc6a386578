"""Questions laid out beside the stories that they ask about."""

from __future__ import annotations

from fabula.studio.campaigns.definition import make_definition
from fabula.web.campaign_sheet import (
    SheetStory,
    lay_out_practice,
    make_page_values,
    make_sections,
    spell_field,
    spell_label,
)

SCALE = {"name": "flow", "kind": "scale", "text": "Does it flow?"}
BEST = {"name": "better", "kind": "best", "text": "Which is better?"}
MARKS = {"name": "marks", "kind": "spans", "text": "Mark it.", "choices": ["good", "bad"]}


def define(questions, unit="story", **more):
    plain = {"name": "n", "title": "T", "instructions": "Read.", "unit": unit, **more}
    return make_definition({**plain, "questions": questions})


def tell(count):
    return [SheetStory(str(n), f"Tale {n}.", spell_label(n, count)) for n in range(count)]


def lay_out(questions, count, unit):
    sections = make_sections(define(questions, unit), tell(count))
    return [(section.title, [asked.id for asked in section.asked]) for section in sections]


def test_one_story_has_one_section_without_a_title_and_no_letter():
    assert lay_out([SCALE, MARKS], 1, "story") == [("", ["q0-0", "q1-0"])]
    assert spell_label(0, 1) == ""


def test_several_stories_have_sections_and_what_compares_stands_where_it_stands_in_the_file():
    own = [("Story A", ["q0-0"]), ("Story B", ["q0-1"])]
    assert lay_out([SCALE, BEST], 2, "pair") == [*own, ("Both stories", ["q1"])]
    first = [("Both stories", ["q0"]), ("Story A", ["q1-0"]), ("Story B", ["q1-1"])]
    assert lay_out([BEST, SCALE], 2, "pair") == first
    assert lay_out([BEST], 2, "pair") == [("", ["q0"])]


def test_numbers_stand_side_by_side_only_where_what_they_mean_fits():
    def is_short(**more):
        (section,) = make_sections(define([{**SCALE, **more}]), tell(1))
        return section.asked[0].is_short

    assert is_short() and is_short(low=0, high=10)
    assert is_short(anchors=["bad", "poor", "fair", "good", "great"])
    assert not is_short(anchors=["bad", "", "", "", "better than all that was read before"])
    assert not is_short(low=0, high=11) and not is_short(low=0, high=7, anchors=["a"] * 8)


def test_texts_are_given_to_the_scripts_only_where_passages_are_marked():
    stories = [SheetStory("0", "One.\r\nTwo.")]
    asked = define([MARKS, SCALE])
    values = make_page_values(asked, stories, make_sections(asked, stories))
    assert values["data"]["texts"] == {"0": "One.\r\nTwo."}
    assert values["data"]["sentences"] == {"0": [(0, 4), (6, 10)]}
    assert values["data"]["choices"] == {"marks": ("good", "bad")}
    assert values["has_spans"] and values["has_digits"]
    asked = define([{"name": "why", "kind": "text", "text": "Why?"}])
    values = make_page_values(asked, stories, make_sections(asked, stories))
    assert values["data"]["texts"] == {} and not values["has_digits"]


def test_what_all_stories_have_beside_them_is_shown_once():
    pair = define([BEST], "pair")
    stories = [SheetStory(str(n), "Text.", prompt="Same", pictures=(str(n),)) for n in range(2)]
    values = make_page_values(pair, stories, make_sections(pair, stories))
    assert values["shared"].prompt == "Same" and values["shared"].pictures == ()
    assert [(s.prompt, s.pictures) for s in values["stories"]] == [("", ("0",)), ("", ("1",))]
    alone = define([SCALE])
    values = make_page_values(alone, stories[:1], make_sections(alone, stories[:1]))
    assert values["shared"].prompt == "" and values["stories"][0].prompt == "Same"


def test_practice_asks_only_what_can_be_judged_and_answers_without_a_story():
    story = {"text": "A dog read.", "answers": {"flow": [1]}, "feedback": "No.", "prompt": "Dogs."}
    asked = define([MARKS, SCALE], training=[story])
    shown, (section,) = lay_out_practice(asked, asked.training[0])
    assert shown.prompt == "Dogs."
    assert [(one.name, one.story) for one in section.asked] == [("flow", None)]


def test_fields_of_a_story_are_written_for_people():
    assert spell_field({"cards": ["Rope", {"name": "Luck", "left": 2}], "none": None}) == (
        "cards: Rope\nname: Luck\nleft: 2\nnone: "
    )
