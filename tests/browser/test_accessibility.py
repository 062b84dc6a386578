"""Every page of the studio, in light and dark, on a desktop and on a phone: nothing that axe-core
calls serious or critical."""

from __future__ import annotations

import pytest

from fakes.served_studio import fill_writing

pytestmark = pytest.mark.browser

# Who looks, and at what; {names} are those of the studio's ids.
PAGES = (
    (None, "/"),
    (None, "/sign-in"),
    (None, "/sign-up"),
    ("ann", "/nothing-here"),
    ("ann", "/"),
    ("ann", "/?archived=true"),
    ("ann", "/games/{game}"),
    ("ann", "/games/{game}/characters"),
    ("ann", "/games/{game}/cards"),
    ("ann", "/games/{game}/settings"),
    ("ann", "/games/{game}/authorship"),
    ("ann", "/drafts/{draft}"),
    ("ann", "/drafts/{published}"),
    ("ann", "/drafts/{draft}/replay#t=2"),
    ("ann", "/drafts/{draft}/authorship"),
    ("ann", "/drafts/{blank}/replay"),
    ("ann", "/review"),
    ("ann", "/api/docs"),
    ("dan", "/dashboard/"),
    ("eve", "/"),
    ("eve", "/account"),
    ("eve", "/people"),
    ("eve", "/machines"),
    ("dan", "/dashboard/?machine=nobody"),
    ("ann", "/dashboard/"),
)


@pytest.fixture
def busy(served):
    """The studio with a draft of two authors, an entry that was published, and a blank draft."""
    fill_writing(served)
    return served


def test_no_page_has_a_serious_barrier(busy, visit, find_barriers):
    barriers, pages = [], {}
    for who, path in PAGES:
        if who not in pages:
            pages[who] = visit("/nothing-here", who)
        pages[who].goto(busy.url + path.format(**busy.ids))
        barriers += find_barriers(pages[who])
    assert not barriers, "\n" + "\n".join(barriers)


def test_a_barrier_is_found_and_named(visit, find_barriers):
    """The harness itself: a field without a name, and letters that hardly show."""
    page = visit("/nothing-here")
    page.evaluate("""() => {
      const field = document.querySelector("main").appendChild(document.createElement("input"));
      field.id = "nameless";
      const note = document.querySelector("main").appendChild(document.createElement("p"));
      note.textContent = "hardly there";
      note.style.color = "#999";
      note.style.background = "#aaa";
    }""")
    barriers = find_barriers(page)
    assert sum("#nameless" in barrier and "label" in barrier for barrier in barriers) == 2
    assert sum("color-contrast" in barrier for barrier in barriers) == 4
