"""The best, samples by quantile, and what is written of a run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from fabula.core.errors import SettingError, UserError
from fabula.core.files import checksum_file
from fabula.datasets.tables.stories import StoryFile
from fabula.scoring.column_names import ColumnNames
from fabula.scoring.filtering.output import find_form, refuse_output, write_filtered
from fabula.scoring.filtering.steps import FilterPlan, filter_run, share_out
from fabula.scoring.folder import RUN
from fabula.scoring.lazy_run import LazyRun, open_lazily
from fakes.large_runs import make_rows, write_in_parts, write_scored


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory):
    home = tmp_path_factory.mktemp("steps")
    folder = write_in_parts(write_scored(home / "run", make_rows(40)), home / "parts", size=50)
    with open_lazily(folder) as opened:
        yield opened


def values_of(run: LazyRun, name: str) -> np.ndarray:
    return run.values(ColumnNames(run.keys).find(name))


def test_the_best_are_the_best_by_the_metrics_own_direction(run: LazyRun) -> None:
    for name, lower in (("rouge(n=1).f", False), ("repetition", True)):
        values = values_of(run, name)
        top = filter_run(run, FilterPlan(top=10, by=name)).places
        rest = np.setdiff1d(np.flatnonzero(~np.isnan(values)), top)
        sign = 1 if lower else -1
        assert len(top) == 10 and (sign * values[top]).max() <= (sign * values[rest]).min()
        assert top.tolist() == sorted(top.tolist())


def test_a_share_is_of_what_came_in_system_by_system(run: LazyRun) -> None:
    filtered = filter_run(run, FilterPlan(top=0.1, by="mattr", per="system"))
    assert np.bincount(run.system_codes[filtered.places]).tolist() == [4, 4, 4]
    assert filtered.remarks == ("mattr has no better end: the highest value counts as best",)
    each = filter_run(run, FilterPlan(top=1, by="words", per="item")).places
    assert len(each) == 40 == len(set(run.item_codes[each].tolist()))


def test_what_has_no_value_is_never_among_the_best(run: LazyRun) -> None:
    filtered = filter_run(run, FilterPlan(top=1000, by="rouge(n=1).f"))
    [step] = filtered.steps
    assert step.no_value == 2 and step.after == 118
    assert not np.isnan(values_of(run, "rouge(n=1).f")[filtered.places]).any()


def test_a_sample_takes_as_many_from_each_part_of_the_values(run: LazyRun) -> None:
    plan = FilterPlan(sample=20, by="rouge(n=1).f", quantiles=4, seed=3)
    values = values_of(run, "rouge(n=1).f")
    filtered = filter_run(run, plan)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    strata = [set(part.tolist()) for part in np.array_split(order, 4)]
    assert [len(stratum & set(filtered.places.tolist())) for stratum in strata] == [5, 5, 5, 5]
    assert filtered.places.tolist() == filter_run(run, plan).places.tolist()
    other = filter_run(run, FilterPlan(sample=20, by="rouge(n=1).f", quantiles=4, seed=4))
    assert filtered.places.tolist() != other.places.tolist()


def test_a_sample_that_asks_for_more_than_there_is_takes_all(run: LazyRun) -> None:
    assert len(filter_run(run, FilterPlan(sample=1000)).places) == 120
    assert len(filter_run(run, FilterPlan(sample=1000, by="rouge(n=1).f")).places) == 118
    assert len(filter_run(run, FilterPlan(keep="words > 1e6", sample=3, by="words")).places) == 0


@pytest.mark.parametrize(
    ("size", "rooms", "shares"),
    [
        (10, [5, 5, 5], [4, 3, 3]),
        (10, [1, 9, 9], [1, 5, 4]),
        (10, [1, 2, 3], [1, 2, 3]),
        (0, [3, 3], [0, 0]),
        (5, [], []),
        (7, [0, 7, 0], [0, 7, 0]),
    ],
)
def test_shares_are_alike_where_there_is_room(
    size: int, rooms: list[int], shares: list[int]
) -> None:
    assert share_out(size, rooms) == shares


def test_steps_come_in_their_order_and_of_near_ones_the_best_stays(run: LazyRun) -> None:
    plan = FilterPlan(keep="words > 0", dedupe=0.9, best="words", sample=50)
    filtered = filter_run(run, plan)
    assert [step.name for step in filtered.steps] == ["keep", "dedupe", "sample"]
    counts = [(step.before, step.after) for step in filtered.steps]
    # One story has no text, and the last is a copy of the first.
    assert counts == [(120, 119), (119, 118), (118, 50)]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"dedupe": 0.0}, "--dedupe 0"),
        ({"dedupe": 1.5}, "--dedupe 1.5"),
        ({"top": 3}, "--top needs"),
        ({"top": 3, "sample": 3, "by": "words"}, "two ways"),
        ({"by": "words"}, "--by does nothing"),
        ({"per": "system"}, "--per does nothing"),
        ({"best": "words"}, "--best does nothing"),
    ],
)
def test_plans_that_mean_nothing_are_refused(given: dict, words: str) -> None:
    with pytest.raises(SettingError, match=words):
        FilterPlan(**given)


@pytest.mark.parametrize("form", ["jsonl", "parquet", "csv", "json"])
def test_what_is_written_is_read_again_as_stories(run: LazyRun, tmp_path: Path, form: str) -> None:
    filtered = filter_run(run, FilterPlan(keep="words > 20 and system != 'cedar'"))
    path = tmp_path / f"kept.{form}"
    write_filtered(run, FilterPlan(keep="words > 20"), filtered, path, scores=True)
    stories = run.read_stories(filtered.places)
    again = list(StoryFile(path))
    assert [(s.id, s.text, s.prompt, s.references, s.system, s.item) for s in again] == [
        (s.id, s.text, s.prompt, s.references, s.system, s.item) for s in stories
    ]


def test_scores_go_along_where_they_are_asked_for(run: LazyRun, tmp_path: Path) -> None:
    filtered = filter_run(run, FilterPlan(sample=30))
    path = tmp_path / "kept.parquet"
    write_filtered(run, FilterPlan(sample=30), filtered, path, scores=True)
    table = pq.read_table(path)
    written = np.array(table["rouge(n=1).f"].to_pylist(), dtype=float)
    known = values_of(run, "rouge(n=1).f")[filtered.places]
    assert np.array_equal(written, known, equal_nan=True)
    about = json.loads(table.schema.metadata[b"fabula.filter"])
    assert about["stories"] == 30 and about["plan"]["sample"] == 30


def test_provenance_says_of_what_by_which_steps_and_how_many(run: LazyRun, tmp_path: Path) -> None:
    plan = FilterPlan(keep="words > 22", sample=10, per="system", seed=5)
    path = tmp_path / "kept.jsonl"
    told = write_filtered(run, plan, filter_run(run, plan), path)
    read = json.loads((tmp_path / "kept.jsonl.provenance.json").read_text(encoding="utf-8"))
    assert read == told
    assert read["run"]["sha256"] == checksum_file(run.folder / RUN)
    assert read["run"]["input"] == run.record["question"]["input"]
    assert read["run"]["signatures"] == [m["signature"] for m in run.record["metrics"]]
    assert read["plan"]["seed"] == 5 and read["plan"]["keep"] == "words > 22"
    assert read["file"] == {"name": "kept.jsonl", "sha256": checksum_file(path)}
    assert read["steps"][0]["in"] == 120 and read["steps"][-1]["out"] == read["stories"] == 30
    assert read["systems"] == {"ash": 10, "birch": 10, "cedar": 10}
    assert str(tmp_path) not in json.dumps(read)
    again = tmp_path / "again.jsonl"
    write_filtered(run, plan, filter_run(run, plan), again)
    assert again.read_bytes() == path.read_bytes()


def test_what_others_wrote_and_what_is_read_is_never_written_over(
    run: LazyRun, tmp_path: Path
) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match="is there, and not by Fabula"):
        refuse_output(run.folder, path, run.record, overwrite=False)
    refuse_output(run.folder, path, run.record, overwrite=True)
    part = run.folder / "stories" / "part-00000.parquet"
    with pytest.raises(UserError, match="is what is being read"):
        refuse_output(run.folder, part, run.record, overwrite=True)
    with pytest.raises(SettingError, match="what form"):
        find_form(tmp_path / "kept.docx")
