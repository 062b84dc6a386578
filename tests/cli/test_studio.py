"""`fabula studio`, as it is typed."""

from __future__ import annotations

import json
import sqlite3

import pytest
from click.testing import CliRunner

from fabula.cli import cli
from fabula.core.errors import UserError
from fabula.studio.database import open_studio
from fabula.studio.links import use_link
from fabula.studio.migrations import migrate
from fabula.studio.people import create_person, find_person
from fabula.studio.sign_in import sign_in
from fabula.studio.tokens import find_token
from fakes.studio_content import fill_studio

PASSWORD = "four odd words here"


@pytest.fixture
def url(tmp_path, monkeypatch):
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("FABULA_DATABASE_URL", raising=False)
    monkeypatch.delenv("FABULA_PUBLIC_URL", raising=False)
    return f"sqlite:///{tmp_path / 'studio.sqlite'}"


@pytest.fixture
def studio(url):
    opened = open_studio(url)
    migrate(opened)
    yield opened
    opened.close()


@pytest.fixture
def run(url):
    """Runs `fabula studio …`: what it prints, or the sentence of its error."""

    def run(*words, stdin=None):
        done = CliRunner().invoke(cli, ["studio", *words, "--database", url], input=stdin)
        if isinstance(done.exception, UserError):
            return str(done.exception)
        assert done.exit_code == 0, (done.output, done.exception)
        return done.stdout

    return run


def test_a_new_studio_is_made_and_entered_by_a_link(run, url):
    assert "empty (revision none" in run("status")
    assert "run: " in run("user", "list") and "studio migrate" in run("user", "list")
    run("migrate")
    address = run("user", "link").strip()
    assert address.startswith("http://127.0.0.1:8000/account/link/")
    studio = open_studio(url)
    first = use_link(studio, address.rpartition("/")[2], name="ada", password=PASSWORD)
    assert first.roles == {"admin", "author"}
    invited = run("user", "link", "--role", "annotator", "--hours", "2").strip()
    assert use_link(studio, invited.rpartition("/")[2], name="bob", password=PASSWORD).roles == {
        "annotator"
    }
    studio.close()


def test_a_person_is_added_and_chooses_a_password_by_a_link(run, studio, monkeypatch):
    monkeypatch.setenv("FABULA_PUBLIC_URL", "https://studio.example.org")
    address = run("user", "add", "ann", "--role", "author", "--email", "ann@example.org").strip()
    assert address.startswith("https://studio.example.org/account/link/")
    use_link(studio, address.rpartition("/")[2], password=PASSWORD)
    assert sign_in(studio, "ann", PASSWORD)
    assert "the name ann is taken" in run("user", "add", "Ann")


def test_a_password_is_asked_for_and_no_option_takes_it(run, studio):
    assert run("user", "add", "ann", "--prompt", stdin=f"{PASSWORD}\n{PASSWORD}\n")
    assert sign_in(studio, "ann", PASSWORD)
    words = CliRunner().invoke(cli, ["studio", "user", "add", "--help"]).output
    assert "--password" not in words


def test_people_are_listed_given_roles_and_forgotten(run, studio):
    ada = create_person(studio, None, name="ada", roles=["admin"])
    create_person(studio, None, name="ann")
    assert run("user", "roles", "ann", "author", "researcher") == "ann: author, researcher\n"
    listed = json.loads(run("user", "list", "-f", "json"))
    assert [row["name"] for row in listed] == ["ada", "ann"]
    assert listed[1]["roles"] == ["author", "researcher"]
    assert "last admin" in run("user", "roles", "ada", "author")
    assert json.loads(run("user", "export", "ann"))["profile"]["name"] == "ann"
    run("user", "delete", "ann", stdin="y\n")
    assert "there is nobody called ann" in run("user", "delete", "ann", "--yes")
    assert "last admin" in run("user", "delete", "ada", "--yes")
    assert find_person(studio, "ada") == ada


def test_nobody_is_forgotten_by_mistake(url, run, studio):
    create_person(studio, None, name="ann")
    words = ["studio", "user", "delete", "ann", "--database", url]
    assert CliRunner().invoke(cli, words, input="n\n").exit_code == 1
    assert find_person(studio, "ann")


def test_a_token_is_shown_once_and_revoked(run, studio):
    create_person(studio, None, name="rea", roles=["researcher"])
    secret = run("token", "make", "rea", "my script", "--scope", "dataset", "--days", "9").strip()
    assert find_token(studio, secret).scopes == {"dataset"}
    [listed] = json.loads(run("token", "list", "rea", "-f", "json"))
    assert listed["name"] == "my script" and secret not in str(listed)
    run("token", "revoke", listed["id"])
    assert find_token(studio, secret) is None
    assert "may not do this" in run("token", "make", "rea", "b", "--scope", "backend")


def test_machines_are_looked_after_here_too(run, studio):
    assert run("machine", "add", "latin", "lorem", "--quota", "5") == "latin is lorem, active\n"
    assert run("machine", "change", "latin", "--status", "draining").startswith("latin is draining")
    [listed] = json.loads(run("machine", "list", "-f", "json"))
    assert (listed["name"], listed["used"], listed["quota"]) == ("latin", 0, 5)


def test_a_studio_moves_from_one_database_to_another(run, studio, tmp_path):
    ids = fill_studio(studio)
    before = run("status")
    assert "suggestions       4" in before
    file = tmp_path / "studio.zip"
    assert run("backup", str(file)) == f"{file}\n"
    assert "is there already" in run("backup", str(file))
    other = f"sqlite:///{tmp_path / 'other.sqlite'}"
    words = ["studio", "restore", str(file), "--database", other]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0 and "restored" in done.stderr
    opened = open_studio(other)
    assert find_person(opened, "ann") == ids.ann
    opened.close()
    assert "not empty" in str(CliRunner().invoke(cli, words).exception)


def test_an_export_is_what_meta_and_score_read(run, studio, tmp_path):
    fill_studio(studio, suggestions=8)
    folder = tmp_path / "export"
    assert f"{folder / 'stories.jsonl'}\t8 rows" in run("export", "-o", str(folder), "-f", "csv")
    arguments = ["--resamples", "20", "--level", "pooled", "--no-baselines", "-f", "json"]
    meta = CliRunner().invoke(cli, ["meta", str(folder), *arguments])
    assert meta.exit_code == 0, meta.exception
    assert "user precision" in meta.stdout and "likability" in meta.stdout
    score = ["score", str(folder / "stories.jsonl"), "-m", "rouge(n=1)", "--no-cache", "-f", "json"]
    scored = CliRunner().invoke(cli, score)
    assert scored.exit_code == 0, scored.exception
    assert '"lorem"' in scored.stdout and "rouge" in scored.stdout


@pytest.mark.parametrize("address", ["postgresql://127.0.0.1:1/none", "nonsense", "sqlite:///{}"])
def test_a_database_that_is_none_is_one_sentence(address, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to have a header of its own\n" * 20)
    words = ["studio", "status", "--database", address.format(path)]
    done = CliRunner().invoke(cli, words)
    assert isinstance(done.exception, UserError), done.exception
    assert path.read_text().startswith("not a database")


def test_a_newer_database_is_refused(run, studio, tmp_path):
    with sqlite3.connect(tmp_path / "studio.sqlite") as file:
        file.execute("UPDATE alembic_version SET version_num = '9999'")
    file.close()
    assert "ahead" in run("status")
    for words in (["migrate"], ["user", "list"]):
        assert "made by a newer Fabula" in run(*words)
