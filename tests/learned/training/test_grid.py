"""Grids: settings that combine, each in a folder of its own, the best first."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from fabula.core.errors import InputError, SettingError
from fabula.learned.training.grid import (
    GRID,
    apply_settings,
    describe,
    mean_figure,
    read_grid,
    try_all,
)
from fakes.tiny_tasks import PLAIN_RECIPE


def grid(tmp_path: Path, text: str):
    (tmp_path / "grid.toml").write_text(text)
    return read_grid(tmp_path / "grid.toml")


BOTH = "rate = [1e-3, 1e-4]\ntasks.preference.margin = [0.2, 0.3]\nstages.1.steps = [4]\n"


def test_all_settings_combine(tmp_path):
    found = grid(tmp_path, BOTH)
    assert [describe(one) for one in found] == [
        f"rate = {rate}, tasks.preference.margin = {margin}, stages.1.steps = 4"
        for rate in ("0.001", "0.0001")
        for margin in ("0.2", "0.3")
    ]


def test_settings_take_their_place_in_a_recipe(tmp_path):
    found = apply_settings(PLAIN_RECIPE, grid(tmp_path, BOTH)[1])
    # A setting of stages that is said without a stage counts for all of them.
    assert [stage["rate"] for stage in found["stages"]] == [1e-3, 1e-3]
    assert [stage["steps"] for stage in found["stages"]] == [6, 4]
    assert found["tasks"]["preference"]["margin"] == 0.3
    assert PLAIN_RECIPE["stages"][1]["steps"] == 6


def test_names_with_dots_are_quoted_as_in_toml(tmp_path):
    [one] = grid(tmp_path, 'scales."criteria.good".surface = [0.5]\n')
    assert describe(one) == 'scales."criteria.good".surface = 0.5'
    found = apply_settings(PLAIN_RECIPE, one)
    assert found["scales"]["criteria.good"]["surface"] == 0.5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rate = 3", "rate = 3 is no list; write a list"),
        ("", "names no setting"),
        ("rate = []", r"rate = \[\] is no list"),
    ],
)
def test_a_grid_that_will_not_do_says_why(tmp_path, text, words):
    with pytest.raises(SettingError, match=words):
        grid(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tasks.preferences.margin = [1]", "tasks.preferences.margin, which the recipe has not"),
        ("stages.7.rate = [1]", "stages.7.rate, which the recipe has not"),
        ("kind.name = ['x']", "kind.name, which the recipe has not"),
    ],
)
def test_a_place_that_the_recipe_has_not_is_named(tmp_path, text, words):
    with pytest.raises(SettingError, match=words):
        apply_settings(PLAIN_RECIPE, grid(tmp_path, text)[0])


def run(tmp_path: Path, seen: list[str], *, resume: bool = False, text: str = BOTH, fail: int = 0):
    """Train by a trainer that finds the margin itself to be the figure."""

    def train(recipe, folder):
        if (folder / "done.json").exists():
            return json.loads((folder / "done.json").read_text())
        if len(seen) + 1 == fail:
            raise KeyboardInterrupt
        seen.append(folder.name)
        figure = recipe["tasks"]["preference"]["margin"] - recipe["stages"][0]["rate"]
        record = {"unseen": {"a": {"value": figure}, "b": {"value": None}}}
        folder.mkdir()
        (folder / "done.json").write_text(json.dumps(record))
        return record

    return try_all(
        PLAIN_RECIPE, grid(tmp_path, text), read=dict,
        out=tmp_path / "out", train=train, resume=resume, report=lambda line: None,
    )  # fmt: skip


def test_the_best_setting_comes_first(tmp_path):
    seen: list[str] = []
    found = run(tmp_path, seen)
    assert seen == ["01", "02", "03", "04"]
    assert [one.folder.name for one in found] == ["04", "02", "03", "01"]
    assert [one.figure for one in found] == pytest.approx([0.2999, 0.299, 0.1999, 0.199])
    assert (tmp_path / "out" / GRID).exists()


def test_a_killed_grid_goes_on_where_it_was(tmp_path):
    seen: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, seen, fail=3)
    with pytest.raises(InputError, match="holds a grid; say --resume"):
        run(tmp_path, seen)
    with pytest.raises(InputError, match="holds another grid; name another folder"):
        run(tmp_path, seen, resume=True, text="tasks.preference.margin = [1.0]")
    found = run(tmp_path, seen, resume=True)
    assert seen == ["01", "02", "03", "04"]
    assert len(found) == 4


def test_the_figure_is_of_unseen_stories_else_of_held_out_ones():
    rows = {"a": {"value": 0.5}, "b": {"value": 0.7}, "c": {"value": None}}
    assert mean_figure({"unseen": rows}) == pytest.approx(0.6)
    assert mean_figure({"unseen": {}, "history": [{"mean": 0.2}, {"mean": 0.4}]}) == 0.4
    epochs = [{"epoch": 1, "accuracy": 0.6}, {"epoch": 2, "accuracy": 0.9}]
    assert mean_figure({"best": 1, "history": epochs}) == 0.6
    assert math.isnan(mean_figure({"history": []}))
    assert math.isnan(mean_figure({"unseen": {"a": {"value": None}}}))
