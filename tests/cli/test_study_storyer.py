from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
STUDY = 'kind = "storyer"\ntitle = "Ours"\nanalyses = ["sentiment", "aspect_classifier"]\n'


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def test_a_study_without_any_data_says_what_it_needs(fabula: Run, study: Path) -> None:
    done = fabula("study", "run", study, "--only", "sentiment")
    said = done.stderr.decode()
    assert done.returncode == 2 and not done.stdout and "Traceback" not in said
    assert "no files of the data set 'storyer_ratings'" in said
    assert "fabula: no analysis could be run" in said and "aspect_classifier" not in said


def test_an_analysis_that_there_is_not_is_named(fabula: Run, study: Path) -> None:
    done = fabula("study", "run", study, "--only", "sentimental")
    assert done.returncode == 2
    assert "no analysis is called 'sentimental'" in done.stderr.decode()


def test_only_is_not_for_studies_of_ratings(fabula: Run, tmp_path: Path) -> None:
    (tmp_path / "wood.toml").write_text('title = "T"\ndataset = "wood"\n', encoding="utf-8")
    done = fabula("study", "run", "wood.toml", "-o", "out", "--only", "sentiment")
    assert done.returncode == 2 and "--only is for studies of kind" in done.stderr.decode()
    done = fabula("study", "run", "wood.toml")
    assert done.returncode == 2 and "Missing option '-o'" in done.stderr.decode()
