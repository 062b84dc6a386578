"""Learned metrics in shards: the weights of the repository, in other batches, within 1e-5."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula import load_dataset
from fabula.core.table import read_scores, story_line
from fabula.datasets.tables.stories import StoryFile, StoryLayout
from fabula.models import AssetError, path_of
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.run import RunOptions, run
from fabula.scoring.shards.run import ShardOptions, run_shards

pytest.importorskip("torch")
pytest.importorskip("pyarrow")
METRICS = "storyer, coherence"
# Values are on scales of 0 to 1 and 0 to 100; a batch of other texts changes the order of sums.
TOLERANCE = 1e-5


def test_other_batches_move_learned_values_by_less_than_is_said(tmp_path: Path):
    try:
        path_of("story_encoder")
    except AssetError:
        pytest.skip("the weights are not here")
    file = tmp_path / "stories.jsonl"
    file.write_text("".join(map(story_line, load_dataset("examples").stories[:20])))
    metrics = choose_metrics(METRICS)
    run(StoryFile(file), metrics, RunOptions(tmp_path / "whole", cache=False))
    # In processes of their own, for this one remembers what its readers have said.
    options = ShardOptions(str(tmp_path / "parts"), stories=10, at_once=64, jobs=2)
    run_shards([str(file)], StoryLayout(), metrics, options)
    whole, parts = (list(read_scores(tmp_path / name)) for name in ("whole", "parts"))
    assert [(s.story, s.label, s.status) for s in whole] == [
        (s.story, s.label, s.status) for s in parts
    ]
    assert all(s.ok for s in whole) and len(whole) >= 40
    for one, other in zip(whole, parts, strict=True):
        assert one.value == pytest.approx(other.value, abs=TOLERANCE * max(1.0, abs(one.value)))
