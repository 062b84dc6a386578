"""How long a letter takes from the key to the screen, in the editor, in Chromium, on 127.0.0.1.

    python benchmarks/editor_typing.py                       # drafts of 0, 5,000, 50,000 characters
    python benchmarks/editor_typing.py --keys 200 --entries 10000

The draft lies in a game of 10,000 entries. `fabula serve` answers, autosave is on, and keys are
pressed by the browser's own input (not by events that a script makes) with the pauses of somebody
who types quickly, in the middle of the text, in a run of letters and blanks.

Two measures of each key, both taken in the page:

- **Event Timing** (`PerformanceObserver`, type `event`): what the browser itself says of a
  `keydown`: from the time stamp that the operating system's input has, through all listeners, to
  the end of the next paint. The standard rounds it to 8 ms, and names no event under 16 ms; such
  count as 16. It is the measure behind Interaction to Next Paint.
- **frame**: from the event's time stamp to a task that was posted from `requestAnimationFrame`, the
  first that can run after the frame with the letter was painted. It is not rounded, and includes
  the wait for the next frame: of 60 a second up to 17 ms are that wait.

The bar: the medians of both are at most 30 ms with every draft; the exit status says so. Run it on
a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert
from studio_setup import FABULA, Program, find_port, set_environment, wait_for_server

from fabula.studio.database import Studio, open_studio
from fabula.studio.drafts import open_draft
from fabula.studio.edits import Edit
from fabula.studio.games import create_game
from fabula.studio.machines import add_machine
from fabula.studio.migrations import migrate
from fabula.studio.people import Person, create_person
from fabula.studio.scenes import add_character, add_scene
from fabula.studio.sign_in import sign_in
from fabula.studio.tables import entries, new_id
from fabula.studio.versions import save_draft

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MOST_MS = 30.0
SIZES = (0, 5_000, 50_000)
PASSWORD = "a lantern under the stairs"
WORDS = (
    "the harbour lay under fog when she came down with a lamp nobody had lit for three nights and "
    "boats knew it below sea went on its slow work against wall dog barked twice then thought"
).split()
# Pauses between keys, in milliseconds: about 90 words a minute.
PAUSES = (60, 180)
WARM_UP = 20
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
MEASURE = """() => {
  window.frames_ms = [];
  window.events_ms = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (entry.name === "keydown") window.events_ms.push(entry.duration);
    }
  }).observe({ type: "event", durationThreshold: 16 });
  document.addEventListener("keydown", (event) => {
    const { timeStamp } = event;
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => window.frames_ms.push(performance.now() - timeStamp);
      channel.port2.postMessage(null);
    });
  }, { capture: true });
}"""


@dataclass(frozen=True)
class Typing:
    """What keys took with a draft of a size."""

    characters: int
    frames_ms: list[float]
    events_ms: list[float]

    @property
    def medians_ms(self) -> tuple[float, float]:
        """The medians from key to frame, and of what the browser says of its events."""
        return statistics.median(self.frames_ms), statistics.median(self.events_ms)

    def describe(self) -> str:
        """One line of the table."""
        p95 = statistics.quantiles(self.frames_ms, n=20)[-1]
        frame, event = self.medians_ms
        number = len(self.frames_ms)
        return f"{self.characters:>10,}  {number:>5}  {frame:>7.1f}  {p95:>8.1f}  {event:>6.0f}"


def write_text(characters: int) -> str:
    """A text of paragraphs, of so many characters."""
    draw, text = random.Random(1), ""
    while len(text) < characters:
        text += " ".join(draw.choices(WORDS, k=12)).capitalize() + "."
        text += "\n" if draw.random() < 0.15 else " "
    return text[:characters]


def fill_studio(studio: Studio, number: int) -> tuple[Person, dict[int, str]]:
    """A game with so many entries, and a draft of every size in it; whose, and which."""
    migrate(studio)
    add_machine(studio, None, name="lorem", spec="lorem")
    ann = create_person(studio, None, name="ann", password=PASSWORD)
    game = create_game(studio, ann, key="game", title="The long game")
    scene = add_scene(studio, ann, game.id, key="scene", title="The harbour")
    hero = add_character(studio, ann, game.id, key="hero", name="Ida", player_id=ann.id)
    place = {"game_id": game.id, "scene_id": scene.id, "character_id": hero.id}
    text = write_text(800)
    rows = [
        {"id": new_id(), **place, "author_id": ann.id, "seq_id": seq_id, "format": "move",
         "text": text, "extra": {}}
        for seq_id in range(1, number + 1)
    ]  # fmt: skip
    with studio.write() as db:
        for start in range(0, number, 1000):
            db.execute(insert(entries), rows[start : start + 1000])
    drafts = {}
    for size in SIZES:
        draft = open_draft(studio, ann, key=str(size), **place)
        if size:
            edits = [Edit(0, 0, write_text(size))]
            save_draft(studio, ann, draft.id, key="1", base_version=0, edits=edits)
        drafts[size] = draft.id
    return ann, drafts


def type_letters(page: Page, keys: int) -> None:
    """Press keys as somebody who writes does."""
    draw = random.Random(2)
    letters = " ".join(draw.choices(WORDS, k=keys))[:keys]
    for letter in letters:
        page.keyboard.press("Space" if letter == " " else letter)
        page.wait_for_timeout(draw.uniform(*PAUSES))


def measure_typing(page: Page, characters: int, keys: int) -> Typing:
    """Type into the editor that a page shows, in the middle of its text."""
    desk = page.locator("#desk [contenteditable=true]")
    desk.wait_for()
    paragraphs = desk.locator("p")
    paragraphs.nth(paragraphs.count() // 2).click()
    page.keyboard.press("End")
    type_letters(page, WARM_UP)
    page.evaluate(MEASURE)
    type_letters(page, keys)
    page.wait_for_timeout(500)
    frames: list[float] = page.evaluate("window.frames_ms")
    if len(frames) != keys:
        sys.exit(f"{keys} keys were pressed, and {len(frames)} were seen by the page")
    # Those that the browser does not name took less than its threshold.
    named: list[float] = page.evaluate("window.events_ms")
    return Typing(characters, frames, named + [16.0] * max(0, keys - len(named)))


def open_draft_page(browser: Browser, address: str, cookie: dict[str, Any]) -> Page:
    """Open the editor as Ann."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.add_cookies([cookie])  # type: ignore[list-item]
    page = context.new_page()
    page.goto(address)
    return page


def run(entries_number: int, keys: int, folder: Path) -> list[Typing]:
    """Serve, open, type and measure."""
    from playwright.sync_api import sync_playwright

    url = f"sqlite:///{folder / 'studio.sqlite'}"
    studio = open_studio(url)
    _, drafts = fill_studio(studio, entries_number)
    secret = sign_in(studio, "ann", PASSWORD).secret
    port = find_port()
    words = (*FABULA, "serve", "--port", str(port))
    server = Program(words, set_environment(url, folder), folder / "serve.log")
    server.start()
    typed = []
    try:
        wait_for_server(server, port)
        home = f"http://127.0.0.1:{port}"
        cookie = {"name": "fabula-session", "value": secret, "url": home}
        path = os.environ.get("FABULA_CHROMIUM") or shutil.which("chromium")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
            for size, draft_id in drafts.items():
                page = open_draft_page(browser, f"{home}/drafts/{draft_id}", cookie)
                typed.append(measure_typing(page, size, keys))
                print(typed[-1].describe(), flush=True)
                page.context.close()
            browser.close()
    finally:
        server.end()
        studio.close()
    return typed


def main() -> None:
    """Measure, print, and say whether the bar is met."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--entries", type=int, default=10_000, help="entries of the game")
    parser.add_argument("--keys", type=int, default=120, help="keys that are measured, each draft")
    options = parser.parse_args()
    print(f"a game of {options.entries:,} entries; milliseconds from key to paint")
    print("characters   keys   median      95 %   event")
    with tempfile.TemporaryDirectory() as folder:
        typed = run(options.entries, options.keys, Path(folder))
    slow = [one for one in typed if max(one.medians_ms) > MOST_MS]
    print(f"the bar is a median of {MOST_MS:.0f} ms: {'missed' if slow else 'met'}")
    sys.exit(1 if slow else 0)


if __name__ == "__main__":
    main()
