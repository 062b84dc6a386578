"""A ranking of stories to read: as a table, JSON, CSV, or a page."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from fabula._version import __version__
from fabula.core.errors import SettingError
from fabula.core.files import note_written, refuse_foreign, write_text
from fabula.core.story import Story, count_text
from fabula.reports._review_figures import draw_percentile
from fabula.reports.numbers import number_text
from fabula.reports.pages import (
    content_policy,
    escape,
    fill_template,
    isolate_name,
    join_static,
    markdown_table,
    read_static,
    tag,
)
from fabula.reports.review import missing_words
from fabula.reports.review_page import review_page
from fabula.reports.tables import Table, TableColumn, render
from fabula.scoring.review import Ranking, Review, Standing
from fabula.text.escapes import markdown_text

FORMS = ("text", "md", "json", "csv", "html")
_STYLES = ("page.css", "review.css")
_UNSAFE = re.compile(r"[^\w. -]+|\s+")
_MOST_NAME = 80
_HEADS = ("story", "rank", "preference", "of 100", "95 %", "win rate", "95 %", "words")
_LEGEND = (
    "Of 100: how many human stories are liked less. Win rate: how often a story is expected to be "
    "preferred to another one here, with the rate at either end of its own interval."
)


def render_ranking(form: str, ranking: Ranking, name: str) -> str:
    """Write a ranking as text, md, json, csv or html."""
    if form not in FORMS:
        raise SettingError(f"a ranking is not written as {form}", f"known: {', '.join(FORMS)}")
    if form == "html":
        return _page(ranking, name, {})
    rows = [standing.plain() for standing in ranking.stories]
    missing = missing_words(ranking.missing)
    notes = [f"{standing.story}: {standing.note}" for standing in ranking.stories if standing.note]
    table = Table(
        [_HEADS[0], *(TableColumn(name, align="right") for name in _HEADS[1:])],
        [_cells(standing) for standing in ranking.stories],
        f"{count_text(len(ranking.stories), 'story', 'stories')} of {name}, the best liked first",
        [*missing, _LEGEND, *notes],
    )
    if form == "md":
        return _write_markdown(table)
    record = {
        "source": name,
        "missing": [{"part": part.part, "why": part.why} for part in ranking.missing],
        "warnings": notes,
        "signatures": dict(ranking.signatures or {}),
    }
    return render(form, rows, [table], record)


def _write_markdown(table: Table) -> str:
    rows = [[markdown_text(str(name)), *rest] for name, *rest in table.rows]
    notes = "\n".join(f"- {markdown_text(str(note))}" for note in table.notes)
    title = f"# {markdown_text(table.title)}"
    return "\n\n".join([title, markdown_table(replace(table, rows=rows)), notes])


@dataclass(frozen=True)
class ReviewPages:
    """Where the pages of several stories go: their folder, the ranking's page, a file for each."""

    folder: Path
    index: Path
    files: Mapping[str, str]

    @classmethod
    def choose(cls, stories: Iterable[Story], output: Path, *, in_folder: bool) -> ReviewPages:
        """Name a page for each story: by its id as far as a file may be called so, each once.

        Systems that do not tell capitals from small letters would take two such names for one.
        """
        files: dict[str, str] = {}
        taken = {"index.html"}
        for story in stories:
            plain = _UNSAFE.sub("-", story.id).strip("-. ")[:_MOST_NAME].strip("-. ") or "story"
            name, number = f"{plain}.html", 1
            while name.lower() in taken:
                number += 1
                name = f"{plain}-{number}.html"
            taken.add(name.lower())
            files[story.id] = name
        if in_folder:
            return cls(output, output / "index.html", files)
        return cls(output.with_name(f"{output.stem}_pages"), output, files)

    def refuse_foreign(self, source: Path, *, overwrite: bool = False) -> None:
        """Refuse to write over what Fabula did not write, but for a ranking that was named."""
        index = [self.index.name] if self.index.parent == self.folder else []
        names = [*self.files.values(), *index]
        refuse_foreign(self.folder, names, inputs=[source], overwrite=overwrite)

    def write_review(self, review: Review, *, ranked: bool) -> Path:
        """Write the page of a story."""
        page = review_page(review, ranking=self.back if ranked else "")
        return _write_page(self.folder / self.files[review.story.id], page)

    def write_ranking(self, ranking: Ranking, name: str) -> Path:
        """Write the page of the ranking, which leads to the others."""
        return _write_page(self.index, _page(ranking, name, self.links))

    @property
    def back(self) -> str:
        """Address of the ranking from a story's page."""
        beside = self.index.parent == self.folder
        return quote(self.index.name if beside else f"../{self.index.name}")

    @property
    def links(self) -> dict[str, str]:
        """Addresses of the stories' pages from that of the ranking."""
        beside = self.index.parent == self.folder
        before = "" if beside else f"{self.folder.name}/"
        return {story: quote(f"{before}{name}") for story, name in self.files.items()}


def _write_page(path: Path, page: str) -> Path:
    """Write a page and note that it is ours, so that it may be written over."""
    write_text(path, f"{page}\n")
    note_written(path.parent, [path.name])
    return path


def _cells(standing: Standing) -> list[str]:
    """Write a story's row."""
    return [
        standing.story,
        "–" if standing.rank is None else str(standing.rank),
        number_text(standing.preference, 2),
        number_text(standing.percentile, 0),
        _between(standing.low, standing.high, 0),
        number_text(standing.wins, 2),
        _between(standing.win_low, standing.win_high, 2),
        number_text(standing.words, 0),
    ]


def _between(low: float, high: float, decimals: int) -> str:
    if not (math.isfinite(low) and math.isfinite(high)):
        return "–"
    return f"{number_text(low, decimals)}–{number_text(high, decimals)}"


def _page(ranking: Ranking, name: str, pages: Mapping[str, str]) -> str:
    notes = [f"{standing.story}: {standing.note}" for standing in ranking.stories if standing.note]
    lines = [*missing_words(ranking.missing), *notes]
    listed = tag("ul", "".join(tag("li", escape(line)) for line in lines))
    signatures = [
        tag("li", tag("code", escape(signature)))
        for signature in (ranking.signatures or {}).values()
    ]
    return fill_template(
        read_static("review_ranking.html"),
        {
            "policy": content_policy(""),
            "title": escape(name),
            "style": join_static(_STYLES),
            "count": f"{len(ranking.stories):,}",
            "warnings": tag("section", listed, class_="warnings") if lines else "",
            "table": _table(ranking.stories, pages),
            "legend": escape(_LEGEND),
            "signatures": tag("ul", "".join(signatures), class_="signatures"),
            "version": escape(__version__),
        },
    )


def _table(stories: Sequence[Standing], pages: Mapping[str, str]) -> str:
    ends = "".join(tag("span", words) for words in ("0", "50", "100"))
    scale = "among 100 human stories" + tag("span", ends, class_="scale", aria_hidden="true")
    heads = ["rank", "story", "of 100", scale, "95 %", "win rate", "95 %", "words"]
    classes = ["num", "system", "num", "bars", *["num"] * 4]
    cells = zip(heads, classes, strict=True)
    head = tag("tr", "".join(tag("th", words, scope="col", class_=kind) for words, kind in cells))
    body = "\n".join(tag("tr", _row(standing, pages)) for standing in stories)
    table = tag("table", tag("thead", head) + tag("tbody", body), class_="ranking-table")
    return tag("div", table, class_="scroll", tabindex=0, role="region", aria_label="Ranking")


def _row(standing: Standing, pages: Mapping[str, str]) -> str:
    _, rank, _, percentile, between, wins, win_between, words = _cells(standing)
    name = isolate_name(standing.story)
    if page := pages.get(standing.story):
        name = tag("a", name, href=page)
    # Every bar on the same track from 0 to 100, in a column of its own.
    bar = draw_percentile(standing.percentile, (standing.low, standing.high))
    parts = [
        tag("td", rank, class_="num"),
        tag("th", name, scope="row", class_="system"),
        tag("td", percentile, class_="num"),
        tag("td", bar, class_="bars"),
    ]
    parts += [tag("td", text, class_="num") for text in (between, wins, win_between, words)]
    return "".join(parts)
