"""A run in shards comes to the rows of a run of one file, whatever is cut, killed or odd."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import InputError, SettingError, UserError
from fabula.core.table import ScoreTable, read_scores, read_stories
from fabula.datasets.tables.stories import StoryFile, StoryLayout
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.folder import read_run
from fabula.scoring.run import RunOptions, run
from fabula.scoring.shards.run import ShardOptions, run_shards

from .conftest import METRICS, make_rows, write_jsonl, write_parquet

pytest.importorskip("pyarrow")


def score(names: list[str] | str, folder: Path, metrics: str = METRICS, **options: Any) -> Any:
    layout = options.pop("layout", StoryLayout())
    given = ShardOptions(str(folder), **{"stories": 32} | options)
    files = [names] if isinstance(names, str) else names
    return run_shards(files, layout, choose_metrics(metrics), given)


def score_whole(file: Path, folder: Path, metrics: str = METRICS) -> None:
    run(StoryFile(file), choose_metrics(metrics), RunOptions(folder, cache=False))


def rows_of(folder: Path) -> list[tuple[Any, ...]]:
    """All scores with what they are about, NaN made comparable."""
    scores = [
        (s.story, s.scorer, s.aspect, repr(s.value), s.status, s.coverage, s.note)
        for s in read_scores(folder)
    ]
    assert scores
    return scores


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.glob("s*/part-*.parquet"))
    }


def test_rows_and_stories_are_those_of_a_run_of_one_file(tmp_path: Path, shards: str, rows: Any):
    score_whole(write_parquet(tmp_path / "all.parquet", rows), tmp_path / "whole")
    result = score(shards, tmp_path / "parts")
    assert result.record["input"]["stories"] == 200
    assert rows_of(tmp_path / "parts") == rows_of(tmp_path / "whole")
    assert list(read_stories(tmp_path / "parts")) == list(read_stories(tmp_path / "whole"))


def test_the_parquet_rows_are_those_of_scores_parquet(tmp_path: Path, shards: str, rows: Any):
    import pyarrow as pa
    import pyarrow.parquet as pq

    score_whole(write_parquet(tmp_path / "all.parquet", rows), tmp_path / "whole")
    score(shards, tmp_path / "parts")
    parts = sorted((tmp_path / "parts" / "scores").glob("*.parquet"))
    whole = pq.read_table(tmp_path / "whole" / "scores.parquet")
    assert pa.concat_tables(pq.read_table(part) for part in parts).equals(whole)
    codecs = {pq.ParquetFile(part).metadata.row_group(0).column(0).compression for part in parts}
    assert codecs == {"ZSTD"}


def test_parts_and_the_copy_of_a_run_of_one_file_have_the_columns_of_the_manual(
    tmp_path: Path, shards: str, rows: Any
):
    import pyarrow.parquet as pq

    from fabula.scoring.run_parts import part_scores, part_stories

    score_whole(write_parquet(tmp_path / "all.parquet", rows), tmp_path / "whole", "words")
    score(shards, tmp_path / "parts", "words")
    # As docs/scale.md lists them.
    stories = "id text prompt references images system item".split()
    scores = "story item system scorer aspect value status coverage note".split()
    copied = {
        "stories": part_stories(tmp_path / "whole", tmp_path / "copy" / "stories"),
        "scores": part_scores(tmp_path / "whole", None, tmp_path / "copy" / "scores"),
    }
    for what, names in (("stories", stories), ("scores", scores)):
        part = pq.read_schema(tmp_path / "parts" / what / "part-00000.parquet")
        assert part.names == names
        assert pq.read_schema(copied[what][0]).equals(part)


def test_the_summary_is_that_of_a_run_of_one_file(tmp_path: Path, shards: str, rows: Any):
    score_whole(write_parquet(tmp_path / "all.parquet", rows), tmp_path / "whole")
    score(shards, tmp_path / "parts")
    whole, parts = (read_run(tmp_path / name)["summary"] for name in ("whole", "parts"))
    for one, other in zip(whole, parts, strict=True):
        for name in ("mean", "deviation"):
            assert one.pop(name) == pytest.approx(other.pop(name), rel=1e-12)
        assert one == other


def test_several_processes_write_the_same_bytes(tmp_path: Path, shards: str):
    score(shards, tmp_path / "one")
    score(shards, tmp_path / "two", jobs=2)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")
    assert not (tmp_path / "two" / ".shards").exists()


@pytest.mark.parametrize("stories", [1, 7, 32, 1000])
def test_a_jsonl_file_may_be_cut_anywhere(tmp_path: Path, stories: int):
    rows = make_rows(40)
    rows[7]["text"] = "ein Märchen über die Straße, 物語 " * 9
    file = write_jsonl(tmp_path / "all.jsonl", rows)
    file.write_bytes(file.read_bytes()[:-1])  # without its last line end
    score_whole(file, tmp_path / "whole", "words, cider")
    score(str(file), tmp_path / "parts", "words, cider", stories=stories)
    assert rows_of(tmp_path / "parts") == rows_of(tmp_path / "whole")


def test_what_many_shards_gather_is_merged_in_parts_to_the_same_values(tmp_path: Path):
    file = write_parquet(tmp_path / "all.parquet", make_rows(200))
    score_whole(file, tmp_path / "whole", "cider, self_bleu")
    plans: list[Any] = []
    score(str(file), tmp_path / "parts", "cider, self_bleu", stories=3, on_plan=plans.append)
    assert len(plans[0].shards) == 67 and plans[0].parts == 34
    assert replace(plans[0], metrics=tuple(choose_metrics("words, self_bleu"))).parts == 1
    assert rows_of(tmp_path / "parts") == rows_of(tmp_path / "whole")


def test_stories_without_ids_are_numbered_through_all_shards(tmp_path: Path):
    rows = [{"story": f"story number {number}"} for number in range(50)]
    file = write_jsonl(tmp_path / "all.jsonl", rows)
    score_whole(file, tmp_path / "whole", "words")
    score(str(file), tmp_path / "parts", "words", stories=7)
    assert [story.id for story in read_stories(tmp_path / "parts")] == [*map(str, range(1, 51))]
    assert rows_of(tmp_path / "parts") == rows_of(tmp_path / "whole")


def test_gzip_and_csv_are_one_shard_a_file(tmp_path: Path):
    import gzip

    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b'{"id": "a", "text": "One two."}\n' * 1))
    (tmp_path / "b.csv").write_text("id,text\nb,Three\nc,Four five\n")
    names = [str(tmp_path / name) for name in ("a.jsonl.gz", "b.csv")]
    score(names, tmp_path / "parts", "words")
    assert [s.id for s in read_stories(tmp_path / "parts")] == ["a", "b", "c"]
    assert len(read_run(tmp_path / "parts")["parts"]) == 2


def test_a_run_that_is_there_is_not_made_again(tmp_path: Path, shards: str):
    score(shards, tmp_path / "run", "words")
    stamp = (tmp_path / "run" / "run.json").stat().st_mtime_ns
    assert score(shards, tmp_path / "run", "words").kept == ("words",)
    assert (tmp_path / "run" / "run.json").stat().st_mtime_ns == stamp
    with pytest.raises(UserError, match=r"another run \(other shard_stories"):
        score(shards, tmp_path / "run", "mattr", stories=64)
    score(shards, tmp_path / "run", "mattr", overwrite=True, stories=64)
    assert {s.scorer for s in read_scores(tmp_path / "run")} == {"mattr"}
    assert len(files_of(tmp_path / "run")) == 2 * len(read_run(tmp_path / "run")["parts"])


def test_a_begun_run_of_other_metrics_is_refused(tmp_path: Path, shards: str):
    (tmp_path / "run" / ".shards").mkdir(parents=True)
    (tmp_path / "run" / ".shards" / "plan.json").write_text('{"question": {"metrics": ["x"]}}')
    with pytest.raises(UserError, match=r"that was begun .*other metrics"):
        score(shards, tmp_path / "run", "words")


def test_files_of_others_are_left_alone(tmp_path: Path, shards: str):
    (tmp_path / "run" / "stories").mkdir(parents=True)
    (tmp_path / "run" / "stories" / "mine.txt").write_text("mine")
    (tmp_path / "run" / "stories" / "part-00007.parquet").write_text("mine too")
    with pytest.raises(UserError, match=r"part-00007\.parquet is there, and not by this run"):
        score(shards, tmp_path / "run", "words")
    score(shards, tmp_path / "run", "words", overwrite=True)
    assert (tmp_path / "run" / "stories" / "mine.txt").read_text() == "mine"


def test_an_id_in_two_shards_is_refused_by_its_name(tmp_path: Path):
    rows = make_rows(100)
    rows[90]["id"] = "s3"
    file = write_parquet(tmp_path / "all.parquet", rows)
    with pytest.raises(InputError, match=r"id 's3' is in shard 0 .*rows 1 to 32.* shard 2 "):
        score(str(file), tmp_path / "run", "words")
    assert not (tmp_path / "run" / "run.json").exists()


def test_a_bad_row_is_named_and_may_be_left_out(tmp_path: Path):
    file = write_jsonl(tmp_path / "all.jsonl", make_rows(60))
    lines = file.read_bytes().splitlines(keepends=True)
    at = sum(map(len, lines[:40])) + 1
    file.write_bytes(b"".join([*lines[:40], b"{broken\n", *lines[41:]]))
    with pytest.raises(InputError, match=f"line at byte {at:,}: not valid JSON"):
        score(str(file), tmp_path / "run", "words", stories=16)
    result = score(
        str(file), tmp_path / "run", "words", stories=16, layout=StoryLayout(skip_bad=True),
        overwrite=True,
    )  # fmt: skip
    assert result.record["input"] == result.record["input"] | {"stories": 59, "left_out": 1}


def test_what_is_left_out_or_odd_is_said_and_of_very_much_the_first(tmp_path: Path):
    said: list[str] = []
    file = write_jsonl(tmp_path / "all.jsonl", make_rows(60))
    lines = file.read_text().splitlines(keepends=True)
    lines[3::4] = ["{broken\n"] * 15
    file.write_text("".join(lines))
    table = tmp_path / "odd.csv"
    table.write_text("id;text;prompt;reference;system;item\n1;Café;a;b;c;d\n", encoding="cp1252")
    layout = StoryLayout(skip_bad=True, say=said.append)
    for jobs in (1, 2):
        said.clear()
        files = [str(table), str(file)]
        score(files, tmp_path / str(jobs), "words", stories=4, jobs=jobs, layout=layout)
        assert said[0] == f"{table}: semicolons, cp1252"
        assert said[1].startswith(f"{file}: 1 left out by --skip-bad: line at byte ")
        assert said[10:] == ["… and 6 such lines more; 15 rows left out in all"]


def test_a_field_that_comes_late_is_not_silently_ignored(tmp_path: Path):
    rows = [{"id": str(number), "text": "a b"} for number in range(1600)]
    rows[1500]["reference"] = "a"
    file = write_jsonl(tmp_path / "all.jsonl", rows)
    with pytest.raises(InputError, match="no 'reference', and later ones do"):
        score(str(file), tmp_path / "run", "words", stories=200)
    layout = StoryLayout(columns={"references": ""})
    score(str(file), tmp_path / "run", "words", layout=layout, overwrite=True)
    rows[0]["reference"] = None  # the other way that the error names
    score(str(write_jsonl(file, rows)), tmp_path / "run", "words", stories=200, overwrite=True)
    [referred] = [story for story in read_stories(tmp_path / "run") if story.references]
    assert referred.id == "1500"


def test_a_column_that_only_some_parquet_files_have_is_read_of_these(tmp_path: Path):
    rows = make_rows(40)
    bare = [{"id": row["id"], "text": row["text"]} for row in rows[:20]]
    files = [write_parquet(tmp_path / "a.parquet", bare)]
    files += [write_parquet(tmp_path / "b.parquet", rows[20:])]
    score([*map(str, files)], tmp_path / "run", "rouge")
    stories = list(read_stories(tmp_path / "run"))
    assert [story.system for story in stories[18:22]] == [None, None, "c", "a"]
    assert not any(story.references for story in stories[:20])
    statuses = [one.status for one in read_scores(tmp_path / "run") if one.aspect == "f"]
    assert set(statuses[:20]) == {"missing_reference", "empty_text"} and "ok" in statuses[20:]


def test_folders_and_data_sets_are_told_from_files(tmp_path: Path):
    (tmp_path / "in").mkdir()
    with pytest.raises(InputError, match=r"a folder, and .*: '.*/in/\*\.parquet'"):
        score(str(tmp_path / "in"), tmp_path / "run", "words")
    with pytest.raises(InputError, match="hanna is a data set, and shards are cut of files"):
        score("hanna", tmp_path / "run", "words")
    assert score("examples", tmp_path / "run", "words").record["input"]["stories"] == 56


def test_stories_that_change_between_the_passes_are_noticed(tmp_path: Path, monkeypatch: Any):
    from fabula.scoring.shards import worker

    file = write_jsonl(tmp_path / "all.jsonl", make_rows(40))
    merge = worker.ShardWorker.merge

    def change(self: Any, call: Any) -> Any:
        file.write_text(file.read_text().replace("lighthouse", "lightHouse"))
        return merge(self, call)

    monkeypatch.setattr(worker.ShardWorker, "merge", change)
    with pytest.raises(InputError, match="changed while they were being read"):
        score(str(file), tmp_path / "run", "cider")


def test_judges_and_nothing_to_read_are_refused(tmp_path: Path, shards: str):
    with pytest.raises(SettingError, match="a judge"):
        score(shards, tmp_path / "run", "judge(model='fake()')")
    with pytest.raises(InputError, match="no file is called so"):
        score(str(tmp_path / "none-*.parquet"), tmp_path / "run", "words")
    empty = write_jsonl(tmp_path / "empty.jsonl", [])
    with pytest.raises(InputError, match="no stories"):
        score(str(empty), tmp_path / "run", "words")
    assert not (tmp_path / "run").exists()


def test_a_part_that_is_lost_or_cut_is_told(tmp_path: Path, shards: str):
    score(shards, tmp_path / "run", "words")
    part = tmp_path / "run" / "scores" / "part-00001.parquet"
    part.write_bytes(part.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"part-00001\.parquet was altered"):
        read_run(tmp_path / "run")
    part.unlink()
    with pytest.raises(InputError, match=r"part-00001\.parquet is missing"):
        read_run(tmp_path / "run")


def test_report_and_table_read_a_run_in_shards(tmp_path: Path, shards: str):
    from fabula.reports.report import write_report

    score(shards, tmp_path / "run", "words, mattr")
    assert write_report(tmp_path / "run").is_file()
    assert len(ScoreTable.load(tmp_path / "run")) == 400


SCORE = [sys.executable, "-c", "from fabula.cli import main; main()", "score"]


def start(file: str, folder: Path, *options: str, env: dict[str, str]) -> subprocess.Popen[bytes]:
    words = [file, "-o", str(folder), "--shard-stories", "16", "-q", "--no-report", "-f", "json"]
    return subprocess.Popen([*SCORE, *words, *options], env=env, stdout=subprocess.DEVNULL)


def kill_workers(pid: int) -> None:
    """Kill the worker processes of a driver, as the kernel does when memory runs out."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    for child in children:
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
            os.kill(int(child), signal.SIGKILL)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux's /proc")
def test_killed_workers_and_drivers_leave_the_rows_of_a_quiet_run(
    tmp_path: Path, toy_environment: Any
):
    file = str(write_parquet(tmp_path / "all.parquet", make_rows(240)))
    metrics = ["-m", "slow(seconds=0.01), words, cider"]
    quiet = start(file, tmp_path / "quiet", *metrics, env=toy_environment)
    assert quiet.wait(180) == 0
    for _ in range(3):  # three drivers die, and before that one worker of each
        driver = start(file, tmp_path / "killed", *metrics, "-j", "2", env=toy_environment)
        wait_for_marks(driver, tmp_path / "killed", 1 + len(marks(tmp_path / "killed")))
        if driver.poll() is None:
            kill_workers(driver.pid)
            time.sleep(0.4)
        driver.kill()
        driver.wait()
    assert not (tmp_path / "killed" / "run.json").exists(), "it was too fast to be killed"
    last = start(file, tmp_path / "killed", *metrics, "-j", "2", env=toy_environment)
    assert last.wait(180) == 0
    assert files_of(tmp_path / "killed") == files_of(tmp_path / "quiet")


def marks(folder: Path) -> list[Path]:
    return list((folder / ".shards").glob("s*-*.json"))


def wait_for_marks(driver: subprocess.Popen[bytes], folder: Path, count: int) -> None:
    end = time.monotonic() + 30
    while driver.poll() is None and len(marks(folder)) < count and time.monotonic() < end:
        time.sleep(0.05)


def test_a_shard_at_which_workers_die_is_named_with_its_stories(tmp_path: Path, monkeypatch: Any):
    from fabula.scoring.shards import crew
    from fabula.scoring.shards.worker import ShardWorker

    answer = ShardWorker.answer

    def die(self: Any, call: Any) -> Any:
        poisoned = (call.verb, call.number) == ("score", 1)
        return crew.WorkerLost("ended by signal 9") if poisoned else answer(self, call)

    monkeypatch.setattr(ShardWorker, "answer", die)
    file = write_parquet(tmp_path / "all.parquet", make_rows(100))
    with pytest.raises(UserError, match=r"shard 1 .*rows 33 to 64; stories 's32' to 's63'"):
        score(str(file), tmp_path / "run", "words")
    done = json.loads((tmp_path / "run" / ".shards" / "score-00003.json").read_text())
    assert done["stories"] == 4
    monkeypatch.setattr(ShardWorker, "answer", answer)
    assert score(str(file), tmp_path / "run", "words").record["input"]["stories"] == 100
