"""A ranking of stories to read: as a table, JSON, CSV, or a page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fabula._version import __version__
from fabula.core.errors import SettingError
from fabula.core.story import count_text
from fabula.reports.numbers import number_text
from fabula.reports.pages import (
    content_policy,
    escape,
    fill_template,
    isolate_name,
    join_static,
    read_static,
    tag,
)
from fabula.reports.review import missing_words
from fabula.reports.tables import Table, TableColumn, render
from fabula.scoring.review import Ranking, Standing

FORMS = ("text", "json", "csv", "html")
_STYLES = ("page.css", "review.css")
_HEADS = ("story", "rank", "preference", "of 100", "95 %", "win rate", "95 %", "words")
_LEGEND = (
    "Of 100: how many human stories are liked less. Win rate: how often a story is expected to be "
    "preferred to another one here, with the rate at either end of its own interval."
)


def render_ranking(form: str, ranking: Ranking, name: str) -> str:
    """Write a ranking as text, json, csv or html."""
    if form not in FORMS:
        raise SettingError(f"a ranking is not written as {form}", f"known: {', '.join(FORMS)}")
    if form == "html":
        return _page(ranking, name)
    rows = [standing.plain() for standing in ranking.stories]
    missing = missing_words(ranking.missing)
    notes = [f"{standing.story}: {standing.note}" for standing in ranking.stories if standing.note]
    table = Table(
        [_HEADS[0], *(TableColumn(name, align="right") for name in _HEADS[1:])],
        [_cells(standing) for standing in ranking.stories],
        f"{count_text(len(ranking.stories), 'story', 'stories')} of {name}, the best liked first",
        [*missing, _LEGEND, *notes],
    )
    record = {
        "source": name,
        "missing": [{"part": part.part, "why": part.why} for part in ranking.missing],
        "warnings": notes,
        "signatures": dict(ranking.signatures or {}),
    }
    return render(form, rows, [table], record)


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


def _page(ranking: Ranking, name: str) -> str:
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
            "table": _table(ranking.stories),
            "legend": escape(_LEGEND),
            "signatures": tag("ul", "".join(signatures), class_="signatures"),
            "version": escape(__version__),
        },
    )


def _table(stories: Sequence[Standing]) -> str:
    heads = ["rank", "story", "among 100 human stories", "95 %", "win rate", "95 %", "words"]
    head = tag("tr", "".join(tag("th", escape(words), scope="col") for words in heads))
    body = "\n".join(tag("tr", _row(standing)) for standing in stories)
    table = tag("table", tag("thead", head) + tag("tbody", body), class_="ranking-table")
    return tag("div", table, class_="scroll", tabindex=0, role="region", aria_label="Ranking")


def _row(standing: Standing) -> str:
    _, rank, _, percentile, between, wins, win_between, words = _cells(standing)
    parts = [
        tag("td", rank, class_="num"),
        tag("th", isolate_name(standing.story), scope="row", class_="system"),
        tag("td", f"{tag('span', percentile, class_='figure')} {_track(standing)}"),
    ]
    parts += [tag("td", text, class_="num") for text in (between, wins, win_between, words)]
    return "".join(parts)


def _track(standing: Standing) -> str:
    if not math.isfinite(standing.percentile):
        return ""
    inside = ""
    if math.isfinite(standing.low) and math.isfinite(standing.high):
        style = f"left:{standing.low:.1f}%;right:{100 - standing.high:.1f}%"
        inside = tag("span", class_="range", style=style)
    point = tag("span", class_="point", style=f"left:{standing.percentile:.1f}%")
    return tag("span", inside + point, class_="track", aria_hidden="true")
