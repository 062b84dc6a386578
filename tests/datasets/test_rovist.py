from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabula.core.errors import InputError
from fabula.datasets.rovist import load
from fakes.release_samples import SAMPLES, put

SAMPLE = SAMPLES["rovist"]


def test_scores_are_those_that_were_published(tmp_path: Path) -> None:
    dataset = load(put(tmp_path, SAMPLE))
    assert [(s.story, s.scorer, s.value) for s in dataset.scores] == [
        ("4", "RoViST-C", 0.5),
        ("4", "RoViST-NR", 0.75),
        ("4", "GROOViST", 0.25),
        ("5", "GROOViST", -0.5),
    ]
    assert dataset.scorers["GROOViST"].uses == ("images",)


def test_the_stories_alone_are_enough(tmp_path: Path) -> None:
    dataset = load(put(tmp_path, {"stories.json": SAMPLE["stories.json"]}))
    assert len(dataset.stories) == 2 and not len(dataset.scores) and not dataset.scorers


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("rovist_c.csv", "story_id,C_score\n9,1\n", "line 2: no story '9' in this release"),
        ("rovist_c.csv", "story_id,C_score\n4,1\n4,1\n", "line 3: a score of 'RoViST-C'"),
        ("rovist_c.csv", "story_id,score\n4,1\n", "line 2: field 'C_score' is missing"),
        ("rovist_c.csv", "story_id,C_score\n4,low\n", "line 2: rating 'low' is no number"),
        ("groovist.json", '{"4": null}', "story '4': rating None is no number"),
        ("stories.json", json.dumps({"4": 1}), "field '4' holds a int, not text"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(put(tmp_path, SAMPLE | {name: text}))
