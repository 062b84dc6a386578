from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.review import TEXT

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
FAKE = ("--weights", "fake", "--order", "fake", "--no-cache", "-q")


@pytest.fixture
def tale(tmp_path: Path) -> Path:
    path = tmp_path / "keeper.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def tales(tmp_path: Path) -> Path:
    folder = tmp_path / "tales"
    folder.mkdir()
    for name, text in {"long": TEXT, "short": "It rained. We left.", "none": " "}.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


def test_a_file_is_reviewed_in_the_terminal(fabula: Run, tale: Path) -> None:
    done = fabula("review", tale, *FAKE)
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode()
    assert text.startswith("keeper\n") and "of 100 human stories" in text
    assert text.index("Statistics") < text.index("Comments")


def test_json_has_the_names_that_others_rely_on(fabula: Run, tale: Path) -> None:
    done = fabula("review", tale, "-f", "json", "--prompt", "A keeper.", *FAKE)
    found = json.loads(done.stdout)
    names = "preference percentile criteria aspects transitions repetition statistics warnings"
    assert set(names.split()) <= set(found)
    assert len(found["aspects"]) == 10 and len(found["criteria"]) == 6
    told = [one for one in found["aspects"] if one["comment"]]
    assert 3 <= len(told) <= 5
    for one in told:
        assert one["evidence"]["quote"] in TEXT and one["evidence"]["quote"] in one["comment"]


def test_values_are_those_of_fabula_score(fabula: Run, tale: Path) -> None:
    review = json.loads(fabula("review", tale, "-f", "json", *FAKE).stdout)
    scored = fabula("score", tale, "-m", "storyer(weights='fake')", "--scores", "--no-cache", "-q")
    values = {row["aspect"]: row["value"] for row in map(json.loads, scored.stdout.splitlines())}
    assert (values[""], values["percentile"]) == (review["preference"], review["percentile"])


def test_comments_can_be_left_out_or_differ_by_seed(fabula: Run, tale: Path) -> None:
    none = json.loads(fabula("review", tale, "-f", "json", "--comments", "none", *FAKE).stdout)
    assert not any(one["comment"] for one in none["aspects"])
    said = {
        fabula("review", tale, "-f", "json", "--seed", str(seed), *FAKE).stdout for seed in range(3)
    }
    assert len(said) > 1


def test_a_model_that_says_nothing_of_use_leaves_composed_comments(fabula: Run, tale: Path) -> None:
    words = ("--comments", "written", "--writer", "fake()")
    found = json.loads(fabula("review", tale, "-f", "json", *words, *FAKE).stdout)
    assert {one["by"] for one in found["aspects"] if one["comment"]} == {"composed"}


def test_a_page_is_written_where_the_name_says_html(
    fabula: Run, tale: Path, tmp_path: Path
) -> None:
    done = fabula("review", tale, "-o", "out/page.html", *FAKE[:-1])
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"wrote out/page.html\n")
    assert (
        (tmp_path / "out" / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    )


def test_a_story_may_come_from_a_pipe(fabula: Run) -> None:
    done = fabula("review", "-", *FAKE, stdin="\ufeffIt rained.\r\nWe left.".encode())
    assert done.returncode == 0 and done.stdout.decode().startswith("stdin\n")


def test_a_folder_gives_a_ranking(fabula: Run, tales: Path) -> None:
    text = fabula("review", tales, *FAKE).stdout.decode()
    assert text.startswith("3 stories of tales, the best liked first")
    rows = list(
        csv.DictReader(io.StringIO(fabula("review", tales, "-f", "csv", *FAKE).stdout.decode()))
    )
    assert [row["rank"] for row in rows] == ["1", "2", ""]
    assert float(rows[0]["wins"]) + float(rows[1]["wins"]) == pytest.approx(1)
    found = json.loads(fabula("review", tales, "-f", "json", *FAKE).stdout)
    assert found["rows"][0]["story"] == rows[0]["story"]


def test_where_weights_are_missing_the_rest_is_given(fabula: Run, tale: Path) -> None:
    done = fabula("review", tale, "-f", "json", "--no-cache")
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["statistics"]["words"] > 200
    assert found["preference"] is not None or found["missing"]


@pytest.mark.parametrize(
    ("words", "stdin", "expected"),
    [
        (("nowhere.txt",), b"", "nowhere.txt: no such file or folder; check the path"),
        (("-",), b" \n", "stdin: holds no text; give a file with a story in it"),
        (("-",), b"\x7fELF\x00\x01", "stdin: no text but binary data; give a text file"),
        (("-",), b"caf\x81", "stdin, line 1, byte 4: neither UTF-8 nor cp1252 text"),
        (("-", "--encoding", "nope"), b"a", "no encoding is called 'nope'; try utf-8"),
        (("-", "-f", "csv"), b"A day.", "one review is not written as csv; take json"),
        (("-", "--weights", "nope"), b"A day.", "no asset is called 'nope', nor is there"),
        (("-", "-f", "json", "-o", "."), b"A day.", ". cannot be written (Is a directory)"),
    ],
)
def test_what_the_user_can_mend_is_one_line(
    fabula: Run, words: tuple[str, ...], stdin: bytes, expected: str
) -> None:
    done = fabula("review", *words, stdin=stdin)
    assert (done.returncode, done.stdout) == (2, b"")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.decode().startswith(f"fabula: {expected}")
