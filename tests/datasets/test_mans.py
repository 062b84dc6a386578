from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import InputError
from fabula.datasets.mans import load
from fakes.release_samples import SAMPLES, put, task


def refused(folder: Path, content: str) -> str:
    with pytest.raises(InputError) as caught:
        load(put(folder, {"mans_roc.json": content}))
    return str(caught.value)


def changed(system: dict[str, Any]) -> str:
    return json.dumps({"7": task("ann") | {"gen": {"gpt": system}}})


def test_stories_of_an_item_share_prompt_and_reference(tmp_path: Path) -> None:
    dataset = load(put(tmp_path, SAMPLES["mans"]))
    first = dataset.stories[0]
    assert (first.id, first.item, first.system) == ("roc:7/gpt", "roc:7", "gpt")
    assert first.prompt == "[MALE] opened the door ."
    assert first.references == ("outside stood spring .",)
    assert {story.item for story in dataset.stories} == {"roc:7", "roc:9", "wp:7"}


def test_the_five_ratings_are_places_in_a_list(tmp_path: Path) -> None:
    dataset = load(put(tmp_path, SAMPLES["mans"]))
    mine = [(s.scorer, s.value) for s in dataset.ratings if s.story == "roc:7/gpt"]
    assert mine == [(f"human:{n}", n) for n in range(1, 6)]
    assert not dataset.card.raters_known


def test_one_half_alone_is_read_as_well(tmp_path: Path) -> None:
    half = {"mans_wp.json": SAMPLES["mans"]["mans_wp.json"]}
    assert len(load(put(tmp_path, half)).stories) == 2


def test_what_is_wrong_is_named_with_item_and_system(tmp_path: Path) -> None:
    where = "mans_roc.json, item '7', system 'gpt': "
    assert where + "field 'score' holds 4 values, not 5" in refused(
        tmp_path, changed({"text": "a", "score": [1, 2, 3, 4]})
    )
    assert where + "rating 0 is outside" in refused(
        tmp_path, changed({"text": "a", "score": [0, 2, 3, 4, 5]})
    )
    assert where + "field 'text' is missing" in refused(tmp_path, changed({"score": [1] * 5}))
    assert "item '7': a list, not an object" in refused(tmp_path, '{"7": []}')
    assert "mans_roc.json: a list, not an object" in refused(tmp_path, "[]")
    assert "not valid JSON" in refused(tmp_path, "{")


def test_an_item_that_stands_twice_is_refused(tmp_path: Path) -> None:
    one = json.dumps(task("ann"))
    assert "key '7' stands twice" in refused(tmp_path, f'{{"7": {one}, "7": {one}}}')


def test_json_without_end_is_refused(tmp_path: Path) -> None:
    assert "nested too deeply" in refused(tmp_path, "[" * 100_000)
