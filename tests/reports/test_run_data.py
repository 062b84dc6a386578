from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fabula.core.errors import InputError
from fabula.core.score import STATUSES, Score, Status
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.reports.run_data import ReportColumn, read_report_data, spec_name
from fabula.scoring.folder import read_run


def test_baselines_stand_last_and_absent_ones_are_computed(make_run, two_systems) -> None:
    data = read_report_data(make_run(two_systems, "words", "rouge(n=1)"))
    kinds = [column.is_baseline for column in data.columns]
    assert kinds == sorted(kinds)
    added = {column.scorer for column in data.columns if column.added}
    assert {"mattr", "type_token_ratio", "unique_words", "word_length"} <= added
    assert "words" not in added
    [place] = [n for n, column in enumerate(data.columns) if column.scorer == "unique_words"]
    assert data.values[0, place] == 13


def test_a_variant_of_a_baseline_is_a_baseline(make_run, two_systems) -> None:
    data = read_report_data(make_run(two_systems, "words(compat=True)"))
    assert [c.scorer for c in data.columns if c.scorer.startswith("words")] == [
        "words(compat=True)"
    ]


def test_the_last_aspect_is_the_main_one(make_run, two_systems) -> None:
    data = read_report_data(make_run(two_systems, "rouge(n=1)"))
    aspects = {c.aspect: c.main for c in data.columns if c.scorer == "rouge(n=1)"}
    assert aspects == {"recall": False, "precision": False, "f": True}


def test_values_are_those_of_the_run_and_missing_ones_keep_their_status(make_run) -> None:
    stories = [Story("a", "x", system="s"), Story("b", "", system="s"), Story("c", "y")]
    scores = [
        Score("a", "bleu", "", 3.5),
        Score("b", "bleu", "", status=Status.EMPTY_TEXT, note="the story has no text"),
    ]
    data = read_report_data(make_run(stories, "bleu", table=ScoreTable(stories, scores)))
    place = [column.scorer for column in data.columns].index("bleu")
    assert data.values[0, place] == 3.5 and np.isnan(data.values[1:, place]).all()
    found = [STATUSES[code] for code in data.statuses[:, place]]
    assert found == ["ok", "empty_text", "not scored"]


def test_every_aspect_of_a_person_is_shown_and_none_is_called_better(make_run) -> None:
    stories = [Story("a", "x")]
    scores = [Score("a", "human:ann", aspect, 2.0) for aspect in ("coherence", "wit")]
    data = read_report_data(make_run(stories, "words", table=ScoreTable(stories, scores)))
    people = [column for column in data.columns if column.scorer == "human:ann"]
    assert [(c.aspect, c.main, c.direction) for c in people] == [
        ("coherence", True, "descriptive"),
        ("wit", True, "descriptive"),
    ]


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run folder"):
        read_report_data(tmp_path)


def test_a_score_of_no_story_is_refused(make_run, two_systems, monkeypatch) -> None:
    folder = make_run(two_systems, "words")
    record = read_run(folder)
    lines = (folder / "stories.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "stories.jsonl").write_text("".join(lines[1:]), encoding="utf-8")
    monkeypatch.setattr("fabula.reports.run_data.read_run", lambda _: record)
    with pytest.raises(InputError, match="'copy-0', which is not a story here"):
        read_report_data(folder)


def test_a_scorer_that_is_no_spec_has_no_name() -> None:
    assert spec_name("rouge(n=2)") == "rouge"
    assert spec_name("human:ann") == spec_name("my own scorer") == ""


def test_a_label_names_scorer_and_aspect() -> None:
    assert (ReportColumn("rouge", "f").label, ReportColumn("bleu", "").label) == ("rouge f", "bleu")
