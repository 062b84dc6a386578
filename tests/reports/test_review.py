from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.errors import SettingError
from fabula.core.story import Story
from fabula.learned.writers import WriterOpinion
from fabula.reports._review_marks import paragraph_spans, story_html
from fabula.reports.review import (
    comments_text,
    preference_words,
    render_review,
    score_command,
    scores_text,
)
from fabula.reports.review_ranking import ReviewPages, render_ranking
from fabula.scoring.review import MissingPart, Ranking
from fabula.scoring.review.ranking import Candidate, rank_candidates
from fabula.scoring.review.steps import assemble_review
from fakes.review import (
    HABITS,
    NOTE,
    STORY,
    TEXT,
    made_up_opinions,
    made_up_review,
    without_models,
)


class Shown(HTMLParser):
    """What a browser would show of the story's own words, and the ids on the way."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text, self.ids, self.links, self._skipped = "", [], [], 0
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        if "id" in named:
            self.ids.append(named["id"])
        if tag == "a":
            self.links.append(named["href"])
            self._skipped += 1

    def handle_endtag(self, tag: str) -> None:
        self._skipped -= tag == "a"

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.text += data


def squeezed(text: str) -> str:
    return "".join(text.split())


def test_the_terminal_shows_scores_first_and_then_comments() -> None:
    text = render_review("text", made_up_review(note=NOTE))
    order = [
        "! storyer:", "Liked better than about 63 of 100 human stories; another training",
        "Criteria", "Coherence", "From sentence", "Repetition", "Statistics", "Comments",
    ]  # fmt: skip
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    assert "“and somebody had written a name on it” (2 times, 7 % of the text)" in text
    assert max(map(len, text.splitlines())) <= 100


def test_readers_and_writers_stand_side_by_side_and_what_it_means_where_they_part() -> None:
    opinion = WriterOpinion(4.62, 22.0, (10.0, 35.0))
    for form in ("text", "md", "html"):
        shown = " ".join(render_review(form, replace(made_up_review(), writers=opinion)).split())
        told = [
            "Readers would like it better than about 63 of 100 human stories; another training",
            "might say 41 to 80.",
            "Writers would score it 4.6 of 10, higher than about 22 of 100 human stories; another",
            "training might say 10 to 35.",
            "The two part: readers, who vote for stories, would think more of it than writers",
        ]
        places = [shown.index(words) for words in told]
        assert places == sorted(places), form
        near = replace(made_up_review(), writers=replace(opinion, interval=(10.0, 50.0)))
        assert "The two part" not in render_review(form, near)
    plain = json.loads(render_review("json", replace(made_up_review(), writers=opinion)))
    place = {"percentile": 22.0, "interval": [10.0, 35.0], "usual": None}
    assert plain["writers"] == {"score": 4.62, **place, "withheld": None}


def test_a_percentile_among_the_stories_of_ones_own_readers_is_called_so() -> None:
    note = "percentiles are among the 56 stories of these opinions; 5 words"
    shown = " ".join(render_review("text", made_up_review(note=note)).split())
    assert "Liked better than about 63 % of the 56 stories of these opinions; another" in shown
    assert "of 100 human stories; another" not in shown


def test_every_form_begins_with_where_the_story_stands_then_criteria_then_coherence() -> None:
    review = made_up_review()
    for form in ("text", "md", "html"):
        text = render_review(form, review).partition("</style>")[2 if form == "html" else 0]
        order = ["Liked better", "Criteria", "Coherence", "The weakest of", "mattr"]
        places = [text.index(words) for words in order]
        assert places == sorted(places)


def test_coherence_is_shown_with_what_other_stories_have() -> None:
    review = made_up_review()
    known = replace(review, signatures={"coherence": "x", "rovist_c": "y"})
    text = render_review("text", known)
    assert "sentence order   0.70   high: people 0.52 to 0.67 · sentences shuffled 0.55" in text
    # What was measured with our weights is not said of others.
    assert "shuffled" not in render_review("text", review)
    assert "shuffled" in render_review("html", known) and "shuffled" in render_review("md", known)


def test_the_command_that_gives_the_same_values_is_named() -> None:
    specs = ["storyer(interval=True)", "criteria", "coherence", "words"]
    review = replace(made_up_review(), signatures=dict.fromkeys(specs, "x"))
    assert score_command(review) == (
        "fabula score FILE -m storyer -m criteria -m coherence -m baselines,sentences"
    )


def test_without_ratings_there_is_no_number_beside_an_aspect() -> None:
    review = made_up_review()
    aspects = [
        replace(one, rating=math.nan, confidence=math.nan, unrated="chance")
        for one in review.aspects
    ]
    bare = replace(review, aspects=tuple(aspects))
    text = comments_text(bare)
    assert text.startswith("Comments\n  opening\n") and "No opinion on the ten aspects" in text
    notes = render_review("html", bare).partition('id="notes"')[2].partition('id="story"')[0]
    assert "meter" not in notes and "remarks would be" not in notes and "No opinion on" in notes


def test_an_observation_is_quoted_measured_compared_and_marked_in_every_form() -> None:
    review = made_up_review(Story("habits", HABITS))
    note = review.observations[0]
    assert note.text in " ".join(comments_text(review).split())
    assert note.comparison in render_review("md", review)
    page = render_review("html", review)
    for words in (note.comparison[1:], note.advice, 'id="observed-1"', 'href="#at-observed-1"'):
        assert words in page
    story = story_html(review)
    assert 'id="at-observed-1"' in story and story.count("observed-1") > len(note.spots)
    shown = Shown(page)
    assert len(set(shown.ids)) == len(shown.ids)
    assert {link.removeprefix("#") for link in shown.links} <= set(shown.ids)
    assert squeezed(Shown(story).text) == squeezed(HABITS)


def test_where_nothing_is_rare_it_is_said_so_and_not_before_it_was_looked_for() -> None:
    scored = assemble_review(STORY, without_models())
    assert comments_text(scored) == ""
    bare = replace(scored, observations=())
    for form in ("text", "md", "html"):
        words = " ".join(render_review(form, bare).split())
        assert "rarer than in 1 of 10 human stories: there is no comment" in words


def test_a_story_whose_steps_are_usual_has_a_curve_and_no_weakest_step() -> None:
    review = made_up_review()
    steps = tuple(replace(step, rarity=0.3) for step in review.transitions)
    usual = replace(review, transitions=steps)
    for form in ("text", "md", "html"):
        text = render_review(form, usual)
        assert "The weakest of" not in text and "weakest step" not in text
        assert form == "md" or "No step stands out: 0 of" in text
    assert 'id="flow"' in render_review("html", usual)


def test_a_story_that_hardly_holds_together_is_said_to_in_words() -> None:
    known = {"coherence": "x", "rovist_c": "y"}
    loose = replace(made_up_review(), signatures=known, coherence=-0.8, order=0.49)
    for form in ("text", "md", "html"):
        words = "Both are lower than in nine of ten human stories"
        assert words in " ".join(render_review(form, loose).split())
        assert words not in render_review(form, replace(loose, order=0.6))


def test_other_writing_is_said_and_nothing_is_judged() -> None:
    review = replace(
        assemble_review(STORY, without_models()), unlike="it is 6 words long", missing=()
    )
    for form in ("text", "md", "html"):
        text = render_review(form, review).partition("</style>")[2 if form == "html" else 0]
        assert "No opinion: it is 6 words long" in text
        for words in ("Liked", "There is no preference", "Criteria", "Questions"):
            assert words not in text


def test_markdown_shows_a_story_as_it_is() -> None:
    bad = "<script>x</script> | *bold* [a](b). Another # one `c`. Third."
    text = render_review("md", made_up_review(Story(bad, bad), weakest=0))
    assert r"\<script\>" in text and r"\*bold\* \[a\]" in text
    assert "\n| " not in text.partition("## What")[2] and " <script" not in text


def test_pages_of_stories_have_safe_and_different_names(tmp_path: Path) -> None:
    ids = ["../etc/passwd", "A b", "a B", "index", "海", "", "x" * 300, "<b>.html"]
    stories = [Story(name or "-", TEXT) for name in ids]
    pages = ReviewPages.choose(stories, tmp_path, in_folder=True)
    names = list(pages.files.values())
    assert names[:5] == ["etc-passwd.html", "A-b.html", "a-B-2.html", "index-2.html", "海.html"]
    assert len({name.lower() for name in names}) == len(names)
    assert all("/" not in name and len(name) <= 90 for name in names)
    assert pages.links["A b"] == "A-b.html" and pages.back == "index.html"


def test_a_ranking_leads_to_the_pages_of_its_stories(ranking: Ranking, tmp_path: Path) -> None:
    pages = ReviewPages(tmp_path / "r_pages", tmp_path / "r.html", {"b": "b 1.html"})
    page = pages.write_ranking(ranking, "tales").read_text(encoding="utf-8")
    assert '<a href="r_pages/b%201.html">' in page
    # Every bar has the same track, whose ends are named once.
    assert page.count('class="track"') == 2 and ">100</span>" in page


def test_scores_alone_hold_no_comment() -> None:
    scored = assemble_review(STORY, made_up_opinions())
    assert "Comments" not in scores_text(scored) and comments_text(scored) == ""


def test_where_a_story_stands_is_said_in_words() -> None:
    assert preference_words(assemble_review(STORY, without_models())).startswith("There is no pref")


def test_json_is_the_plain_review() -> None:
    found = made_up_review()
    assert json.loads(render_review("json", found)) == json.loads(json.dumps(found.plain()))


def test_a_form_that_is_not_known_is_refused() -> None:
    with pytest.raises(SettingError, match="known: text, md, json, html"):
        render_review("pdf", made_up_review())


def test_the_page_needs_nothing_else_and_no_script() -> None:
    page = render_review("html", made_up_review())
    assert "<script" not in page and "http://" not in page.replace("http://www.w3.org", "")
    assert "default-src 'none'" in page and "{{" not in page
    for words in ("Liked better than about 63", "Criteria", "weakest step, 8 %", "229"):
        assert words in page


def test_every_link_of_the_page_leads_somewhere_and_ids_are_unique() -> None:
    shown = Shown(render_review("html", made_up_review()))
    assert len(set(shown.ids)) == len(shown.ids)
    assert {link.removeprefix("#") for link in shown.links} <= set(shown.ids)


PARTS = st.sampled_from(
    ["Mara ran. ", "But it was <b>dark</b> & cold. ", "“Go,” said Tom. ", "\n\n", "A \n line. ",
     "The old door was open again. ", "海は暗い。", "😀 ", "</mark>"]
)  # fmt: skip


@given(st.lists(PARTS, min_size=1, max_size=14).map("".join))
def test_a_marked_story_says_what_the_story_says(text: str) -> None:
    found = made_up_review(Story("x", text))
    assert squeezed(Shown(story_html(found)).text) == squeezed(text)


def test_paragraphs_are_parted_by_blank_lines() -> None:
    text = "One.\n\n  Two\nlines.\n \n\nThree."
    assert [text[slice(*span)] for span in paragraph_spans(text)] == [
        "One.", "Two\nlines.", "Three.",
    ]  # fmt: skip


def test_evidence_repetition_and_the_weakest_step_are_marked_in_place() -> None:
    page = story_html(made_up_review())
    assert re.search(r'id="at-opening"[^>]*></span><mark class="evidence" data-of="aspect-op', page)
    assert len(re.findall(r'class="[^"]*repeated" data-of="[^"]*repeated-0">and some', page)) == 2
    before, _, after = page.partition('class="weakest"')
    assert before.rstrip().endswith('<a href="#flow"') and "Shaking, Mara" in after


def test_whatever_a_story_holds_stays_text() -> None:
    bad = '<script>alert(1)</script> \ud800 & "quotes". Another <img src=x onerror=y>. Third.'
    found = made_up_review(
        Story(bad, bad, prompt=bad), weakest=0, note=bad, missing=(MissingPart(bad, bad),)
    )
    page = render_review("html", found)
    assert "<script" not in page and "<img" not in page
    assert page.encode("utf-8")
    assert render_review("text", found).encode("utf-8") and json.loads(render_review("json", found))


def test_what_is_missing_is_said_on_top_with_the_command() -> None:
    found = assemble_review(STORY, without_models())
    page = render_review("html", found)
    assert page.index("fabula models pull reader") < page.index("The lamp in the tower")
    assert "fabula models pull reader" in render_review("text", found)


def test_a_story_without_steps_or_repetition_is_still_a_page() -> None:
    found = made_up_review(Story("short", "It rained."))
    page = render_review("html", found)
    assert "No run of four words" in page and 'href="#flow"' not in page
    assert "No run of four words" in render_review("text", found)


@pytest.fixture
def ranking() -> Ranking:
    known = [Candidate("<b>a</b>", 0.5, 63.0, (41.0, 80.0), 200.0), Candidate("b", 0.73, 81.0),
             Candidate("c", float("nan"), note="the story has no text")]  # fmt: skip
    return Ranking(tuple(rank_candidates(known, error=0.3)), (), {"storyer": "storyer|x"})


def test_a_ranking_is_a_table_with_win_rates(ranking: Ranking) -> None:
    lines = render_ranking("text", ranking, "tales").splitlines()
    assert lines[0] == "3 stories of tales, the best liked first"
    # A story of the middle loses to one that is preferred in .73 of the cases that often.
    assert [line.split()[:2] for line in lines[4:7]] == [["b", "1"], ["<b>a</b>", "2"], ["c", "–"]]
    assert lines[4].split()[5] == "0.73" and "41–80" in lines[5]
    assert "c: the story has no text" in lines


def test_a_ranking_is_json_csv_and_a_page(ranking: Ranking) -> None:
    found = json.loads(render_ranking("json", ranking, "tales"))
    assert [row["story"] for row in found["rows"]] == ["b", "<b>a</b>", "c"]
    assert found["rows"][2]["wins"] is None and found["signatures"]
    assert render_ranking("csv", ranking, "tales").startswith("story,rank,preference,percentile,")
    page = render_ranking("html", ranking, "tales")
    assert "&lt;b&gt;a&lt;/b&gt;" in page and "<b>a" not in page and "{{" not in page
    with pytest.raises(SettingError, match="known: text, md, json, csv, html"):
        render_ranking("pdf", ranking, "tales")


def test_the_made_up_story_is_whole() -> None:
    assert len(TEXT.split()) > 200
