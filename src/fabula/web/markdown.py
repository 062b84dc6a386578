"""Markdown of campaigns as markup of a page: what researchers write for raters.

CommonMark without raw HTML and without pictures: tags stand there as they were written, an address
that would run something is no link. Links open a page of their own, so that nobody loses a task.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup


def render_markdown(text: str, *, top: int = 2) -> Markup:
    """Render a text for a page; its highest headings are of level `top`, whatever it calls them."""
    tokens = _parser().parse(text)
    headings = [token for token in tokens if token.type.startswith("heading_")]
    raised = top - min((int(token.tag[1]) for token in headings), default=top)
    for token in headings:
        token.tag = f"h{min(6, int(token.tag[1]) + raised)}"
    for token in tokens:
        # How a column is aligned: a page's policy lets no markup say so.
        token.attrs.pop("style", None)
    # Only what the parser makes is markup; every character of the text is escaped by it.
    return Markup(_parser().renderer.render(tokens, _parser().options, {}))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": False}).enable("table")
    parser.disable(["image", "html_block", "html_inline"])
    parser.add_render_rule("link_open", _open_link)
    return parser


def _open_link(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    _environment: Any,
) -> str:
    tokens[index].attrSet("target", "_blank")
    tokens[index].attrSet("rel", "noopener noreferrer")
    return renderer.renderToken(tokens, index, options, {})
