"""The report of a run: one HTML file that needs nothing else, and its tables beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabula.core.card import ARROWS, Card
from fabula.core.files import note_written, refuse_foreign
from fabula.core.metric import ASPECT_LABELS
from fabula.core.protocols import Progress
from fabula.core.story import count_text
from fabula.meta.resampling import GROUPS, MOST_UNITS
from fabula.reports._embedded import Budget, choose_stories, page_json
from fabula.reports._report_page import (
    cards_of,
    citations,
    facts,
    occasion,
    printed_html,
    signatures,
    status_rows,
    statuses_html,
    statuses_table,
    systems_html,
    versions,
)
from fabula.reports.figures.distributions import draw_distributions
from fabula.reports.numbers import interval_text, number_text
from fabula.reports.pages import (
    bundle_scripts,
    content_policy,
    escape,
    fill_template,
    join_static,
    read_static,
    tag,
    write_page,
    write_table,
)
from fabula.reports.run_data import (
    ReportData,
    absent_baselines,
    read_report_data,
    spec_name,
)
from fabula.reports.standings import Standings, compute_standings
from fabula.reports.summary import cite_run, judge_words
from fabula.reports.tables import Cell, Table, TableColumn, Tone
from fabula.scoring import lazy_run
from fabula.scoring.folder import RUN, RunFolder, load_record

_PAGE, _TABLES = "report.html", ("systems", "statuses", "signatures")
STORIES_SHOWN = 400
# Metrics that look at pictures and can say where they saw what.
PICTURED = ("rovist", "rovist_vg")
# Texts of a usual report are held to this, however long its stories are.
_MOST_CHARS = 6_000_000
_STYLES = ("page.css", "report.css", "reader.css")
_SCRIPTS = (
    "page.js", "story_data.js", "spans.js", "report.js", "report_stories.js", "reader.js",
)  # fmt: skip


@dataclass(frozen=True)
class DrawnPictures:
    """A section with pictures, its style, and the anchors in it by the stories' places."""

    section: str = ""
    style: str = ""
    anchors: Mapping[int, str] = field(default_factory=dict)


def write_report(
    folder: Path,
    output: Path | None = None,
    *,
    stories: int | None = STORIES_SHOWN,
    seed: int = 0,
    progress: Progress | None = None,
    overwrite: bool = False,
) -> Path:
    """Write the report of a run folder and its tables; give the path of the page.

    `stories` is how many are shown with their texts (None: all). All scores are always there.
    Files in the way that Fabula did not write are refused unless `overwrite`.
    """
    path = output or folder / _PAGE
    with _open_data(folder, _budget(stories), seed, progress) as (data, chosen):
        standings = compute_standings(data, seed=seed)
        pictures = _draw_pictures(data, chosen, every=stories is None)
        parts = _parts(data, standings, chosen, folder, pictures)
    return write_page(
        path,
        fill_template(read_static("report.html"), parts),
        lambda into: write_tables(into / "tables", data, standings),
        named=output is not None,
        inputs=[folder / name for name in (RUN, *data.record["files"])],
        # Folders of before there was a list of what was written are taken to be all ours.
        overwrite=overwrite or (output is None and "checksum" not in data.record),
    )


@contextmanager
def _open_data(
    folder: Path, budget: Budget, seed: int, progress: Progress | None = None
) -> Iterator[tuple[ReportData, list[int]]]:
    """Give what the report is made of and the places of the stories with texts.

    A large run is read where it lies; without the packages for it, it is held in memory.
    """
    path = folder / RUN
    few = not path.is_file() or load_record(path)["input"]["stories"] <= lazy_run.MOST_STORIES
    if few or not lazy_run.is_read_lazily(folder):
        data = read_report_data(folder, progress)
        yield data, choose_stories(data, budget, seed=seed)
        return
    from fabula.reports.large_report import read_large

    with lazy_run.open_lazily(folder) as run:
        yield read_large(run, budget, seed=seed)


def render_report(
    folder: Path, *, stories: int | None = STORIES_SHOWN, seed: int = 0
) -> tuple[str, str]:
    """Give the page of a run folder, and what a browser may run of it, and write nothing.

    Pictures are looked at by models: the page says how to draw them.
    """
    with _open_data(folder, _budget(stories), seed) as (data, chosen):
        standings = compute_standings(data, seed=seed)
        parts = _parts(data, standings, chosen, folder, _name_pictures(data, folder))
    return fill_template(read_static("report.html"), parts), parts["policy"]


def refuse_report(folder: Path, inputs: Sequence[Path], *, overwrite: bool) -> None:
    """Refuse a folder in which a report would be in the way of somebody's files.

    Those of a run of before there was a list of what was written are taken to be ours.
    """
    names = [_PAGE, *(f"tables/{name}.{end}" for name in _TABLES for end in ("csv", "tex"))]
    earlier = None if overwrite else RunFolder(folder).read_earlier()
    if earlier is not None and "checksum" not in earlier:
        note_written(folder, [name for name in names if (folder / name).is_file()])
    refuse_foreign(folder, names, inputs=inputs, overwrite=overwrite)


def _budget(stories: int | None) -> Budget:
    if stories is None:
        return Budget(2**62, float("inf"))
    return Budget(stories, _MOST_CHARS)


def _has_pictures(data: ReportData) -> bool:
    """Whether the run has looked at pictures of stories."""
    names = {spec_name(metric["spec"]) for metric in data.metrics}
    return not names.isdisjoint(PICTURED) and any(story.images for story in data.stories)


def _draw_pictures(data: ReportData, chosen: list[int], *, every: bool) -> DrawnPictures:
    if not _has_pictures(data):
        return DrawnPictures()
    from fabula.reports._report_pictures import draw_pictures

    return draw_pictures(data, chosen, every=every)


def _name_pictures(data: ReportData, folder: Path) -> DrawnPictures:
    """Say where the pictures of a run are drawn."""
    if not _has_pictures(data):
        return DrawnPictures()
    command = tag("code", escape(f"fabula report {folder.name or 'RUN'}"))
    words = tag("p", f"Stories are drawn beside their pictures in the page that {command} writes.")
    head = tag("h2", "Pictures", id="pictures-head")
    return DrawnPictures(
        tag("section", head + words, id="pictures", aria_labelledby="pictures-head")
    )


def _parts(
    data: ReportData,
    standings: Standings,
    chosen: list[int],
    folder: Path,
    pictures: DrawnPictures,
) -> dict[str, str]:
    """Everything that the page has a place for."""
    cards = cards_of(metric["spec"] for metric in data.metrics)
    script = bundle_scripts(_SCRIPTS)
    more = f"For all texts: {tag('code', escape(_command(folder)))}."
    return {
        "policy": content_policy(script, pictures=bool(pictures.anchors)),
        "title": escape(_title(data.record["input"]["path"])),
        "style": join_static(_STYLES) + pictures.style,
        "occasion": occasion(data.record),
        "facts": facts(data),
        "finding": escape(finding(standings)),
        "aspects": _aspects_switch(data),
        "systems": systems_html(standings, cards),
        "printed": printed_html(standings, cards),
        "resampled": _say_resampled(data, standings),
        "added": _say_origins(data),
        "figures": draw_distributions(data),
        "statuses": statuses_html(data),
        "pictures": pictures.section,
        "pictures_link": tag("a", "Pictures", href="#pictures") if pictures.section else "",
        "shown": _say_shown(data, chosen, folder),
        "reader": fill_template(read_static("reader.html"), {"more": more, "ratings": ""}),
        "cite": escape(cite_run(data.record)),
        "signatures": signatures(data),
        "citations": escape(citations(data.record, cards)),
        "limits": _limits(cards),
        "versions": versions(data.record),
        "data": page_json(
            data, chosen, pictures=dict(pictures.anchors), sampled=data.whole is not None
        ),
        "script": script,
    }


def _say_resampled(data: ReportData, standings: Standings) -> str:
    """Say what was drawn for the intervals."""
    units = "items" if standings.by_item else "stories"
    return (
        f"{units} (more than {MOST_UNITS:,} in {GROUPS:,} groups by lot)" if data.whole else units
    )


def finding(standings: Standings) -> str:
    """Say in a sentence whom the metrics tell apart."""
    wanted = [
        number
        for number, column in enumerate(standings.columns)
        if column.main and column.direction != "descriptive"
    ]
    if len(standings.systems) < 2 or not wanted:
        return ""
    wins: dict[str, list[str]] = {}
    for number in wanted:
        place = standings.best[number]
        if place is not None:
            wins.setdefault(standings.systems[place], []).append(standings.columns[number].title)
    count = sum(map(len, wins.values()))
    words = [f"{system or 'all'} by {', '.join(labels)}" for system, labels in wins.items()]
    told = f": {'; '.join(words)}" if words else ""
    return f"One system stands out by {count} of {count_text(len(wanted), 'metric')}{told}."


def _aspects_switch(data: ReportData) -> str:
    aspects = [column.aspect for column in data.columns if not column.main]
    others = dict.fromkeys(ASPECT_LABELS.get(aspect, aspect) for aspect in aspects)
    if not others:
        return ""
    box = '<input type="checkbox" id="all-aspects">'
    return tag("label", f"{box} Show {escape(', '.join(others))} as well", class_="switch")


def _say_origins(data: ReportData) -> str:
    """Say which columns the run did not have, and what those of judges are worth."""
    words = "The run did not include all baselines; those missing were computed for this report."
    told = [words] if any(column.added for column in data.columns) else []
    if data.whole and (absent := absent_baselines(data.metrics)):
        names = ", ".join(metric.spec for metric in absent)
        told.append(f"The run has no {names}, and of so many stories none is computed here.")
    signatures = {metric["spec"]: metric["signature"] for metric in data.metrics}
    told += judge_words(((each.scorer, each.aspect) for each in data.columns), signatures)
    return escape(" ".join(told))


def _say_shown(data: ReportData, chosen: list[int], folder: Path) -> str:
    """Say plainly whose texts the file holds."""
    total = data.count
    if data.whole:
        name = tag("code", escape(f"fabula view {folder.resolve().parent.name or '.'}"))
        return (
            f"Means, intervals and distributions are of all {total:,} stories. Scores of "
            f"{len(data.stories):,} of them are in this file, and texts of {len(chosen):,}: best, "
            "worst and middle stories by system and metric, and others at random, as many of each "
            "system. Search and order are among these, and so is where a story stands. "
            f"All stories, page by page: {name}."
        )
    if len(chosen) == total:
        whole = count_text(total, "story", "stories") if total == 1 else f"all {total:,} stories"
        return f"Texts and scores of {whole} are in this file."
    command = tag("code", escape(_command(folder)))
    return (
        f"Texts of {len(chosen):,} of {total:,} stories are in this file; all scores are. "
        "Shown are best, worst and middle stories by system and metric, and others at random; "
        f"they come first in the list. For all texts: {command}."
    )


def _title(path: str) -> str:
    return Path(path).name or path


def _command(folder: Path) -> str:
    # Names alone, here and in the title: a page that is passed on tells no place on a machine.
    return f"fabula report {folder.name or 'RUN'} --stories all"


def _limits(cards: Mapping[str, Card]) -> str:
    """Say what each metric cannot see, from its card."""
    names = {spec.partition("(")[0]: card for spec, card in cards.items()}
    pairs = [
        tag("div", tag("dt", escape(name), class_="spec") + tag("dd", escape(card.cannot_see)))
        for name, card in names.items()
    ]
    return tag("dl", "\n".join(pairs), class_="limits")


def write_tables(folder: Path, data: ReportData, standings: Standings) -> None:
    """Write every table of the report as CSV and LaTeX into a folder."""
    statuses = [
        {"scorer": row.scorer, "status": row.status, "stories": row.count, "first note": row.note}
        for row in status_rows(data)
    ]
    signatures = Table(
        ["metric", TableColumn("signature", prose=True)],
        [[metric["spec"], metric["signature"]] for metric in data.metrics],
    )
    systems = systems_table(standings, cite_run(data.record))
    tables = systems, statuses_table(data), signatures
    records = system_records(standings), statuses, None
    for name, table, rows in zip(_TABLES, tables, records, strict=True):
        write_table(folder, name, table, rows)


def system_records(standings: Standings) -> list[dict[str, Any]]:
    """Give the main table as one record per system and column."""
    records = []
    for place, system in enumerate(standings.systems):
        for number, column in enumerate(standings.columns):
            mean = standings.estimates[place, number]
            records.append(
                {
                    "system": system,
                    "scorer": column.scorer,
                    "aspect": column.aspect,
                    "direction": column.direction,
                    "family": column.family,
                    "mean": mean.value,
                    "low": mean.low,
                    "high": mean.high,
                    "scored": mean.n,
                    "left_out": int(standings.left_out[place, number]),
                    "best": int(standings.best[number] == place),
                }
            )
    return records


def systems_table(standings: Standings, cite: str = "") -> Table:
    """Give the main table for papers: metrics × systems, the best in bold."""
    columns = standings.columns
    firsts = [number for number, column in enumerate(columns) if column.is_baseline][:1]
    return Table(
        ["metric", TableColumn("", align="left"), *(name or "all" for name in standings.systems)],
        [
            [column.title, ARROWS[column.direction], *_cells(standings, number)]
            for number, column in enumerate(columns)
        ],
        notes=["mean and 95 % bootstrap interval; bold: the interval is better than every other"],
        cite=cite,
        rules=[number for number in firsts if number],
    )


def _cells(standings: Standings, number: int) -> list[Cell]:
    """Write a column's means with their intervals, system by system."""
    decimals, cells = standings.decimals(number), []
    for place in range(len(standings.systems)):
        mean = standings.estimates[place, number]
        tone: Tone = "good" if standings.best[number] == place else ""
        aside = interval_text(*mean.interval, decimals)
        cells.append(Cell(mean.value, number_text(mean.value, decimals), tone, aside=aside))
    return cells
