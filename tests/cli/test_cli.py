from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from fabula import __version__
from fabula.cli import cli

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
CODE = "from fabula.cli import main; main()"


def commands(group: click.Group, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Go through the words of every command, those within groups as well."""
    context = click.Context(group)
    for name in group.list_commands(context):
        yield (*above, name)
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*above, name))


ALL = list(commands(cli))


def test_the_daily_verbs_and_the_stores_are_there() -> None:
    assert {("score",), ("models",), ("cache",), ("cache", "clear")} <= set(ALL)


@pytest.mark.parametrize("words", [(), *ALL], ids=" ".join)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_every_command_explains_itself(
    words: tuple[str, ...], flag: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # click makes a command's help option once, by the context that it is first called in: tests
    # call some by themselves, where `-h` is not known.
    command: click.Command | None = cli
    for word in words:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word)
        monkeypatch.setattr(command, "_help_option", None)
    done = CliRunner().invoke(cli, [*words, flag], prog_name="fabula")
    assert done.exit_code == 0
    assert done.stdout.startswith("Usage: fabula")
    assert done.stderr == ""


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_every_command_says_what_it_does(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(cli, [*words, "--help"], prog_name="fabula")
    assert done.stdout.split("\n\n")[1].strip()


def test_the_version_is_said(fabula: Run) -> None:
    done = fabula("--version")
    assert done.stdout.decode().startswith(f"fabula {__version__}, Python ")
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_command_that_is_not_there_is_an_error(fabula: Run) -> None:
    done = fabula("scroe")
    assert done.returncode == 2
    assert b"scroe" in done.stderr and b"Traceback" not in done.stderr


def test_help_does_not_import_what_only_scoring_needs(environment: dict[str, str]) -> None:
    code = (
        "import sys; from fabula.cli import cli; cli(['--help'], standalone_mode=False);"
        "sys.exit(str({'numpy', 'rich', 'sacrebleu', 'pyarrow'} & set(sys.modules) or ''))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, check=False
    )
    assert done.stderr.strip() == b""


@pytest.mark.skipif(os.name != "posix", reason="needs head")
@pytest.mark.parametrize(
    "words",
    ["--scores", "--scores -o out", "--scores -j 2", "--scores --quiet -o out", "-f json"],
)
def test_a_reader_that_goes_away_is_no_error(
    environment: dict[str, str], tmp_path: Path, words: str
) -> None:
    line = f'"{sys.executable}" -c "{CODE}" score examples -m strings {words} | head -1'
    done = subprocess.run(
        ["sh", "-c", line], env=environment, cwd=tmp_path, capture_output=True, check=True
    )
    assert len(done.stdout.splitlines()) == 1
    assert b"Traceback" not in done.stderr and b"Broken" not in done.stderr
    assert b"fabula: " not in done.stderr
    assert not list(tmp_path.glob("out/.partial-*"))


def test_a_store_can_be_looked_at_and_cleared(fabula: Run, tmp_path: Path) -> None:
    assert fabula("cache", "info").returncode == 0
    fabula("score", "examples", "-m", "words", "-q")
    assert b"56 readings" in fabula("cache", "info").stdout
    assert b"56 readings forgotten" in fabula("cache", "clear").stdout
    assert b" 0 readings" in fabula("cache", "info").stdout


def test_a_damaged_cache_is_one_line_and_the_line_says_what_mends_it(
    fabula: Run, tmp_path: Path
) -> None:
    fabula("score", "examples", "-m", "words", "-q")
    (cache,) = (tmp_path / "home" / "cache").glob("*.sqlite")
    cache.write_bytes(b"no database " * 1000)
    done = fabula("score", "examples", "-m", "words", "-q")
    assert done.returncode == 2 and done.stdout == b""
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("fabula: the cache") and "fabula cache clear" in line
    assert fabula("score", "examples", "-m", "words", "-q", "--no-cache").returncode == 0
    assert fabula("cache", "clear").returncode == 0
    assert fabula("score", "examples", "-m", "words", "-q").returncode == 0
