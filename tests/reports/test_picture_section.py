"""A story beside its pictures, as pages, terminals and programs get it."""

from __future__ import annotations

import base64
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from fabula.core.model import Picture, Region
from fabula.core.story import Story
from fabula.learned.grounding.grounder import GroundedStory, Sight
from fabula.reports._picture_figure import PictureBudget, encode_picture
from fabula.reports._picture_section import draw_section, group_by_pictures, write_rules
from fabula.reports.review import render_review
from fabula.reports.review_page import review_page
from fakes.crafted_pictures import pillow
from fakes.pictured import (
    STORY,
    TEXT,
    made_up_picture,
    made_up_pictured,
    made_up_sights,
    pictured_review,
)
from fakes.review import made_up_review

pillow()


def ids_of(page: str) -> list[str]:
    return re.findall(r' id="([^"]+)"', page)


def anchors_of(page: str) -> set[str]:
    return set(re.findall(r'href="#([^"]+)"', page))


def test_every_link_of_the_page_leads_somewhere_and_no_place_is_there_twice():
    page = review_page(pictured_review())
    ids = ids_of(page)
    assert len(ids) == len(set(ids))
    assert anchors_of(page) - set(ids) == set()


def test_a_noun_leads_to_its_best_region_with_the_similarity_and_back():
    page = draw_section([[made_up_pictured()]])
    kite = re.search(r'<a class="noun" id="([^"]+)" href="#(region-0-0-1)"[^>]*>kite<sub>.66', page)
    assert kite
    assert f'href="#{kite[1]}"' in page.replace(kite[0], "")
    assert f'id="{kite[2]}"' in page


def test_weak_nouns_are_greyed_and_unknown_ones_are_no_links():
    page = draw_section([[made_up_pictured()]])
    assert re.search(r'class="noun weak"[^>]*>idea<sub>.14', page)
    assert re.search(r'<span class="noun unknown"[^>]*>snorfle<sub>\?', page)
    assert "5 of 9 nouns are seen in the pictures, 3 weakly matched" in page
    # A region whose nouns are all weak is drawn as one; one without a noun has no number.
    assert re.findall(r'class="box (\w+)"', page) == "seen seen seen idle weak seen".split()
    assert 'id="region-0-0-3"' not in page


def test_large_boxes_lie_below_small_ones_that_are_inside_them():
    page = draw_section([[made_up_pictured()]])
    sizes = re.findall(r'width="(\S+)" height="(\S+)" class="box', page)[:4]
    areas = [float(width) * float(height) for width, height in sizes]
    assert areas == sorted(areas, reverse=True)


def test_what_is_said_twice_is_tinted_nouns_included_and_steps_have_their_shares():
    page = draw_section([[made_up_pictured()]])
    tinted = re.findall(r'<mark class="again">(.*?)</mark>', page)
    plain = re.sub("<sub>.*?</sub>|<[^>]+>", "", "|".join(tinted))
    assert plain == "We had a great |time| there|We had a great |time| there"
    assert re.findall(r'class="step( low)?"[^>]*>.*?(\d+ %)<', page) == [
        ("", "62 %"), (" low", "31 %"), ("", "62 %"), ("", "62 %"),
    ]  # fmt: skip
    told = re.sub("<sub>.*?</sub>|<span class=.step.*?</span> *[0-9]+ %</span>|<[^>]+>", "", page)
    assert "Its string was long, and the idea was Tom&#x27;s." in told


def test_a_picture_is_scaled_down_and_holds_nothing_of_its_file():
    picture = made_up_picture("large.jpg", (2000, 1500))
    address = encode_picture(picture)
    head, _, data = address.partition(",")
    image = pillow().open(io.BytesIO(base64.b64decode(data)))
    assert (head, image.format, image.size) == ("data:image/jpeg;base64", "JPEG", (640, 480))
    assert not image.getexif()


def test_pictures_beyond_the_budget_are_left_out_with_a_word_and_their_boxes_stay():
    one = len(encode_picture(made_up_sights()[0].picture))
    budget = PictureBudget(one)
    page = draw_section([[made_up_pictured()]], budget)
    assert page.count("<img ") == 1 == page.count('class="left-out"') == budget.left_out
    assert "1 picture would make this file too large and is not in it" in page
    assert page.count('class="box ') == 6


def test_stories_of_the_same_pictures_share_one_drawing_of_them():
    others = Story("by another", "The boat waited.", system="another", images=STORY.images)
    apart = made_up_sights()[:1]
    alone = made_up_pictured(Story("alone", "A dog sat."), sights=apart)
    stories = [made_up_pictured(), alone, made_up_pictured(others)]
    assert [len(group) for group in group_by_pictures(stories)] == [2, 1]
    page = draw_section(group_by_pictures(stories))
    assert page.count("<img ") == 3
    ids = ids_of(page)
    assert len(ids) == len(set(ids))
    assert anchors_of(page) <= set(ids)
    # Region 1 of the boat's picture speaks of the nouns of both.
    entry = re.search(r'<li id="entry-0-1-0".*?</li>', page)
    assert entry
    assert entry[0].count("boat <small>.69") == 2


def test_a_noun_of_several_sentences_is_listed_once_with_how_often():
    page = draw_section([[made_up_pictured()]])
    assert page.count("time <small>") == 1
    assert "time <small>.12 × 2</small>" in page


def test_numbers_on_a_picture_stand_beside_one_another():
    twins = tuple(Region((10.0, 10.0, 50.0, 50.0 + at), f"thing {at}") for at in range(3))
    sight = Sight(made_up_picture("one.jpg", (400, 300)), twins, np.zeros((3, 0)))
    seen = {"dog": (0.7, 0.0, 0, 0), "beach": (0.6, 0.0, 0, 1), "kite": (0.5, 0.0, 0, 2)}
    page = draw_section([[made_up_pictured(seen=seen, sights=(sight,))]])
    assert re.findall(r'style="left:([\d.]+)%;top:([\d.]+)%"', page) == [
        ("2.5", "3.3"), ("10.5", "3.3"), ("18.5", "3.3"),
    ]  # fmt: skip


def test_pointing_is_a_rule_a_region_and_needs_no_script():
    rules = write_rules([[made_up_pictured()]])
    assert rules.count(":has(") == 6
    assert '#pictures-0:has([data-at="0-1-0"]:is(:hover' in rules
    page = review_page(pictured_review())
    assert "img-src data:" in page
    assert "<script" not in page


def test_a_review_without_pictures_says_nothing_of_them():
    review = made_up_review()
    page = review_page(review)
    assert "img-src" not in page
    assert 'href="#pictures"' not in page
    assert json.loads(render_review("json", review))["pictures"] is None
    assert "Pictures" not in render_review("text", review) + render_review("md", review)


def test_hostile_names_labels_and_nouns_are_shown_not_run():
    bad = '"><script>bad()</script>'
    picture = Picture(bad, 10, 10, "x", np.zeros((10, 10, 3), np.uint8), (bad,))
    sight = Sight(picture, (Region((0, 0, 5, 5), bad, 0.5),), np.zeros((1, 0)), (bad,))
    story = Story(bad, f"{bad} dog.", system=bad)
    page = review_page(pictured_review(made_up_pictured(story, sights=(sight,))))
    assert "<script" not in page


def test_odd_stories_are_drawn_too():
    empty = GroundedStory((Sight(made_up_picture("grey.png", (1, 1)), (), np.zeros((0, 0))),), ())
    bare = replace(made_up_pictured(), grounded=empty, chances=())
    page = draw_section([[bare]])
    assert "No region was found in it." in page
    assert "The story has no noun to look for in the pictures." in page
    long = Story("long", "The dog ran. " * 400)
    assert "And 100 more sentences." in draw_section([[made_up_pictured(long)]])


def test_a_terminal_reads_it_picture_by_picture():
    text = render_review("text", pictured_review())
    assert "1 beach.jpg: dog .71 · kite .66 · beach .52 · string (kite) .31" in text
    assert "weak: time .12, idea .14" in text
    assert "not known: snorfle" in text
    assert "grounding 0.42 a noun · 2.61 as in the paper" in text


def test_markdown_has_a_table_of_the_nouns():
    text = render_review("md", pictured_review())
    assert "| string | picture 1, region 2: kite | .31 | 7 % |" in text
    assert "| idea | picture 2, region 1: boat (weak) | .14 | 55 % |" in text
    assert "| snorfle | not known | – | – |" in text


def test_programs_get_boxes_matches_and_places():
    got = json.loads(render_review("json", pictured_review()))["pictures"]
    assert got["pictures"][0]["regions"][1] == {
        "box": [250.0, 20.0, 60.0, 70.0], "label": "kite", "confidence": 0.64,
    }  # fmt: skip
    by_name = {noun["noun"]: noun for noun in got["nouns"]}
    kite, unknown = by_name["kite"], by_name["snorfle"]
    assert (kite["picture"], kite["region"], kite["match"], kite["weak"]) == (1, 2, 0.66, False)
    assert TEXT[kite["start"] : kite["end"]] == "kite"
    assert (unknown["match"], unknown["picture"], unknown["weak"]) == (None, None, False)
    assert got["values"][1]["value"] == pytest.approx(2.61)
