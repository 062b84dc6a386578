"""Who wrote it, as one sees it on the desk; and a suggestion that is not yet in the text."""

from __future__ import annotations

import json

import pytest

from fabula.studio.authorship import forget_edits
from fabula.studio.versions import read_log
from fakes.desk import DESK, WRITABLE, paste, put_cursor, text_of, wait_for_state, wait_until
from fakes.studio_writing import put_suggestion

pytestmark = pytest.mark.browser
GENERATED = " The ford rose. It fell again before dawn."
SHOWN = """[...document.querySelectorAll('.desk-text [data-suggestion]')]
  .map(it => [it.className, it.textContent, it.dataset.stands])"""


@pytest.fixture
def suggestion(served, draft):
    return put_suggestion(served.studio, draft, GENERATED)


def insert(page, offset: int, text: str, suggestion: str) -> None:
    page.evaluate(f"{DESK}.insertMachine({offset}, {json.dumps(text)}, '{suggestion}')")


def origins(draft) -> list[tuple[int, str]]:
    return [(run.length, run.origin) for run in forget_edits(draft.marks)]


def test_a_machines_words_are_marked_and_fade_as_they_are_rewritten(
    write, read, served, draft, suggestion
):
    page = write()
    page.keyboard.type("Rain.")
    insert(page, 5, GENERATED, suggestion)
    assert page.evaluate(SHOWN) == [["by-machine", GENERATED, "5"]]
    # At its end one writes one's own words, inside it one rewrites it.
    page.keyboard.type(" I ran.")
    put_cursor(page, len("Rain. The "), len("Rain. The ford"))
    page.keyboard.type("shallow old river")
    text = "Rain. The shallow old river rose. It fell again before dawn. I ran."
    assert text_of(page) == text
    expected = [(5, "person"), (5, "machine"), (17, "edited"), (33, "machine"), (7, "person")]
    shown = page.evaluate(SHOWN)
    assert [(kind, words) for kind, words, _ in shown] == [
        ("by-machine", " The "),
        ("by-edited", "shallow old river"),
        ("by-machine", " rose. It fell again before dawn."),
    ]
    assert {strength for _, _, strength in shown} == {"4"}
    wait_until(lambda: read().text == text, page=page)
    assert origins(read()) == expected
    assert page.evaluate(f"{DESK}.log.runs.map(run => [run.length, run.origin])") == [
        list(run) for run in expected
    ]
    rows = read_log(served.studio, served.people["ann"], draft.id)
    assert [(row.inserted, row.source) for row in rows if row.source == "machine"] == [
        (GENERATED, "machine")
    ]


def test_a_suggestion_is_undone_at_once_and_comes_back_as_the_machines(write, read, suggestion):
    page = write()
    page.keyboard.type("Rain.")
    insert(page, 5, GENERATED, suggestion)
    page.keyboard.type(" I")
    wait_for_state(page, "saved")
    page.reload()
    page.locator(WRITABLE).focus()
    page.keyboard.press("Control+z")
    assert text_of(page) == "Rain." + GENERATED
    page.keyboard.press("Control+z")
    assert text_of(page) == "Rain."
    wait_until(lambda: read().text == "Rain.", page=page)
    page.keyboard.press("Control+y")
    wait_until(lambda: read().text == "Rain." + GENERATED, page=page)
    assert origins(read()) == [(5, "person"), (len(GENERATED), "machine")]
    # Two words of it are deleted and put back: still the machine's.
    page.keyboard.press("Control+End")
    page.keyboard.press("Control+Backspace")
    page.keyboard.press("Control+Backspace")
    wait_until(lambda: not read().text.endswith("dawn."), page=page)
    while text_of(page) != "Rain." + GENERATED:
        page.keyboard.press("Control+z")
    wait_until(lambda: read().text == "Rain." + GENERATED, page=page)
    assert origins(read()) == [(5, "person"), (len(GENERATED), "machine")]


def test_what_is_pasted_out_of_a_suggestion_is_marked_when_the_studio_says_so(
    write, read, suggestion
):
    page = write()
    page.keyboard.type("Rain. ")
    paste(page, "It fell again before dawn.")
    page.keyboard.type(" X")
    cursor = page.evaluate(f"{DESK}.cursor()")
    wait_until(lambda: page.evaluate(SHOWN) != [], page=page)
    assert page.evaluate(SHOWN) == [["by-machine", "It fell again before dawn.", "5"]]
    assert page.evaluate(f"{DESK}.cursor()") == cursor
    wait_for_state(page, "saved")
    assert origins(read()) == [(6, "person"), (26, "machine"), (2, "person")]
    page.keyboard.press("Control+z")
    assert text_of(page) == "Rain. It fell again before dawn."


def test_a_ghost_moves_with_the_text_and_is_no_part_of_it(write, read):
    page = write()
    page.keyboard.type("One. Two.")
    page.evaluate(f"{DESK}.showGhost(4, ' Between', {{status: 'executing'}})")
    page.evaluate(f"{DESK}.showGhost(4, ' Between them', {{status: 'executing'}})")
    ghost = page.locator(".desk-text .ghost")
    assert ghost.text_content() == " Between them"
    put_cursor(page, 0)
    page.keyboard.type("No 😀. ")
    assert page.evaluate(f"[{DESK}.ghostOffset(), {DESK}.length()]") == [10, 15]
    assert page.locator(".desk-text p").inner_text().startswith("No 😀. One. Between them")
    wait_until(lambda: read().text == "No 😀. One. Two.", page=page)
    page.evaluate(f"{DESK}.hideGhost()")
    assert ghost.count() == 0 and text_of(page) == "No 😀. One. Two."


# Chance writes, deletes, pastes, takes suggestions over, undoes and does again.
SCRIBBLE = """([seed, suggestion, generated]) => {
  const desk = document.querySelector(".desk-text").desk;
  const next = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const below = (most) => Math.floor(next() * most);
  const words = ["ford", " ", ". ", "😀", "a", "é", "It fell again before dawn", "\\n"];
  const Near = desk.view.state.selection.constructor;
  for (let turn = 0; turn < 40; turn += 1) {
    const { state } = desk.view;
    const size = state.doc.content.size;
    const from = below(size + 1);
    const to = Math.min(size, from + below(6));
    const $ends = [state.doc.resolve(from), state.doc.resolve(to)];
    const choice = below(8);
    if (choice < 3) {
      const typing = state.tr.setSelection(Near.between(...$ends));
      const text = words[below(words.length)];
      for (const part of text.split("\\n")) {
        typing.insertText(part);
        if (text === "\\n") { typing.split(typing.selection.from); break; }
      }
      desk.view.dispatch(typing);
    } else if (choice === 3) {
      const selecting = state.tr.setSelection(Near.between(...$ends));
      desk.view.dispatch(selecting.deleteSelection());
    } else if (choice === 4) {
      const start = below(generated.length - 4);
      const part = generated.slice(start, start + 4 + below(20));
      desk.insertMachine(below(desk.length() + 1), part, suggestion);
    } else if (choice < 7) desk.undo();
    else desk.redo();
  }
}"""


def test_whatever_is_done_the_studio_has_the_same_text_by_the_same_authors(write, read, suggestion):
    page = write()
    for seed in range(12):
        page.evaluate(SCRIBBLE, [seed, suggestion, GENERATED])
        version = page.evaluate(f"{DESK}.flush()")
        saved = read()
        assert (saved.version, saved.text) == (version, text_of(page)), seed
        runs = page.evaluate(f"{DESK}.log.runs.map(run => [run.length, run.origin])")
        assert [tuple(run) for run in runs] == origins(saved), seed
        # What is marked in the document is what the log says, character by character.
        marked = "".join(text for _, text, _ in page.evaluate(SHOWN))
        at, expected = 0, ""
        for length, origin in origins(saved):
            expected += saved.text[at : at + length] if origin != "person" else ""
            at += length
        assert marked == expected.replace("\n", ""), seed
