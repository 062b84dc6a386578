"""Nothing that a story, an id or a file's name holds is obeyed by a terminal."""

from __future__ import annotations

import ast
import csv
import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula import cli

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
EVIL = "\x1b[31mred\x1b]0;title\x07 \x9b2J \u202eturned"
COMMANDS = sorted(Path(cli.__file__).parent.glob("*.py"))


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    rows = [
        {
            "id": f"{system}{number}{EVIL}",
            "item": f"{number}{EVIL}",
            "system": f"{system}{EVIL}",
            "text": f"The fox {number} ran {EVIL} home. It was tired.",
            "prompt": EVIL,
            "reference": "The fox ran home." if number else "",
        }
        for system in ("=1+1", "@b")
        for number in range(4)
    ]
    path = tmp_path / "hostile.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def assert_harmless(done: subprocess.CompletedProcess[bytes]) -> None:
    assert_none_obeyed(done.stdout.decode(), done.stderr.decode())


def assert_none_obeyed(*texts: str) -> None:
    for text in texts:
        assert not [char for char in "\x1b\x07\x9b\u202e\r" if char in text], text


@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv", "latex"])
def test_no_form_of_scores_lets_an_escape_sequence_out(
    hostile: Path, form: str, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["score", str(hostile), "-m", "words,rouge", "-f", form, "--no-cache"]
    cli.cli.main(words, standalone_mode=False)
    assert_none_obeyed(*capfd.readouterr())


def test_programs_get_the_names_as_they_are(fabula: Run, hostile: Path) -> None:
    done = fabula("score", hostile, "-m", "words", "-f", "jsonl", "-q", "--no-cache")
    systems = [json.loads(line)["system"] for line in done.stdout.decode().splitlines()]
    assert systems == [f"=1+1{EVIL}", f"@b{EVIL}"]
    done = fabula("score", hostile, "-m", "words", "--scores", "-q", "--no-cache")
    assert_harmless(done)
    assert json.loads(done.stdout.decode().splitlines()[0])["story"] == f"=1+10{EVIL}"


def test_a_spreadsheet_runs_no_name(fabula: Run, hostile: Path) -> None:
    done = fabula("score", hostile, "-m", "words", "-f", "csv", "-q", "--no-cache")
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert [row["system"][:2] for row in rows] == ["'=", "'@"]
    assert all(float(row["mean"]) > 0 for row in rows)


def test_compare_and_errors_are_as_harmless(fabula: Run, hostile: Path, tmp_path: Path) -> None:
    assert fabula("score", hostile, "-m", "words", "-o", "run", "-q", "--no-cache").returncode == 0
    names = f"=1+1{EVIL}", f"@b{EVIL}"
    compared = fabula("compare", "run", *names)
    assert compared.returncode == 0, compared.stderr
    assert_harmless(compared)
    for words in (("score", f"no{EVIL}"), ("compare", "run", EVIL, "b"), (EVIL,), ("rank", EVIL)):
        done = fabula(*words)
        assert done.returncode == 2
        assert_harmless(done)
        assert rb"\x1b[31m" in done.stderr


def print_calls(path: Path) -> list[str]:
    """Where a module prints otherwise than through `echo`."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            words = ast.unparse(node.func)
            if words in {"click.echo", "click.secho", "print", "sys.stdout.write"}:
                found.append(f"{path.name}:{node.lineno} {words}")
    return found


@pytest.mark.parametrize("path", COMMANDS, ids=[path.stem for path in COMMANDS])
def test_every_command_prints_through_echo(path: Path) -> None:
    most = ["click.echo"] if path.name == "__init__.py" else []
    assert [call.split()[1] for call in print_calls(path)] == most


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("ascii", ("score", "examples", "-m", "bleu,words,repetition", "--no-cache")),
        ("latin-1", ("score", "examples", "-m", "bleu,words,repetition", "--no-cache")),
        ("ascii", ("metrics", "show", "bleu")),
        ("latin-1", ("metrics", "--help")),
        ("ascii", ("--help",)),
    ],
    ids=lambda words: words if isinstance(words, str) else " ".join(words[:2]),
)
def test_a_terminal_of_few_letters_gets_others_and_no_traceback(
    fabula: Run, environment: dict[str, str], encoding: str, words: tuple[str, ...]
) -> None:
    environment["PYTHONIOENCODING"] = encoding
    done = fabula(*words)
    shown = done.stdout.decode(encoding) + done.stderr.decode(encoding)
    assert done.returncode == 0 and "Traceback" not in shown
    assert "\ufffd" not in shown and "\\u" not in shown
    if words[0] == "score":
        assert "^" in shown and "---" in shown and "\u2191" not in shown


def test_an_error_is_said_in_the_letters_there_are(
    fabula: Run, environment: dict[str, str]
) -> None:
    environment["PYTHONIOENCODING"] = "ascii"
    done = fabula("score", "caf\u00e9\u2192.jsonl")
    assert done.returncode == 2
    assert b"cafe>.jsonl" in done.stderr and b"Traceback" not in done.stderr
