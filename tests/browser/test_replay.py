"""The film of a draft and the page of its authorship, in a browser."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from fabula.studio.authorship import count_words, replay
from fabula.studio.drafts import open_draft
from fabula.studio.edits import Edit
from fabula.studio.suggestions import ask_suggestion
from fabula.studio.tables import now, suggestions
from fabula.studio.versions import read_log, save_draft

pytestmark = pytest.mark.browser

START = datetime(2026, 5, 1, 9, tzinfo=UTC)
FORD = "The ford rose. We ran on 🌧 until nobody's lamp burnt."


def type_text(text, at, moment, every_s=0.2):
    return [
        Edit(at + number, at + number, letter, made_at=moment + timedelta(seconds=number * every_s))
        for number, letter in enumerate(text)
    ]


@pytest.fixture
def written(served):
    """A draft of two sittings: typed, taken from a suggestion, rewritten, deleted, named."""
    ann, ids = served.people["ann"], served.ids
    draft = open_draft(
        served.studio, ann, game_id=ids["game"], scene_id=ids["scene"], key="film",
        character_id=ids["character"],
    )  # fmt: skip
    asked = ask_suggestion(served.studio, ann, draft.id, key="film").id
    with served.studio.write() as db:
        done = {"status": "done", "generated": FORD, "ended_at": now()}
        db.execute(suggestions.update().where(suggestions.c.id == asked).values(done))

    def save(base, *edits, name=None):
        return save_draft(
            served.studio, ann, draft.id, key=f"k{base}", base_version=base, edits=edits, name=name
        )

    save(0, *type_text("Rain came 🌧.\nIt fell. ", 0, START))
    taken = START + timedelta(seconds=20)
    save(1, Edit(22, 22, FORD, "machine", asked, taken), name="With the ford")
    later = START + timedelta(hours=3)
    save(2, Edit(31, 35, "fell", made_at=later), Edit(0, 4, "", made_at=later))
    save(3, *type_text("Snow", 0, later + timedelta(seconds=5)))
    return draft.id


FRAMES = """async (draft) => {
  const { Film, countWords, layLines } = await import("/static/film.js");
  const answer = await fetch(`/drafts/${draft}/replay/film`);
  const film = new Film(await answer.json());
  const show = (moment) => {
    const pieces = film.seek(moment).filter((piece) => !piece.gone);
    return {
      text: pieces.map((piece) => piece.text).join(""),
      who: pieces.flatMap((p) => Array(p.text.length).fill(film.columns.authors[p.who].join(" "))),
      words: countWords(layLines(film.seek(moment)), film),
      version: film.versions[moment],
      at: film.times[moment],
    };
  };
  const on = [], back = [];
  for (let n = 1; n <= film.length; n += 1) on.push(show(n));
  for (let n = film.length; n > 0; n -= 1) back.push(show(n));
  return [on, back.reverse()];
}"""


def test_every_moment_shows_what_a_replay_of_the_log_gives(served, visit, written):
    page = visit(f"/drafts/{written}/replay")
    on, back = page.evaluate(FRAMES, written)
    frames = list(replay(read_log(served.studio, served.people["ann"], written)))
    assert len(on) == len(frames) == 22 + 1 + 1 + 4
    assert on == back
    for shown, frame in zip(on, frames, strict=True):
        assert shown["text"] == frame.text
        authors = [
            f"{run.origin} {run.suggestion_id or ''}" for run in frame.marks
            for _ in range(run.length)
        ]  # fmt: skip
        units = [len(sign.encode("utf-16-le")) // 2 for sign in frame.text]
        pairs = zip(authors, units, strict=True)
        assert shown["who"] == [author for author, number in pairs for _ in range(number)]
        counts = count_words(frame.text, frame.marks)
        assert shown["words"] == {name: counts[name] for name in ("person", "machine", "edited")}
        assert (shown["version"], shown["at"]) == (frame.version, frame.moment.timestamp() * 1000)


def test_the_film_is_played_stepped_through_and_linked_to(visit, written):
    page = visit(f"/drafts/{written}/replay")
    text, slider = page.locator("#text"), page.get_by_role("slider")
    expect(page.locator("#blank")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(text).to_have_text("R")
    assert page.url.endswith("#t=1")
    expect(page.locator("#said")).to_contain_text("wrote: R")
    # Marks: the first sitting, what was taken over (and named), the second sitting.
    page.keyboard.press("Shift+ArrowRight")
    expect(text.locator(".by-machine")).to_have_text(FORD)
    assert page.locator("#count-machine").inner_text() == "10"
    assert "version 2" in slider.get_attribute("aria-valuetext")
    page.keyboard.press("Shift+ArrowRight")
    expect(text.locator(".by-edited")).to_have_text("fell")
    expect(text.locator("del")).to_have_count(0)
    page.get_by_label("Show what was deleted").check()
    expect(text.locator("del")).to_have_text(["Rain", "rose"])
    page.keyboard.press("End")
    expect(text).to_contain_text("Snow came")
    # Again from the beginning, as fast as it goes, to the end.
    page.get_by_label("Speed").select_option("16")
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.get_by_role("button", name="Play")).to_be_visible(timeout=10_000)
    assert slider.input_value() == slider.get_attribute("max")
    page.get_by_label("Jump to").select_option(label="With the ford")
    moment = slider.input_value()
    page.goto(f"{page.url.partition('#')[0]}#t={moment}")
    page.reload()
    expect(slider).to_have_value(moment)


def test_with_less_motion_the_film_goes_from_version_to_version(visit, written):
    page = visit(f"/drafts/{written}/replay", reduced_motion="reduce")
    expect(page.locator("#blank")).to_be_visible()
    page.get_by_label("Speed").select_option("16")
    page.evaluate("""() => {
      window.seen = [];
      new MutationObserver(() => window.seen.push(document.getElementById("slider").value))
        .observe(document.getElementById("where"), { childList: true });
    }""")
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.get_by_role("button", name="Play")).to_be_visible(timeout=10_000)
    # The first version has 22 moments, the second one, the third one, the last four.
    assert len(set(page.evaluate("window.seen"))) == 4


def test_a_passage_says_who_wrote_it_and_when(visit, written):
    page = visit(f"/drafts/{written}/authorship", timezone_id="UTC", locale="en-GB")
    page.locator(".passage").first.focus()
    expect(page.locator("#note")).to_contain_text("Person: 1 May 2026, 12:00")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#note")).to_contain_text("Person: 1 May 2026, 09:00")
    page.locator(".passage.by-edited").hover()
    expect(page.locator("#note")).to_contain_text("Machine, then edited, suggestion 1")


def test_a_film_that_cannot_be_had_is_said(visit, written, served):
    page = visit("/nothing-here")
    page.route("**/replay/film", lambda route: route.abort())
    page.goto(f"{served.url}/drafts/{written}/replay")
    expect(page.get_by_role("alert")).to_contain_text("The studio does not answer")
