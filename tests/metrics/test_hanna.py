"""Columns of HANNA's release, regenerated from its stories (Chhun et al., 2022)."""

from __future__ import annotations

import ast
import csv
import gzip
import json
import sys

import pytest

from fabula.core.story import Story
from fabula.scoring.catalogue import METRICS

STEP = 17  # every seventeenth of 1,056 stories: 63 of them, from all systems and prompts
CHECKED = ("bleu", "chrf", "repetition", "rouge")
COLUMNS = [
    (column, spec, aspect)
    for name in CHECKED
    for column, (spec, aspect) in METRICS.get(name).card.published["hanna"].items()
]


@pytest.fixture(scope="module")
def stories(shared) -> list[Story]:
    path = shared / "data" / "hanna" / "hanna_stories.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [
        Story(
            str(row["story_id"]),
            row["story"],
            references=(row["human"],),
            system=row["model"],
            item=str(row["prompt_id"]),
        )
        for row in rows[::STEP]
    ]


@pytest.fixture(scope="module")
def published(shared) -> dict[str, dict[str, list[float]]]:
    """Values by system, column (without the marks of its name) and prompt."""
    csv.field_size_limit(sys.maxsize)
    path = shared / "data" / "hanna" / "hanna_metric_scores_llm.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return {
            row["Model"]: {
                column.rstrip(" Ξ¤§"): ast.literal_eval(values)
                for column, values in row.items()
                if values.startswith("[")
            }
            for row in csv.DictReader(file)
        }


@pytest.mark.parametrize(("column", "spec", "aspect"), COLUMNS, ids=[c for c, _, _ in COLUMNS])
def test_a_published_column_comes_out_the_same(stories, published, column, spec, aspect):
    if spec.startswith("repetition"):
        pytest.importorskip("spacy")
    expected = [published[story.system][column][int(story.item)] for story in stories]
    found = [s.value for s in METRICS.build(spec).score(stories) if s.aspect == aspect]
    assert len(found) == len(stories) > 60
    # Ten decimals were published.
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-10)


def test_every_system_of_the_release_is_in_the_sample(stories, published):
    assert {story.system for story in stories} == set(published)
