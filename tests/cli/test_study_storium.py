"""`fabula study run` of STORIUM's experiment, as people call it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from fabula.learned.training.author_figures import AuthorFigures, EntryLosses

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
STUDY = Path(__file__).resolve().parents[2] / "studies" / "storium.toml"


def write_figures(folder: Path) -> None:
    games = tuple(f"g{number}" for number in range(8))
    for packing, history, nats in (("none", 0, 3.0), ("cassowary", 1, 2.0)):
        losses = EntryLosses(games, ("2",) * 8, (10,) * 8, (10 * nats,) * 8, (True,) * 8)
        figures = AuthorFigures(
            packing, history, 128, 1, "all", "tokens", "tiny", parts={"test": losses}
        )
        figures.save(folder / packing / "figures.json")


def test_the_experiment_is_printed_or_written_with_its_page(fabula: Run, tmp_path: Path) -> None:
    write_figures(tmp_path / "runs")
    data = ("--data", str(tmp_path / "runs"))
    printed = fabula("study", "run", str(STUDY), *data, "--only", "perplexity", "-q")
    assert printed.returncode == 0, printed.stderr
    assert "20.09 [20.09, 20.09]" in printed.stdout.decode()
    out = tmp_path / "report"
    done = fabula("study", "run", str(STUDY), *data, "-o", str(out), "-q")
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().strip() == str(out / "study.html")
    found = {
        each["analysis"]: each for each in json.loads((out / "study.json").read_text())["analyses"]
    }
    (effects,) = found["effects"]["tables"]
    assert [row["change by"] for row in effects["rows"]] == ["both over neither"]
    assert found["ratings"]["needs"] and not found["printed"]["needs"]
    assert "Packing and history" in (out / "study.html").read_text()


def test_trainings_that_are_not_there_are_an_error(fabula: Run, tmp_path: Path) -> None:
    done = fabula("study", "run", str(STUDY), "--data", str(tmp_path), "--only", "effects", "-q")
    assert done.returncode == 2 and b"no figures of a training on games" in done.stderr
