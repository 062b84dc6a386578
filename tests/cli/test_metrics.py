import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabula.cli import cli
from fabula.core.errors import UserError
from fabula.scoring.catalogue import METRICS, SETS


def run(*args: str) -> str:
    result = CliRunner().invoke(cli, ["metrics", *args], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_list_names_every_metric_and_every_set() -> None:
    output = run("list")
    for name in [*METRICS.names(), *SETS]:
        assert name in output


def test_the_list_can_be_read_by_programs() -> None:
    rows = [json.loads(line) for line in run("list", "-f", "jsonl").splitlines()]
    assert [row["metric"] for row in rows] == METRICS.names()


def test_the_set_of_hanna_is_its_72_columns_with_their_specs() -> None:
    rows = [json.loads(line) for line in run("list", "--set", "hanna", "-f", "jsonl").splitlines()]
    assert len(rows) == 72
    by_column = {row["column"]: row for row in rows}
    assert by_column["ROUGE-2 Recall"]["spec"] == "rouge(n=2, compat=True)"
    assert by_column["BaryScore-SD-0.1"]["aspect"] == "sd_0.1"


def test_other_sets_list_their_specs_and_unknown_ones_are_refused() -> None:
    assert "words" in run("list", "--set", "baselines")
    with pytest.raises(UserError, match="no set is called 'hana'"):
        run("list", "--set", "hana")


def test_a_card_is_shown_with_both_signatures() -> None:
    output = run("show", "rouge( n = 2 )")
    assert "# ROUGE" in output
    assert "rouge(n=2)|tok:unicode" in output
    assert "short: rouge(n=2)|r2|v" in output


def test_the_pages_in_docs_are_those_of_the_cards(tmp_path: Path) -> None:
    run("docs", "-o", str(tmp_path))
    docs = Path(__file__).parents[2] / "docs" / "metrics"
    for page in sorted(tmp_path.iterdir()):
        kept = (docs / page.name).read_text(encoding="utf-8")
        assert kept == page.read_text(encoding="utf-8"), f"run: make docs ({page.name})"
    assert {page.name for page in docs.iterdir()} == {page.name for page in tmp_path.iterdir()}


@pytest.mark.parametrize("kind", [(), ("--model",)])
def test_a_skeleton_in_another_package_works_as_it_stands(
    tmp_path: Path, kind: tuple[str, ...]
) -> None:
    package = tmp_path / "src" / "tales"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    info = tmp_path / "src" / "tales-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tales\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[fabula.metrics]\nvariety = tales.variety\n")
    run("new", "variety", "-o", str(tmp_path), *kind)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "src"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_a_skeleton_is_never_written_over_a_file(tmp_path: Path) -> None:
    (tmp_path / "src" / "tales").mkdir(parents=True)
    (tmp_path / "src" / "tales" / "__init__.py").touch()
    assert "-m variety --no-cache" in run("new", "variety", "-o", str(tmp_path))
    with pytest.raises(UserError, match="is there already"):
        run("new", "variety", "-o", str(tmp_path))


@pytest.mark.parametrize("name", ["Upper", "two words", "class", "1st", ""])
def test_names_that_are_no_module_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="will not do as a name"):
        run("new", name, "-o", str(tmp_path))


def test_a_skeleton_needs_a_project(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="name the project's root with -o"):
        run("new", "variety", "-o", str(tmp_path))
