"""Stories and runs at an address: a real server that speaks S3, which throttles, fails and cuts.

`gs://` and `hf://` go through the same code and are not tested: no server of theirs is at hand.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabula.core import addresses
from fabula.core.addresses import RemotePlace, list_matches, open_place, read_range, stamp_file
from fabula.core.errors import InputError, UserError
from fabula.core.table import read_scores
from fabula.datasets.tables.shards import Shard, ShardStories, cut_files
from fabula.datasets.tables.stories import StoryLayout
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.fetched_run import fetch_run
from fabula.scoring.shards.run import ShardOptions, run_shards
from fakes.object_store import BUCKET, FaultyProxy

from .conftest import make_rows, write_jsonl, write_parquet

pytest.importorskip("s3fs")
pytest.importorskip("pyarrow")
METRICS = "words, mattr, cider"


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "_FIRST_WAIT_S", 0.02)


@pytest.fixture
def folder(store: FaultyProxy, tmp_path: Path) -> str:
    """An address with stories as Parquet and as JSONL below `in`."""
    address = f"s3://{BUCKET}/{tmp_path.name}"
    rows = make_rows(200)
    place = open_place(address)
    for number in range(2):
        file = write_parquet(tmp_path / "passing.parquet", rows[number * 100 :][:100])
        place.put(f"in/part-{number}.parquet", file)
    place.write("in/all.jsonl", write_jsonl(tmp_path / "all.jsonl", rows).read_bytes())
    return address


def score(name: str, output: str, **options: Any) -> Any:
    given = ShardOptions(output, **{"stories": 100} | options)
    return run_shards([name], StoryLayout(), choose_metrics(METRICS), given)


def fetch(address: str, folder: Path) -> Path:
    place = open_place(address)
    for inner in ("", "stories", "scores"):
        for name in place.sizes(inner):
            (folder / inner).mkdir(parents=True, exist_ok=True)
            (folder / inner / name).write_bytes(place.read(f"{inner}/{name}".lstrip("/")))
    return folder


def test_a_run_between_addresses_survives_a_store_that_fails(
    folder: str, store: FaultyProxy, tmp_path: Path
):
    store.on = True
    record = score(f"{folder}/in/*.parquet", f"{folder}/run").record
    store.on = False
    assert record["input"]["stories"] == 200
    assert min(store.faults[kind] for kind in ("throttled", "failed", "cut", "refused")) >= 5
    score(str(tmp_path / "all.jsonl"), str(tmp_path / "near"))
    near, far = (
        list(read_scores(at)) for at in (tmp_path / "near", fetch(f"{folder}/run", tmp_path))
    )
    assert list(map(repr, near)) == list(map(repr, far)) and len(near) == 600
    assert open_place(f"{folder}/run").sizes(".shards") == {}


def test_a_jsonl_file_is_read_by_ranges_while_the_store_fails(folder: str, store: FaultyProxy):
    layout, file = StoryLayout(), f"{folder}/in/all.jsonl"
    store.on = True
    columns, shards = cut_files([file], layout, 30)
    ids = [story.id for shard in shards for story in ShardStories(shard, columns, layout)]
    assert ids == [f"s{number}" for number in range(200)] and len(shards) > 4
    assert store.faults["cut"] and store.faults["throttled"]


def test_of_parquet_only_wanted_columns_and_rows_travel(store: FaultyProxy, tmp_path: Path):
    import os

    rows = [row | {"unread": os.urandom(2000).hex()} for row in make_rows(200)]
    file = write_parquet(tmp_path / "wide.parquet", rows)
    size = file.stat().st_size
    place, read = open_place(f"s3://{BUCKET}/{tmp_path.name}"), []
    place.put("wide.parquet", file)
    layout, name = StoryLayout(), f"{place.name}/wide.parquet"
    columns, _ = cut_files([name], layout, 30)

    def note(name: str, start: int, stop: int) -> bytes:
        read.append(stop - start)
        return read_range(name, start, stop)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(addresses, "read_range", note)
        stories = list(ShardStories(Shard(0, name, "parquet", 40, 55), columns, layout))
    assert [story.id for story in stories] == [f"s{number}" for number in range(40, 55)]
    assert sum(read) < size / 4


def test_a_run_at_an_address_goes_on_where_it_stopped(
    folder: str, store: FaultyProxy, monkeypatch: pytest.MonkeyPatch
):
    from fabula.scoring.shards.worker import ShardWorker

    answer, done = ShardWorker.answer, []

    def stop(self: Any, call: Any) -> Any:
        if call.verb == "score" and call.number == 1:
            return UserError("the machine is needed elsewhere")
        done.append((call.verb, call.number))
        return answer(self, call)

    monkeypatch.setattr(ShardWorker, "answer", stop)
    with pytest.raises(UserError, match="needed elsewhere"):
        score(f"{folder}/in/all.jsonl", f"{folder}/stopped")
    before = len(done)
    monkeypatch.setattr(
        ShardWorker,
        "answer",
        lambda self, call: (done.append((call.verb, call.number)), answer(self, call))[1],
    )
    score(f"{folder}/in/all.jsonl", f"{folder}/stopped")
    assert {("score", 0)}.isdisjoint(done[before:])
    assert ("score", 1) in done[before:] and "survey" not in [verb for verb, _ in done[before:]]


def test_what_is_not_there_or_not_reachable_is_said(folder: str, store: FaultyProxy):
    with pytest.raises(InputError, match="no such file"):
        stamp_file(f"{folder}/in/none.jsonl")
    assert list_matches(f"{folder}/in/none-*.parquet") == []
    place = RemotePlace("s3://no-such-bucket/run")
    with pytest.raises(InputError, match=r"no-such-bucket/run/run\.json is not there .*bucket"):
        place.write("run.json", b"{}")
    with pytest.raises(InputError, match=r"^s3://no-such-bucket/in/a\*\.jsonl is not there "):
        list_matches("s3://no-such-bucket/in/a*.jsonl")
    with pytest.raises(InputError, match=rf"a folder, .* by a pattern: '{folder}/in/\*\.parquet'"):
        score(f"{folder}/in/", f"{folder}/none")
    # The extra `remote` does not bring it: what to run must.
    with pytest.raises(UserError, match=r"gcsfs is not installed; run: .*install.* gcsfs$"):
        open_place("gs://bucket/run")
    with pytest.raises(InputError, match="no address that can be read"):
        open_place("nowhere://bucket/run")


def test_a_store_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch):
    tries = []

    def fail() -> None:
        tries.append(1)
        raise ConnectionResetError("cut")

    monkeypatch.setattr(addresses, "_FIRST_WAIT_S", 0)
    with pytest.raises(UserError, match=r"s3://b/x: the store does not answer .*\(cut\)"):
        addresses.try_again(fail, "s3://b/x")
    assert len(tries) == 8


def test_commands_that_read_a_run_from_a_disk_say_so_of_an_address():
    from fabula.scoring.folder import read_run
    from fabula.scoring.lazy_run import open_lazily
    from fabula.scoring.sources import DatasetSource

    wanted = r"^s3://stories/run is an address.*copy it to this machine, and name the copy$"
    with pytest.raises(InputError, match=wanted):
        read_run(Path("s3://stories/run"))
    with pytest.raises(InputError, match=wanted):
        DatasetSource("s3://stories/run").load()
    with pytest.raises(InputError, match=wanted), open_lazily(Path("s3://stories/run")):
        pass


def test_the_command_names_the_address_of_the_run_it_made(folder: str):
    from click.testing import CliRunner

    from fabula.cli import cli

    def say(metrics: str) -> str:
        order = ["score", f"{folder}/in/all.jsonl", "-m", metrics, "-o", f"{folder}/told"]
        done = CliRunner().invoke(cli, order)
        assert done.exit_code == 0, done.output
        return done.stderr

    assert f"scores and signatures are in {folder}/told; for a report: " in say("words")
    assert "added to the 1 metric in the run: mattr" in say("mattr")
    assert "the run held all of these scores already" in say("mattr")


def test_commands_read_a_run_at_an_address_by_a_copy_that_goes_again(
    folder: str, store: FaultyProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from click.testing import CliRunner

    from fabula.cli import cli

    def call(*words: str) -> str:
        done = CliRunner().invoke(cli, words)
        assert done.exit_code == 0, done.output
        return done.stdout

    rows = [row | {"item": str(number // 3)} for number, row in enumerate(make_rows(200))]
    file, run = str(write_jsonl(tmp_path / "items.jsonl", rows)), f"{folder}/run"
    for output in (run, str(tmp_path / "run")):
        score(file, output)
    (tmp_path / "passing").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "passing"))
    store.on = True
    assert call("compare", run, "a", "b") == call("compare", str(tmp_path / "run"), "a", "b")
    kept = str(tmp_path / "kept.jsonl")
    assert "of 200" in call("filter", run, "--keep", "words > 30", "-o", kept)
    told = json.loads(Path(f"{kept}.provenance.json").read_text())
    assert told["run"]["name"] == "run" and told["run"]["stories"] == 200
    call("report", run, "-o", str(tmp_path / "page.html"))
    assert "CIDEr" in (tmp_path / "page.html").read_text()
    gold = tmp_path / "gold.csv"
    gold.write_text("story,overall\n" + "".join(f"s{n},{n % 5}\n" for n in range(60)))
    assert "mattr" in call("meta", run, "--gold", str(gold), "--no-baselines", "-f", "csv")
    assert list((tmp_path / "passing").glob("fabula-*")) == []


def test_an_address_without_a_run_or_with_a_strange_one_is_refused(
    folder: str, store: FaultyProxy, tmp_path: Path
):
    with pytest.raises(InputError, match="/in holds no finished run; name what was given to"):
        fetch_run(f"{folder}/in").__enter__()
    place = open_place(f"{folder}/strange")
    place.write("run.json", b'{"files": {"../../secret": ""}}')
    with pytest.raises(InputError, match=r"names '\.\./\.\./secret', outside of its run"):
        fetch_run(place.name).__enter__()
    place.write("run.json", b"[]")
    with pytest.raises(InputError, match="not the record of a run"):
        fetch_run(place.name).__enter__()
    with fetch_run(str(tmp_path)) as near, fetch_run(f"file://{tmp_path}") as same:
        assert near == same == tmp_path
