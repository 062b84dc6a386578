from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from fabula.cli import cli
from fabula.cli._inputs import dataset_arguments
from fabula.core.dataset import Dataset
from fabula.core.errors import InputError, SettingError, UnknownName, UserError
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.datasets import DATASETS, read_places
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.sources import DatasetSource
from fakes.runs import make_record, write_record

WIDE = "id,text,fun,repetition,mine\n1,Once.,3,0.5,1\n2,Twice.,4,,2\n"
LLM = ",Prompt,Human,Story,Model\n0,P,H,Once.,m\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(WIDE)
    return path


def run(*words: str | Path) -> Result:
    return attempt(*words, catch_exceptions=False)


def attempt(*words: str | Path, catch_exceptions: bool = True) -> Result:
    """Run the command; what it raises is kept in the result."""
    line = ["data", *map(str, words)]
    return CliRunner().invoke(cli, line, catch_exceptions=catch_exceptions)


def opened(*words: str | Path, rated: bool = True) -> Dataset:
    """Give what `dataset_arguments` makes of a command line."""
    kept: list[Any] = []

    @click.command()
    @dataset_arguments
    @click.option("--seed", default=0)
    def probe(source: DatasetSource, seed: int) -> None:
        kept.append(source.load(rated=rated))
        assert seed == 0

    done = CliRunner().invoke(probe, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    found: Dataset = kept[0]
    return found


def test_the_list_names_every_data_set_and_where_it_lies(table: Path) -> None:
    run("add", "own", table, "--gold", "fun")
    rows = json.loads(run("list", "-f", "json").stdout)
    known = [name for name in DATASETS.names() if name != "table"]
    assert [row["name"] for row in rows] == [*known, "own"]
    hanna = next(row for row in rows if row["name"] == "hanna")
    assert hanna == {
        "name": "hanna",
        "title": "HANNA",
        "stories": 1056,
        "ratings": 19008,
        "where": None,
        "licence": "MIT",
    }
    assert rows[-1]["where"] == str(table)
    assert "HANNA" in run("list").stdout


def test_a_card_is_shown_in_words_with_its_place(table: Path) -> None:
    assert "**How to cite.** Chhun" in run("show", "hanna").stdout
    assert "lies in" not in run("show", "hanna").stdout
    run("add", "own", table, "--gold", "fun")
    shown = run("show", "own").stdout
    assert "2 ratings by 1 rater on fun" in shown and f"lies in {table}" in shown


def test_a_table_that_was_added_is_found_by_its_name_everywhere(table: Path) -> None:
    done = run("add", "own", table, "--gold", "fun", "--lower", "mine")
    assert done.stderr == "own: 2 stories, 2 ratings, 4 scores\n" and done.stdout == ""
    found = opened("own")
    assert found.name == "own" and found.scorers["mine"].direction == "lower"
    assert run("remove", "own").stderr == "own: forgotten\n"
    assert read_places() == {} and table.exists()
    with pytest.raises(UnknownName, match="'own' was not added"):
        run("remove", "own")


def test_what_cannot_be_read_is_not_kept(table: Path, tmp_path: Path) -> None:
    for words, error, message in (
        (("own", table), InputError, "no ratings by people"),
        (("hana", tmp_path), UnknownName, "did you mean 'hanna'"),
        (("a b", table, "--gold", "fun"), SettingError, "will not do as a name"),
        (("table", table, "--gold", "fun"), SettingError, "will not do as a name"),
        (("hanna", tmp_path), InputError, "is not there"),
        (("hanna", tmp_path, "--gold", "fun"), SettingError, "are not for hanna"),
    ):
        with pytest.raises(error, match=message):
            run("add", *words)
    assert read_places() == {}


def test_verify_looks_at_files_and_counts_and_fails_if_they_are_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    (tmp_path / "hanna_llm_stories.csv").write_text(LLM)
    with pytest.raises(UserError, match=r"not as its card says: hanna_llm_stories\.csv, stories"):
        run("verify", "hanna_llm", "--path", tmp_path)
    assert "not the release we know" in attempt("verify", "hanna_llm", "--path", tmp_path).stdout


def test_verify_says_what_cannot_be_read_beside_the_checksums(tmp_path: Path) -> None:
    (tmp_path / "hanna_llm_stories.csv").write_text(LLM.replace("\n0,", "\nx,"))
    result = attempt("verify", "hanna_llm", "--path", tmp_path, "-f", "json")
    assert isinstance(result.exception, UserError)
    checks = {row["what"]: row for row in json.loads(result.stdout)}
    assert "'x' in the first column is no number" in checks["content"]["found"]


def test_verify_is_content_with_what_is_whole(table: Path) -> None:
    assert run("verify", "examples").exit_code == 0
    run("add", "own", table, "--gold", "fun")
    rows = json.loads(run("verify", "own", "-f", "json").stdout)
    assert {row["what"]: row["found"] for row in rows} == {
        "stories": "2", "ratings": "2", "scores": "4",
    }  # fmt: skip


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_what_is_converted_can_be_read_again(table: Path, tmp_path: Path, form: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    done = run("convert", table, "--gold", "fun", "-o", tmp_path / "out", "-f", form)
    names = [Path(line).name for line in done.stdout.splitlines()]
    assert names == [f"stories.{form}", f"ratings.{form}", f"scores.{form}"]
    again = opened(tmp_path / "out" / f"ratings.{form}")
    assert {(s.story, s.scorer, s.aspect, s.value) for s in again.ratings} == {
        ("1", "human:gold", "fun", 3.0),
        ("2", "human:gold", "fun", 4.0),
    }


def test_converted_stories_keep_their_references(tmp_path: Path) -> None:
    run("convert", "examples", "-o", tmp_path, "-f", "csv")
    with (tmp_path / "stories.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 56 and json.loads(rows[0]["references"])


def test_a_missing_score_is_written_as_nothing(table: Path, tmp_path: Path) -> None:
    run("convert", table, "--gold", "fun", "-o", tmp_path / "out")
    lines = (tmp_path / "out" / "scores.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["value"] for row in rows] == [0.5, 1.0, None, 2.0]


def test_the_pages_in_docs_are_those_of_the_cards(tmp_path: Path) -> None:
    run("docs", "-o", tmp_path / "pages")
    docs = Path(__file__).parents[2] / "docs" / "datasets"
    for page in sorted((tmp_path / "pages").iterdir()):
        kept = (docs / page.name).read_text(encoding="utf-8")
        assert kept == page.read_text(encoding="utf-8"), f"run: fabula data docs ({page.name})"
    assert len(list(docs.iterdir())) == len(DATASETS.names()) + 1


def test_columns_called_like_our_metrics_have_their_direction(table: Path) -> None:
    found = opened(table, "--gold", "fun")
    assert found.scorers["repetition"].direction == "lower"
    assert found.scorers["mine"].direction == "higher"
    assert opened(table, "--gold", "fun", "--lower", "mine").scorers["mine"].direction == "lower"


def test_names_with_commas_inside_are_not_parted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('id,fun,"rouge(n=2, stem=False)",x\n1,3,0.1,2\n')
    found = opened(path, "--gold", "fun", "--lower", "rouge(n=2, stem=False),x")
    assert {card.direction for card in found.scorers.values()} == {"lower"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    stories = [Story(name, "Once.", system="x", item=name) for name in "ab"]
    scores = [Score(name, "repetition", value=0.5) for name in "ab"]
    ScoreTable(stories, scores).save(tmp_path / "run")
    write_record(tmp_path / "run", make_record(choose_metrics("repetition"), 2))
    return tmp_path / "run"


def test_a_run_folder_takes_its_ratings_from_a_table(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("nr,fun\na,3\nb,4\n")
    found = opened(folder, "--gold", tmp_path / "g.csv", "-c", "story=nr")
    assert len(found.ratings) == 2 and found.scorers["repetition"].direction == "lower"
    with pytest.raises(InputError, match="no metric 'repetitoin'; did you mean"):
        opened(folder, "--gold", tmp_path / "g.csv", "-c", "story=nr", "--lower", "repetitoin")


def test_without_ratings_a_source_is_refused_unless_none_are_needed(folder: Path) -> None:
    with pytest.raises(InputError, match="run holds no ratings by people; pass --gold"):
        opened(folder)
    assert len(opened(folder, rated=False).scores) == 2
    with pytest.raises(InputError, match="examples holds no ratings"):
        opened("examples")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("none.csv",), "none.csv: no such file or data set; known: "),
        (("examples", "--gold", "fun"), "are not for examples"),
        (("none.csv", "--path", "x"), "--path is for data sets by name"),
        (("none.csv", "-c", "story"), "--column 'story' will not do"),
    ],
)
def test_a_source_that_will_not_do_is_explained(
    words: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if "-c" in words:
        (tmp_path / "none.csv").write_text(WIDE)
    with pytest.raises(UserError) as caught:
        opened(*words)
    assert message in str(caught.value)


def test_a_table_may_be_given_as_the_path_of_the_data_set_table(table: Path) -> None:
    assert len(opened("table", "--path", table, "--gold", "fun").ratings) == 2


def test_statistics_of_the_sample_games_stand_beside_the_papers() -> None:
    lines = [line.split() for line in run("statistics", "storium_samples").output.splitlines()]
    assert ["entries", "90", "448,264"] in lines
    assert ["completed", "games", "2", "586"] in lines
    assert ["validation", "1", "569"] in lines


def test_statistics_for_programs_have_every_value() -> None:
    rows = json.loads(run("statistics", "storium_samples", "-f", "json").output)
    found = {(row["table"], row["what"]): (row["count"], row["printed"]) for row in rows}
    assert found["stories", "users"] == (6, 30119)
    assert found["entries per scene", "10"] == (6, None)
    csv_rows = list(
        csv.DictReader(run("statistics", "storium_samples", "-f", "csv").output.split("\n"))
    )
    assert len(csv_rows) == len(rows) and csv_rows[0] == {
        "table": "stories", "what": "games", "count": "3", "printed": "5743",
    }  # fmt: skip


def test_statistics_are_of_games(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="'hanna' has no games to count"):
        run("statistics", "hanna")
    (tmp_path / "g.json").write_text("[]")
    with pytest.raises(InputError, match=r"g\.json"):
        run("statistics", "storium", "--path", tmp_path)
