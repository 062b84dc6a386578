from pathlib import Path

import pytest
from click.testing import CliRunner

from fabula.cli import cli
from fabula.core.errors import UnknownName
from fabula.core.score import Reading
from fabula.models import vectors_folder
from fabula.models.asking.journal import Journal, journal_folder, journal_path
from fabula.models.asking.question import Response
from fabula.replication import checks
from fabula.replication.checks import CheckResult
from fabula.scoring.cache import ScoreCache, default_path
from fakes.factories import forget_assets


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    forget_assets()
    return tmp_path


def run(*args: str) -> str:
    result = CliRunner().invoke(cli, args, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_cache_is_told_of_and_forgotten() -> None:
    assert "empty" in run("cache", "info")
    with ScoreCache() as cache:
        cache.put({b"a": Reading((1.0,)), b"b": Reading((2.0,))})
    assert f"{default_path()}: 2 readings" in run("cache", "info")
    assert "2 readings forgotten" in run("cache", "clear")
    assert "0 readings" in run("cache", "info")


def test_vectors_on_disk_are_told_of_and_forgotten_with_the_usual_scores(tmp_path: Path) -> None:
    folder = vectors_folder()
    assert f"{folder}: 0.0 MB of vectors" in run("cache", "info")
    folder.mkdir(parents=True)
    (folder / "one.safetensors").write_bytes(bytes(2_500_000))
    assert f"{folder}: 2.5 MB of vectors" in run("cache", "info")
    other = str(tmp_path / "other.sqlite")
    assert "MB of" not in run("cache", "info", "--cache", other)
    assert "MB of" not in run("cache", "clear", "--cache", other)
    assert f"{folder}: 2.5 MB of vectors forgotten" in run("cache", "clear")
    assert list(folder.iterdir()) == []


def test_answers_that_were_paid_for_are_forgotten_only_when_one_says_so() -> None:
    journal = Journal(journal_path("a model"))
    journal.add("digest", Response("key", "4"))
    assert f"{journal_folder()}: 0.0 MB of answers" in run("cache", "info")
    run("cache", "clear")
    assert journal.path.exists()
    assert "of answers forgotten" in run("cache", "clear", "--answers")
    assert not journal.path.exists()


def test_the_doctor_names_what_is_missing_and_how_to_get_it() -> None:
    output = run("doctor")
    assert "asset wordnet        not here" in output
    assert "fabula models pull" in output
    assert "metrics and variants can run" in output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_command(shell: str) -> None:
    assert "_FABULA_COMPLETE" in run("completion", shell)


def test_verify_says_what_it_cannot_check_without_data(tmp_path: Path) -> None:
    page = tmp_path / "VERIFIED.md"
    run("verify", "-o", str(page))
    text = page.read_text(encoding="utf-8")
    assert "chrf equals sacrebleu" in text
    assert "| ROUGE-L Recall | – | needs hanna/" in text
    assert "short" not in text


def test_verify_runs_single_checks_and_writes_no_page_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli, ["verify", "--only", "golden", "--only", "oracles"])
    assert result.exit_code == 0 and result.stdout == ""
    assert "chrf equals sacrebleu" in result.stderr
    assert "neighbours in order" not in result.stderr
    assert not (tmp_path / "VERIFIED.md").exists()


def test_a_check_that_is_not_there_is_named_with_its_neighbour() -> None:
    with pytest.raises(UnknownName, match=r"no check is called 'goldn'; .*golden"):
        list(checks.run_checks(None, ["goldn"]))


def test_verify_fails_when_a_figure_falls_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = CheckResult("part", "a claim", "≥ 99 %", "3 of 4", "short")
    monkeypatch.setattr(checks, "run_checks", lambda data, only: iter([short]))
    page = tmp_path / "VERIFIED.md"
    result = CliRunner().invoke(cli, ["verify", "-o", str(page)])
    assert "1 figure falls short: a claim" in str(result.exception)
    assert "✗ short" in page.read_text(encoding="utf-8")
