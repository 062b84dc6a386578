from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def run(fabula: Run, tmp_path: Path) -> Path:
    done = fabula("score", "examples", "-m", "words", "-o", "run", "--no-report", "--no-cache")
    assert done.returncode == 0, done.stderr
    return tmp_path / "run"


def test_a_report_is_written_into_the_run_folder_and_its_path_printed(
    fabula: Run, run: Path
) -> None:
    assert not (run / "report.html").exists()
    done = fabula("report", "run")
    assert (done.returncode, done.stderr) == (0, b"")
    assert Path(done.stdout.decode().strip()) == Path("run/report.html")
    assert (run / "report.html").exists() and (run / "tables" / "systems.csv").exists()


def test_a_run_ends_with_its_report(fabula: Run, tmp_path: Path) -> None:
    done = fabula("score", "examples", "-m", "words", "-o", "out", "--no-cache")
    assert b"report: out/report.html" in done.stderr.replace(b"\\", b"/")
    assert (tmp_path / "out" / "report.html").exists()


def test_texts_of_fewer_stories_are_asked_for(fabula: Run, run: Path, tmp_path: Path) -> None:
    assert fabula("report", "run", "--stories", "5", "-o", "few.html").returncode == 0
    assert "Texts of 5 of 56 stories" in (tmp_path / "few.html").read_text(encoding="utf-8")
    assert fabula("report", "run", "--stories", "all").returncode == 0
    assert "all 56 stories" in (run / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["nowhere"], "is no run folder; make one with: fabula score -o"),
        (["run", "--stories", "many"], "give a number, or all"),
        (["run", "--stories", "-3"], "give a number, or all"),
    ],
)
def test_what_cannot_be_reported_is_one_line(fabula: Run, run: Path, words, hint: str) -> None:
    done = fabula("report", *words)
    [line] = done.stderr.decode().splitlines()
    assert done.returncode == 2 and line.startswith("fabula: ") and hint in line
