from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from fabula.core.dataset import ScorerCard
from fabula.meta.study import Study, StudyResult
from fabula.reports.correlations import render_correlations, study_words, table_order
from fakes.grids import make_dataset

RNG = np.random.default_rng(3)
GOLD = RNG.integers(1, 6, (12, 4)).astype(float)
CARDS = {
    "good": ScorerCard("string", "higher"),
    "far": ScorerCard("embedding", "lower"),
    "flat": ScorerCard("string", "higher"),
    "words": ScorerCard("baseline", "descriptive"),
}
SCORES = {
    "flat": GOLD * 0 + 0.1,
    "words": RNG.normal(size=GOLD.shape),
    "far": RNG.normal(size=GOLD.shape),
    "good": GOLD + RNG.normal(size=GOLD.shape) / 9,
}
SHOWN = [("pooled", "spearman")]


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")


def result(**settings: object) -> StudyResult:
    dataset = make_dataset(SCORES, {"plot": GOLD, "style": GOLD[::-1]}, cards=CARDS)
    return Study(ceilings=False, resamples=50, **settings).run(dataset)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def found() -> StudyResult:
    return result()


def line_of(text: str, start: str) -> str:
    [line] = [line for line in text.splitlines() if line.strip().startswith(start)]
    return line


def test_a_table_names_data_set_coefficient_and_level(found: StudyResult) -> None:
    text = render_correlations("table", found, SHOWN)
    assert text.splitlines()[0] == ("toy: Spearman's ρ, pooled level (over all stories at once)")
    assert line_of(text, "metric").split() == ["metric", "plot", "style"]


def test_cells_hold_the_value_and_the_ends_of_its_interval(found: StudyResult) -> None:
    [one] = found.of(metric="good", aspect="plot", level="pooled", coefficient="spearman")
    ends = [
        f"{end:.2f}".replace("-", "−").replace("0.", ".", 1)
        for end in (one.estimate.low, one.estimate.high)
    ]
    line = line_of(render_correlations("table", found, SHOWN), "good ↑")
    assert f".{round(100 * one.estimate.value)}+ [{ends[0]} {ends[1]}]" in line


def test_marks_tell_baselines_directions_and_what_is_undefined(found: StudyResult) -> None:
    text = render_correlations("table", found, SHOWN)
    assert line_of(text, "words °") and line_of(text, "far ↓")
    assert line_of(text, "flat ↑").split()[2:] == ["–", "–"]
    assert "° trivial baseline, + beyond the best of them" in text


def test_metrics_stand_by_their_mean_and_undefined_ones_last(found: StudyResult) -> None:
    lines = found.of(level="pooled", coefficient="spearman")
    order = table_order(lines)
    assert order[0] == "good" and order[-1] == "flat"
    swapped = [
        replace(
            one,
            direction="descriptive",
            estimate=replace(one.estimate, value=-one.estimate.value),
        )
        for one in lines
    ]
    assert table_order(swapped)[0] == "good"


def test_words_say_what_the_numbers_rest_on(found: StudyResult) -> None:
    words = " ".join(study_words(found))
    assert "48 stories, 12 items, 4 systems; 4 columns of metrics, 2 aspects." in words
    assert "turned so that more is better" in words
    assert "95 %, bootstrap over items, 50 draws, seed 0" in words
    assert "n is too small at the item level" in words
    assert "systems and items" in " ".join(study_words(result(drawn="both", sign="raw")))


def test_json_holds_every_row_the_study_and_the_words(found: StudyResult) -> None:
    whole = json.loads(render_correlations("json", found, SHOWN))
    assert len(whole["rows"]) == len(found.correlations) == 4 * 2 * 3 * 3
    assert whole["study"]["seed"] == 0 and whole["dataset"] == "toy"
    assert whole["words"] == study_words(found)
    assert {row["value"] for row in whole["rows"] if row["metric"] == "flat"} == {None}
    keys = "metric aspect level coefficient value n undefined low high".split()
    assert list(whole["rows"][0])[: len(keys)] == keys


def test_lines_and_csv_hold_the_same_rows(found: StudyResult) -> None:
    rows = json.loads(render_correlations("json", found, SHOWN))["rows"]
    lines = render_correlations("jsonl", found, SHOWN).splitlines()
    assert [json.loads(line) for line in lines] == rows
    table = list(csv.DictReader(io.StringIO(render_correlations("csv", found, SHOWN))))
    assert [row["metric"] for row in table] == [row["metric"] for row in rows]
    assert [float(row["value"]) if row["value"] else None for row in table] == [
        row["value"] for row in rows
    ]


def test_latex_is_a_whole_table_with_the_best_in_bold(found: StudyResult) -> None:
    text = render_correlations("latex", found, SHOWN)
    assert text.count(r"\begin{tabular}{lrr}") == 1
    assert r"\textbf{" in line_of(text, "good")


def test_a_level_that_the_stories_do_not_allow_is_not_an_empty_page() -> None:
    dataset = make_dataset({"good": GOLD.reshape(-1, 1)}, {"": GOLD.reshape(-1, 1)})
    found = Study(levels=("item",), resamples=20, ceilings=False).run(dataset)
    text = render_correlations("table", found, [("item", "spearman")])
    assert "only the pooled level is left" in text


def test_a_constant_gold_is_not_an_empty_page() -> None:
    dataset = make_dataset({"good": GOLD}, {"": GOLD * 0 + 3})
    text = render_correlations("table", Study(resamples=20, ceilings=False).run(dataset), SHOWN)
    assert line_of(text, "good –").split() == ["good", "–", "–"]
    assert line_of(text, "metric").split() == ["metric", "gold"]


@pytest.mark.parametrize("value", [-0.001, 0.001])
def test_zero_has_no_sign(found: StudyResult, value: float) -> None:
    changed = replace(
        found,
        correlations=tuple(
            replace(one, estimate=replace(one.estimate, value=value, low=-1.0, high=1.0))
            for one in found.correlations
        ),
    )
    assert "−.00" not in render_correlations("table", changed, SHOWN)
