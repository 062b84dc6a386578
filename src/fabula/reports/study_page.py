"""The report of a study: one HTML file that needs nothing else; tables and figures beside it."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from fabula.core.files import write_text
from fabula.core.score import STATUSES, Score, Status
from fabula.reports._embedded import stories_json, texts_json
from fabula.reports.figures.colours import palette_css
from fabula.reports.figures.drawing import make_standalone
from fabula.reports.pages import (
    bundle_scripts,
    content_policy,
    escape,
    fill_template,
    html_table,
    join_static,
    read_static,
    tag,
    write_page,
    write_table,
)
from fabula.reports.study_blocks import (
    Block,
    FigureBlock,
    ScatterBlock,
    Section,
    StudyStories,
    TableBlock,
    TabsBlock,
    Words,
    blocks_of,
)

STUDY_PAGE = "study.html"
_STYLES = ("page.css", "reader.css", "figures.css", "study.css")
_SCRIPTS = ("page.js", "study.js", "study_heat.js")
_EXPLORING = (
    "story_data.js", "spans.js", "study_reader.js", "study_scatter.js", "study_points.js",
    "reader.js",
)  # fmt: skip
_MARKS = re.compile(r"\*\*(.+?)\*\*|`(.+?)`")
# A table with more rows scrolls inside its box, its head staying in view.
_TALL = 24
_UNDEFINED = STATUSES.index(str(Status.UNDEFINED))


def write_study(
    folder: Path,
    *,
    title: str,
    lead: Words,
    sections: Sequence[Section],
    stories: StudyStories | None = None,
    facts: Mapping[str, str | int] | None = None,
    signatures: Sequence[str] = (),
    files: Mapping[str, str] = MappingProxyType({}),
    inputs: Iterable[Path] = (),
    overwrite: bool = False,
) -> Path:
    """Write study.html, tables/ and figures/ into a folder; give the path of the page.

    `files` are more texts by their names. What is not of our making is only lost with `overwrite`,
    and never one of the `inputs`.
    """
    _check(sections, stories)
    page = _page(title, lead, sections, stories=stories, facts=facts or {}, signatures=signatures)

    def beside(into: Path) -> None:
        for block in blocks_of(sections):
            if isinstance(block, TableBlock):
                write_table(into / "tables", block.name, block.table, block.records)
            elif isinstance(block, FigureBlock):
                write_text(into / "figures" / f"{block.name}.svg", make_standalone(block.svg))
        for name, text in files.items():
            write_text(into / name, text)

    return write_page(folder / STUDY_PAGE, page, beside, inputs=inputs, overwrite=overwrite)


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
    script = bundle_scripts(_SCRIPTS + (_EXPLORING if exploring else ()))
    parts = {
        "policy": content_policy(script),
        "title": escape(title),
        "style": join_static(_STYLES) + palette_css(),
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
    return fill_template(read_static("study.html"), parts)


def _link(id: str, title: str) -> str:
    return tag("a", escape(title), href=f"#{id}")


def _reader() -> str:
    return fill_template(
        read_static("reader.html"), {"more": "", "ratings": read_static("study_ratings.html")}
    )


def _facts(facts: Mapping[str, str | int]) -> str:
    pairs = [
        tag(
            "div",
            tag("dt", escape(name))
            + tag("dd", escape(f"{value:,}" if isinstance(value, int) else value)),
        )
        for name, value in facts.items()
    ]
    return tag("dl", "".join(pairs), class_="facts") if pairs else ""


def _signatures(lines: Sequence[str]) -> str:
    if not lines:
        return ""
    listed = "\n".join(tag("li", tag("code", escape(line))) for line in lines)
    head = tag("h2", "Signatures", id="signatures-head")
    words = tag("p", "Quote the signature with the number: it holds all that it depends on.")
    inside = head + words + tag("ul", listed, class_="signatures")
    return tag("section", inside, id="signatures", aria_labelledby="signatures-head")


def section_html(section: Section) -> str:
    """Write a section with its blocks."""
    blocks = [
        block_html(block, f"{section.id}-{place}") for place, block in enumerate(section.blocks)
    ]
    head = tag("h2", escape(section.title), id=f"{section.id}-head")
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
    return "\n".join(tag("p", mark_up(paragraph)) for paragraph in words.paragraphs)


def mark_up(text: str) -> str:
    """Write a text with its bold and code."""
    parts, end = [], 0
    for match in _MARKS.finditer(text):
        name, inside = ("strong", match[1]) if match[1] else ("code", match[2])
        parts += [escape(text[end : match.start()]), tag(name, escape(inside))]
        end = match.end()
    return "".join([*parts, escape(text[end:])])


def _head(title: str, heading: str) -> str:
    return tag(heading, escape(title)) if title else ""


def _note(note: str, file: str = "") -> str:
    name = tag("code", escape(file), class_="file") if file else ""
    return tag("p", f"{mark_up(note)} {name}".strip(), class_="legend") if note or file else ""


def _scrolling(inside: str, label: str, *, kind: str = "scroll") -> str:
    """Let what is wide scroll by itself, by keyboard as well."""
    return tag("div", inside, class_=kind, tabindex=0, role="region", aria_label=label)


def _table(block: TableBlock, heading: str) -> str:
    kind = "scroll tall" if len(block.rows) > _TALL else "scroll"
    box = _scrolling(html_table(block.table), block.title, kind=kind)
    file = f"tables/{block.name}.csv"
    return tag("div", _head(block.title, heading) + box + _note(block.note, file), class_="block")


def _figure(block: FigureBlock, heading: str) -> str:
    alt = tag("p", escape(block.alt), class_="unseen") if block.alt else ""
    caption = tag("figcaption", _note(block.note, f"figures/{block.name}.svg") + alt)
    figure = _scrolling(block.svg, block.title)
    if block.narrow:
        figure = tag("div", figure, class_="for-wide") + tag(
            "div", block.narrow, class_="for-phone"
        )
    inside = _head(block.title, heading) + figure + caption
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
            tag("button", escape(label), type="button", role="tab", id=tab, aria_controls=panel)
        )
        name = tag("p", escape(label), class_="panel-name")
        inside = name + block_html(inner, panel, heading="h4")
        panels.append(
            tag("div", inside, id=panel, role="tabpanel", aria_labelledby=tab, class_="tab-panel")
        )
    bar = tag("div", "".join(buttons), role="tablist", aria_label=block.title, class_="tab-bar")
    note = _note(block.note)
    return tag("div", _head(block.title, heading) + note + bar + "\n".join(panels), class_="tabs")


def study_json(study: StudyStories, explorers: Sequence[ScatterBlock]) -> str:
    """Write all that the explorers and the reader need."""
    statuses = np.where(np.isfinite(study.values), STATUSES.index(str(Status.OK)), _UNDEFINED)
    ratings = _ratings(study)
    return stories_json(
        study.stories,
        study.columns,
        (study.values, statuses),
        texts=texts_json(study.stories, range(len(study.stories))),
        ratings=ratings,
        explorers=[_explorer(block, study, ratings["aspects"]) for block in explorers],
    )


def _ratings(study: StudyStories) -> dict[str, Any]:
    """Ratings by story and rater, and their means by aspect."""
    aspects = list(dict.fromkeys(rating.aspect for rating in study.ratings))
    by_story: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for rating in study.ratings:
        by_story[rating.story][_rater(rating)][rating.aspect] = rating.value
    by_rater = [by_story.get(story.id, {}) for story in study.stories]
    return {
        "aspects": aspects,
        "of": [
            [[rater, [_or_none(given.get(a, math.nan)) for a in aspects]] for rater, given in
             sorted(given_by.items())]
            for given_by in by_rater
        ],
        "gold": [[_mean(given_by, aspect) for aspect in aspects] for given_by in by_rater],
    }  # fmt: skip


def _rater(rating: Score) -> str:
    return rating.scorer.removeprefix("human:")


def _mean(given: dict[str, dict[str, float]], aspect: str) -> float | None:
    there = [
        values[aspect] for values in given.values() if math.isfinite(values.get(aspect, math.nan))
    ]
    return round(sum(there) / len(there), 4) if there else None


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _explorer(block: ScatterBlock, study: StudyStories, aspects: Sequence[str]) -> dict[str, Any]:
    labels = [column.label for column in study.columns]
    names = list(dict.fromkeys(name for values in block.coefficients.values() for name in values))
    return {
        "about": block.about,
        "column": labels.index(block.metric) if block.metric else 0,
        "aspect": aspects.index(block.aspect) if block.aspect else 0,
        "names": names,
        "coefficients": [
            [_coefficients(block, names, label, aspect) for aspect in aspects] for label in labels
        ],
    }


def _coefficients(
    block: ScatterBlock, names: Sequence[str], label: str, aspect: str
) -> list[float | None] | None:
    given = block.coefficients.get((label, aspect))
    if given is None:
        return None
    values = [_or_none(given.get(name, math.nan)) for name in names]
    return [None if value is None else round(value, 4) for value in values]
