"""Rating in a browser: every kind of question, by keyboard, saved as it goes, and never lost."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from fabula.studio.campaigns.balance import find_instructed
from fabula.studio.campaigns.stories import Material
from fabula.studio.tables import campaign_assignments, campaign_raters, campaign_stories
from fakes.crafted_pictures import save
from fakes.rated_campaign import SCALE, define, open_campaign, write_stories

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
READY = "html[data-task=ready]"


def read_work(served):
    """What the studio holds: state and answers of every assignment, in order."""
    columns = (campaign_assignments.c.state, campaign_assignments.c.answers)
    with served.studio.read() as db:
        rows = db.execute(select(*columns).order_by(campaign_assignments.c.number)).all()
    return [(row.state, row.answers) for row in rows]


def name_stories(served):
    with served.studio.read() as db:
        rows = db.execute(select(campaign_stories.c.id, campaign_stories.c.name))
        return {row.id: row.name for row in rows}


def wide(page):
    """How much wider than its window a page is."""
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


def begin(page):
    """From the welcome to the first task."""
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("link", name="Go on to the tasks").click()
    page.wait_for_selector(READY)


def wait_saved(page):
    page.wait_for_selector("#state:text-is('Saved')")


def open_guided(served):
    """A campaign with all that may come before and after the tasks, for people of a crowd site."""
    practice = {
        "text": "A dog read. A dog read. A dog read.",
        "answers": {"flow": [1, 2]},
        "feedback": "It only repeats.",
    }
    examples = [{"text": "The lamp went out.", "verdict": "bad", "why": "It **stops**."}]
    texts = {"consent": "We keep *no* names.", "thanks": "You are *kind*.", "examples": examples}
    definition = define([SCALE], training=[practice], checks={"character": True}, **texts)
    way = {"way": "prolific", "completion": "C0DE"}
    dan = served.people["dan"]
    return open_campaign(served.studio, dan, definition, write_stories(1), **way)[1]


def practise(page, check):
    """One answer that will not do, and one that will."""
    page.get_by_role("link", name="Begin to practise").click()
    page.wait_for_selector(READY)
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    page.wait_for_selector("#feedback:has-text('One try is left')")
    check(page)
    # What was wrong is not sent again: a digit changes what is marked, and Enter goes on.
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#refusal:text-is('Please change what is marked first.')")
    page.keyboard.press("2")
    assert page.inner_text("#refusal") == ""
    page.keyboard.press("Control+Enter")
    # Not by the word alone: what was said of the first answer asks to "get it right".
    page.wait_for_selector("#feedback .verdict:text-is('✓ Right.')")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Enter")
    page.wait_for_url("**/task")
    page.wait_for_selector(READY)


def test_the_way_in_asks_for_consent_practice_and_ends_with_a_code(
    visit, served, check_accessibility
):
    page = visit(f"{open_guided(served)}?PROLIFIC_PID=p1&STUDY_ID=s&SESSION_ID=t", None)
    check_accessibility(page)
    page.get_by_role("button", name="Begin").click()
    with served.studio.read() as db:
        assert db.execute(select(campaign_raters)).all() == []
    page.get_by_label("I have read this and agree to take part.").check()
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/instructions")
    assert page.locator(".example.bad strong").inner_text() == "stops"
    check_accessibility(page)
    practise(page, check_accessibility)
    assert page.locator("h1").inner_text() == "Task 1 of 1"
    page.keyboard.press("4")
    page.keyboard.type("Ida")
    # Enter in a line goes on, to the button.
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.wait_for_selector("#code")
    check_accessibility(page)
    assert page.inner_text("#code") == "C0DE" and page.locator(".prose em").inner_text() == "kind"
    address = page.get_by_role("link", name="Go back to Prolific").get_attribute("href")
    assert address == "https://app.prolific.com/submissions/complete?cc=C0DE"
    (story,) = name_stories(served)
    kept = {"flow": {story: 4}, "_character": {story: "Ida"}}
    assert read_work(served) == [("submitted", kept)]
    page.get_by_text("Look at what you submitted").click()
    page.get_by_role("link", name="Task 1").click()
    page.wait_for_selector(READY)
    assert page.get_by_label("4 Mostly").is_checked()
    assert page.get_by_label("4 Mostly").is_disabled()
    check_accessibility(page)


KINDS = [
    {"name": "share", "kind": "scale", "text": "How much of it?", "low": 0, "high": 100},
    {"name": "who", "kind": "choice", "text": "Who wrote it?", "choices": ["human", "machine"]},
    {"name": "marks", "kind": "spans", "text": "Mark it.", "choices": ["good", "bad"]},
    {"name": "parts", "kind": "aspects", "text": "What?", "choices": ["opening", "plot", "style"],
     "least": 2, "reason": True},
    {"name": "why", "kind": "text", "text": "Why?", "least": 3},
]  # fmt: skip


def answer_all_kinds(page):
    """By keyboard, and one passage by the pointer."""
    page.locator("#q0-0 input").focus()
    page.keyboard.type("250")
    assert "4 of 5" in page.inner_text("#left")
    for key in ("Backspace", "Tab", "2"):
        page.keyboard.press(key)
    # The third sentence, and the one after it; then a part of the first.
    page.locator("#q2-0 [data-sentences]").press("Enter")
    for key in ("ArrowDown", "ArrowDown", "Shift+ArrowDown", "Enter", "b", "Tab"):
        page.keyboard.press(key)
    page.keyboard.type("dull")
    page.evaluate("""() => {
      const text = document.querySelector("[data-text]").firstChild;
      getSelection().setBaseAndExtent(text, 0, text, 5);
    }""")
    page.get_by_role("button", name="good", exact=True).click()
    page.keyboard.type("a name")
    for name in ("style", "opening"):
        page.locator(f".facet[data-choice={name}] input[type=checkbox]").press("Space")
    page.keyboard.press("5")
    page.keyboard.press("3")
    page.keyboard.type("short")
    page.locator(".facet[data-choice=style] textarea").fill("plain")
    page.get_by_label("Why?", exact=True).fill("It ends 😀 well")
    assert "All answered" in page.inner_text("#left")


def test_every_kind_of_question_is_answered_by_keyboard_and_kept_as_answered(
    visit, served, tmp_path, check_accessibility
):
    pictures = tuple(str(save(tmp_path / f"{n}.png")) for n in range(5))
    story = Material(write_stories(1, images=pictures)[0], {"input": ["one", "two"]})
    definition = define(KINDS, show={"pictures": True, "input": True, "prompt": True})
    _, door = open_campaign(served.studio, served.people["dan"], definition, [story])
    page = visit(door, None)
    begin(page)
    assert page.locator(".pictures img").first.evaluate("it => it.naturalWidth") > 0
    assert "one\ntwo" in page.locator(".given").nth(1).inner_text()
    answer_all_kinds(page)
    check_accessibility(page)
    wait_saved(page)
    (identity,) = name_stories(served)
    ((_, answers),) = read_work(served)
    value = {name: answer[identity] for name, answer in answers.items()}
    name_mark, mark = value["marks"]
    assert name_mark == {"start": 0, "stop": 4, "label": "good", "reason": "a name"}
    passage = story.story.text[mark["start"] : mark["stop"]]
    assert passage == "“Who is there?” she asked 😀. Nobody answered; the sea did."
    assert (mark["label"], mark["reason"]) == ("bad", "dull")
    assert value["share"] == 25 and value["who"] == "machine" and value["why"] == "It ends 😀 well"
    rated = {"opening": (5, "short"), "style": (3, "plain")}
    assert {name: (one["rating"], one["reason"]) for name, one in value["parts"].items()} == rated
    # What was marked is found again, and can be taken away.
    page.reload()
    page.wait_for_selector(READY)
    assert page.locator(".story mark.marked").first.inner_text() == "Tale"
    page.get_by_role("button", name="Remove passage 1").click()
    wait_saved(page)
    assert read_work(served)[0][1]["marks"][identity] == [mark]


def test_stories_are_compared_ranked_and_dragged_on_a_phone_too(visit, served, check_accessibility):
    questions = [
        {"name": "ends", "kind": "best_worst", "text": "The best and the worst?"},
        {"name": "order", "kind": "ranking", "text": "Rank them."},
        {"name": "better", "kind": "best", "text": "Which would you read on?", "ties": True},
    ]
    definition = define(questions, unit="group", size=3, within="all", show={"prompt": True})
    stories = write_stories(3)
    _, door = open_campaign(served.studio, served.people["dan"], definition, stories)
    page = visit(door, None, **PHONE)
    begin(page)
    assert wide(page) <= 0 and page.locator(".for-all .given").count() == 1
    shown = page.locator("[data-text]").evaluate_all("all => all.map(({dataset}) => dataset.text)")
    page.get_by_role("link", name="Questions").tap()
    # The best cannot be the worst as well.
    for end, label in (("Best", "Story B"), ("Worst", "Story B"), ("Best", "Story C")):
        page.get_by_role("radiogroup", name=end).get_by_text(label).tap()
    page.get_by_role("button", name="Move Story C up").tap()
    page.get_by_role("button", name="Move Story C up").tap()
    item = page.locator(".ranking li").nth(2).bounding_box()
    page.mouse.move(item["x"] + 60, item["y"] + 10)
    page.mouse.down()
    page.mouse.move(item["x"] + 60, item["y"] - 40, steps=4)
    page.mouse.up()
    page.get_by_text("None is better").tap()
    check_accessibility(page)
    page.get_by_role("button", name="Submit").tap()
    page.wait_for_selector("h1:has-text('Thank you')")
    ((state, answers),) = read_work(served)
    first, second, third = shown
    assert state == "submitted"
    assert answers["ends"] == {"best": third, "worst": second}
    assert answers["order"] == [third, second, first]
    assert answers["better"] == "tie"


def test_what_is_missing_is_named_and_gets_the_focus(visit, served):
    questions = [SCALE, {**SCALE, "name": "care", "title": "Care"}]
    asked = define(questions, checks={"instructed": 2})
    _, door = open_campaign(served.studio, served.people["dan"], asked, write_stories(2))
    page = visit(door, None)
    begin(page)
    page.keyboard.press("3")
    page.keyboard.press("Control+Enter")
    assert page.inner_text("#refusal") == "Not answered yet: Care."
    assert page.evaluate("document.activeElement.closest('fieldset').dataset.question") == "care"
    page.keyboard.press("i")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    sent = []
    page.on("request", lambda request: sent.append(request.url.rpartition("/")[2]))
    page.evaluate("() => [1, 2].map(() => document.forms.questions.requestSubmit())")
    # One task in two says what to answer, and never the first.
    page.wait_for_selector(f"{READY}:has(#instructed)")
    assert page.locator("h1").inner_text() == "Task 2 of 2" and sent.count("submit") == 1
    wanted = find_instructed(asked, rater=1, number=2).value
    assert f"please choose {wanted}" in page.inner_text("#instructed legend")
    for digit in (5, 4, wanted):
        page.keyboard.press(str(digit))
    wait_saved(page)
    page.keyboard.press("p")
    page.wait_for_url("**/pause")
    page.get_by_role("link", name="Go on").click()
    page.wait_for_selector(READY)
    assert page.get_by_label("5 Completely").first.is_checked()
    assert page.locator("#instructed input:checked").input_value() == str(wanted)
    assert read_work(served)[1][1]["_instructed"] == {"asked": wanted, "given": wanted}


def test_answers_given_offline_are_sent_later_and_a_stale_tab_is_told(visit, served):
    _, door = open_campaign(
        served.studio, served.people["dan"], define([SCALE, {**SCALE, "name": "care"}]),
        write_stories(1),
    )  # fmt: skip
    page = visit(door, None)
    begin(page)
    page.context.set_offline(True)
    page.keyboard.press("4")
    page.wait_for_selector("#state:has-text('Offline')")
    page.context.set_offline(False)
    wait_saved(page)
    (identity,) = name_stories(served)
    assert read_work(served)[0][1] == {"flow": {identity: 4}}
    # What the studio took without being heard is nobody else's: it is not asked about.
    page.route("**/tasks/*", lambda route: (route.fetch(), route.abort()), times=1)
    page.get_by_label("3 Somewhat").first.check()
    page.wait_for_selector("#state:has-text('Offline')")
    page.get_by_label("4 Mostly").first.check()
    wait_saved(page)
    assert read_work(served)[0][1] == {"flow": {identity: 4}}
    # A second tab saves; the first is told, keeps what it has, and is asked.
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector(READY)
    other.get_by_label("2 Slightly").last.check()
    wait_saved(other)
    page.get_by_label("5 Completely").last.check()
    page.wait_for_selector("#trouble:has-text('another tab')")
    assert read_work(served)[0][1]["care"] == {identity: 2}
    page.get_by_role("button", name="Keep the answers here").click()
    wait_saved(page)
    assert read_work(served)[0][1] == {"flow": {identity: 4}, "care": {identity: 5}}
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("h1:has-text('Thank you')")
    other.get_by_label("1 Not at all").last.check()
    other.wait_for_selector("#trouble:has-text('submitted already')")
    assert read_work(served) == [("submitted", {"flow": {identity: 4}, "care": {identity: 5}})]


def test_what_was_answered_as_a_tab_closed_is_there_again(visit, served):
    marks = {"name": "marks", "kind": "spans", "text": "Mark it."}
    _, door = open_campaign(
        served.studio, served.people["dan"], define([SCALE, marks]), write_stories(1)
    )
    page = visit(door, None)
    begin(page)
    address = page.url
    page.keyboard.press("4")
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector(READY)
    assert page.get_by_label("4 Mostly").is_checked()
    # Offline it was only in the browser: it is sent by the page that is opened next. Three clicks
    # select a line with what comes after it, and mark the line alone.
    page.context.set_offline(True)
    page.get_by_label("2 Slightly").check()
    page.locator("[data-text]").click(click_count=3, position={"x": 20, "y": 10})
    page.get_by_role("button", name="Mark it").click()
    page.wait_for_selector("#state:has-text('Offline')")
    other = page.context.new_page()
    page.close()
    other.context.set_offline(False)
    other.goto(address)
    wait_saved(other)
    ((_, answers),) = read_work(served)
    ((identity, (mark,)),) = answers["marks"].items()
    assert answers["flow"] == {identity: 2}
    assert (mark["start"], mark["stop"]) == (0, len(write_stories(1)[0].text))


def test_a_story_that_reads_from_right_to_left_is_shown_so(visit, served, check_accessibility):
    definition = define([SCALE], language="ar", direction="rtl")
    _, door = open_campaign(served.studio, served.people["dan"], definition, write_stories(1))
    page = visit(door, None)
    begin(page)
    texts, questions = (page.locator(f"#{name}").bounding_box() for name in ("texts", "questions"))
    assert questions["x"] < texts["x"]
    assert page.locator("[data-text]").evaluate("it => getComputedStyle(it).direction") == "rtl"
    assert page.locator("[data-text]").get_attribute("lang") == "ar"
    check_accessibility(page)
