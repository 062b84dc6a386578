"""`fabula train storyer` and its kin: one verb, a spec at the end, errors that say what to do."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fabula.cli.train import command
from fabula.core.errors import InputError, SettingError, UserError
from fabula.learned.reader import inference
from fabula.learned.reader.config import read_config, write_config
from fabula.learned.reader.fake import FakeNetwork, fake_config
from fabula.learned.reader.inference import Reader
from fabula.learned.training import ruber
from fabula.learned.training.examples import save_prepared
from fabula.learned.training.reader import ExampleSource
from fakes.tiny_tasks import PLAIN_RECIPE, tale, tiny_prepared, tiny_recipe, write_tiny_encoder

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def toml(value: object) -> str:
    """Spell plain values as TOML does, tables inline."""
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{name}" = {toml(one)}' for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def write_recipe(path: Path, **changes: object) -> None:
    settings = {**PLAIN_RECIPE, **changes}
    path.write_text("".join(f"{name} = {toml(one)}\n" for name, one in settings.items()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_tiny_encoder(tmp_path / "start")
    settings = ExampleSource(start=tmp_path / "start").settings(tiny_recipe())
    save_prepared(tiny_prepared(), tmp_path / "examples.npz", settings)
    write_recipe(tmp_path / "recipe.toml")
    return tmp_path


def train(folder: Path, *more: str, kind: str = "storyer") -> Result:
    places = {
        "start": "start", "prepared": "examples.npz", "recipe": "recipe.toml", "out": "out",
    }  # fmt: skip
    words = [word for name, file in places.items() for word in (f"--{name}", str(folder / file))]
    words += ["--device", "cpu", *more]
    return CliRunner().invoke(command, [kind, *words], catch_exceptions=False)


def test_training_prints_the_spec_and_what_was_measured(folder):
    done = train(folder, "--folds", "2", "--seeds", "2", "-q")
    out = str(folder / "out")
    assert done.stdout == f"storyer(weights={out!r})\n"
    lines = done.stderr.splitlines()
    assert lines[0] == "of stories whose items the reader had not learned from (2 folds, 2 seeds):"
    record = json.loads((folder / "out" / "training.json").read_text())
    accuracy = record["unseen"]["preference"]["value"]
    assert lines[1].split() == ["preference", "accuracy", f"{accuracy:.3f}", "n", "=", "24"]
    assert lines[2].startswith("  rated       Spearman's ρ")
    assert "  preference with rated.good  Spearman" in done.stderr
    assert lines[-1] == f"also: criteria(weights={out!r})"
    assert read_config(folder / "out").training["validation"]["tasks"] == record["unseen"]


def test_progress_goes_to_stderr_and_a_seed_may_be_said(folder):
    done = train(folder, "--seed", "9")
    assert "rated: 30 examples, 30 texts" in done.stderr
    assert "stage 2/2  step 6/6  loss" in done.stderr
    assert "nothing was measured: say --folds 5, or held_out in the recipe" in done.stderr
    assert json.loads((folder / "out" / "training.json").read_text())["seed"] == 9


def test_held_out_figures_are_said(folder):
    write_recipe(folder / "recipe.toml", held_out=0.3)
    done = train(folder, "-q")
    assert done.stderr.startswith("held out, at step ")


def test_a_folder_that_holds_a_training_is_refused_unless_it_goes_on(folder):
    train(folder, "-q")
    with pytest.raises(InputError, match="holds a training; say --resume"):
        train(folder)
    assert train(folder, "--resume", "-q").stdout.startswith("storyer(weights=")


def test_examples_are_made_from_data_and_kept(folder, tmp_path):
    rows = [(f"s{i}", f"i{i % 4}", tale(i), i % 5 + 1) for i in range(12)]
    with (folder / "mine.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("id", "item", "text", "human:me:good"), *rows])
    task = {
        "kind": "ratings", "data": [str(folder / "mine.csv")], "head": "rated", "aspects": ["good"],
    }  # fmt: skip
    stages = [{"rate": 1e-3, "steps": 2, "groups": [{"tasks": ["rated"], "rows": 4}]}]
    scales = {"criteria.good": {"terms": {"rated": 1.0}, "to": ["rated"], "link": "clipped"}}
    write_recipe(folder / "recipe.toml", tasks={"rated": task}, stages=stages, scales=scales)
    (folder / "examples.npz").unlink()
    done = train(folder, "--folds", "2", "-q")
    assert done.stdout.startswith("criteria(weights=")
    assert (folder / "examples.npz").exists()
    with pytest.raises(InputError, match="examples of another recipe"):
        write_recipe(folder / "recipe.toml")
        train(folder, "-o", str(folder / "other"), "-q")


def test_a_grid_prints_its_settings_the_best_first_and_goes_on(folder):
    (folder / "grid.toml").write_text("rate = [1e-3, 4e-3]\n")
    grid = ["--grid", str(folder / "grid.toml"), "--folds", "2"]
    done = train(folder, *grid)
    lines = done.stderr.splitlines()
    assert "1 of 2: rate = 0.001" in lines
    head, first, second = lines[-3:]
    assert head == "mean figure, the best first:"
    assert float(first.split()[1]) >= float(second.split()[1])
    best = folder / "out" / first.split()[0]
    assert done.stdout == f"storyer(weights={str(best)!r})\n"
    with pytest.raises(InputError, match="holds a grid; say --resume"):
        train(folder, *grid)
    again = train(folder, *grid, "--resume")
    assert again.stdout == done.stdout
    assert "loss" not in again.stderr


def test_a_grid_without_figures_or_with_a_wrong_name_is_refused_at_once(folder):
    (folder / "grid.toml").write_text("rate = [1e-3]\n")
    with pytest.raises(SettingError, match="nothing would tell which setting is best; say --folds"):
        train(folder, "--grid", str(folder / "grid.toml"))
    (folder / "grid.toml").write_text("clipp = [1.0]\n")
    with pytest.raises(SettingError, match="clipp is no field that is known; did you mean 'clip'"):
        train(folder, "--grid", str(folder / "grid.toml"), "--folds", "2")
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ("kind = 'x'\nseeds = 3\n", "seeds is no field that is known"),
        ("= 3", "is no TOML"),
    ],
)
def test_a_recipe_that_will_not_do_says_why(folder, recipe, words):
    (folder / "recipe.toml").write_text(recipe)
    with pytest.raises(SettingError, match=words):
        train(folder)


def test_data_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    write_tiny_encoder(tmp_path / "start")
    recipe = tmp_path / "recipe.toml"
    task = {"kind": "labels", "data": ["manplts"], "head": "manplts", "aspects": ["plausible"]}
    stages = [{"rate": 1e-3, "steps": 2, "groups": [{"tasks": ["manplts"], "rows": 4}]}]
    write_recipe(recipe, tasks={"manplts": task}, stages=stages, scales={})
    words = ["--data", str(tmp_path), "-o", str(tmp_path / "out"), "--recipe", str(recipe)]
    with pytest.raises(InputError, match="no files of the data set 'manplts'; fabula data show"):
        CliRunner().invoke(
            command, ["manplts", *words, "--start", str(tmp_path / "start")], catch_exceptions=False
        )


def test_a_folder_of_ones_own_takes_the_place_of_the_recipes_encoder(folder):
    write_recipe(folder / "recipe.toml", encoder="minilm")
    done = train(folder)
    said = f"{folder / 'start'} is not the asset 'minilm': the reader will hold its encoder"
    assert said in done.stderr.splitlines()
    pin = read_config(folder / "out").encoder
    assert (pin.name, pin.own) == ("start", True)


def test_examples_that_another_encoder_cut_are_refused(folder):
    tokeniser = folder / "start" / "tokenizer.json"
    tokeniser.write_text(tokeniser.read_text().replace("[UNK]", "[WHAT]"))
    with pytest.raises(InputError, match="examples of another recipe"):
        train(folder)


def test_a_recipe_with_a_backbone_has_no_folds(folder):
    (folder / "recipe.toml").write_text('backbone = "some/model"\n')
    with pytest.raises(SettingError, match="--prepared is not for a recipe with a backbone"):
        train(folder)


@pytest.mark.parametrize("kind", ["coherence", "rovist_c", "union", "manplts", "ruber", "storyer"])
def test_every_kind_has_a_help_that_names_its_recipe(kind):
    done = CliRunner().invoke(command, [kind, "--help"])
    assert f"recipes/{kind}.toml" in " ".join(done.stdout.split())


def test_ruber_is_trained_by_its_own_recipe(tmp_path, monkeypatch):
    seen = []

    def fake(recipe, data, *, out, resume, report):
        seen.append((recipe.seed, recipe.rate, data, out.name, resume))
        test = {"accuracy": 0.8 + recipe.rate, "error": 0.01, "prompts": 1200.0}
        history = [{"epoch": 1, "accuracy": 0.8 + recipe.rate}]
        return {"test": test, "best": 1, "history": history}

    monkeypatch.setattr(ruber, "train_on_data", fake)
    words = ["ruber", "--data", str(tmp_path), "-o", str(tmp_path / "out"), "--seed", "4"]
    done = CliRunner().invoke(command, words, catch_exceptions=False)
    assert done.stdout == f"ruber(weights={str(tmp_path / 'out')!r})\n"
    assert "0.800 ± 0.010, n = 1,200 prompts" in done.stderr
    (tmp_path / "grid.toml").write_text("rate = [0.01, 0.05]\n")
    done = CliRunner().invoke(
        command, [*words, "--grid", str(tmp_path / "grid.toml")], catch_exceptions=False
    )
    assert done.stdout == f"ruber(weights={str(tmp_path / 'out' / '02')!r})\n"
    assert seen == [
        (4, 1e-4, tmp_path, "out", False),
        (4, 0.01, tmp_path, "01", True),
        (4, 0.05, tmp_path, "02", True),
    ]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a reader that needs no weights."""
    folder = tmp_path / "source"
    folder.mkdir()
    write_config(folder, fake_config())
    (folder / "model.safetensors").write_bytes(b"weights")

    def opened(folder: Path, dtype: str) -> Reader:
        about = read_config(folder)
        return Reader(about, "fake@0", FakeNetwork(about.heads))

    monkeypatch.setattr(inference, "_open_folder", opened, raising=False)
    return folder


def personal(tmp_path: Path, source: Path, count: int, *more: str) -> Result:
    with (tmp_path / "mine.csv").open("w", newline="") as file:
        rows = [(tale(i), i * 7 % 5 + 1) for i in range(count)]
        csv.writer(file).writerows([("story", "rating"), *rows])
    words = ["storyer", "--ratings", str(tmp_path / "mine.csv"), "--start", str(source)]
    words += ["-o", str(tmp_path / "mine"), *more]
    return CliRunner().invoke(command, words, catch_exceptions=False)


def test_own_ratings_make_a_reader_personal(tmp_path, source):
    done = personal(tmp_path, source, 20)
    assert done.stdout == f"storyer(weights={str(tmp_path / 'mine')!r})\n"
    lines = done.stderr.splitlines()
    assert lines[0] == "20 opinions are few: from 30 on the figures mean more"
    assert lines[1] == "20 ratings on 20 items; Spearman's ρ on items left out:"
    assert [line.split()[0] for line in lines[2:5]] == ["before", "after", "gain"]
    assert read_config(tmp_path / "mine").kind == "personal"
    with pytest.raises(UserError, match="holds a reader; name another folder"):
        personal(tmp_path, source, 20)


def test_options_of_one_way_are_refused_on_the_other(tmp_path, source, folder):
    with pytest.raises(SettingError, match="--folds is not for --ratings; leave it out"):
        personal(tmp_path, source, 20, "--folds", "5")
    with pytest.raises(SettingError, match="--gold, --column and --aspect are for --ratings"):
        train(folder, "--aspect", "fun")
