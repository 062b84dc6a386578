import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("script", sorted(path.name for path in EXAMPLES.glob("*.py")))
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
