"""Columns of a release made again: what they agree on, what is missing, and going on."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.errors import InputError, UnknownName
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.replication.hanna import columns as module
from fabula.replication.hanna.columns import (
    column_rows,
    columns_page,
    later_half,
    make_columns,
    record_seconds,
    sample_by_item,
    write_columns,
)
from fabula.scoring.cache import ScoreCache
from fabula.scoring.catalogue import columns_of_release
from fabula.scoring.s3_training import correlate_by_story

CARD = DatasetCard("Toy", "", "CC0", reference_systems=("Human",))
SYSTEMS = ("Human", "A", "B", "C")
WANTED = {
    "Length": ("words", ""),
    "Fake F": ("bertscore(model='fake', layer=1)", "f"),
    "Slow": ("infolm(model='fake')", ""),
    "Absent": ("bartscore", ""),
}


def stories() -> list[Story]:
    return [
        Story(
            f"{system}/{item}",
            "The sea was calm. " * (1 + item % 3 + number),
            "A calm sea.",
            ("The sea was rough that night.",),
            system=system,
            item=str(item),
        )
        for item in range(8)
        for number, system in enumerate(SYSTEMS)
    ]


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """Eight items by three machines and a person, with published columns that are made up."""
    monkeypatch.setenv("FABULA_OFFLINE", "1")
    monkeypatch.setattr(module, "columns_of_release", lambda name: WANTED)
    told = stories()
    scores = [
        Score(story.id, column, "", float(2 * len(story.text) + 1))
        for column in WANTED
        for story in told
    ]
    return Dataset("toy", CARD, tuple(told), scores=ScoreTable(told, scores))


def by_name(release: Dataset, **options: Any) -> dict[str, module.RegeneratedColumn]:
    return {one.name: one for one in make_columns(release, "toy", sample=6, **options)}


def test_a_column_that_grows_with_the_published_one_agrees_with_it(release: Dataset) -> None:
    found = by_name(release)["Length"]
    assert len(found.values) == len(release.stories)
    assert found.overall is not None
    assert found.overall.r == pytest.approx(1.0)
    assert found.overall.rho == pytest.approx(1.0)
    # Three machines on eight items, and on the later four.
    assert found.overall.n == 24
    assert found.later is not None
    assert found.later.n == 12
    assert found.seconds >= 0


def test_a_slow_metric_takes_a_sample_and_says_so(release: Dataset) -> None:
    found = by_name(release)["Slow"]
    assert len(found.values) == 6
    assert found.note == "a sample of 6"


def test_a_missing_model_is_a_column_without_values_that_says_how_to_get_it(
    release: Dataset,
) -> None:
    found = by_name(release)["Absent"]
    assert found.values == {}
    assert found.overall is None
    assert found.note.startswith("missing_model: ")
    assert "hf download" in found.note


def test_what_is_in_the_cache_is_not_scored_again(release: Dataset, tmp_path: Any) -> None:
    with ScoreCache(tmp_path / "scores.sqlite") as cache:
        first = by_name(release, cache=cache)
        count = len(cache)
        again = by_name(release, cache=cache)
        assert len(cache) == count > 0
    assert {name: one.values for name, one in first.items()} == {
        name: one.values for name, one in again.items()
    }


def test_the_sample_takes_every_item_once_before_any_twice() -> None:
    machines = [story for story in stories() if story.system != "Human"]
    few = sample_by_item(machines, 10)
    assert [story.item for story in few[:8]] == [str(item) for item in range(8)]
    assert [story.system for story in few[:4]] == ["A", "B", "C", "A"]
    assert len({story.id for story in few}) == 10
    assert sample_by_item(machines, 0) == machines
    assert {story.id for story in sample_by_item(machines, 99)} == {story.id for story in machines}


def test_the_later_half_are_the_items_that_come_later() -> None:
    assert {story.item for story in later_half(stories())} == {"4", "5", "6", "7"}


def test_values_that_do_not_vary_have_no_agreement() -> None:
    told = stories()
    same = dict.fromkeys((story.id for story in told), 1.0)
    lengths = {story.id: float(len(story.text)) for story in told}
    assert correlate_by_story(told, same, lengths) is None
    assert correlate_by_story(told[:2], lengths, lengths) is None


def test_spearman_and_pearson_are_those_of_the_hand() -> None:
    told = stories()[:4]
    ours = dict(zip([one.id for one in told], [1.0, 2.0, 3.0, 10.0], strict=True))
    theirs = dict(zip([one.id for one in told], [1.0, 3.0, 2.0, 4.0], strict=True))
    found = correlate_by_story(told, ours, theirs)
    assert found is not None
    # Ranks 1 2 3 4 and 1 3 2 4: 1 − 6 · 2 / (4 · 15).
    assert found.rho == pytest.approx(0.8)
    # Deviations −3 −2 −1 6 and −1.5 .5 −.5 1.5: 13 / √(50 · 5).
    assert found.r == pytest.approx(13 / math.sqrt(250))


def test_the_folder_holds_values_figures_and_a_page(release: Dataset, tmp_path: Any) -> None:
    found = make_columns(release, "toy", sample=6)
    write_columns(found, tmp_path / "out")
    lines = (tmp_path / "out" / "columns.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "story,Length,Fake F,Slow,Absent"
    assert len(lines) == 1 + len(release.stories)
    rows = json.loads((tmp_path / "out" / "columns.json").read_text(encoding="utf-8"))
    assert rows == column_rows(found)
    page = (tmp_path / "out" / "columns.md").read_text(encoding="utf-8")
    assert "| Length | `words` | – | 32 | 1.000 | 1.000 | 1.000 | 1.000 |" in page
    assert page.count("\n| ") == 1 + len(WANTED)


def test_seconds_of_several_runs_add_up_also_when_one_is_stopped(
    release: Dataset, tmp_path: Any
) -> None:
    with record_seconds(tmp_path) as spent:
        make_columns(release, "toy", sample=6, spent=spent)
    first = json.loads((tmp_path / "seconds.json").read_text(encoding="utf-8"))
    assert set(first) == {spec for spec, _ in WANTED.values()}
    with pytest.raises(KeyboardInterrupt), record_seconds(tmp_path) as spent:
        assert spent == first
        spent["words"] += 2.0
        raise KeyboardInterrupt
    again = json.loads((tmp_path / "seconds.json").read_text(encoding="utf-8"))
    assert again["words"] == pytest.approx(first["words"] + 2)


def test_a_long_note_stands_below_the_table(release: Dataset) -> None:
    page = columns_page(column_rows(make_columns(release, "toy", sample=6)))
    [row] = [line for line in page.splitlines() if line.startswith("| Absent")]
    assert row.endswith("| missing_model |")
    assert "hf download" in page


def test_a_release_without_published_scores_is_refused() -> None:
    with pytest.raises(InputError, match="lacks its texts or its published scores"):
        make_columns(Dataset("toy", CARD, tuple(stories())), "hanna")


def test_an_unknown_release_is_refused() -> None:
    with pytest.raises(UnknownName, match="no release is called 'hana'"):
        columns_of_release("hana")


def test_hanna_has_72_columns_each_with_a_spec_of_its_own_or_an_aspect() -> None:
    found = columns_of_release("hanna")
    assert len(found) == 72
    assert list(found)[:2] == ["BLEU", "ROUGE-1 Recall"]
    assert len(set(found.values())) == 72
