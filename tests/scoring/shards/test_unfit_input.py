"""What cannot be done leaves nothing behind, and says which rows, or what is to be done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import InputError, SettingError
from fabula.scoring.folder import read_run

from .conftest import make_rows, write_jsonl, write_parquet
from .test_run_shards import score

pytest.importorskip("pyarrow")


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("line", ['{"id": "s3", "text": "twice"}', "{broken", '{"id": "x"}'])
def test_of_an_input_that_will_not_do_nothing_is_left(tmp_path: Path, line: str, jobs: int):
    file = write_jsonl(tmp_path / "all.jsonl", make_rows(60))
    sound = file.read_text()
    file.write_text(f"{sound}{line}\n")
    with pytest.raises(InputError):
        score(str(file), tmp_path / "deep" / "run", "words, cider", stories=16, jobs=jobs)
    assert not (tmp_path / "deep").exists()
    file.write_text(sound)  # mended, the same command goes through
    score(str(file), tmp_path / "deep" / "run", "words, cider", stories=16, jobs=jobs)


def test_what_a_worker_still_does_while_others_fail_is_taken_away_too(
    tmp_path: Path, monkeypatch: Any
):
    from fabula.scoring.shards import run
    from fabula.scoring.shards.crew import OwnCrew

    class SlowCrew(OwnCrew):
        def close(self) -> None:
            mark = tmp_path / "run" / ".shards" / "survey-00001.json"
            if not closed:
                mark.write_text("{}")
            closed.append(mark)

    closed: list[Path] = []
    monkeypatch.setattr(run, "_open_crew", lambda plan, options: SlowCrew(plan))
    file = write_jsonl(tmp_path / "all.jsonl", [{"id": ""}, *make_rows(60)])
    with pytest.raises(InputError, match=r"all\.jsonl, line at byte 1:"):
        score(str(file), tmp_path / "run", "words", stories=16)
    assert closed and not (tmp_path / "run").exists()


def test_where_no_worker_can_be_had_nothing_is_left(tmp_path: Path, shards: str, monkeypatch: Any):
    from fabula.scoring.shards import run

    def refuse(*_: Any) -> Any:
        raise SettingError("the cluster has 1 CPU and 0 GPUs", "ask for fewer")

    monkeypatch.setattr(run, "_open_crew", refuse)
    with pytest.raises(SettingError, match="0 GPUs"):
        score(shards, tmp_path / "run", "words")
    assert not (tmp_path / "run").exists()


def test_a_damaged_page_of_parquet_is_named_with_its_rows(tmp_path: Path):
    file = write_parquet(tmp_path / "all.parquet", make_rows(96), group=32)
    data = bytearray(file.read_bytes())
    pq = pytest.importorskip("pyarrow.parquet")
    chunk = pq.ParquetFile(file).metadata.row_group(1).column(1)  # the texts of rows 33 to 64
    begin = chunk.dictionary_page_offset or chunk.data_page_offset
    for place in range(begin + 60, begin + chunk.total_compressed_size):
        data[place] ^= 0x5A
    file.write_bytes(bytes(data))
    with pytest.raises(InputError, match=r"all\.parquet, rows 33 to 64: not a Parquet file that"):
        score(str(file), tmp_path / "run", "words")
    assert not (tmp_path / "run").exists()


def test_the_summary_says_what_to_do_for_a_metric_without_its_model(tmp_path: Path, shards: str):
    summary = score(shards, tmp_path / "run", "meteor, words").summary
    [note] = {note for (_, status), note in summary.notes.items() if status == "missing_model"}
    assert note == "asset 'wordnet' is not here; run: fabula models pull wordnet"


def test_a_folder_that_was_there_stays(tmp_path: Path):
    (tmp_path / "mine").mkdir()
    empty = write_jsonl(tmp_path / "empty.jsonl", [])
    with pytest.raises(InputError, match="no stories"):
        score(str(empty), tmp_path / "mine", "words")
    assert list((tmp_path / "mine").iterdir()) == []


def test_of_a_run_that_is_not_finished_it_is_said_how_it_goes_on(tmp_path: Path):
    (tmp_path / "run" / ".shards").mkdir(parents=True)
    with pytest.raises(InputError, match=r"not finished; the same command .* goes on with it"):
        read_run(tmp_path / "run")
