"""Completion, by the protocol that the scripts of bash, zsh and fish speak."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from fabula.cli import cli
from fakes.factories import find_slowness


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("_FABULA_COMPLETE", "bash_complete")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def complete(line: str) -> list[str]:
    """Give what is offered after a line; a blank at its end begins a new word."""
    words = shlex.split(line)
    typed = "" if line.endswith(" ") else words.pop()
    shell = ShellComplete(cli, {}, "fabula", "_FABULA_COMPLETE")
    return [item.value for item in shell.get_completions(words, typed)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("score examples -m rov", ["rovist", "rovist_c", "rovist_nr", "rovist_vg"]),
        ("score examples -m base", ["baselines"]),
        (
            "score examples -m bleu,rov",
            ["bleu,rovist", "bleu,rovist_c", "bleu,rovist_nr", "bleu,rovist_vg"],
        ),
        (
            "score examples -m 'bleu, wor'",
            ["bleu, word_echoes", "bleu, word_length", "bleu, words"],
        ),
        ("score examples -m 'rouge(n=1,2), chr'", ["rouge(n=1,2), chrf"]),
        ("score examples -m 'chrf(wo'", ["chrf(word_order="]),
        ("score examples -m 'bleu, chrf(word_order=2, com'", ["bleu, chrf(word_order=2, compat="]),
        ("stress examples -m meteo", ["meteor"]),
        ("compare run human loop -m meteo", ["meteor"]),
        ("metrics show meteo", ["meteor"]),
        ("metrics list --set lea", ["learned"]),
        ("stress examples -p shuffle,rep", ["shuffle,repeat"]),
        ("models pull mini", ["minilm"]),
        ("models pull minilm word", ["wordnet"]),
        ("models remove gl", ["glove_50d"]),
        ("models pull --all --except smol", ["smollm2", "smollm2_stories"]),
        ("review story.txt --writer emb", ["embedded("]),
        ("data show storyer_", ["storyer_ratings"]),
        ("meta storyer_", ["storyer_ratings"]),
        ("plan --from storyer_", ["storyer_ratings"]),
        ("score examples -m nothing_like_it", []),
        ("score examples -m 'nothing(n'", []),
    ],
)
def test_names_are_completed(line, expected):
    assert complete(line) == expected


def test_run_folders_are_completed(home):
    for folder in ("runs/first", "runs/second", "mine"):
        (home / folder).mkdir(parents=True)
        (home / folder / "run.json").touch()
    (home / "runs/none").mkdir()
    assert complete("report ") == ["mine", "runs/first", "runs/second"]
    assert complete("report runs/s") == ["runs/second"]
    assert complete("compare mi") == ["mine"]


def test_files_are_offered_beside_data_sets(home):
    (home / "hanna.csv").touch()
    (home / "hamlet").mkdir()
    assert complete("score ha") == ["hanna", "hanna_llm", "hamlet/", "hanna.csv"]


def test_a_broken_home_completes_what_it_can(home):
    (home / "home").mkdir()
    (home / "home" / "datasets.json").write_text("{")
    assert complete("data show han") == []
    assert complete("models pull mini") == ["minilm"]


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_a_real_bash_completes_quickly_and_without_a_word_on_stderr(home):
    script = CliRunner().invoke(cli, ["completion", "bash"]).output
    (home / "completion.sh").write_text(script)
    fabula = home / "fabula"
    fabula.write_text(f"#!{sys.executable}\nfrom fabula.cli import main\nmain()\n")
    fabula.chmod(0o755)
    asked = "source completion.sh; COMP_WORDS=(./fabula score examples -m rov); COMP_CWORD=4; "
    asked += '_fabula_completion ./fabula; printf "%s\\n" "${COMPREPLY[@]}"'
    usual = {key: value for key, value in os.environ.items() if key != "_FABULA_COMPLETE"}
    began = time.perf_counter()
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, env=usual)
    took_s = time.perf_counter() - began
    assert done.stdout.split() == ["rovist", "rovist_c", "rovist_nr", "rovist_vg"], done.stderr
    assert done.stderr == ""
    assert took_s < 5 * find_slowness(), "half a second where nothing else runs"


def test_completing_imports_nothing_heavy():
    code = (
        "import sys\nfrom click.shell_completion import ShellComplete\nfrom fabula.cli import cli\n"
        "shell = ShellComplete(cli, {}, 'fabula', '_FABULA_COMPLETE')\n"
        "asked = (['score', 'x', '-m'], ['models', 'pull'], ['data', 'show'], ['meta'], [])\n"
        "assert all(shell.get_completions(words, '') for words in asked)\n"
        "heavy = {'numpy', 'torch', 'pandas', 'sacrebleu', 'scipy', 'rich.table'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_version_says_all_that_a_report_of_a_fault_needs():
    for word in ("--version", "-V"):
        words = CliRunner().invoke(cli, [word]).output
        assert words.startswith("fabula ") and f"Python {sys.version.split()[0]}" in words
        assert len(words.splitlines()) == 1
