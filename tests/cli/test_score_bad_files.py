"""Bad files through the real command: one line that names the place, exit code 2, no trace."""

from __future__ import annotations

import gzip
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]

GOOD = "".join(f'{{"id": {n}, "text": "story {n}"}}\n' for n in range(1, 7))
MANY = "".join(f'{{"id": {n}, "text": "story {n}"}}\n' for n in range(3000))
ZIPPED = gzip.compress(MANY.encode())

BAD: dict[str, tuple[str, str | bytes, str]] = {
    "broken JSON": ("a.jsonl", GOOD + '{"id": 7, "text"\n', "a.jsonl, line 7: not valid JSON"),
    "control": ("a.jsonl", GOOD + '{"text": "a\x01"}\n', "a.jsonl, line 7: not valid JSON"),
    "deep": (
        "a.jsonl",
        GOOD + "[" * 200_000,
        "a.jsonl, line 7: not valid JSON (nested too deeply)",
    ),
    "long number": ("a.jsonl", GOOD + '{"id": ' + "1" * 5000 + "}", "a.jsonl, line 7"),
    "no object": ("a.jsonl", GOOD + '"text"\n', "a.jsonl, line 7: not a JSON object"),
    "doubled id": ("a.jsonl", GOOD + '{"id": 3, "text": "x"}\n', "line 7: id '3' was used before"),
    "no text column": ("a.csv", "id,words\n1,x\n", "no column for the text among id, words"),
    "null text": ("a.jsonl", GOOD + '{"id": 7, "text": null}\n', "line 7: field 'text'"),
    "lacking text": ("a.jsonl", GOOD + '{"id": 7}\n', "line 7: field 'text'"),
    "number as text": ("a.jsonl", GOOD + '{"id": 7, "text": 7}\n', "line 7: field 'text'"),
    "empty id": ("a.csv", "id,text\n1,x\n,y\n", "a.csv, line 3: field 'id'"),
    "encoding": (
        "a.csv",
        b"id,text\n1,x\n2,na\x81ve\n",
        "line 3, byte 5: neither UTF-8 nor cp1252",
    ),
    "UTF-16": ("a.csv", "id,text\n1,x\n".encode("utf-16")[:-1], "after line 1: not utf-16 text"),
    "empty": ("a.jsonl", b"", "a.jsonl: holds no stories"),
    "empty CSV": ("a.csv", b"", "a.csv: holds no stories"),
    "empty JSON": ("a.json", b"", "a.json: not valid JSON"),
    "header alone": ("a.csv", "id,text\n", "a.csv: holds no stories"),
    "blank lines": ("a.jsonl", "\n\n  \n", "a.jsonl: holds no stories"),
    "empty list": ("a.json", "[]", "a.json: holds no stories"),
    "object": ("a.json", '{"text": "x"}', "a.json: not a list of stories"),
    "cut gzip": ("a.jsonl.gz", ZIPPED[:-20], "a.jsonl.gz: not a whole gzip file"),
    "no gzip": ("a.jsonl.gz", GOOD, "a.jsonl.gz: not a whole gzip file"),
    "ragged": ("a.csv", "id,text\n1,x\n2,y,z\n", "a.csv, line 3: 3 cells"),
    "quote": ("a.csv", 'id,text\n1,"x\n2,y\n', "a.csv, line 2: broken CSV"),
    "doubled header": ("a.csv", "id,text,text\n1,x,y\n", "line 1: column 'text' stands twice"),
    "no Parquet": ("a.parquet", b"not Parquet", "a.parquet: not a Parquet file"),
    "unknown ending": ("a.dat", b"x", "a.dat: cannot tell the format"),
    "no document": ("a.docx", b"x", "a.docx: not an .docx file"),
    "no workbook": ("a.xlsx", b"x", "a.xlsx: not a workbook"),
    "folder": ("set/notes.csv", b"x", "set: a folder without texts (.txt "),
    "bad story": ("set/b.txt", b"na\x81ve", "set/b.txt, line 1, byte 3: neither UTF-8 nor cp1252"),
}


def check(done: subprocess.CompletedProcess[bytes], words: str, out: Path) -> None:
    """One line that begins with the program's name and holds the words; no other trace."""
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("fabula: ") and words in lines[0]
    assert "; " in lines[0], "a remedy follows the problem"
    assert (done.returncode, done.stdout) == (2, b"")
    assert not out.exists()


@pytest.mark.parametrize("quiet", [(), ("--quiet",)], ids=["usual", "quiet"])
@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_one_line_and_leaves_no_trace(
    fabula: Run, tmp_path: Path, case: str, quiet: tuple[str, ...]
) -> None:
    name, content, words = BAD[case]
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    file = name.partition("/")[0]
    done = fabula("score", file, "-m", "words,rouge", "-o", "out", *quiet)
    check(done, words, tmp_path / "out")
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("name", ["nothing.jsonl", "no/where.csv", "a" * 300 + ".csv", "b" * 5000])
def test_a_file_that_is_not_there_is_one_line(fabula: Run, tmp_path: Path, name: str) -> None:
    check(fabula("score", name, "-m", "words", "-o", "out"), name[:12], tmp_path / "out")


def test_an_output_that_is_a_file_is_one_line(fabula: Run, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(GOOD)
    (tmp_path / "taken").write_text("mine")
    done = fabula("score", "a.jsonl", "-m", "words", "-o", "taken", "--quiet")
    check(done, "taken", tmp_path / "out")
    assert (tmp_path / "taken").read_text() == "mine"


def test_a_surrogate_without_its_half_does_not_stop_a_run(fabula: Run, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "\\ud800", "text": "x \\udc00", "system": "\\ud801"}')
    for words in (["-o", "out"], ["--scores"], ["-f", "json"], []):
        done = fabula("score", "a.jsonl", "-m", "words", *words)
        assert done.returncode in (0, 2) and b"Traceback" not in done.stderr


def limited_run(path: Path, environment: dict[str, str], most_mib: int) -> tuple[object, float]:
    """Score a file with that much memory to be had; give the outcome and the seconds."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (most_mib * 1024**2,) * 2)

    began = time.monotonic()
    words = ["score", path.name, "-m", "words", "-o", "out"]
    done = subprocess.run(
        [sys.executable, "-c", "from fabula.cli import main; main()", *words],
        env=environment | {"OPENBLAS_NUM_THREADS": "1"},
        cwd=path.parent,
        capture_output=True,
        preexec_fn=limit,
        check=False,
    )
    return done, time.monotonic() - began


@pytest.mark.skipif(sys.platform != "linux", reason="needs sparse files and limits of memory")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.jsonl", "a.jsonl, line 1: longer than 64 MiB"),
        ("a.csv", "a.csv, line 2: longer than 64 MiB"),
        ("a.json", "a.json: larger than 256 MiB"),
        ("a.txt", "a.txt: larger than 256 MiB"),
    ],
)
def test_a_line_of_a_gigabyte_is_refused_at_once_and_in_little_memory(
    environment: dict[str, str], tmp_path: Path, name: str, words: str
) -> None:
    path = tmp_path / name
    with path.open("wb") as file:
        file.write(b'id,text\n1,"' if name == "a.csv" else b'{"text": "')
        os.truncate(file.fileno(), 1024**3)
    done, seconds = limited_run(path, environment, most_mib=400)
    check(done, words, tmp_path / "out")
    assert seconds < 5
