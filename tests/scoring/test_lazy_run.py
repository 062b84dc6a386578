"""Runs read where they lie: the same numbers as runs that are held in memory."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from fabula.core.errors import InputError, PackageMissing
from fabula.core.score import STATUSES
from fabula.core.table import ScoreTable
from fabula.scoring import lazy_run
from fabula.scoring.folder import read_run
from fabula.scoring.lazy_run import is_read_lazily, open_lazily, say_held
from fakes.large_runs import make_rows, take_for_large, write_in_parts, write_scored


@pytest.fixture(scope="module")
def one_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_scored(tmp_path_factory.mktemp("lazy") / "run", make_rows())


@pytest.fixture(scope="module")
def in_parts(one_file: Path) -> Path:
    return write_in_parts(one_file, one_file.parent / "parts")


@pytest.fixture(params=["one_file", "in_parts", "lines alone"])
def folder(request: pytest.FixtureRequest, one_file: Path, tmp_path: Path) -> Path:
    """The same run in one file each, in parts, and as an install without pyarrow writes it."""
    if request.param != "lines alone":
        return request.getfixturevalue(request.param)
    for name in ("stories.jsonl", "scores.jsonl", "run.json"):
        (tmp_path / name).write_bytes((one_file / name).read_bytes())
    return tmp_path


def test_all_forms_of_a_run_hold_the_same_stories_and_scores(folder: Path, one_file: Path) -> None:
    table = ScoreTable.load(one_file)
    with open_lazily(folder) as run:
        assert run.count == len(table.stories) == 36
        assert run.read_stories(range(run.count)) == table.stories
        assert run.read_stories([30, 2, 30]) == [table.stories[place] for place in (30, 2, 30)]
        assert run.keys == list(dict.fromkeys((s.scorer, s.aspect) for s in table))
        places = {story.id: place for place, story in enumerate(table.stories)}
        values, statuses = run.read_values(range(run.count))
        for score in table:
            place, number = places[score.story], run.keys.index((score.scorer, score.aspect))
            assert np.array_equal(values[place, number], score.value, equal_nan=True)
            assert STATUSES[statuses[place, number]] == score.status


def test_parts_are_read_by_whoever_reads_a_saved_table(in_parts: Path, one_file: Path) -> None:
    ours, theirs = ScoreTable.load(in_parts), ScoreTable.load(one_file)
    assert ours.stories == theirs.stories
    assert list(map(repr, ours)) == list(map(repr, theirs))
    assert read_run(in_parts)["metrics"] == read_run(one_file)["metrics"]


def test_means_are_those_that_the_run_wrote(folder: Path, one_file: Path) -> None:
    written = {
        (row["scorer"], row["aspect"], row["system"]): row for row in read_run(one_file)["summary"]
    }
    with open_lazily(folder) as run:
        summary = run.summarise()
    assert summary.notes == ScoreTable.load(one_file).summary().notes
    assert len(summary.rows()) == len(written)
    for row in summary.rows():
        own = written[row["scorer"], row["aspect"], row["system"]]
        assert row["mean"] == pytest.approx(own["mean"], rel=1e-12)
        assert row["deviation"] == pytest.approx(own["deviation"], rel=1e-12)
        same = ("scored", "left_out", "why", "least_coverage")
        assert [row[name] for name in same] == [own[name] for name in same]


def test_units_are_items_in_the_order_of_their_names(folder: Path) -> None:
    with open_lazily(folder) as run:
        assert run.by_item and run.items == 12
        names = [story.item for story in run.read_stories(range(run.count))]
        ranks = {name: rank for rank, name in enumerate(sorted(set(names)))}
        assert run.units.tolist() == [ranks[name] for name in names]


def test_systems_some_of_whose_stories_have_no_item_are_drawn_by_story(tmp_path: Path) -> None:
    rows = make_rows(4)
    del rows[1]["item"]
    with open_lazily(write_scored(tmp_path / "run", rows, "words")) as run:
        assert not run.by_item
        birch = run.units[run.places()["birch"]]
        ash, cedar = (run.units[run.places()[system]] for system in ("ash", "cedar"))
        assert ash.tolist() == cedar.tolist()
        assert not set(birch.tolist()) & set(ash.tolist())


def test_scores_of_a_story_that_lie_in_two_parts_come_together(
    one_file: Path, tmp_path: Path
) -> None:
    folder = write_in_parts(one_file, tmp_path / "parts")
    path = folder / "scores" / "part-00000.parquet"
    whole = pq.read_table(path)
    late = pc.equal(whole["scorer"], "words")
    _replace_parts(folder, {"part-00000": whole.filter(pc.invert(late)),
                            "part-00099": whole.filter(late)})  # fmt: skip
    with open_lazily(folder) as run, open_lazily(one_file) as other:
        for number, key in enumerate(run.keys):
            same = other.values(other.keys.index(key))
            assert np.array_equal(run.values(number), same, equal_nan=True)


def test_two_scores_of_one_story_are_refused(one_file: Path, tmp_path: Path) -> None:
    folder = write_in_parts(one_file, tmp_path / "parts")
    whole = pq.read_table(folder / "scores" / "part-00000.parquet")
    _replace_parts(folder, {"part-00099": whole.slice(0, 1)})
    with pytest.raises(InputError, match="two scores of one scorer"), open_lazily(folder):
        pass


def test_scores_of_stories_that_are_not_there_are_refused(one_file: Path, tmp_path: Path) -> None:
    folder = write_in_parts(one_file, tmp_path / "parts")
    row = pq.read_table(folder / "scores" / "part-00000.parquet").slice(0, 1).to_pylist()
    strange = pa.Table.from_pylist([row[0] | {"story": "nobody"}])
    _replace_parts(folder, {"part-00099": strange})
    with (
        pytest.raises(InputError, match="'nobody', which is not a story here"),
        open_lazily(folder),
    ):
        pass


def test_a_part_that_was_altered_or_is_gone_is_named(one_file: Path, tmp_path: Path) -> None:
    folder = write_in_parts(one_file, tmp_path / "parts")
    part = folder / "stories" / "part-00001.parquet"
    whole = part.read_bytes()
    part.write_bytes(whole[:-1])
    with (
        pytest.raises(InputError, match=r"stories/part-00001.parquet was altered"),
        open_lazily(folder),
    ):
        pass
    part.unlink()
    with (
        pytest.raises(InputError, match=r"stories/part-00001.parquet is missing"),
        open_lazily(folder),
    ):
        pass


def test_odd_letters_come_through(tmp_path: Path) -> None:
    rows = make_rows(2)
    rows[0] |= {"id": "naïve \u202e 🌊", "text": "海は静かだった。 🌊 \u0000 end"}
    with open_lazily(write_scored(tmp_path / "run", rows, "words")) as run:
        [story] = run.read_stories([0])
    assert (story.id, story.text) == (rows[0]["id"], rows[0]["text"])


def test_words_are_found_in_texts_prompts_and_ids(in_parts: Path) -> None:
    with open_lazily(in_parts) as run:

        def find(words: str) -> int:
            table = run.find_words(words)
            return run.query(f"SELECT count(*) FROM {table}").fetchall()[0][0]

        assert find("HARBOUR 11.") == 3
        assert find("ash-1") == 3  # and 10, 11
        texts = [story.text for story in run.read_stories(range(run.count))]
        assert find("gulls") == sum("gulls" in text for text in texts) > 0
        assert find("100 %'") == 0


def test_what_was_made_beside_a_run_goes(in_parts: Path) -> None:
    with open_lazily(in_parts) as run:
        home = run.home
        assert home.is_dir()
    assert not home.exists()


def test_small_runs_and_light_installs_keep_to_memory(
    in_parts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not is_read_lazily(in_parts)
    take_for_large(monkeypatch)
    assert is_read_lazily(in_parts) and say_held(in_parts) == ""
    monkeypatch.setattr(lazy_run, "find_spec", lambda name: None)
    assert not is_read_lazily(in_parts)
    assert "is held in memory; to read it where it lies, run: " in say_held(in_parts)
    with (
        pytest.raises(PackageMissing, match=r"duckdb is not installed.*\[large\]"),
        open_lazily(in_parts),
    ):
        pass


def test_a_block_of_values_is_nan_where_nothing_was_scored(in_parts: Path) -> None:
    with open_lazily(in_parts) as run:
        block = run.read_block(3, 6)
        assert block.shape == (3, len(run.keys))
        words = run.keys.index(("words", ""))
        assert math.isnan(block[1, words]) or block[1, words] == 0
        assert np.array_equal(block[:, words], run.values(words)[3:6], equal_nan=True)


def _replace_parts(folder: Path, tables: dict[str, pa.Table]) -> None:
    """Write parts of scores anew, and say in the record how large they are."""
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    for name, table in tables.items():
        path = folder / "scores" / f"{name}.parquet"
        pq.write_table(table, path)
        number = int(name.removeprefix("part-"))
        if number < len(record["parts"]):
            record["parts"][number]["bytes"][1] = path.stat().st_size
    (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
