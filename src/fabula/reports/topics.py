"""What is shown of topics: words, how good they are, worlds, and which topic follows which."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.story import count_text
from fabula.core.table import json_text
from fabula.learned.topics.analysis import (
    TARGETS,
    TopicAnalysis,
    Transition,
    WorldTopic,
    list_targets,
    normalise_transitions,
)
from fabula.learned.topics.finding import TopicSet
from fabula.reports.figures.graph import Arrow, Node, draw_graph
from fabula.reports.figures.heatmap import draw_heatmap
from fabula.reports.numbers import interval_text, number_text
from fabula.reports.study_blocks import (
    Block,
    FigureBlock,
    Section,
    TableBlock,
    TabsBlock,
    Words,
)
from fabula.reports.study_page import write_study
from fabula.reports.tables import Cell, Table, TableColumn, Value, render

Columns = list[str | TableColumn]
Rows = list[list[Cell | Value]]

_WORLD_TOPICS = 5  # shown of each world in a terminal
_GRAPH_TOPICS = 12
_WIDE, _NARROW = 210, 95  # radius of the graph
_MATRIX_TOPICS = 30
_TABBED_WORLDS = 12
_NO_WORLD = "(none)"
_METHODS = {"dictionary": "dictionary", "lda": "LDA"}
_NAMINGS = {
    "passages": "passages",
    "cosine": "cosine",
    "softmax": "softmax",
    "likeliest": "probability",
}


def render_topics(form: str, found: TopicAnalysis) -> str:
    """Write topics for a terminal or a paper; json holds worlds and transitions too."""
    tables = [_topic_table(found), _quality_table(found.sets)]
    if found.worlds:
        tables.append(_world_table(found, _WORLD_TOPICS))
    if found.transitions.any():
        tables.append(_transition_table(found))
    return render(form, topic_rows(found), tables, _about(found))


def topic_rows(found: TopicAnalysis) -> list[dict[str, Any]]:
    """Give the topics that are shown, a row each."""
    shown = found.shown
    told = zip(shown.run.words, shown.run.shares, shown.coherence.tolist(), strict=True)
    return [
        {
            "topic": number,
            "share": round(share, 6),
            "npmi": _plain(npmi),
            "words": ", ".join(words),
        }
        for number, (words, share, npmi) in enumerate(told, 1)
    ]


def _about(found: TopicAnalysis) -> dict[str, Any]:
    return {
        "passages": len(found.corpus.passages),
        "left_out_passages": found.corpus.left_out,
        "methods": [
            {
                "method": one.method,
                "words_by": one.naming,
                "npmi": one.mean_coherence.plain(),
                "stability": _plain(one.stability),
                "diversity": _plain(one.diversity),
                "runs": one.runs,
                "seconds_a_run": round(one.seconds, 2),
            }
            for one in found.sets
        ],
        "worlds": [
            {
                "world": row.world,
                "topic": row.topic + 1,
                "passages": row.passages,
                "share": round(row.share, 6),
                "importance": row.importance.plain(),
            }
            for row in found.worlds
        ],
        "transitions": [_transition_row(row) for row in list_targets(found.transitions)],
    }


def _transition_row(row: Transition) -> dict[str, Any]:
    share = round(row.share, 6)
    return {"source": row.source + 1, "target": row.target + 1, "count": row.count, "share": share}


def _plain(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None


def _topic_table(found: TopicAnalysis) -> Table:
    rows = [
        [row["topic"], 100 * row["share"], _npmi_cell(row["npmi"]), row["words"]]
        for row in topic_rows(found)
    ]
    columns: Columns = ["topic", TableColumn("share %", 1), TableColumn("NPMI", 2), "words"]
    notes = [_say_corpus(found)]
    if found.left_out:
        named = ", ".join(str(topic + 1) for topic in sorted(found.left_out))
        notes.append(f"Left out of worlds and transitions: {named}.")
    return Table(columns, rows, notes=notes)


def _npmi_cell(value: float | None) -> Cell:
    return Cell(math.nan if value is None else value)


def _say_corpus(found: TopicAnalysis) -> str:
    corpus, empty = found.corpus, found.shown.empty
    lost = f"; {corpus.left_out:,} without a word that tells a topic" if corpus.left_out else ""
    bare = f"; {count_text(empty, 'topic')} of no passage" if empty else ""
    words = f"{count_text(len(corpus.names), 'word')} may name a topic"
    return f"{count_text(len(corpus.passages), 'passage')}{lost}; {words}{bare}."


def _quality_table(sets: Sequence[TopicSet]) -> Table:
    rows: Rows = [
        [
            _METHODS[one.method],
            _NAMINGS[one.naming],
            Cell(one.mean_coherence.value, aside=interval_text(*one.mean_coherence.interval, 3)),
            one.stability,
            one.diversity,
            one.runs,
            one.seconds,
        ]
        for one in sets
    ]
    columns: Columns = [
        "topics of", "words by", TableColumn("NPMI", 3), TableColumn("stability", 3),
        TableColumn("diversity", 2), "seeds", TableColumn("s a seed", 1),
    ]  # fmt: skip
    note = (
        "NPMI: how far a topic's words share passages (−1 never, 0 by chance, 1 always), with the "
        "95 % interval over topics; stability: how like the words of two seeds are; diversity: "
        "share of words that differ."
    )
    return Table(columns, rows, notes=[note])


def _quality_block(sets: Sequence[TopicSet]) -> TableBlock:
    records = [
        {
            "topics of": _METHODS[one.method],
            "words by": _NAMINGS[one.naming],
            **one.mean_coherence.columns("NPMI"),
            "stability": one.stability,
            "diversity": one.diversity,
            "seeds": one.runs,
            "s a seed": one.seconds,
        }
        for one in sets
    ]
    block = _block(_quality_table(sets), "How good they are", "quality")
    return replace(block, records=records)


def _world_table(found: TopicAnalysis, most: int) -> Table:
    rows: Rows = []
    seen: dict[str, int] = {}
    for row in found.worlds:
        seen[row.world] = seen.get(row.world, 0) + 1
        if seen[row.world] <= most:
            name = row.world or _NO_WORLD
            rows.append([name if seen[row.world] == 1 else "", *_world_cells(found, row)])
    columns = ["world", *_WORLD_COLUMNS]
    note = (
        "importance: share in the world by share in all; interval by drawing stories again, of "
        "five at least."
    )
    return Table(columns, rows, notes=[note])


def _world_record(found: TopicAnalysis, row: WorldTopic) -> dict[str, Any]:
    """Give a topic in a world for CSV: the passages of the world, and both ends of the interval."""
    return {
        "world": row.world,
        "topic": row.topic + 1,
        "passages": row.passages,
        "share %": 100 * row.share,
        **row.importance.columns("importance"),
        "words": ", ".join(found.shown.run.words[row.topic]),
    }


_WORLD_COLUMNS = ("topic", "share %", "importance", "words")


def _world_cells(found: TopicAnalysis, row: WorldTopic) -> list[Cell | Value]:
    importance = Cell(
        row.importance.value,
        number_text(row.importance.value, 2),
        aside=interval_text(row.importance.low, row.importance.high, 2),
    )
    words = ", ".join(found.shown.run.words[row.topic][:6])
    return [
        row.topic + 1,
        Cell(100 * row.share, number_text(100 * row.share, 1)),
        importance,
        words,
    ]


def _transition_table(found: TopicAnalysis) -> Table:
    rows: Rows = [
        [
            name_topic(found, row.source),
            name_topic(found, row.target),
            row.count,
            Cell(row.share, f"{100 * row.share:.1f} %"),
        ]
        for row in list_targets(found.transitions)
        if row.source < _GRAPH_TOPICS
    ]
    note = "of all that follows the topic; the topic itself, which follows too, is not listed"
    return Table(["topic", "is followed by", "times", "share"], rows, notes=[f"Share: {note}."])


def name_topic(found: TopicAnalysis, topic: int, most: int = 3) -> str:
    """Call a topic by its number and first words."""
    words = ", ".join(found.shown.run.words[topic][:most])
    return f"{topic + 1} {words}".strip()


def draw_transition_matrix(found: TopicAnalysis, counts: Any, title: str) -> str:
    """Draw which share of what follows a topic is which; the most frequent topics alone."""
    topics = _choose_topics(found, counts, _MATRIX_TOPICS)
    shares = normalise_transitions(counts)[np.ix_(topics, topics)]
    names = [name_topic(found, topic, 2) for topic in topics]
    return draw_heatmap(shares, names, names, title=title, scale="sequential", low=0.0)


def draw_transition_graph(
    found: TopicAnalysis, counts: Any, title: str, *, narrow: bool = False
) -> str:
    """Draw the most frequent topics, and of each the three of them that follow it most often.

    A `narrow` one, for a phone, names each by its number and its first word.
    """
    topics = _choose_topics(found, counts, _GRAPH_TOPICS)
    inner = counts[np.ix_(topics, topics)]
    sizes, shares = counts.sum(axis=1), found.shown.run.shares
    nodes = [
        Node(
            f"{topic + 1}" if narrow else f"{topic + 1} · {100 * shares[topic]:.1f} %",
            ", ".join(found.shown.run.words[topic][: 1 if narrow else 3]),
            shares[topic],
        )
        for topic in topics
    ]
    arrows = []
    for row in list_targets(inner):
        source, target = topics[row.source], topics[row.target]
        share = row.count / sizes[source]
        named = f"{name_topic(found, source)} → {name_topic(found, target)}"
        note = f"{named}: {row.count:,} times, {100 * share:.1f} %"
        arrows.append(Arrow(row.source, row.target, float(share), note))
    return draw_graph(nodes, arrows, title=title, radius=_NARROW if narrow else _WIDE)


def _choose_topics(found: TopicAnalysis, counts: Any, most: int) -> list[int]:
    """Give the topics with the most transitions, in their order."""
    moved = counts.sum(axis=0) + counts.sum(axis=1)
    busiest = np.argsort(-moved, kind="stable")[:most]
    return sorted(topic for topic in busiest.tolist() if moved[topic])


def write_topics(
    found: TopicAnalysis,
    folder: Path,
    *,
    title: str,
    facts: Mapping[str, str | int],
    inputs: Iterable[Path] = (),
    overwrite: bool = False,
) -> Path:
    """Write a page, its tables and figures, and the topic of every passage, into a folder."""
    passages = "".join(
        json_text(
            {
                "id": passage.id,
                "story": passage.story,
                "world": passage.world,
                "role": passage.role,
                "topic": topic + 1,
            }
        )
        + "\n"
        for passage, topic in zip(
            found.corpus.passages, found.shown.run.assigned.tolist(), strict=True
        )
    )
    about = json_text(_about(found) | {"topics": topic_rows(found)}, indent=1)
    return write_study(
        folder,
        title=title,
        lead=Words([_say_corpus(found)]),
        sections=make_sections(found),
        facts=dict(facts),
        files={"passages.jsonl": passages, "topics.json": f"{about}\n"},
        inputs=inputs,
        overwrite=overwrite,
    )


def make_sections(found: TopicAnalysis) -> list[Section]:
    """Make the parts of the page: topics, worlds, transitions."""
    sections = [
        Section(
            "topics",
            "Topics",
            [_block(_topic_table(found), "Topics", "topics"), _quality_block(found.sets)],
        )
    ]
    if found.worlds:
        sections.append(Section("worlds", "Worlds", [_world_tabs(found)]))
    if found.transitions.any():
        sections.append(Section("transitions", "What follows what", _transition_blocks(found)))
    return sections


def _block(table: Table, title: str, name: str) -> TableBlock:
    columns = [head.name for head in table.heads]
    decimals = [head.decimals for head in table.heads]
    note = " ".join(str(note) for note in table.notes)
    return TableBlock(title, columns, table.rows, name, note, decimals)


def _world_tabs(found: TopicAnalysis) -> TabsBlock:
    panels: dict[str, Block] = {}
    for number, world in enumerate(dict.fromkeys(row.world for row in found.worlds), 1):
        members = [row for row in found.worlds if row.world == world]
        rows = [_world_cells(found, row) for row in members]
        records = [_world_record(found, row) for row in members]
        name = world or _NO_WORLD
        panels[name] = TableBlock(name, _WORLD_COLUMNS, rows, f"world_{number}", records=records)
    note = "Importance: share in the world by share in all, with its interval over stories."
    return TabsBlock("Topics of each world, the most important first", panels, note)


def _transition_blocks(found: TopicAnalysis) -> list[Block]:
    largest = sorted(found.by_world, key=lambda world: -found.by_world[world].sum())
    counts = {"all": found.transitions}
    counts |= {world or _NO_WORLD: found.by_world[world] for world in largest[:_TABBED_WORLDS]}
    graph_note = (
        f"At most {_GRAPH_TOPICS} topics, those with the most transitions, and of each the "
        f"{TARGETS} of them that follow it most often, itself apart. Arrows are as thick as their "
        "share of all that follows; discs as large as a topic's share."
    )
    graph, phone_graph = (
        draw_transition_graph(found, found.transitions, "Which topic follows which", narrow=narrow)
        for narrow in (False, True)
    )
    blocks: list[Block] = [
        FigureBlock("Graph", graph, "transition_graph", graph_note, narrow=phone_graph)
    ]
    panels: dict[str, Block] = {}
    for number, (world, table) in enumerate(counts.items()):
        if table.any():
            name = f"transition_matrix_{number}" if number else "transition_matrix"
            svg = draw_transition_matrix(found, table, f"Transitions, {world}")
            panels[world] = FigureBlock(world, svg, name)
    note = (
        "Rows are followed by columns: shares of all that follows. At most "
        f"{_MATRIX_TOPICS} topics and {_TABBED_WORLDS} worlds, those with the most transitions."
    )
    blocks.append(TabsBlock("Matrix", panels, note))
    blocks.append(_block(_transition_table(found), "Commonest targets", "transitions"))
    return blocks
