"""`fabula worker` and `fabula studio machine`, as they are typed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabula.cli import cli
from fabula.core.errors import UserError
from fabula.studio.database import open_studio
from fabula.studio.machines import need_machine
from fabula.studio.migrations import migrate
from fakes.suggestion_rows import ask, wait_for

SOURCES = Path(__file__).resolve().parents[2] / "src"


@pytest.fixture
def url(tmp_path, monkeypatch):
    """The address of a studio with tables, named by the environment too."""
    address = f"sqlite:///{tmp_path / 'studio.sqlite'}"
    studio = open_studio(address)
    migrate(studio)
    studio.close()
    monkeypatch.setenv("FABULA_DATABASE_URL", address)
    return address


def run(*words):
    return CliRunner().invoke(cli, words)


def test_machines_are_offered_changed_and_listed(url):
    assert run("studio", "machine", "add", "small", "lorem").output == "small is lorem, active\n"
    assert run("studio", "machine", "add", "large", "lorem", "--quota", "5").exit_code == 0
    changed = run("studio", "machine", "change", "large", "--status", "draining")
    assert changed.output == "large is draining, with 5 suggestions a month\n"
    rows = json.loads(run("studio", "machine", "list", "-f", "json").output)
    assert [(row["name"], row["status"], row["quota"], row["used"]) for row in rows] == [
        ("large", "draining", 5, 0),
        ("small", "active", -1, 0),
    ]
    assert "no limit" in run("studio", "machine", "list").output


def test_what_cannot_be_offered_is_said(url):
    for words in (["add", "x", "nobody"], ["change", "x", "--quota", "3"]):
        assert isinstance(run("studio", "machine", *words).exception, UserError)


@pytest.mark.parametrize("words", [["worker"], ["studio", "machine", "list"]], ids=" ".join)
def test_a_database_without_tables_is_refused_with_the_remedy(fabula, tmp_path, words):
    done = fabula(*words, "--database", f"sqlite:///{tmp_path / 'blank.sqlite'}")
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"studio migrate" in done.stderr


@pytest.mark.parametrize("ending", ["stdin", "SIGTERM", "SIGINT"])
def test_a_worker_writes_until_it_is_to_end(url, ending):
    run("studio", "machine", "add", "small", "lorem")
    studio = open_studio(url)
    with studio.read() as db:
        machine_id = need_machine(db, "small").id
    worker = subprocess.Popen(
        [sys.executable, "-m", "fabula", "worker", *(["--tied"] if ending == "stdin" else [])],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(SOURCES)},
    )
    try:
        row = wait_for(studio, ask(studio, machine_id, wanted="words=0-19"))
        assert (row.status, bool(row.generated.strip())) == ("done", True)
        if ending == "stdin":
            worker.stdin.close()
        else:
            worker.send_signal(getattr(signal, ending))
        assert worker.wait(20) == 0
        assert b"small is ready" in worker.stderr.read()
    finally:
        worker.kill()
        worker.wait()
        for pipe in (worker.stdin, worker.stderr):
            pipe.close()
        studio.close()
