from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pytest

from fabula.core.errors import SettingError
from fabula.learned.topics.analysis import TopicAnalysis, analyse_topics
from fabula.learned.topics.corpus import Corpus
from fabula.learned.topics.finding import TopicRun, TopicSet
from fabula.learned.topics.passages import Passage
from fabula.meta.resampling import Estimate
from fabula.reports.topics import make_sections, render_topics, write_topics

WORDS = (("sea", "ship", "tide"), ("bread", "oven"), ("school", "exam"))
# Six games of two worlds; in each Ida speaks three times.
SAID = [(0, 1, 1), (0, 1, 2), (0, 1, 0)] * 2


def make_set(assigned: np.ndarray, **other: object) -> TopicSet:
    shares = np.bincount(assigned, minlength=3) / len(assigned)
    run = TopicRun(WORDS, tuple(shares.tolist()), assigned)
    known = {
        "method": "dictionary",
        "naming": "passages",
        "run": run,
        "coherence": np.array([0.25, -0.125, math.nan]),
        "mean_coherence": Estimate(0.06, -0.12, 0.25, 6),
        "stability": 0.5,
        "diversity": 1.0,
        "runs": 2,
        "seconds": 1.5,
    }
    return TopicSet(**(known | other))


def analyse(worlds: int = 2, **how: object) -> TopicAnalysis:
    passages = [
        Passage(f"g{game}/{turn}", "", f"g{game}", f"<world {game % worlds}>", "ida")
        for game in range(len(SAID))
        for turn in range(3)
    ]
    corpus = Corpus(passages, ["sea"], None, np.array([True]), left_out=4)
    return analyse_topics(corpus, [make_set(np.array(SAID).ravel())], resamples=50, **how)


def test_a_terminal_shows_words_quality_worlds_and_what_follows():
    text = str(render_topics("table", analyse()))
    assert "sea, ship, tide" in text
    assert "0.060 [−0.120, 0.250]" in text
    assert "18 passages; 4 without a word that tells a topic; 1 word may name a topic." in text
    # Sea is followed six times by bread; bread twice each by itself, by school and by sea.
    assert "1 sea, ship, tide" in text and "100.0 %" in text
    assert "–" in text  # a topic without coherence


def test_json_holds_topics_methods_worlds_and_transitions():
    found = json.loads(render_topics("json", analyse()))
    assert found["rows"][0] == {
        "topic": 1,
        "share": 0.444444,
        "npmi": 0.25,
        "words": "sea, ship, tide",
    }
    assert found["rows"][2]["npmi"] is None
    assert found["methods"][0]["npmi"] == {"value": 0.06, "low": -0.12, "high": 0.25}
    assert found["transitions"][0] == {"source": 1, "target": 2, "count": 6, "share": 1.0}
    assert {row["world"] for row in found["worlds"]} == {"<world 0>", "<world 1>"}


def test_csv_is_a_row_a_topic():
    rows = list(csv.DictReader(io.StringIO(render_topics("csv", analyse()))))
    assert [row["words"] for row in rows] == [", ".join(words) for words in WORDS]


def test_one_world_is_not_compared_and_more_than_a_hundred_neither():
    assert analyse(worlds=1).worlds == []
    many = [Passage(str(n), "", str(n), str(n)) for n in range(101)]
    corpus = Corpus(many, ["sea"], None, np.array([True]))
    found = analyse_topics(corpus, [make_set(np.zeros(101, dtype=int))], resamples=5)
    assert found.worlds == [] and found.by_world == {}
    assert [section.id for section in make_sections(found)] == ["topics"]


def test_topics_left_out_are_named_and_others_than_there_are_refused():
    found = analyse(left_out=[1])
    assert "Left out of worlds and transitions: 2." in str(render_topics("table", found))
    assert not found.transitions[:, 1].any()
    with pytest.raises(SettingError, match="there is no topic 4; name topics from 1 to 3"):
        analyse(left_out=[3])


def test_a_folder_holds_the_page_tables_figures_and_every_passage(tmp_path):
    folder = tmp_path / "out"
    page = write_topics(analyse(), folder, title="Topics of <games>", facts={"topics": 3})
    html = page.read_text(encoding="utf-8")
    assert "Topics of &lt;games&gt;" in html and "<games>" not in html
    written = {file.relative_to(folder).as_posix() for file in folder.rglob("*.*")}
    assert {
        "study.html",
        "topics.json",
        "passages.jsonl",
        "tables/topics.csv",
        "tables/world_1.csv",
        "tables/world_2.csv",
        "tables/transitions.tex",
        "figures/transition_graph.svg",
        "figures/transition_matrix.svg",
        "figures/transition_matrix_1.svg",
    } <= written
    world, quality = (
        (folder / "tables" / f"{name}.csv").read_text() for name in ("world_1", "quality")
    )
    assert "importance,importance_low,importance_high,words" in world
    assert "NPMI,NPMI_low,NPMI_high" in quality
    lines = (folder / "passages.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[1]) == {
        "id": "g0/1",
        "story": "g0",
        "world": "<world 0>",
        "role": "ida",
        "topic": 2,
    }
    assert (
        json.loads((folder / "topics.json").read_text(encoding="utf-8"))["topics"][0]["topic"] == 1
    )


def test_the_graph_draws_arrows_by_their_share_of_all_that_follows():
    sections = {section.id: section for section in make_sections(analyse())}
    graph = sections["transitions"].blocks[0].svg
    assert "1 sea, ship, tide → 2 bread, oven: 6 times, 100.0 %" in graph
    assert "2 bread, oven → 3 school, exam: 2 times, 33.3 %" in graph
