"""Blocks of a study report as HTML."""

from __future__ import annotations

import re

from fabula.reports._markup import escaped, tag
from fabula.reports._study_blocks import (
    Block,
    FigureBlock,
    ScatterBlock,
    Section,
    TableBlock,
    TabsBlock,
    Words,
)
from fabula.reports.tables import html_table

_MARKS = re.compile(r"\*\*(.+?)\*\*|`(.+?)`")
# A table with more rows scrolls inside its box, its head staying in view.
_TALL = 24


def section_html(section: Section) -> str:
    """Write a section with its blocks."""
    blocks = [
        block_html(block, f"{section.id}-{place}") for place, block in enumerate(section.blocks)
    ]
    head = tag("h2", escaped(section.title), id=f"{section.id}-head")
    return tag(
        "section", "\n".join([head, *blocks]), id=section.id, aria_labelledby=f"{section.id}-head"
    )


def block_html(block: Block, at: str, *, heading: str = "h3") -> str:
    """Write a block; `at` is unique on the page, for what needs an id."""
    match block:
        case Words():
            return words_html(block)
        case TableBlock():
            return _table(block, heading)
        case FigureBlock():
            return _figure(block, heading)
        case ScatterBlock():
            return _scatter(block, heading)
        case TabsBlock():
            return _tabs(block, at, heading)


def words_html(words: Words) -> str:
    """Write paragraphs."""
    return "\n".join(tag("p", marked(paragraph)) for paragraph in words.paragraphs)


def marked(text: str) -> str:
    """Write a text with its bold and code."""
    parts, end = [], 0
    for found in _MARKS.finditer(text):
        name, inside = ("strong", found[1]) if found[1] else ("code", found[2])
        parts += [escaped(text[end : found.start()]), tag(name, escaped(inside))]
        end = found.end()
    return "".join([*parts, escaped(text[end:])])


def _head(title: str, heading: str) -> str:
    return tag(heading, escaped(title)) if title else ""


def _note(note: str, file: str = "") -> str:
    name = tag("code", escaped(file), class_="file") if file else ""
    return tag("p", f"{marked(note)} {name}".strip(), class_="legend") if note or file else ""


def _scrolling(inside: str, label: str, *, kind: str = "scroll") -> str:
    """Let what is wide scroll by itself, by keyboard as well."""
    return tag("div", inside, class_=kind, tabindex=0, role="region", aria_label=label)


def _table(block: TableBlock, heading: str) -> str:
    kind = "scroll tall" if len(block.rows) > _TALL else "scroll"
    box = _scrolling(html_table(block.table), block.title, kind=kind)
    file = f"tables/{block.name}.csv"
    return tag("div", _head(block.title, heading) + box + _note(block.note, file), class_="block")


def _figure(block: FigureBlock, heading: str) -> str:
    alt = tag("p", escaped(block.alt), class_="unseen") if block.alt else ""
    caption = tag("figcaption", _note(block.note, f"figures/{block.name}.svg") + alt)
    inside = _head(block.title, heading) + _scrolling(block.svg, block.title) + caption
    return tag("figure", inside, class_="block")


def _scatter(block: ScatterBlock, heading: str) -> str:
    lost = tag("noscript", tag("p", "The explorer needs JavaScript."))
    inside = _head(block.title, heading) + _note(block.note) + tag("div", lost, class_="explorer")
    return tag("div", inside, class_="block screen")


def _tabs(block: TabsBlock, at: str, heading: str) -> str:
    buttons, panels = [], []
    for place, (label, inner) in enumerate(block.panels.items()):
        tab, panel = f"{at}-tab-{place}", f"{at}-panel-{place}"
        buttons.append(
            tag("button", escaped(label), type="button", role="tab", id=tab, aria_controls=panel)
        )
        name = tag("p", escaped(label), class_="panel-name")
        inside = name + block_html(inner, panel, heading="h4")
        panels.append(
            tag("div", inside, id=panel, role="tabpanel", aria_labelledby=tab, class_="tab-panel")
        )
    bar = tag("div", "".join(buttons), role="tablist", aria_label=block.title, class_="tab-bar")
    note = _note(block.note)
    return tag("div", _head(block.title, heading) + note + bar + "\n".join(panels), class_="tabs")
