"""What researchers write for raters, as markup that can do nothing."""

from __future__ import annotations

import pytest

from fabula.web.markdown import render_markdown


def test_marks_become_markup_and_headings_start_where_the_page_wants_them():
    text = "# Read\n\nThe *whole* **scale**.\n\n### Then\n\n- answer\n- submit\n"
    assert render_markdown(text, top=3) == (
        "<h3>Read</h3>\n<p>The <em>whole</em> <strong>scale</strong>.</p>\n<h5>Then</h5>\n"
        "<ul>\n<li>answer</li>\n<li>submit</li>\n</ul>\n"
    )
    assert render_markdown("###### Low\n\n# High", top=6) == "<h6>Low</h6>\n<h6>High</h6>\n"


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "one <img src=x onerror=alert(1)> two",
        "[go](javascript:alert(1))",
        "[go](data:text/html,<script>alert(1)</script>)",
        "<javascript:alert(1)>",
        "![look](https://example.org/seen.png)",
        "[a]: javascript:alert(1)\n\n[a]",
        "```\n</code></pre><script>alert(1)</script>\n```",
        "| a |\n|--:|\n| <b onclick=alert(1)>x |",
        '[a](https://example.org "x\\" onclick=\\"alert(1)")',
    ],
    ids=["script", "image", "link", "data", "auto", "picture", "named", "code", "table", "title"],
)
def test_nothing_that_runs_or_loads_comes_through(text):
    markup = render_markdown(text)
    for tag in ("<script", "<img", "<b ", 'href="javascript', 'href="data', "style="):
        assert tag not in markup
    # What looks like an attribute stands inside the quotes of another.
    assert '" onclick' not in markup


def test_a_link_opens_a_page_of_its_own_so_that_no_task_is_lost():
    link = '<a href="https://example.org" target="_blank" rel="noopener noreferrer">the lab</a>'
    assert render_markdown("[the lab](https://example.org)") == f"<p>{link}</p>\n"
