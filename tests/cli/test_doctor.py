"""`fabula doctor`: every remedy once, and it works where nothing else does."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fabula.cli import cli
from fabula.models import _load
from fabula.scoring import catalogue


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home where nothing was pulled, and no variable that forbids anything."""
    for name in ("FABULA_OFFLINE", "HF_HUB_OFFLINE", "FABULA_ASSETS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(_load, "_loaded", {})
    few = "words, meteor, perplexity, surprisal, bartscore(use='HS'), bartscore(use='SH')"
    usual = catalogue.choose_metrics
    monkeypatch.setattr(catalogue, "choose_metrics", lambda wanted: usual(few))
    return tmp_path


def doctor() -> Result:
    return CliRunner().invoke(cli, ["doctor"], catch_exceptions=False)


def test_every_remedy_is_printed_once_and_none_that_does_not_help():
    done = doctor()
    assert done.exit_code == 0
    assert "1 of 6 metrics and variants can run" in done.output
    assert done.output.count("models pull") == 1
    assert done.output.count("pip install") <= 1
    assert "OFFLINE" not in done.output and "unset" not in done.output
    [line] = [line for line in done.output.splitlines() if "bart-large-cnn" in line]
    assert line == (
        "  bartscore (2 variants): facebook/bart-large-cnn is not here; "
        "it is fetched when it is first asked for"
    )
    assert "  perplexity, surprisal: asset 'smollm2' is not here\n" in done.output
    assert max(map(len, done.output.splitlines())) < 200


def test_variables_that_forbid_the_network_are_named_if_they_are_set(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    done = doctor()
    assert "the network is forbidden" in done.output
    assert "FABULA_OFFLINE" not in done.output


@pytest.mark.parametrize("broken", ["home", "datasets", "asset", "place"])
def test_what_is_broken_is_said_at_the_end_and_the_rest_is_looked_at(broken, bare, monkeypatch):
    home = bare / "home"
    if broken == "home":
        home.write_text("a file where a folder should be")
    else:
        home.mkdir()
    if broken == "datasets":
        (home / "datasets.json").write_text("{")
    if broken == "place":
        place = {"path": str(bare / "gone"), "gold": [], "columns": {}, "lower": []}
        (home / "datasets.json").write_text(json.dumps({"hanna": place}))
    if broken == "asset":
        (bare / "own" / "minilm").mkdir(parents=True)
        monkeypatch.setenv("FABULA_ASSETS", str(bare / "own"))
    done = doctor()
    assert done.exit_code == 2
    head, _, said = done.output.partition("Broken:\n")
    assert "1 of 6 metrics and variants can run" in head
    assert len(said.splitlines()) == 1 and "; " in said


def test_a_full_disk_is_said(monkeypatch):
    full = shutil.disk_usage("/")._replace(free=1_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: full)
    done = doctor()
    assert done.exit_code == 2
    assert " has 1.0 MB left; make room, or set FABULA_HOME" in done.output
    assert done.output.count("MB left") == 1


def test_a_broken_plug_in_is_broken_and_the_rest_is_looked_at(monkeypatch):
    from fabula.core.catalogue import BrokenPlugin

    error = BrokenPlugin("metric 'x' of package 'y' cannot be used", "mend or uninstall y")
    monkeypatch.setitem(catalogue.METRICS.broken, "x", error)
    done = doctor()
    assert done.exit_code == 2 and "  metric 'x' of package 'y' cannot" in done.output


def test_a_metric_that_raises_is_broken(monkeypatch):
    from fabula.metrics.words import Words

    monkeypatch.setattr(Words, "value", lambda self, story: 1 / 0)
    done = doctor()
    assert done.exit_code == 2
    assert "words: " in done.output.partition("Broken:\n")[2]
