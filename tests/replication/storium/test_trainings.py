"""The experiment from games to report, on a tiny random model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import InputError, SettingError
from fabula.learned.training.author_figures import read_figures
from fabula.learned.training.games import make_games
from fabula.learned.training.made_up import tell_stories
from fabula.replication.analyses import run_analyses
from fabula.replication.storium.study import StoriumStudy, open_experiment
from fabula.replication.storium.trainings import VariantTrainings, train_missing
from fakes.tiny_models import save_llama

GAMES = 20


def make_settings(folder: Path) -> VariantTrainings:
    model = save_llama(folder / "llama", positions=1024)
    recipe = {"model": f"huggingface({str(model)!r})", "window": 1024, "evaluate_every": 100}
    recipe |= {"epochs": 1, "rows": 8, "rate": 0.001}
    few: dict[str, Any] = {"packings": ("none",), "histories": (0,), "seeds": (1,)}
    return VariantTrainings(**few, recipe=recipe, device="cpu")


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("games") / "games.jsonl"
    made = (each.game for each in make_games(tell_stories(GAMES)) if each.game)
    path.write_text("".join(json.dumps(game) + "\n" for game in made))
    return path


def test_what_is_missing_is_trained_and_the_report_has_it_all(tmp_path: Path, games: Path) -> None:
    settings, runs = make_settings(tmp_path), tmp_path / "report" / "trainings"
    said: list[str] = []
    assert train_missing(settings, [games], runs, said.append) == 1
    (first,) = runs.iterdir()
    assert first.name == "none-history0-seed1"
    assert said and all(line.startswith(f"{first.name}: ") for line in said)
    before = (first / "figures.json").read_bytes()

    study = StoriumStudy("T", resamples=50, trainings=replace(settings, histories=(0, 1)))
    experiment = open_experiment(
        study, tmp_path / "study.toml", games=games, output=tmp_path / "report"
    )
    found = {each.analysis: each for each in run_analyses(study, experiment)}
    assert (first / "figures.json").read_bytes() == before
    assert read_figures(runs / "none-history1-seed1").history == 1
    # Figures and a record, and no weights.
    assert not list(runs.rglob("*.safetensors"))
    assert found["trainings"].words[0].startswith("1 training made now")
    (table,) = found["trainings"].tables
    assert [row[:3] for row in table.rows] == [
        ["none, history 0", "1", GAMES], ["none, history 1", "1", GAMES],
    ]  # fmt: skip
    (perplexity,) = found["perplexity"].tables
    assert all(row[1].value > 1 and row[1].n == 2 for row in perplexity.rows)
    (effects,) = found["effects"].tables
    assert [(row[0], row[4]) for row in effects.rows] == [
        ("history 1 over 0, none", "too few games")
    ]


def test_trainings_of_another_recipe_or_of_other_games_are_not_taken_for_these(
    tmp_path: Path, games: Path
) -> None:
    settings, report = make_settings(tmp_path), tmp_path / "report"
    train_missing(settings, [games], report / "trainings", lambda line: None)

    def open_with(chosen: VariantTrainings, source: Path) -> None:
        study = StoriumStudy("T", trainings=chosen)
        open_experiment(study, tmp_path / "study.toml", games=source, output=report)

    open_with(settings, games)
    faster = replace(settings, recipe={**settings.recipe, "at_once": 1, "report_every": 1})
    open_with(faster, games)
    longer = replace(settings, recipe={**settings.recipe, "epochs": 3, "rate": 0.002})
    with pytest.raises(InputError, match=r"seed1 was trained by another recipe \(epochs, rate\)"):
        open_with(longer, games)
    others = tmp_path / "others.jsonl"
    others.write_text(games.read_text().replace('"game_pid": "', '"game_pid": "other-'))
    with pytest.raises(InputError, match="seed1 was trained on other games"):
        open_with(settings, others)
    none = tmp_path / "none.jsonl"
    none.write_text("")
    with pytest.raises(InputError, match="no game is in it"):
        open_with(settings, none)


def test_ways_of_learning_are_variants_as_packings_are(tmp_path: Path) -> None:
    few: dict[str, Any] = {"packings": ("none",), "histories": (0,), "seeds": (1,)}
    settings = VariantTrainings(**few, losses=("story", "all"), segments=("tokens",))
    found = {name: (one.loss, one.segments) for name, one in settings.list_recipes()}
    assert found == {
        "none-history0-story-tokens-seed1": ("story", "tokens"),
        "none-history0-all-tokens-seed1": ("all", "tokens"),
    }
    with pytest.raises(SettingError, match="loss must be one of"):
        list(VariantTrainings(**few, losses=("entry",)).list_recipes())


def test_what_cannot_be_trained_is_said_before_anything_is(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="recipe has seed"):
        VariantTrainings(recipe={"seed": 4})
    with pytest.raises(SettingError, match="one each at least"):
        VariantTrainings(seeds=())
    with pytest.raises(InputError, match="no-games: no exported games"):
        train_missing(VariantTrainings(), [tmp_path / "no-games"], tmp_path, print)
    with pytest.raises(SettingError, match="no folder for trainings"):
        open_experiment(StoriumStudy("T"), tmp_path / "study.toml", games=tmp_path)
    places: dict[str, Any] = {"games": tmp_path / "no-games", "output": tmp_path}
    with pytest.raises(InputError, match="no-games: no such file, folder or data set of games"):
        open_experiment(StoriumStudy("T"), tmp_path / "study.toml", **places)
