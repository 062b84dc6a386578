import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py") if path.name != "studio.py")


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_example_runs_and_says_something(script: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_metrics_of_the_example_prefer_whom_the_readme_says() -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / "which_writer.py"], capture_output=True, text=True, check=True
    )
    verdicts = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert verdicts["bleu"] == "prefers loop"
    assert verdicts["rouge"] == "prefers loop"
    assert verdicts["repetition"] == "prefers scatter"


@pytest.mark.skipif(find_spec("fastapi") is None, reason="the extra `web` is not installed")
def test_the_walk_through_a_studio_ends_with_what_was_kept() -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / "studio.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    kept = [float(value) for value in re.findall(r"USER F ([0-9.]+)", done.stdout)]
    # The more an author kept, the more USER says so; the sample game had thirty entries.
    assert kept == sorted(kept) and kept[0] == 0.0 and kept[-1] > 0.5
    assert [f"entry {number}:" in done.stdout for number in range(31, 35)] == [True] * 4
    assert re.search(r"user f ↑ +\.\d+ .* 1\.00", done.stdout)
    assert done.stderr == ""
