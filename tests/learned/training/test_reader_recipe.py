"""Recipes of readers: what they may say, and those that come with Fabula."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabula.core.errors import SettingError, UnknownName
from fabula.learned.training import recipe as recipes
from fabula.learned.training.recipe import ReaderRecipe, example_settings, find_recipe, read_recipe
from fabula.learned.training.ruber import RuberRecipe
from fakes.tiny_tasks import PLAIN_RECIPE, tiny_recipe

REPO = Path(__file__).resolve().parents[3]


def changed(**changes):
    return {**json.loads(json.dumps(PLAIN_RECIPE)), **changes}


@pytest.mark.parametrize(
    "name", ["storyer", "criteria", "coherence", "rovist_c", "union", "manplts"]
)
def test_a_recipe_that_comes_with_fabula_can_be_read(name):
    recipe = read_recipe(ReaderRecipe, find_recipe(name))
    assert recipe.kind == name
    assert recipe.scales
    assert {task for stage in recipe.stages for g in stage.groups for task in g.tasks} == {
        *recipe.tasks
    }


def test_the_recipe_of_ruber_comes_with_fabula_too():
    assert read_recipe(RuberRecipe, find_recipe("ruber")).sources == ("writingprompts",)


def test_recipes_lie_in_the_clone_or_in_the_package(tmp_path, monkeypatch):
    assert find_recipe("union") == REPO / "recipes" / "union.toml"
    (tmp_path / "union.toml").write_text("")
    monkeypatch.setattr(recipes, "_PACKAGED", tmp_path)
    assert find_recipe("union") == tmp_path / "union.toml"
    with pytest.raises(UnknownName, match="'unoin' comes with Fabula; did you mean 'union'"):
        find_recipe("unoin")


def test_a_wheel_takes_the_recipes_along():
    text = (REPO / "pyproject.toml").read_text(encoding="utf-8")
    assert 'recipes = "fabula/learned/training/_recipes"' in text


def test_changes_take_the_place_of_what_a_file_says(tmp_path):
    path = tmp_path / "recipe.toml"
    path.write_text((REPO / "recipes" / "union.toml").read_text())
    assert read_recipe(ReaderRecipe, path, seed=7, held_out=None).seed == 7
    assert read_recipe(ReaderRecipe, path, seed=None).seed == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sed": 3}, "sed is no field that is known; did you mean 'seed'"),
        ({"kind": 3}, "kind must be a string"),
        ({"window": 9000}, "window must be from 8 to 8192"),
        ({"held_out": 1.0}, "held_out must be at least 0 and below 1"),
        ({"report_every": 0}, "report_every must be at least 1"),
        ({"stages": []}, "a recipe has tasks and stages"),
        ({"stages": [{"groups": [{"tasks": ["other"], "rows": 1}], "rate": 1.0, "steps": 1}]},
         "names the task 'other'"),
        ({"stages": [{"groups": [{"tasks": ["rated"], "rows": 0}], "rate": 1.0, "steps": 1}]},
         "rows of at least 1"),
        ({"stages": [{"groups": [{"tasks": ["rated"], "rows": 1}], "rate": 1.0}]},
         "steps or epochs"),
        ({"tasks": {"rated": {"kind": "ratings", "data": ["x"], "head": "h"}}}, "needs aspects"),
        ({"tasks": {"rated": {"kind": "labels", "data": [], "head": "h"}}}, "needs data"),
        ({"tasks": {"rated": {"kind": "guess", "data": ["x"], "head": "h"}}}, "one of 'pairs'"),
        ({"tasks": {"rated": {"kind": "labels", "data": ["x"], "head": "h", "margins": 1}}},
         "tasks.rated.margins is no field that is known; did you mean 'margin'"),
    ],
)  # fmt: skip
def test_a_recipe_that_will_not_do_says_why(changes, words):
    if "tasks" in changes:
        changes["stages"] = [{"groups": [{"tasks": ["rated"], "rows": 1}], "rate": 1.0, "steps": 1}]
    with pytest.raises(SettingError) as caught:
        read_recipe(ReaderRecipe, changed(**changes), where="mine.toml")
    assert words in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(SettingError, match=r"cannot be read .* check the path"):
        read_recipe(ReaderRecipe, tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("= 3")
    with pytest.raises(SettingError, match="is no TOML"):
        read_recipe(ReaderRecipe, tmp_path / "bad.toml")


def test_the_first_task_of_a_head_describes_it():
    assert [task.kind for task in tiny_recipe().heads.values()] == ["labels", "pairs", "ratings"]


def test_examples_follow_from_tasks_and_not_from_how_they_are_learned():
    wanted = example_settings(tiny_recipe())
    assert example_settings(tiny_recipe(seed=9, clip=3.0)) == wanted
    tasks = changed()["tasks"]
    tasks["rated"]["weight"] = 3.0
    assert example_settings(tiny_recipe(tasks=tasks)) == wanted
    tasks["rated"]["aspects"] = ["bad", "good"]
    assert example_settings(tiny_recipe(tasks=tasks)) != wanted
    assert json.loads(json.dumps(wanted)) == wanted


@pytest.mark.parametrize("name", ["to", "also", "people"])
def test_a_scale_is_held_against_what_people_said_alone(name):
    scale = {"terms": {"labels": 1.0}, name: "labels" if name == "people" else ["labels.fine"]}
    with pytest.raises(SettingError, match=r"scale x is held against 'labels.*nobody said"):
        tiny_recipe(scales={"x": scale})


def test_a_spoiled_story_is_no_opinion_and_its_corpus_is_known():
    tasks = changed()["tasks"]
    tasks["spoiled"] = {"kind": "spoiled", "data": ["one", "two"], "head": "spoiled"}
    recipe = tiny_recipe(tasks=tasks)
    assert recipe.opinion_tasks == ["preference", "rated"]
    assert recipe.corpora == ["one", "two"]


def test_only_ratings_may_come_of_a_scorer_and_examples_follow_from_it():
    tasks = changed()["tasks"]
    tasks["rated"]["scorer"] = "judge"
    settings = example_settings(tiny_recipe(tasks=tasks))["tasks"]
    assert settings["rated"]["scorer"] == "judge"
    assert "scorer" not in settings["labels"]
    tasks["labels"]["scorer"] = "judge"
    with pytest.raises(SettingError, match="task labels has a scorer; only ratings may come of"):
        tiny_recipe(tasks=tasks)


def test_examples_follow_from_whether_stories_are_related_to_their_prompts():
    fit = {"terms": {"rated": 1.0}, "to": ["rated.good"], "relation": 0.7}
    recipe = tiny_recipe(scales={"fit": fit})
    assert recipe.related_tasks == ["rated"]
    settings = example_settings(recipe)["tasks"]
    assert settings["rated"]["relation"] == 1
    assert "relation" not in settings["labels"]
    with pytest.raises(SettingError, match="a scale with a relation is fitted to task preference"):
        tiny_recipe(scales={"fit": fit | {"to": ["preference"]}})
    tasks = changed()["tasks"]
    tasks["rated"]["with_prompt"] = True
    with pytest.raises(SettingError, match="of ratings of stories without their prompts"):
        tiny_recipe(tasks=tasks, scales={"fit": fit})
