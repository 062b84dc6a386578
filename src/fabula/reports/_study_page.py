"""The report of a study: one HTML file that needs nothing else; tables and figures beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from fabula.core.files import write_text
from fabula.reports._markup import escaped, tag
from fabula.reports._page_file import write_page
from fabula.reports._study_blocks import (
    FigureBlock,
    ScatterBlock,
    Section,
    StudyStories,
    TableBlock,
    Words,
    blocks_of,
)
from fabula.reports._study_data import study_json
from fabula.reports._study_html import section_html, words_html
from fabula.reports._svg.colours import palette_css
from fabula.reports._svg.drawing import standalone
from fabula.reports._tables import write_table
from fabula.reports._template import filled, joined, one_script, policy, static

_STYLES = ("page.css", "reader.css", "figures.css", "study.css")
_SCRIPTS = ("page.js", "study.js", "study_heat.js")
_EXPLORING = (
    "story_data.js", "spans.js", "study_reader.js", "study_scatter.js", "study_points.js",
    "reader.js",
)  # fmt: skip


def write_study(
    folder: Path,
    *,
    title: str,
    lead: Words,
    sections: Sequence[Section],
    stories: StudyStories | None = None,
    facts: Mapping[str, str | int] | None = None,
    signatures: Sequence[str] = (),
) -> Path:
    """Write study.html, tables/ and figures/ into a folder; give the path of the page."""
    _check(sections, stories)
    page = _page(title, lead, sections, stories=stories, facts=facts or {}, signatures=signatures)

    def beside(into: Path) -> None:
        for block in blocks_of(sections):
            if isinstance(block, TableBlock):
                write_table(into / "tables", block.name, block.table)
            elif isinstance(block, FigureBlock):
                write_text(into / "figures" / f"{block.name}.svg", standalone(block.svg))

    return write_page(folder / "study.html", page, beside)


def _check(sections: Sequence[Section], stories: StudyStories | None) -> None:
    """Refuse what would write one file twice, or points without stories."""
    blocks = list(blocks_of(sections))
    for kind in (TableBlock, FigureBlock):
        names = Counter(block.name for block in blocks if isinstance(block, kind))
        twice = [name for name, count in names.items() if count > 1]
        if twice:
            raise ValueError(f"several blocks of one kind are named {', '.join(twice)}")
    if stories is None and any(isinstance(block, ScatterBlock) for block in blocks):
        raise ValueError("a scatter block needs the stories: pass stories=StudyStories(...)")


def _page(
    title: str,
    lead: Words,
    sections: Sequence[Section],
    *,
    stories: StudyStories | None,
    facts: Mapping[str, str | int],
    signatures: Sequence[str],
) -> str:
    explorers = [block for block in blocks_of(sections) if isinstance(block, ScatterBlock)]
    exploring = stories is not None and bool(explorers)
    script = one_script(_SCRIPTS + (_EXPLORING if exploring else ()))
    parts = {
        "policy": policy(script),
        "title": escaped(title),
        "style": joined(_STYLES) + palette_css(),
        "lead": words_html(lead),
        "facts": _facts(facts),
        "nav": "\n".join(_link(section.id, section.title) for section in sections)
        + (_link("signatures", "Signatures") if signatures else ""),
        "sections": "\n".join(map(section_html, sections)),
        "signatures": _signatures(signatures),
        "reader": _reader() if exploring else "",
        "data": study_json(stories, explorers) if stories is not None and explorers else "null",
        "script": script,
    }
    return filled(static("study.html"), parts)


def _link(id: str, title: str) -> str:
    return tag("a", escaped(title), href=f"#{id}")


def _reader() -> str:
    return filled(static("reader.html"), {"more": "", "ratings": static("study_ratings.html")})


def _facts(facts: Mapping[str, str | int]) -> str:
    pairs = [
        tag(
            "div",
            tag("dt", escaped(name))
            + tag("dd", escaped(f"{value:,}" if isinstance(value, int) else value)),
        )
        for name, value in facts.items()
    ]
    return tag("dl", "".join(pairs), class_="facts") if pairs else ""


def _signatures(lines: Sequence[str]) -> str:
    if not lines:
        return ""
    listed = "\n".join(tag("li", tag("code", escaped(line))) for line in lines)
    head = tag("h2", "Signatures", id="signatures-head")
    words = tag("p", "Quote the signature with the number: it holds all that it depends on.")
    inside = head + words + tag("ul", listed, class_="signatures")
    return tag("section", inside, id="signatures", aria_labelledby="signatures-head")
