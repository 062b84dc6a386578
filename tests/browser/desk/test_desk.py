"""The desk in a real browser: what is typed is saved, and nothing that happens loses it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from fabula.studio.drafts import discard_draft
from fabula.studio.edits import Edit
from fabula.studio.sign_in import sign_out
from fabula.studio.versions import read_log
from fakes.desk import (
    DESK,
    TEXT,
    WRITABLE,
    paste,
    text_of,
    wait_for_state,
    wait_for_text,
    wait_until,
)

expect = pytest.importorskip("playwright.sync_api").expect

pytestmark = pytest.mark.browser


def test_what_is_typed_is_saved_within_two_seconds_word_by_word(write, read, served, draft):
    page = write()
    box = page.get_by_role("textbox", name="Your text")
    assert box.get_attribute("aria-multiline") == "true"
    assert box.get_attribute("spellcheck") == "true"
    page.keyboard.type("The ford 😀 rose.")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.type("It fell")
    page.keyboard.press("Backspace")
    text = "The ford 😀 rose.\n\nIt fel"
    assert page.evaluate(f"{DESK}.state.kind") in ("unsaved", "saving")
    wait_until(lambda: read().text == text, 6)
    wait_for_state(page, "saved")
    assert page.evaluate(f"[{DESK}.length(), {DESK}.cursor(), {DESK}.words()]") == [
        len(text), len(text), 5,
    ]  # fmt: skip
    rows = read_log(served.studio, served.people["ann"], draft.id)
    assert [row.inserted for row in rows] == [
        "The ", "ford ", "😀 ", "rose.\n\n", "It ", "fell", "",
    ]  # fmt: skip
    assert rows[-1].removed == "l"
    # However long the typing took: from the key to the studio.
    assert max(row.saved_at - row.made_at for row in rows) < timedelta(seconds=2)


def test_pasted_text_is_plain_and_clean_and_undone_at_once(write, read):
    page = write()
    page.keyboard.type("Before. ")
    paste(page, "One\r\nTwo\0 three\n\nFour", "<h1>One</h1><img src=x onerror='window.bad=1'>")
    text = "Before. One\nTwo three\n\nFour"
    assert text_of(page) == text
    wait_until(lambda: read().text == text, page=page)
    assert page.evaluate("window.bad") is None
    page.keyboard.press("Control+z")
    assert text_of(page) == "Before. "
    wait_until(lambda: read().text == "Before. ", page=page)


def test_a_composition_is_one_edit_without_a_lost_or_doubled_character(write, read, served, draft):
    page = write()
    page.keyboard.type("a ")
    ime = page.context.new_cdp_session(page)
    for text in ("に", "にほ", "にほん", "日本"):
        ime.send(
            "Input.imeSetComposition",
            {"text": text, "selectionStart": len(text), "selectionEnd": len(text)},
        )
        page.wait_for_timeout(30)
    ime.send("Input.insertText", {"text": "日本"})
    page.wait_for_timeout(100)
    page.keyboard.type(" b")
    assert text_of(page) == "a 日本 b"
    wait_until(lambda: read().text == "a 日本 b", page=page)
    rows = read_log(served.studio, served.people["ann"], draft.id)
    assert [row.inserted for row in rows] == ["a ", "日本 ", "b"]


def test_a_page_that_was_made_before_the_last_saving_catches_up(write, read, save):
    """The one that was left sends its last words when the next is on its way already."""
    save(Edit(0, 0, "Early. "))
    page = write()
    made = page.request.get(page.url).text()
    save(Edit(7, 7, "Late."))
    page.route(page.url, lambda route: route.fulfill(body=made, content_type="text/html"))
    page.reload()
    wait_for_text(page, "Early. Late.")
    page.locator(WRITABLE).focus()
    page.keyboard.press("Control+End")
    page.keyboard.type(" Now.")
    wait_until(lambda: read().text == "Early. Late. Now.", page=page)


def test_a_page_that_was_made_before_what_the_last_one_sent_catches_up(write, read, save):
    """The page that was left had one saving answered and another on its way."""
    save(Edit(0, 0, "Early. "))
    page = write()
    made = page.request.get(page.url).text()
    page.keyboard.press("Control+End")
    page.keyboard.type("Late. ")
    wait_until(lambda: read().text == "Early. Late. ", page=page)
    page.route(page.url, lambda route: route.fulfill(body=made, content_type="text/html"))
    page.keyboard.type("Last.")
    page.reload()
    wait_for_text(page, "Early. Late. Last.")
    wait_until(lambda: read().text == "Early. Late. Last.", page=page)


def test_undo_goes_back_through_what_was_done_before_a_reload(write, read, save):
    noon = datetime(2026, 1, 5, 12, tzinfo=UTC)
    save(Edit(0, 0, "The ford rose. ", made_at=noon))
    later = noon + timedelta(seconds=9)
    save(Edit(15, 15, "It fell. ", made_at=later), Edit(4, 8, "beck", made_at=later))
    page = write()
    page.keyboard.press("Control+End")
    page.keyboard.type("Now.")
    wait_for_state(page, "saved")
    page.reload()
    page.locator(WRITABLE).focus()
    texts = []
    for _ in range(5):
        page.keyboard.press("Control+z")
        texts.append(text_of(page))
    assert texts == [
        "The beck rose. It fell. ",
        "The ford rose. It fell. ",
        "The ford rose. ",
        "",
        "",
    ]
    page.keyboard.press("Control+Shift+z")
    wait_until(lambda: read().text == "The ford rose. ", page=page)


def test_offline_edits_are_kept_and_sent_later_with_their_time(write, read, served, draft):
    page = write()
    page.keyboard.type("Here. ")
    wait_for_state(page, "saved")
    page.context.set_offline(True)
    page.keyboard.type("Away.")
    wait_for_state(page, "offline")
    made = page.evaluate(f"{DESK}.saver.unsent[0].made_at")
    page.wait_for_timeout(300)
    page.context.set_offline(False)
    wait_for_state(page, "saved")
    assert read().text == "Here. Away."
    row = read_log(served.studio, served.people["ann"], draft.id)[-1]
    assert row.made_at.isoformat().startswith(made[:-1])
    assert row.saved_at > row.made_at


def test_what_was_not_sent_is_in_again_after_a_reload_and_the_page_says_so(write, read):
    page = write()
    page.keyboard.type("Sent. ")
    wait_for_state(page, "saved")
    # The studio takes nothing more, but its pages can be opened.
    page.route("**/api/v1/drafts/*/save", lambda route: route.abort())
    page.keyboard.type("Not sent.")
    page.wait_for_timeout(300)
    page.reload()
    notice = page.locator("[data-notice=recovered]")
    expect(notice).to_contain_text("2 changes from")
    expect(notice).to_contain_text("that had not been sent are in again")
    assert text_of(page) == "Sent. Not sent."
    page.unroute("**/api/v1/drafts/*/save")
    page.evaluate("dispatchEvent(new Event('online'))")
    wait_until(lambda: read().text == "Sent. Not sent.", page=page)
    wait_for_state(page, "saved")
    page.reload()
    page.locator(WRITABLE).wait_for()
    assert notice.count() == 0


def test_two_tabs_do_not_overwrite_each_other(write, read, served, draft):
    first = write()
    first.keyboard.type("One. ")
    wait_for_state(first, "saved")
    second = first.context.new_page()
    second.goto(f"{served.url}/drafts/{draft.id}")
    wait_for_state(second, "elsewhere")
    assert second.locator(TEXT).get_attribute("contenteditable") == "false"
    # Nothing but the keys of the one that writes changes the text: no suggestion, no undo.
    second.evaluate(f"{DESK}.insertMachine(0, 'Not here. ', 'some'), {DESK}.undo()")
    assert text_of(second) == "One. "
    first.bring_to_front()
    first.locator(WRITABLE).focus()
    first.keyboard.type("Two. ")
    wait_for_text(second, "One. Two. ")
    # What the first has not yet sent comes along when the second writes on.
    first.keyboard.type("Three. ")
    second.bring_to_front()
    second.get_by_role("button", name="Write here").click()
    second.locator(WRITABLE).wait_for()
    assert text_of(second) == "One. Two. Three. "
    second.keyboard.press("Control+End")
    second.keyboard.type("Four.")
    wait_until(lambda: read().text == "One. Two. Three. Four.", page=second)
    wait_for_text(first, "One. Two. Three. Four.")
    assert first.evaluate(f"{DESK}.state.kind") == "elsewhere"
    # When the one that writes is closed, the other may.
    second.close()
    first.locator(WRITABLE).wait_for()


def test_another_device_and_this_one_are_brought_together(write, read, save):
    save(Edit(0, 0, "The ford rose. It fell. I ran."))
    page = write()
    page.keyboard.press("Control+End")
    save(Edit(4, 8, "beck"))
    page.keyboard.type(" Home.")
    both = "The beck rose. It fell. I ran. Home."
    wait_until(lambda: read().text == both, page=page)
    wait_for_state(page, "saved")
    assert text_of(page) == both
    # What came from elsewhere is not undone here.
    page.keyboard.press("Control+z")
    assert text_of(page) == "The beck rose. It fell. I ran."


@pytest.mark.parametrize(
    ("button", "text"),
    [
        ("Keep mine", "Rain. Mine"),
        ("Take theirs", "Rain. Theirs"),
        ("Both, one below the other", "Rain. Theirs\nMine"),
    ],
)
def test_changes_of_the_same_place_are_to_be_chosen_from(write, read, save, button, text):
    save(Edit(0, 0, "Rain. "))
    page = write()
    page.keyboard.press("Control+End")
    save(Edit(6, 6, "Theirs"))
    page.keyboard.type("Mine")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Rain. Mine")
    expect(dialog).to_contain_text("Rain. Theirs")
    expect(dialog.locator("mark")).to_have_text(["Mine", "Theirs"])
    dialog.get_by_role("button", name=button).click()
    wait_until(lambda: read().text == text == text_of(page), page=page)
    lost = page.locator("[data-notice=lost]")
    if button.startswith("Both"):
        assert lost.count() == 0
        return
    page.reload()
    lost.get_by_role("button").click()
    other = "Rain. Theirs" if "mine" in button else "Rain. Mine"
    expect(page.get_by_role("dialog")).to_contain_text(other)
    page.get_by_role("button", name="Remove for good").click()
    expect(lost).to_have_count(0)


def test_who_is_signed_out_goes_on_in_the_next_session(write, read, served):
    page = write()
    page.keyboard.type("In. ")
    wait_for_state(page, "saved")
    cookie = page.context.cookies()[0]["value"]
    sign_out(served.studio, cookie)
    page.keyboard.type("Out.")
    wait_for_state(page, "signed-out")
    page.context.add_cookies([served.cookie("ann")])
    wait_for_state(page, "saved")
    assert read().text == "In. Out."


def test_a_draft_that_was_put_away_elsewhere_is_closed_and_loses_nothing(write, served, draft):
    page = write()
    page.keyboard.type("Kept. ")
    wait_for_state(page, "saved")
    discard_draft(served.studio, served.people["ann"], draft.id)
    page.keyboard.type("Late.")
    wait_for_state(page, "closed")
    assert page.locator(TEXT).get_attribute("contenteditable") == "false"
    lost = page.locator("[data-notice=lost]")
    expect(lost).to_be_visible()
    # On the page where it is only read it is there too, and for nobody else who signs in here.
    page.reload()
    lost.get_by_role("button").click()
    expect(page.locator("dialog[open]")).to_contain_text("Kept. Late.")
    page.context.add_cookies([served.cookie("dan")])
    page.reload()
    expect(page.locator("#read")).to_have_text("Kept.")
    page.wait_for_timeout(300)
    assert lost.count() == 0
