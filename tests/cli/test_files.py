"""Files as people have them, through the real command: one line says how they were read."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from fakes.office import odt, xlsx

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]

TALE = "Il était une fois, dans un café, un roi."


def test_a_semicolon_file_in_cp1252_is_scored_and_said_once(fabula: Run, tmp_path: Path) -> None:
    (tmp_path / "stories.csv").write_bytes(f"id;text\n1;{TALE}\n2;Fin.\n".encode("cp1252"))
    done = fabula("score", "stories.csv", "-m", "words", "-f", "json")
    assert (done.returncode, done.stderr.count(b"cp1252")) == (0, 1)
    assert "stories.csv: semicolons, cp1252" in done.stderr.decode().splitlines()
    quiet = fabula("score", "stories.csv", "-m", "words", "-f", "json", "--quiet")
    assert (quiet.returncode, quiet.stderr) == (0, b"")


def test_a_workbook_is_scored_and_a_sheet_may_be_named(fabula: Run, tmp_path: Path) -> None:
    rows = [["id", "text"], [1, "One two."], [2, "Three."]]
    raw = xlsx({"Notes": [["Read me"]], "Tales": rows, "More": [["text"], ["x"]]})
    (tmp_path / "a.xlsx").write_bytes(raw)
    done = fabula("score", "a.xlsx", "-m", "words", "-o", "out")
    assert done.returncode == 0
    assert b"a.xlsx: sheet 'Tales' ('Notes', 'More' hold rows too: --sheet)" in done.stderr
    refused = fabula("score", "a.xlsx", "-m", "words", "-o", "out", "--sheet", "More")
    assert refused.returncode == 2, "other stories, though of the same file"


def test_a_bad_file_of_a_folder_is_left_out_on_demand_and_counted(
    fabula: Run, tmp_path: Path
) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "a.odt").write_bytes(odt("<text:p>One two.</text:p>"))
    (tmp_path / "set" / "b.txt").write_bytes(b"\x00\x81\xff")
    done = fabula("score", "set", "-m", "words", "-o", "out")
    assert done.returncode == 2
    assert (
        b"set/b.txt, line 1, byte 2: neither UTF-8" in done.stderr and b"--skip-bad" in done.stderr
    )
    done = fabula("score", "set", "-m", "words", "-o", "out", "--skip-bad")
    assert done.returncode == 0
    assert b"set: 1 left out by --skip-bad: set/b.txt, line 1" in done.stderr
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert (record["input"]["stories"], record["input"]["left_out"]) == (1, 1)


def test_ratings_with_decimal_commas_are_read_and_one_bad_cell_is_named(
    fabula: Run, tmp_path: Path
) -> None:
    cells = [f"{number};{number % 3};0,{number + 10};{number}" for number in range(12)]
    (tmp_path / "a.csv").write_text("\n".join(["id;overall;bleu;rouge", *cells]))
    done = fabula("meta", "a.csv", "--gold", "overall", "--resamples", "10")
    assert (done.returncode, b"bleu" in done.stdout) == (0, True)
    assert done.stderr.decode().splitlines()[0] == "a.csv: semicolons, decimal commas"
    cells[4] = "4;1;#DIV/0!;4"
    (tmp_path / "a.csv").write_text("\n".join(["id;overall;bleu;rouge", *cells]))
    done = fabula("meta", "a.csv", "--gold", "overall")
    assert done.returncode == 2
    assert b"a.csv, line 6, column 'bleu': '#DIV/0!' is no number" in done.stderr


def test_an_odd_encoding_is_one_line(fabula: Run, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "x"}\n')
    for name in ("undefined", "idna", "punycode", "rot13"):
        done = fabula("score", "a.jsonl", "-m", "words", "--encoding", name)
        assert done.returncode == 2
        assert done.stderr.startswith(f"fabula: no encoding is called '{name}'".encode())
