"""What README, Makefile and the lists say is the same."""

from __future__ import annotations

import json
import re
from pathlib import Path

from click.testing import CliRunner

from fabula.cli import cli
from fabula.scoring.catalogue import choose_metrics

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = {"sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20}


def test_readme_counts_data_sets_as_the_list_does(monkeypatch, tmp_path):
    monkeypatch.setenv("FABULA_HOME", str(tmp_path))
    listed = json.loads(CliRunner().invoke(cli, ["data", "list", "-f", "json"]).stdout)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [said] = re.findall(r"(\w+) data sets\b(?=\s*$)", readme, re.MULTILINE)
    assert NUMBERS[said] == len(listed)


def test_the_demo_shows_every_string_metric_but_the_one_that_needs_more():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [named] = re.findall(r"^DEMO := (.*?)\n\n", makefile, re.MULTILINE | re.DOTALL)
    shown = {metric.spec for metric in choose_metrics(named.replace("\\\n", ""))}
    assert {metric.spec for metric in choose_metrics("strings")} - shown == {"meteor"}


def test_no_page_sends_anybody_to_an_index():
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "weights" / "README.md"]:
        assert not re.search(r"pip install '?fabula", page.read_text(encoding="utf-8")), page
