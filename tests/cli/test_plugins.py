"""Packages that are broken in every way we could think of, beside commands that have to work."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = (sys.executable, "-c", "from fabula.cli import main; main()")
METRIC = """
from dataclasses import dataclass
from fabula.core.card import Card
from fabula.core.metric import StoryMetric

@dataclass(frozen=True)
class Toy(StoryMetric):
    card = Card(title="Toy", family="baseline", direction="higher", paper="None.", formula="1")
    n: int = 1

    def value(self, story):
        return float(self.n)
"""
CARD = 'card = Card(title="Toy", family="baseline", direction="higher", paper="None.", formula="1")'
BROKEN = {
    "syntax": ("def metric(:", "cannot be used (SyntaxError: "),
    "nameless": ("undefined_name", "cannot be used (NameError: name 'undefined_name' is not defin"),
    "leaves": ("import sys; sys.exit(0)", "cannot be used (SystemExit: 0)"),
    "odd_base": ("raise type('Odd', (BaseException,), {})('so')", "cannot be used (Odd: so)"),
    "cardless": (METRIC.replace(CARD, ""), "cannot be used: the class Toy has no card"),
    "classless": ("class Toy: pass", "fabula_broken.classless must define one public"),
    "misnamed": (METRIC + "\n    name = 'other'\n", "metric 'misnamed' calls itself"),
    "unset": (METRIC.replace("n: int = 1", "n: int"), "cannot be used"),
    "typical": (METRIC.replace('formula="1"', 'formula="1", typical=("typical(m=1)",)'), "no set"),
    "sideways": (METRIC.replace('"higher"', '"sideways"'), "its card has the direction 'sideways'"),
    "absent": (None, "cannot be imported (No module named 'fabula_broken.absent')"),
    "needy": ("import no_such_package", "cannot be imported (No module named 'no_such_package')"),
}  # fmt: skip


@pytest.fixture
def broken(tmp_path: Path, environment: dict[str, str]) -> dict[str, str]:
    """An environment with a package that brings every broken entry, and one sound metric."""
    package = tmp_path / "site" / "fabula_broken"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "sound.py").write_text("print('hello')\n" + METRIC)
    for name, (source, _) in BROKEN.items():
        if source is not None:
            (package / f"{name}.py").write_text(source)
    info = package.parent / "fabula_broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fabula-broken\nVersion: 1.0\n")
    metrics = [f"{name} = fabula_broken.{name}" for name in ("sound", *BROKEN)]
    others = ["[fabula.datasets]", "leaves = fabula_broken.leaves", "[fabula.models]"]
    others += ["syntax = fabula_broken.syntax"]
    text = "\n".join(["[fabula.metrics]", *metrics, *others])
    (info / "entry_points.txt").write_text(text + "\n")
    where = f"{package.parent}:{environment.get('PYTHONPATH', '')}".rstrip(":")
    return environment | {"PYTHONPATH": where, "PYTHONDONTWRITEBYTECODE": "1"}


def run(environment: dict[str, str], *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, words)],
        env=environment,
        cwd=Path(environment["FABULA_HOME"]).parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def find_lines(stderr: str) -> dict[str, str]:
    lines = [line for line in stderr.splitlines() if "of package 'fabula-broken'" in line]
    found = {line.split("'")[1]: line for line in lines}
    assert len(found) == len(lines), "each is named once"
    return found


def test_every_broken_plug_in_is_one_line_and_the_list_is_whole(broken):
    done = run(broken, "metrics", "list", "-f", "json")
    assert done.returncode == 0, done.stderr
    listed = {row["metric"] for row in json.loads(done.stdout)}
    assert {"bleu", "words", "sound"} <= listed and not listed & set(BROKEN)
    lines = find_lines(done.stderr)
    assert set(lines) == set(BROKEN)
    for name, (_, reason) in BROKEN.items():
        assert reason in lines[name] and lines[name].endswith("mend or uninstall fabula-broken")


def test_stories_are_scored_beside_broken_plug_ins(broken):
    done = run(broken, "score", "examples", "-m", "baselines", "-f", "jsonl", "-q", "--no-cache")
    assert done.returncode == 0, done.stderr
    assert {"sound", "words"} <= {json.loads(row)["scorer"] for row in done.stdout.splitlines()}
    assert set(find_lines(done.stderr)) == set(BROKEN)


def test_a_spec_that_names_no_plug_in_does_not_wake_any(broken):
    done = run(broken, "score", "examples", "-m", "words", "-f", "jsonl", "-q", "--no-cache")
    assert done.returncode == 0 and done.stderr == ""


@pytest.mark.parametrize("name", ["leaves", "cardless"])
def test_asking_for_a_broken_metric_is_an_error_of_one_line(broken, name):
    done = run(broken, "score", "examples", "-m", name)
    assert done.returncode == 2
    assert done.stderr.startswith(f"fabula: metric {name!r} of package 'fabula-broken' cannot be")
    assert len(done.stderr.splitlines()) == 1


def test_pages_and_lists_of_other_kinds_are_written_too(broken, tmp_path):
    done = run(broken, "metrics", "docs", "-o", tmp_path / "pages")
    assert done.returncode == 0 and (tmp_path / "pages" / "bleu.md").exists()
    done = run(broken, "data", "list", "-f", "json")
    assert done.returncode == 0 and "hanna" in {row["name"] for row in json.loads(done.stdout)}
    assert "data set 'leaves' of package 'fabula-broken' cannot be used" in done.stderr


def test_interrupting_is_not_taken_for_a_fault(broken, tmp_path):
    source = tmp_path / "site" / "fabula_broken" / "sound.py"
    source.write_text("raise KeyboardInterrupt\n")
    done = run(broken, "metrics", "show", "sound")
    assert done.returncode != 0 and "fabula-broken" not in done.stderr
