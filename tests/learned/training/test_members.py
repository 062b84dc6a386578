"""Several trainings from one start: their mean, and how it goes on after a kill."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.core.errors import InputError, SettingError
from fabula.learned.training import reader
from fabula.learned.training.folder import TrainingFolder
from fabula.learned.training.loop import TrainingState, run_training
from fabula.learned.training.reader import Workshop, train_members
from fabula.learned.training.reader_model import ReaderTrainee
from fakes import trained_reader
from fakes.tiny_tasks import tiny_prepared, tiny_recipe
from fakes.trained_reader import kill_at, same
from fakes.watching import watched

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

THREE = tiny_recipe(members=3)


def train(start: Path, out: Path, recipe=THREE, **options):
    return trained_reader.train(start, out, recipe, **options)


@pytest.fixture(scope="module")
def whole(start: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out: Path = tmp_path_factory.mktemp("whole") / "out"
    train(start, out)
    return out


def test_the_weights_are_the_mean_of_those_of_the_members(start, tmp_path):
    workshop = Workshop(THREE, tiny_prepared().examples, start, torch.device("cpu"))
    examples, alone = workshop.examples(THREE.seed), []
    for order in (0, 1000, 2000):
        model = workshop.new_model(THREE.seed)
        trainee = ReaderTrainee(model, examples, {}, stages=range(2), order=order)
        run_training(trainee, TrainingState(), THREE.loop, report=lambda line: None)
        alone.append(model.trained)
    folder = TrainingFolder(tmp_path)
    model, _ = train_members(
        workshop, examples, {}, first=0, folder=folder, report=lambda line: None
    )
    found = model.trained
    assert not torch.equal(alone[0]["head.rated.weight"], alone[1]["head.rated.weight"])
    for name, value in found.items():
        parts = [one[name] for one in alone]
        assert torch.allclose(value, sum(parts) / 3, atol=1e-7)


def test_whoever_watches_is_told_of_every_step_and_what_a_stop_would_keep(start, tmp_path):
    with watched() as watching:
        train(start, tmp_path / "out", tiny_recipe())
    steps = [number for what, number in watching.counted if what == "steps"]
    totals = [number for what, number in watching.counted if what == "steps in all"]
    assert sum(steps) == sum(totals) == 12
    assert any("loss " in words for words in watching.told)
    assert watching.kept[-1].endswith(" is kept; --resume goes on from there")


def test_nothing_of_the_members_is_left(whole):
    names = {path.name for path in whole.iterdir()}
    assert names == {"encoder", "model.safetensors", "reader.json", "training.json"}


# Each member takes 12 steps: the 5th is in the first, the 20th in the second, the 25th is the
# very first of the third.
@pytest.mark.parametrize("step", [5, 20, 25])
def test_members_go_on_after_a_kill(start, whole, tmp_path, monkeypatch, step):
    kill_at(monkeypatch, step)
    with pytest.raises(KeyboardInterrupt):
        train(start, tmp_path / "out")
    monkeypatch.undo()
    with pytest.raises(InputError, match="holds a training; say --resume"):
        train(start, tmp_path / "out")
    if step > 12:
        with pytest.raises(InputError, match="of another recipe"):
            train(start, tmp_path / "out", tiny_recipe(members=3, clip=2.0), resume=True)
    train(start, tmp_path / "out", resume=True)
    assert same(tmp_path / "out", whole)


def test_finished_members_are_not_trained_again(start, whole, tmp_path, monkeypatch):
    real = reader.run_training

    def run(*args, folder, **named):
        real(*args, folder=folder, **named)
        if folder.path.name == "member-2":
            raise KeyboardInterrupt

    monkeypatch.setattr(reader, "run_training", run)
    with pytest.raises(KeyboardInterrupt):
        train(start, tmp_path / "out")
    monkeypatch.undo()
    lines: list[str] = []
    train(start, tmp_path / "out", resume=True, report=lines.append)
    assert {line.split(":")[0] for line in lines if line.startswith("member")} == {"member 3"}


def test_each_members_evaluations_are_in_the_record(start, tmp_path):
    record = train(start, tmp_path / "out", tiny_recipe(members=2, held_out=0.3))
    said = [one["member"] for one in record["history"]]
    assert sorted(said) == said and said.count(1) == said.count(2) > 1


def test_a_recipe_has_at_least_one_member():
    with pytest.raises(SettingError, match="members must be from 1"):
        tiny_recipe(members=0)
