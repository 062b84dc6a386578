"""`fabula train storyer --evaluate`: nothing is trained, tables are printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabula.cli import cli
from fabula.core.errors import SettingError
from fakes.release_samples import lines, pair

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


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    for words in (("--evaluate", "reader"), ("--on", "storyer", "-o", tmp_path / "x")):
        done = run(*words)
        assert isinstance(done.exception, SettingError), done.output
        assert "--evaluate needs what it measures, and on what" in str(done.exception)
    done = run("--evaluate", tmp_path / "none", "--on", "storyer")
    assert "no such folder" in str(done.exception)
    assert "Missing option '-o'" in run("--device", "cpu").stderr
