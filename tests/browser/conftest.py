"""A real browser, and pages that tell when something went wrong in them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from fakes.served_studio import ServedStudio

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
OpenPage = Callable[..., "Page"]

# Installed for these tests alone (`make web`): never committed, never shipped.
AXE = Path(__file__).resolve().parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
WIDTHS = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
# All rules by daylight, and those about colours in the dark: nothing else changes with it.
SCHEMES = {"light": None, "dark": ["color-contrast", "link-in-text-block"]}
# Colours that change are waited for: one that is inherited changes a frame later than its parent.
_SETTLE = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  for (let quiet = 0, n = 0; quiet < 2 && n < 120; n += 1) {
    await frame();
    const isChanging = document.getAnimations().some((one) => one instanceof CSSTransition);
    quiet = isChanging ? 0 : quiet + 1;
  }
}"""
_FIND = """(rules) => axe.run({
  resultTypes: ["violations"], ...(rules ? {runOnly: {type: "rule", values: rules}} : {}),
}).then(({violations}) => violations
  .filter(({impact}) => impact === "serious" || impact === "critical")
  .flatMap(({id, impact, help, nodes}) => nodes.map(({target, failureSummary}) =>
    `${impact}, ${id}: ${help}\\n  at ${target.join(" ")}\\n  ` +
    failureSummary.split("\\n").slice(1).join("\\n  "))))"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A page on a busy machine may be late: what fails is tried once more. The end of the run names
    it (RERUN) with what went wrong the first time: it is to be looked into all the same.
    """
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1, reruns_delay=2))


def chromium() -> str | None:
    """Path of the browser to use, if there is one."""
    given = os.environ.get("FABULA_CHROMIUM")
    return given or shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium without a window."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = chromium()
    if path is None:
        pytest.skip("there is no Chromium here: install it, or name one with FABULA_CHROMIUM")
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Opens a file; at the end nothing may have been fetched, logged or thrown."""
    troubles: list[str] = []
    pages: list[Page] = []

    def note_request(request: Any) -> None:
        if not request.url.startswith(("file:", "data:")):
            troubles.append(f"fetched {request.url}")

    def note_message(message: Any) -> None:
        # Chromium says so where a key was quicker than the focus of a dialogue.
        if not message.text.startswith("Autofocus processing was blocked"):
            troubles.append(f"{message.type}: {message.text}")

    def open_file(path: Path, hash: str = "", **options: Any) -> Page:
        page = browser.new_page(**options)
        pages.append(page)
        page.on("request", note_request)
        page.on("console", note_message)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.goto(path.as_uri() + hash)
        return page

    yield open_file
    for page in pages:
        page.close()
    assert troubles == []


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedStudio]:
    """A studio that answers, with Ann, Dan (a researcher) and Eve (an admin) in it."""
    from fakes.served_studio import serve_studio

    with serve_studio(f"sqlite:///{tmp_path / 'studio.sqlite'}") as running:
        yield running


@pytest.fixture
def visit(browser: Browser, served: ServedStudio) -> Iterator[OpenPage]:
    """Opens a page of the studio as somebody (nobody: None); at the end nothing may have been
    fetched from elsewhere, thrown, or refused by the page's own policy."""
    troubles: list[str] = []
    contexts = []

    def note_request(request: Any) -> None:
        if not request.url.startswith((served.url, "data:", "blob:")):
            troubles.append(f"fetched {request.url}")

    def note_message(message: Any) -> None:
        # What the studio refuses is for the test to look at; the browser notes it as an error.
        is_refusal = message.text.startswith("Failed to load resource")
        if message.type in ("error", "warning") and not is_refusal:
            troubles.append(f"{message.type}: {message.text}")

    def open_path(path: str, who: str | None = "ann", **options: Any) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        if who is not None:
            context.add_cookies([served.cookie(who)])
        page = context.new_page()
        page.on("request", note_request)
        page.on("console", note_message)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.goto(served.url + path)
        return page

    yield open_path
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture(scope="session")
def axe_source() -> str:
    """The rules of axe-core, as a script."""
    if not AXE.is_file():
        # Where they have to be looked at, a test that skips would be a hole.
        if os.environ.get("FABULA_AXE") == "required":
            pytest.fail(f"axe-core is not at {AXE}: make web")
        pytest.skip("axe-core is not installed: make web")
    return AXE.read_text(encoding="utf-8")


@pytest.fixture
def find_barriers(axe_source: str) -> Callable[[Page], list[str]]:
    """Lists what is serious or critical about a page as it stands now, by axe-core: in light and
    dark, on a desktop and on a phone."""

    def find(page: Page) -> list[str]:
        # A colour half way to another is nobody's.
        page.emulate_media(reduced_motion="reduce")
        if not page.evaluate("() => 'axe' in window"):
            # By the browser itself, as a debugger would: the page's policy lets no script in.
            page.evaluate(axe_source)
        barriers = []
        for name, size in WIDTHS.items():
            page.set_viewport_size(size)
            for scheme, rules in SCHEMES.items():
                page.emulate_media(color_scheme=scheme)
                page.evaluate(_SETTLE)
                where = f"{page.url} ({name}, {scheme}): "
                barriers += [where + barrier for barrier in page.evaluate(_FIND, rules)]
        return barriers

    return find


@pytest.fixture
def check_accessibility(find_barriers: Callable[[Page], list[str]]) -> Callable[[Page], None]:
    """Fails on barriers, naming each."""

    def check(page: Page) -> None:
        barriers = find_barriers(page)
        assert not barriers, "\n" + "\n".join(barriers)

    return check
