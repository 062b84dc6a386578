"""`fabula studio game` and `fabula studio samples`, as they are typed."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from fabula.cli import cli
from fabula.core.errors import UserError
from fabula.datasets.storium_samples import read_exports
from fabula.studio.database import open_studio
from fabula.studio.migrations import migrate
from fabula.studio.people import create_person
from fakes.storium_games import SMALL, entry, game


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs `fabula studio …` on a studio with Ann: what it prints, or its error's sentence."""
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    url = f"sqlite:///{tmp_path / 'studio.sqlite'}"
    studio = open_studio(url)
    migrate(studio)
    create_person(studio, None, name="ann")
    studio.close()

    def run(*words):
        line = ["studio", *map(str, words), "--database", url]
        done = CliRunner().invoke(cli, line)
        if isinstance(done.exception, UserError):
            return str(done.exception)
        assert done.exit_code == 0, (done.output, done.exception)
        return done.stdout

    return run


def test_the_sample_games_are_put_into_a_studio_once(run):
    printed = run("samples", "--user", "ann")
    titles = [line.partition("\t")[2] for line in printed.splitlines()]
    assert titles == ["The Bell of Little Marrow", "Greenhouse Nine", "The Lamps of Vell"]
    assert run("samples", "--user", "ann") == printed
    rows = json.loads(run("game", "list", "-f", "json"))
    assert sorted(row["title"] for row in rows) == sorted(titles)
    assert {row["title"]: row["completed"] for row in rows}["Greenhouse Nine"] is False


def test_a_game_goes_in_and_out_by_files(run, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "g.json").write_text(json.dumps(SMALL))
    game_id, where = run("game", "import", tmp_path / "in", "--user", "ann").strip().split("\t")
    assert where == "g.json"
    out = tmp_path / "out.json"
    run("game", "export", game_id, "-o", out)
    assert json.loads(out.read_text()) == SMALL
    out.write_text("mine")
    assert "--overwrite" in run("game", "export", game_id, "-o", out)
    assert out.read_text() == "mine"


def test_samples_are_what_the_package_holds(run, tmp_path):
    for line, wanted in zip(
        run("samples", "--user", "ann").splitlines(), read_exports(), strict=True
    ):
        run("game", "export", line.partition("\t")[0], "-o", tmp_path / "g.json", "--overwrite")
        assert json.loads((tmp_path / "g.json").read_text()) == wanted


def test_what_is_wrong_with_a_game_is_said(run, tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(game("g", [entry(1, "One.", role="bard")])))
    printed = run("game", "import", path, "--user", "ann")
    assert printed.startswith("bad.json, scene 1, entry 1: key 'role' is not narrator")
    assert "eve" in run("samples", "--user", "eve")
    assert "there is no game" in run("game", "export", "f" * 32, "-o", tmp_path / "x.json")
