"""Crashes while somebody types: of the studio, of the browser, of both. Nothing may be gone."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from browser.conftest import ARGUMENTS, chromium
from fabula.studio.database import open_studio
from fabula.studio.drafts import open_draft, read_draft
from fabula.studio.migrations import migrate
from fakes.desk import WRITABLE, text_of, wait_for_state, wait_until
from fakes.served_studio import ServedStudio, fill_studio

playwright = pytest.importorskip("playwright.sync_api")

pytestmark = pytest.mark.browser
TYPED = "One two three four five six seven eight nine ten"


class Crashing:
    """A studio in a process of its own, always at the same address, that can be killed."""

    def __init__(self, folder: Path) -> None:
        self.database = f"sqlite:///{folder / 'studio.sqlite'}"
        self.environment = os.environ | {"FABULA_HOME": str(folder / "home")}
        self.process: subprocess.Popen[bytes] | None = None
        studio = open_studio(self.database)
        migrate(studio)
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        self.served = ServedStudio(f"http://127.0.0.1:{port}", studio)
        fill_studio(self.served)
        ids = self.served.ids
        self.draft = open_draft(
            studio, self.served.people["ann"], game_id=ids["game"], scene_id=ids["scene"],
            key="d", character_id=ids["character"],
        )  # fmt: skip

    @property
    def page(self) -> str:
        return f"{self.served.url}/drafts/{self.draft.id}"

    @property
    def text(self) -> str:
        return read_draft(self.served.studio, self.served.people["ann"], self.draft.id).text

    def start(self) -> None:
        port = self.served.url.rpartition(":")[2]
        words = ["serve", "--no-worker", "--port", port, "--database", self.database]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fabula", *words],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(f"{self.served.url}/healthz", timeout=5).close()
                return
            except (urllib.error.URLError, ConnectionError):
                assert self.process.poll() is None and time.monotonic() < until
                time.sleep(0.1)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@pytest.fixture
def crashing(tmp_path: Path) -> Iterator[Crashing]:
    running = Crashing(tmp_path)
    running.start()
    yield running
    running.kill()
    running.served.studio.close()


def test_a_studio_that_is_killed_while_one_types_loses_nothing(browser, crashing):
    context = browser.new_context()
    context.add_cookies([crashing.served.cookie("ann")])
    page = context.new_page()
    page.goto(crashing.page)
    page.locator(WRITABLE).focus()
    page.keyboard.type("Before it fell ", delay=30)
    crashing.kill()
    page.keyboard.type("we wrote on, ", delay=30)
    wait_for_state(page, "offline")
    crashing.start()
    page.evaluate("dispatchEvent(new Event('online'))")
    wait_for_state(page, "saved")
    assert crashing.text == "Before it fell we wrote on, "
    # Again, and this time the page is loaded anew before the studio has heard of it.
    crashing.kill()
    page.keyboard.type("and on", delay=30)
    page.wait_for_timeout(250)
    page.goto("about:blank")
    crashing.start()
    page.goto(crashing.page)
    notice = page.locator("[data-notice=recovered]")
    playwright.expect(notice).to_contain_text("that had not been sent are in again")
    whole = "Before it fell we wrote on, and on"
    assert text_of(page) == whole
    wait_until(lambda: crashing.text == whole)
    page.keyboard.press("Control+z")
    assert len(text_of(page)) < len(whole)
    context.close()


@contextmanager
def launch(running: Any, folder: Path, cookie: dict[str, str]) -> Iterator[tuple[Any, Any]]:
    """A Chromium with a profile of its own: its process, and a page in it."""
    path = chromium()
    if path is None:
        pytest.skip("there is no Chromium here")
    port_file = folder / "DevToolsActivePort"
    port_file.unlink(missing_ok=True)
    process = subprocess.Popen(
        [path, *ARGUMENTS, "--headless=new", f"--user-data-dir={folder}",
         "--remote-debugging-port=0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_until(lambda: port_file.exists() and port_file.read_text().count("\n"))
        port = port_file.read_text().splitlines()[0]
        found = running.connect_over_cdp(f"http://127.0.0.1:{port}")
        context = found.contexts[0]
        context.add_cookies([cookie])
        yield process, context.new_page()
    finally:
        process.kill()
        process.wait()


def test_a_browser_that_is_killed_while_one_types_loses_at_most_its_last_moment(
    browser, crashing, tmp_path
):
    cookie = crashing.served.cookie("ann")
    profile = tmp_path / "profile"
    with launch(browser.browser_type, profile, cookie) as (process, page):
        page.goto(crashing.page)
        page.locator(WRITABLE).focus()
        # Only the browser itself has it: the studio is gone before a word is typed.
        crashing.kill()
        begun = time.monotonic()
        page.keyboard.type(TYPED, delay=40)
        typed_s = time.monotonic() - begun
        process.kill()
        process.wait()
    crashing.start()
    with launch(browser.browser_type, profile, cookie) as (_, page):
        page.goto(crashing.page)
        page.locator(WRITABLE).wait_for()
        text = text_of(page)
        gone = len(TYPED) - len(text)
        print(f"\n{gone} characters of {typed_s:.1f} s of typing are gone")
        assert TYPED.startswith(text)
        assert gone * typed_s / len(TYPED) <= 2
        wait_until(lambda: crashing.text == text)
