"""`fabula train storyer --evaluate`: nothing is trained, tables are printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabula.cli import cli
from fabula.core.errors import InputError, SettingError
from fakes.release_samples import lines, pair, submission

pytest.importorskip("transformers")

from fabula.learned.training.joint import train_joint
from fakes.tiny_joint import (
    BETTER,
    WORSE,
    joint_recipe,
    made_up_data,
    one_thread,
    save_led,
)


def run(*words: object):
    return CliRunner().invoke(cli, ["train", "storyer", *map(str, words)])


def test_weights_are_measured_on_a_file_without_an_output_folder(tmp_path: Path) -> None:
    with one_thread():
        recipe = joint_recipe(save_led(tmp_path / "led"), epochs=1.0)
        out = tmp_path / "tiny"
        train_joint(recipe, made_up_data(), out=out, device="cpu", report=lambda line: None)
        pairs = [pair(f"[WP] Prompt {n}", BETTER[n], WORSE[n]) for n in range(4)]
        (tmp_path / "pairs.jsonl").write_text(lines(*pairs), encoding="utf-8")
        on = ("--evaluate", out, "--on", tmp_path / "pairs.jsonl", "-q")
        printed, plain = run(*on), run(*on, "-f", "json")
    assert printed.exit_code == 0, printed.exception
    assert "StoryER, printed" in printed.stdout and " tiny " in printed.stdout
    [first, means] = json.loads(plain.stdout)["sets"]
    row = first["tables"][0]["rows"][0]
    assert row["model"] == "tiny" and 0 <= row["accuracy"]["value"] <= 1 and row["pairs"] == 4
    assert means["analysis"] == "means"


def test_sets_that_are_named_lie_below_data(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "storyer"
    folder.mkdir(parents=True)
    pairs = [pair(f"[WP] Prompt {n}", BETTER[n], WORSE[n]) for n in range(4)]
    (folder / "train_rank_small.jsonl").write_text(lines(*pairs), encoding="utf-8")
    done = run("--evaluate", "fake", "--on", "storyer", "--data", tmp_path, "-q", "-f", "json")
    assert done.exit_code == 0, done.exception
    [first, _] = json.loads(done.stdout)["sets"]
    assert first["tables"][0]["rows"][0]["pairs"] == 4


def test_a_folder_is_read_whole_or_not_at_all(tmp_path: Path) -> None:
    done = run("--evaluate", "fake", "--on", tmp_path)
    assert "holds neither pairs nor rated comments" in str(done.exception)
    told = [submission("A tale.", 3.0, [1, 4, "Bright."])]
    (tmp_path / "test_rate.json").write_text(json.dumps(told))
    (tmp_path / "test_rank.pkl").write_bytes(b"no pickle")
    assert "test_rank.pkl" in str(run("--evaluate", "fake", "--on", tmp_path).exception)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    for words in (("--evaluate", "reader"), ("--on", "storyer", "-o", tmp_path / "x")):
        done = run(*words)
        assert isinstance(done.exception, SettingError), done.output
        assert "--evaluate needs what it measures, and on what" in str(done.exception)
    done = run("--evaluate", tmp_path / "none", "--on", "storyer")
    assert "no such folder" in str(done.exception)
    done = run("--evaluate", "reder", "--on", "storyer")
    assert "reder: no such folder" in str(done.exception)
    assert "did you mean 'reader'?" in str(done.exception)
    assert "Missing option '-o'" in run("--device", "cpu").stderr


def test_a_folder_of_seeds_is_refused_and_names_them(tmp_path: Path) -> None:
    (tmp_path / "seed-1").mkdir()
    (tmp_path / "seed-1" / "joint.json").write_text("{}")
    done = run("--evaluate", tmp_path, "--on", "nothing.csv")
    assert done.exit_code and isinstance(done.exception, InputError)
    assert f"{tmp_path} holds no reader" in str(done.exception)
    assert f"name one: {tmp_path / 'seed-1'}" in str(done.exception)


def test_what_evaluation_would_ignore_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "own.csv"
    table.write_text("text,stars,votes\nA tale of the sea.,3,9\nAnother tale.,4,1\n")
    on = ("--evaluate", "fake", "--on", table)
    for name, value in (("ratings", table), ("column", "text=story"), ("seeds", 3), ("aspect", "")):
        done = run(*on, f"--{name}", value)
        if value:
            assert isinstance(done.exception, SettingError)
            assert f"--{name} is not for --evaluate" in str(done.exception)
    done = run(*on, "-o", tmp_path / "out")
    assert "--output is not for --evaluate" in str(done.exception)
    done = run(*on, "--by", "genre")
    assert "--by genre: no set has such a column" in str(done.exception)
    printed = run(*on)
    assert printed.exit_code == 0, printed.exception
    assert "No ratings by people were found" in printed.stdout
    assert "Preference beside people's ratings" not in printed.stdout
    rated = run(*on, "--gold", "stars")
    assert rated.exit_code == 0, rated.exception
    assert "Preference beside people's ratings: stars" in rated.stdout
    assert "No ratings" not in rated.stdout
