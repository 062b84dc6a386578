from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.cli import score
from fabula.datasets.tables.rows import FORMATS

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]

COMMAND = (sys.executable, "-c", "from fabula.cli import main; main()")
STORIES = [
    {"id": "1", "text": "One two three.", "reference": "One two.", "system": "a & b"},
    {"id": "2", "text": "One, two, three, four.", "reference": "One.", "system": "c_d"},
    {"id": "3", "text": "", "reference": "One.", "system": "c_d"},
]
JSONL = "".join(json.dumps(one) + "\n" for one in STORIES).encode()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "stories.jsonl"
    path.write_bytes(JSONL)
    return path


@pytest.fixture
def said(fabula: Run, file: Path) -> Callable[..., str]:
    """What the command prints of the stories, quietly; fails where it fails."""

    def say(*words: str) -> str:
        done = fabula("score", file, "-m", "words,rouge", "--quiet", *words)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    return say


def means(rows: list[dict[str, object]]) -> dict[str, float]:
    return {str(row["system"]): float(row["mean"]) for row in rows if row["scorer"] == "words"}


def test_the_table_names_metrics_systems_and_what_is_left_out(said: Callable[..., str]) -> None:
    text = said()
    assert "a & b" in text and "c_d" in text and "Words" in text and "ROUGE-L F1" in text
    assert "3.0" in text and "4.0" in text
    assert "1 of 3 stories has no text: left out by" in text


def test_json_is_the_record_of_the_run(said: Callable[..., str]) -> None:
    record = json.loads(said("-f", "json"))
    assert record["input"]["stories"] == 3
    assert [one["spec"] for one in record["metrics"]] == ["words", "rouge"]
    assert means(record["summary"]) == {"a & b": 3.0, "c_d": 4.0}


def test_jsonl_and_csv_are_the_rows_of_the_summary(said: Callable[..., str]) -> None:
    lines = [json.loads(line) for line in said("-f", "jsonl").splitlines()]
    cells = list(csv.DictReader(io.StringIO(said("-f", "csv"))))
    assert means(lines) == means(cells) == {"a & b": 3.0, "c_d": 4.0}
    assert [row["scorer"] for row in lines] == [row["scorer"] for row in cells]
    assert json.loads(cells[1]["why"]) == lines[1]["why"] == {"empty_text": 1}


def test_latex_is_a_whole_table_with_its_signs_written_out(said: Callable[..., str]) -> None:
    text = said("-f", "latex")
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    assert lines[0] == r"\begin{tabular}{llrr}" and lines[-1] == r"\end{tabular}"
    assert r"a \& b & c\_d \\" in text
    body = [line for line in lines if line.endswith(r"\\")]
    assert all(line.replace(r"\&", "").count("&") == 3 for line in body)


def test_scores_are_printed_one_a_line_instead_of_the_summary(
    fabula: Run, said: Callable[..., str], file: Path, tmp_path: Path
) -> None:
    rows = [json.loads(line) for line in said("--scores").splitlines()]
    assert [row["story"] for row in rows if row["scorer"] == "words"] == ["1", "2", "3"]
    assert rows[-1]["value"] is None and rows[-1]["status"] == "empty_text"
    done = fabula("score", file, "-m", "words,rouge", "--scores", "-o", "out")
    assert done.stdout == (tmp_path / "out" / "scores.jsonl").read_bytes()


def test_quiet_says_nothing_and_the_usual_way_says_columns_time_and_place(
    fabula: Run, file: Path
) -> None:
    assert fabula("score", file, "-m", "words", "-q", "-o", "quiet").stderr == b""
    words = fabula("score", file, "-m", "words", "-o", "out").stderr.decode()
    assert "id=id, text=text, references=reference, system=system" in words
    assert "3 stories in" in words and "out" in words


def test_stdin_is_read(fabula: Run, said: Callable[..., str]) -> None:
    done = fabula("score", "-", "-m", "words,rouge", "--scores", "-q", stdin=JSONL)
    assert done.stdout.decode() == said("--scores")
    table = b"id,text\n1,one two\n"
    done = fabula("score", "-", "-m", "words", "--scores", "--input-format", "csv", stdin=table)
    assert json.loads(done.stdout)["value"] == 2.0


def test_nothing_on_stdin_is_one_line(fabula: Run) -> None:
    done = fabula("score", "-", "-m", "words", "-o", "out")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith(b"fabula: ")


def test_a_run_folder_is_written_and_may_be_asked_again(
    fabula: Run, file: Path, tmp_path: Path
) -> None:
    for _ in range(2):
        assert fabula("score", file, "-m", "words", "-o", "out").returncode == 0
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    files = ["run.json", "scores.jsonl", "scores.parquet", "stories.jsonl"]
    assert names == [".fabula.json", "report.html", *files, "tables"]
    file.write_bytes(JSONL + JSONL.replace(b'"id": "', b'"id": "0'))
    other = fabula("score", file, "-m", "words", "-o", "out")
    assert other.returncode == 2 and b"other input" in other.stderr
    assert b"--overwrite" in other.stderr
    assert fabula("score", file, "-m", "bleu", "-o", "out", "--overwrite").returncode == 0
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert [metric["spec"] for metric in record["metrics"]] == ["bleu"]


def test_a_metric_is_added_to_a_run_that_is_there(fabula: Run, file: Path, tmp_path: Path) -> None:
    assert fabula("score", file, "-m", "words", "-o", "out").returncode == 0
    done = fabula("score", file, "-m", "rouge(n=2)", "-o", "out")
    assert "added to the 1 metric in out: rouge(n=2)\n" in done.stderr.decode()
    assert "Words" in done.stdout.decode() and "ROUGE-2 F1" in done.stdout.decode()
    assert "rouge(n=2)" in (tmp_path / "out" / "report.html").read_text()
    again = fabula("score", file, "-m", "words", "-o", "out")
    assert "out held all of these scores already" in again.stderr.decode()
    assert again.stdout == done.stdout


@pytest.mark.parametrize("name", ["report.html", "tables/systems.csv", "scores.jsonl", "run.json"])
def test_a_file_that_fabula_did_not_write_is_not_written_over(
    fabula: Run, file: Path, tmp_path: Path, name: str
) -> None:
    mine = tmp_path / "out" / name
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    done = fabula("score", file, "-m", "words", "-o", "out")
    (line,) = done.stderr.decode().splitlines()
    assert done.returncode == 2 and f"out/{name} is" in line and "--overwrite" in line
    assert mine.read_text() == "mine" and done.stdout == b""
    assert fabula("score", file, "-m", "words", "-o", "out", "--overwrite").returncode == 0


@pytest.mark.parametrize("words", [(), ("--overwrite",), ("--overwrite", "--no-report")])
def test_the_file_of_the_stories_is_never_written_over(
    fabula: Run, file: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    done = fabula("score", file, "-m", "words", "-o", ".", *words)
    assert done.returncode == 2 and b"stories.jsonl is what is being read" in done.stderr
    assert file.read_bytes() == JSONL and list(tmp_path.iterdir()) == [file]


def test_the_file_behind_stdin_is_never_written_over(
    environment: dict[str, str], file: Path, tmp_path: Path
) -> None:
    words = [*COMMAND, "score", "-", "-m", "words", "-o", ".", "--overwrite"]
    with file.open("rb") as stdin:
        done = subprocess.run(words, stdin=stdin, env=environment, cwd=tmp_path, check=False)
    assert done.returncode == 2 and file.read_bytes() == JSONL


def test_two_runs_into_one_new_folder_at_once_do_not_lose_one_another(
    environment: dict[str, str], file: Path, tmp_path: Path
) -> None:
    chosen = ("words", "chrf")
    started = [
        subprocess.Popen(
            [*COMMAND, "score", str(file), "-m", name, "-o", "out", "-q", "--no-report"],
            env=environment,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name in chosen
    ]
    said = [process.communicate(timeout=60)[1].decode() for process in started]
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    kept = [metric["spec"] for metric in record["metrics"]]
    for name, process, line in zip(chosen, started, said, strict=True):
        assert (process.returncode, name in kept) in ((0, True), (2, False)), line
        assert not process.returncode or "another run" in line
    assert kept


def test_columns_are_named_with_column(fabula: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n,tale,r1,r2,prompt\n7,one two,one two,,p\n")
    done = fabula(
        "score", "a.csv", "-m", "words,bleu", "-c", "text=tale", "-c", "id=n",
        "--column", "references=r1,r2", "--column", "prompt=", "--scores",
    )  # fmt: skip
    assert done.stderr.decode().startswith("a.csv: id=n, text=tale, references=r1+r2\n")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["story"], row["status"]) for row in rows] == [("7", "ok"), ("7", "ok")]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["-m", "ruoge"], "did you mean 'rouge'?"),
        (["-m", "rouge(m=2)"], "rouge has no setting 'm'"),
        (["-m", "rouge(n=0)"], "rouge: n=0 will not do"),
        (["-m", "rouge(n="], "cannot read the spec"),
        (["-m", ","], "no metric is chosen"),
        (["-c", "txt=tale"], "did you mean 'text'?"),
        (["-c", "text"], "--column text=NAME"),
        (["-c", "text=nothing"], "no column 'nothing'"),
        (["--encoding", "no-such"], "no encoding is called 'no-such'"),
    ],
)
def test_a_word_that_will_not_do_is_one_line_with_a_remedy(
    fabula: Run, file: Path, tmp_path: Path, words: list[str], hint: str
) -> None:
    done = fabula("score", file, "-o", "out", *words)
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("fabula: ") and hint in line
    assert (done.returncode, done.stdout) == (2, b"")
    assert not (tmp_path / "out").exists()


def test_a_data_set_is_scored_by_its_name(fabula: Run, tmp_path: Path) -> None:
    done = fabula("score", "examples", "-m", "words", "-f", "json", "-j", "2", "--no-cache")
    assert json.loads(done.stdout)["input"]["stories"] == 56
    assert not (tmp_path / "home").exists()


def test_a_cache_may_be_named(fabula: Run, file: Path, tmp_path: Path) -> None:
    assert fabula("score", file, "-m", "words", "--cache", "mine.sqlite").returncode == 0
    assert (tmp_path / "mine.sqlite").exists() and not (tmp_path / "home").exists()


def test_the_input_formats_offered_are_those_that_can_be_read() -> None:
    [option] = [one for one in score.command.params if one.name == "input_format"]
    assert tuple(option.type.choices) == FORMATS


def test_several_files_are_several_systems_of_one_run(fabula: Run, tmp_path: Path) -> None:
    for name, word in (("a.jsonl", "One two."), ("b.jsonl", "One two three four.")):
        lines = [json.dumps({"text": word, "reference": "One two."}) + "\n" for _ in range(8)]
        (tmp_path / name).write_text("".join(lines))
    done = fabula("score", "a.jsonl", "b.jsonl", "-m", "words", "-o", "out", "-f", "jsonl")
    assert means([json.loads(line) for line in done.stdout.splitlines()]) == {"a": 2.0, "b": 4.0}
    assert b"no file has ids: stories on the same line share an item" in done.stderr
    compared = fabula("compare", "out", "a", "b", "-f", "json")
    assert json.loads(compared.stdout)["shared_items"] == 8
    again = fabula("score", "a.jsonl", "b.jsonl", "-m", "chrf", "-o", "out", "-q")
    assert again.returncode == 0
    other = fabula("score", "b.jsonl", "-m", "chrf", "-o", "out", "-q")
    assert other.returncode == 2 and b"other input" in other.stderr
    never = fabula("score", "a.jsonl", "out/stories.jsonl", "-o", "out", "--overwrite")
    assert never.returncode == 2 and b"is what is being read" in never.stderr
