"""The desk of a page in a browser: where it is, what it holds, and waiting for it.

A page's policy lets nothing be evaluated in it, so waiting is asking again and again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

TEXT = ".desk-text"
WRITABLE = f"{TEXT}[aria-readonly=false]"
DESK = f"document.querySelector('{TEXT}').desk"


def text_of(page: Page) -> str:
    """What stands on the desk."""
    return str(page.evaluate(f"{DESK}.text()"))


def kind_of(page: Page) -> str:
    """How it is with saving."""
    return str(page.evaluate(f"{DESK}.state.kind"))


def wait_until(
    happened: Callable[[], Any], timeout_s: float = 20.0, page: Page | None = None
) -> None:
    """Wait; what a page thinks that is given is told when it does not happen."""
    until = time.monotonic() + timeout_s
    while not happened():
        now = page and page.evaluate(f"[{DESK}.state, {DESK}.text()]")
        assert time.monotonic() < until, f"it did not happen: {now}"
        time.sleep(0.05)


def wait_for_state(page: Page, kind: str) -> None:
    """Wait until saving is at this."""
    wait_until(lambda: kind_of(page) == kind, page=page)


def wait_for_text(page: Page, text: str) -> None:
    """Wait until this stands on the desk."""
    wait_until(lambda: text_of(page) == text, page=page)


def paste(page: Page, plain: str, html: str = "") -> None:
    """Paste into the desk what a clipboard holds."""
    page.evaluate(
        """([plain, html]) => {
          const data = new DataTransfer();
          data.setData("text/plain", plain);
          if (html) data.setData("text/html", html);
          document.querySelector(".desk-text").dispatchEvent(
            new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
        }""",
        [plain, html],
    )


def put_cursor(page: Page, start: int, stop: int | None = None) -> None:
    """Put the cursor between characters of a text of one paragraph, or select some of them; by the
    editor itself, for a busy machine may be late to hear of the arrow keys."""
    page.evaluate(
        """([start, stop]) => {
          const { view } = document.querySelector(".desk-text").desk;
          const { doc, tr, selection } = view.state;
          const ends = [doc.resolve(start + 1), doc.resolve(stop + 1)];
          view.dispatch(tr.setSelection(selection.constructor.between(...ends)));
          view.focus();
        }""",
        [start, start if stop is None else stop],
    )
