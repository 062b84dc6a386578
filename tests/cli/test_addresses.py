"""What commands say of addresses that they cannot use, and of those that are plain paths."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from fabula.cli import cli
from fabula.cli._inputs import OutputPath

Run = Callable[..., subprocess.CompletedProcess[bytes]]


def write_stories(path: Path, names: str, **columns: str) -> Path:
    rows = [{"id": name, "text": "A lamp went out."} | columns for name in names]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@pytest.mark.parametrize(
    "words",
    [
        ["filter", "run", "-o", "s3://bucket/kept.jsonl"],
        ["filter", "run", "-o", "s3://bucket/kept.parquet"],
        ["report", "run", "-o", "s3://bucket/report.html"],
        ["train", "s3", "hanna", "-o", "s3://bucket/s3.json"],
    ],
)
def test_an_output_at_an_address_is_refused_and_nothing_written(
    fabula: Run, tmp_path: Path, words: list[str]
) -> None:
    before = set(tmp_path.iterdir())
    done = fabula(*words)
    assert done.returncode == 2
    wanted = f"fabula: {words[-1]} is an address, and this is written to a disk alone; write it to "
    assert done.stderr.decode().startswith(wanted) and done.stderr.count(b"\n") == 1
    assert set(tmp_path.iterdir()) == before


def test_what_cannot_be_done_with_a_run_at_an_address_is_said_by_its_name(fabula: Run) -> None:
    for command, wanted in (
        ("view", "an address, and this is read from a disk alone; copy it to"),
        ("report", "an address, and the page is written here; say where: -o FILE"),
    ):
        done = fabula(command, "s3://bucket/run")
        assert done.returncode == 2
        assert done.stderr.decode().startswith(f"fabula: s3://bucket/run is {wanted}")


def list_outputs(command: click.Command) -> list[click.Parameter]:
    if isinstance(command, click.Group):
        return [one for inner in command.commands.values() for one in list_outputs(inner)]
    return [one for one in command.params if "--output" in one.opts]


def test_no_command_takes_an_address_for_a_folder_of_this_machine() -> None:
    assert isinstance(cli, click.Group)
    context = click.Context(cli)
    found = [cli.get_command(context, name) for name in cli.list_commands(context)]
    outputs = [(one.name, output) for one in found if one for output in list_outputs(one)]
    assert len(outputs) > 20
    # A run in shards may be at an address.
    others = [name for name, output in outputs if not isinstance(output.type, OutputPath)]
    assert others == ["score"]


def test_an_address_of_this_disk_is_a_plain_path_to_all(fabula: Run, tmp_path: Path) -> None:
    for number, name in enumerate("ab"):
        write_stories(tmp_path / f"in-{number}.jsonl", name, system=name)
    here = f"file://{tmp_path}"
    whole = fabula("score", f"{here}/in-0.jsonl", "-m", "words", "-o", f"{here}/whole")
    assert whole.returncode == 0, whole.stderr
    parts = fabula("score", f"{here}/in-*.jsonl", "-m", "words", "-o", f"{here}/parts")
    assert parts.returncode == 0, parts.stderr
    kept = fabula("filter", f"{here}/parts", "-o", f"{here}/kept.jsonl")
    assert kept.returncode == 0, kept.stderr
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 2
    assert fabula("report", f"{here}/whole", "-o", f"{here}/page.html").returncode == 0
    assert (tmp_path / "page.html").exists() and not (tmp_path / "file:").exists()


def test_files_in_shards_without_a_system_are_said_to_be_one(fabula: Run, tmp_path: Path) -> None:
    def say(*options: str, **columns: str) -> str:
        files = [write_stories(tmp_path / f"{name}.jsonl", name, **columns) for name in "ab"]
        words = ("-m", "words", "-o", "run", "--overwrite", "--no-report", "--shard-stories", "9")
        done = fabula("score", *files, *words, *options)
        assert done.returncode == 0, done.stderr
        return done.stderr.decode()

    words = "no column says the system: 2 files are one system without a name"
    assert words in say()
    assert words not in say("-q")
    assert words not in say("--column", "system=")
    assert words not in say(system="one")


def test_what_only_ray_knows_is_refused_without_it(fabula: Run, tmp_path: Path) -> None:
    file = write_stories(tmp_path / "a.jsonl", "a")
    for option in ("--worker-gpus", "--worker-cpus"):
        done = fabula("score", file, "-m", "words", option, "2", "--shard-stories", "9")
        wanted = b"fabula: --worker-cpus and --worker-gpus are what a Ray worker is given; add"
        assert done.returncode == 2 and done.stderr.startswith(wanted)
