"""`fabula analyse edits`, as it is typed."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from fabula.cli import cli
from fabula.core.errors import UserError
from fabula.studio import edit_kinds
from fakes.capital_tagger import tag_capitals
from fakes.release_samples import SAMPLES, lines, put

ROW = {
    "generated": "Then Mara saw the grey ferry.", "published": "Mara saw the grey ferry leave.",
    "machine": "small", "author": "ann", "published_at": "2027-01-02T03:04:05+00:00",
}  # fmt: skip


@pytest.fixture(autouse=True)
def tagger(monkeypatch):
    monkeypatch.setattr(edit_kinds, "tag_text", tag_capitals)
    monkeypatch.setattr(edit_kinds, "tagger_trait", lambda tags: "capitals")


def run(*words):
    done = CliRunner().invoke(cli, ["analyse", "edits", *map(str, words)])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


@pytest.fixture
def table(tmp_path):
    file = tmp_path / "kept.jsonl"
    file.write_text(
        lines(ROW, ROW | {"published": "", "author": "bob"}, ROW | {"machine": "large"}),
        encoding="utf-8",
    )
    return file


def test_a_table_is_analysed_and_a_page_written(table, tmp_path):
    done = run(table, "-o", tmp_path / "page")
    assert done.exit_code == 0, done.output
    assert "left out: 1 row with nothing published" in done.stderr
    assert "of names nothing is known" in done.stderr
    assert "proper nouns" in done.stdout and "STORIUM prints" in done.stdout
    assert (tmp_path / "page" / "study.html").exists()
    # A second time what Fabula wrote itself may give way.
    assert run(table, "-o", tmp_path / "page", "-q").stderr == ""


def test_one_machine_can_be_asked_for_and_another_is_refused(table):
    found = json.loads(run(table, "--machine", "small", "-f", "json", "-q").stdout)
    assert found["suggestions"] == 1
    with pytest.raises(UserError, match=r"no suggestion is of it.*large, small"):
        run(table, "--machine", "tiny")


def test_coauthor_is_read_by_its_name(tmp_path):
    folder = put(tmp_path, SAMPLES["coauthor"])
    done = run("coauthor", "--path", folder, "-f", "jsonl", "-q")
    kinds = {json.loads(line)["kind"] for line in done.stdout.splitlines()}
    assert {"suggestions", "words", "time", "experience"} <= kinds
    with pytest.raises(UserError, match="--path"):
        run(tmp_path, "--path", folder)
