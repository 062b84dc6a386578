"""The example of a plug-in, installed as a user would and used through the command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-c", "from fabula.cli import main; main()")
PIP = "-m pip install --quiet --disable-pip-version-check --no-index --no-deps"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the plug-in is installed in."""
    if find_spec("hatchling") is None:
        pytest.skip("hatchling is not installed")
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(REPO / "examples" / "plugin", folder / "source")
    words = [*PIP.split(), "--no-build-isolation", "--target", folder / "site", folder / "source"]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.fixture
def environment(installed: Path, tmp_path: Path) -> dict[str, str]:
    """An environment in which the plug-in is there, with a home of its own."""
    usual = {key: value for key, value in os.environ.items() if "PYTEST" not in key}
    return usual | {
        "FABULA_HOME": str(tmp_path / "home"),
        "NO_COLOR": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(installed),
    }


def run(environment: dict[str, str], *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, words)], env=environment, capture_output=True, text=True, check=False
    )


def run_pytest(environment: dict[str, str], *words: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, words)],
        env=environment, cwd=REPO, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_metric_is_listed_and_has_a_card(environment: dict[str, str]) -> None:
    rows = json.loads(run(environment, "metrics", "list", "-f", "json").stdout)
    assert [row["better"] for row in rows if row["metric"] == "vowels"] == ["–"]
    assert "vowels(y=True)|" in run(environment, "metrics", "show", "vowels(y=True)").stdout


def test_it_scores_and_finds_its_scores_again(
    environment: dict[str, str], installed: Path, tmp_path: Path
) -> None:
    words = ["score", "examples", "-m", "vowels", "--scores", "--quiet"]
    done = run(environment, *words)
    values = [json.loads(line)["value"] for line in done.stdout.splitlines()]
    assert len(values) == 56 and all(0.2 < value < 0.6 for value in values)
    shutil.copytree(installed, tmp_path / "site")
    module = tmp_path / "site" / "fabula_vowels" / "vowels.py"
    module.write_text(module.read_text("utf-8").replace("plain =", "assert not"), "utf-8")
    unable = environment | {"PYTHONPATH": str(tmp_path / "site")}
    assert '"status": "failed"' in run(unable, *words, "--no-cache").stdout
    assert run(unable, *words).stdout == done.stdout


def test_it_comes_with_the_sets(environment: dict[str, str]) -> None:
    done = run(environment, "score", "examples", "-m", "strings", "-f", "jsonl", "--quiet")
    assert "vowels" in {json.loads(line)["scorer"] for line in done.stdout.splitlines()}


def test_its_own_tests_pass(environment: dict[str, str], installed: Path) -> None:
    tests = installed.parent / "source" / "tests"
    assert "2 passed" in run_pytest(environment, "--rootdir", tests, "-c", "/dev/null", tests)


def test_it_keeps_the_contract_of_every_metric(environment: dict[str, str]) -> None:
    words = ["tests/contracts/test_metrics.py", "-k", "vowels"]
    assert " passed" in run_pytest(environment, *words)


def test_a_broken_plug_in_is_one_line(environment: dict[str, str], tmp_path: Path) -> None:
    info = tmp_path / "site" / "fabula_broken-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fabula-broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[fabula.metrics]\nbroken = fabula_broken.broken\n")
    done = run(environment | {"PYTHONPATH": str(info.parent)}, "metrics", "show", "broken")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "fabula: metric 'broken' of package 'fabula-broken' cannot be imported "
        "(No module named 'fabula_broken'); mend or uninstall fabula-broken"
    ]
