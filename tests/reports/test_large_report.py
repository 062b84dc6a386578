"""The report of a large run: means as those of a small one, and a page with some of its stories."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from fabula.core.errors import SettingError
from fabula.reports import large_report
from fabula.reports.report import write_report
from fabula.reports.run_data import read_report_data
from fabula.reports.standings import compute_standings
from fabula.scoring.lazy_run import open_lazily
from fakes.large_runs import make_rows, take_for_large, write_in_parts, write_scored

BASELINES = "words, unique_words, word_length, type_token_ratio, mattr, repetition, rouge(n=1)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("large")
    return write_in_parts(write_scored(home / "run", make_rows(30), BASELINES), home / "parts")


def write_both(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    held = write_report(folder, tmp_path / "held" / "report.html")
    take_for_large(monkeypatch)
    return [held, write_report(folder, tmp_path / "lazy" / "report.html")]


def read_records(page: Path, name: str) -> list[dict[str, str]]:
    with (page.parent / "tables" / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def page_data(page: Path) -> dict:
    text = page.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_tables_are_those_of_a_run_that_is_held(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, lazy = write_both(folder, tmp_path, monkeypatch)
    for name in ("statuses", "signatures"):
        assert read_records(held, name) == read_records(lazy, name)
    rows = list(zip(read_records(held, "systems"), read_records(lazy, "systems"), strict=True))
    assert len(rows) == 27
    for one, other in rows:
        for name, value in one.items():
            if name in ("mean", "low", "high"):
                assert float(other[name]) == pytest.approx(float(value), rel=1e-12)
            else:
                assert other[name] == value


def test_standings_are_those_of_a_run_that_is_held(folder: Path) -> None:
    data = read_report_data(folder)
    held = compute_standings(data, seed=3)
    with open_lazily(folder) as run:
        lazy_data, _ = large_report.read_large(run, large_report.Budget(10, 1e6), seed=3)
        assert lazy_data.columns == data.columns
        lazy = compute_standings(lazy_data, seed=3)
        for number in range(len(data.columns)):
            for one, other in zip(
                data.values_by_system(number), lazy_data.values_by_system(number), strict=True
            ):
                assert np.array_equal(one, other)
    for name in ("value", "low", "high", "n", "undefined"):
        one, other = (getattr(standings.estimates, name) for standings in (held, lazy))
        np.testing.assert_allclose(other, one, rtol=1e-12)
    assert held.left_out.tolist() == lazy.left_out.tolist()
    assert (held.systems, held.by_item, held.best) == (lazy.systems, lazy.by_item, lazy.best)


def test_the_page_holds_a_sample_as_many_of_each_system_and_says_so(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_for_large(monkeypatch)
    monkeypatch.setattr(large_report, "PAGE_STORIES", 60)
    page = write_report(folder, tmp_path / "report.html", stories=12)
    data = page_data(page)
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert "Means, intervals and distributions are of all 90 stories" in text
    assert "Scores of 60 of them are in this file, and texts of 12" in text
    assert len(data["ids"]) == 60 and len(data["texts"]["shown"]) == 12 and data["sampled"]
    systems = [data["system"]["names"][number] for number in data["system"]["of"]]
    assert {system: systems.count(system) for system in set(systems)}.keys() == {
        "ash", "birch", "cedar",
    }  # fmt: skip
    assert min(map(systems.count, set(systems))) >= 15
    stories = {story.id: story for story in read_report_data(folder).stories}
    for place, parts in data["texts"]["shown"].items():
        assert data["texts"]["all"][parts["text"]] == stories[data["ids"][int(place)]].text


def test_best_and_worst_stories_are_in_the_page(folder: Path, monkeypatch) -> None:
    monkeypatch.setattr(large_report, "PAGE_STORIES", 70)
    data = read_report_data(folder)
    with open_lazily(folder) as run:
        sample, chosen = large_report.read_large(run, large_report.Budget(8, 1e6), seed=0)
    assert len(sample.stories) == 70 and len(chosen) == 8
    ids = {story.id for story in sample.stories}
    for number, column in enumerate(data.columns):
        if column.main:
            for places in data.places().values():
                values = data.values[places, number]
                assert data.stories[places[np.nanargmax(values)]].id in ids or (
                    np.nanmax(values) in [data.values[p, number] for p in places
                                          if data.stories[p].id in ids]
                )  # fmt: skip
    for place, story in enumerate(sample.stories):
        own = next(p for p, known in enumerate(data.stories) if known.id == story.id)
        assert np.array_equal(sample.values[place], data.values[own], equal_nan=True)


def test_texts_keep_to_their_budget_and_all_of_them_are_refused(folder: Path) -> None:
    with open_lazily(folder) as run:
        data, chosen = large_report.read_large(run, large_report.Budget(50, 900.0), seed=0)
        texts = {text for n in chosen for text in large_report.texts_of(data.stories[n])}
        assert 0 < sum(map(len, texts)) <= 900
        with pytest.raises(SettingError, match="cannot hold the texts of 90 stories"):
            large_report.read_large(run, large_report.Budget(2**62, float("inf")), seed=0)


def test_baselines_that_a_large_run_lacks_are_named_and_not_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_scored(tmp_path / "run", make_rows(4), "words, rouge(n=1)")
    take_for_large(monkeypatch)
    text = write_report(folder).read_text(encoding="utf-8")
    assert "The run has no mattr, type_token_ratio, unique_words, word_length, and" in text
