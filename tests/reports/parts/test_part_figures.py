"""Figures and words of a study report: what is drawn, how often, and what is said of it."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from fabula.meta.study import Study
from fabula.reports.parts import find_part
from fabula.reports.study import study_stories
from fabula.reports.study_blocks import (
    Block,
    FigureBlock,
    ScatterBlock,
    TabsBlock,
    Words,
    blocks_of,
)
from fabula.reports.study_view import View
from fakes.grids import make_dataset
from fakes.word_stories import tales, view_of


@pytest.fixture(scope="module")
def view() -> View:
    return view_of(tales())


def blocks(view: View, part: str) -> list[Block]:
    return list(blocks_of([find_part(part)(view)]))


def figures(view: View, part: str) -> dict[str, FigureBlock]:
    return {one.name: one for one in blocks(view, part) if isinstance(one, FigureBlock)}


def words(view: View, part: str) -> str:
    return "\n".join(
        text for one in blocks(view, part) if isinstance(one, Words) for text in one.paragraphs
    )


def test_correlations_are_drawn_at_every_level_by_every_coefficient(view: View) -> None:
    names = {
        f"metrics_all_{level}_{coefficient}"
        for level in ("item", "system")
        for coefficient in ("pearson", "spearman", "kendall")
    }
    drawn = figures(view, "correlations")
    assert set(drawn) == names
    some = replace(view, file=replace(view.file, selection=("noise", "good", "nosuch")))
    drawn = figures(some, "correlations")
    assert set(drawn) == names | {name.replace("_all_", "_selection_") for name in names}
    shown = drawn["metrics_selection_item_pearson"].svg
    assert "noise" in shown and "good" in shown and "distance" not in shown


def test_without_systems_the_pooled_level_is_drawn() -> None:
    drawn = figures(view_of(tales((8, 1))), "correlations")
    assert set(drawn) == {f"metrics_all_pooled_{one}" for one in ("pearson", "spearman", "kendall")}


def test_aspects_that_are_one_correlate_by_one(view: View) -> None:
    values = np.arange(20.0).reshape(5, 4) % 7
    dataset = make_dataset({"good": values}, {"plot": values, "style": 2 * values + 1})
    told = words(view_of(dataset, baselines=False), "criteria")
    assert told.count(" 1.00") == 6
    assert len(figures(view, "criteria")) == 6


def test_metrics_are_held_against_metrics(view: View) -> None:
    drawn = figures(view, "between_metrics")
    assert len(drawn) == 6
    assert "unique_words" in drawn["between_item_kendall"].svg


def test_a_metric_beyond_the_baselines_is_named(view: View) -> None:
    told = words(view, "standing")
    assert re.search(r"\*\*System level\.\*\* Of 6 pairs of metric and aspect, \d", told)
    # Counting words that were drawn by lot sees nothing of the ratings; `good` sees them.
    better = {
        one.metric for one in view.result.of(level="pooled", coefficient="spearman")
        if one.gain.low > 0
    }  # fmt: skip
    assert "good" in better
    [line] = [text for text in told.split("\n") if text.startswith("**Pooled.**")]
    assert line.endswith(f": {', '.join(sorted(better))}.")


def test_without_texts_there_are_no_baselines_to_go_beyond() -> None:
    assert words(view_of(tales(texts=False)), "standing").count("No trivial baselines") == 3


def test_a_ceiling_is_drawn_where_several_rated(view: View) -> None:
    drawn = figures(view, "standing")
    assert set(drawn) == {
        f"standing_{level}_{aspect}"
        for level in ("item", "system", "pooled")
        for aspect in ("plot", "style")
    }
    assert "noise ceiling" in drawn["standing_pooled_plot"].svg
    alone = figures(view_of(tales(raters=1)), "standing")
    assert not any("noise ceiling" in one.svg for one in alone.values())


def test_a_perfect_metric_names_the_better_systems_as_people_do() -> None:
    gold = np.arange(24.0).reshape(6, 4) % 4 + np.arange(4.0)
    dataset = make_dataset({"good": gold, "away": -gold}, {"plot": gold})
    drawn = figures(view_of(dataset, baselines=False), "labels")
    assert set(drawn) == {"f1_all_turned"}
    assert "1.00" in drawn["f1_all_turned"].svg and "0.00" in drawn["f1_all_turned"].svg


def test_top_k_takes_the_metrics_that_the_study_names(view: View) -> None:
    assert set(figures(view, "top_k")) == {
        f"top_k_{one}_{aspect}" for one in ("spearman", "pearson") for aspect in ("plot", "style")
    }
    asked = replace(view, file=replace(view.file, options={"top_k": {"metrics": ["noise"]}}))
    drawn = figures(asked, "top_k")["top_k_pearson_plot"].svg
    assert "noise" in drawn and "distance" not in drawn


def test_williams_p_are_drawn_for_every_aspect_and_level(view: View) -> None:
    assert set(figures(view, "significance")) == {
        f"williams_{level}_{aspect}" for level in ("item", "system") for aspect in ("plot", "style")
    }
    titles = [one.title for one in blocks(view, "significance") if isinstance(one, TabsBlock)]
    assert titles == ["Williams, item level", "Williams, system level", "Clusters"]


def test_violins_go_from_end_to_end_of_the_scale() -> None:
    scaled = tales(scales={"": (-40.0, 60.0)})
    drawn = figures(view_of(scaled), "violins")["violins"].svg
    assert "60" in drawn and all(f">{system}<" in drawn for system in "abcde")


def test_points_have_the_pooled_coefficients_of_their_metric(view: View) -> None:
    [block] = blocks(view, "scatter")
    assert isinstance(block, ScatterBlock) and (block.metric, block.aspect) == ("good", "plot")
    assert len(block.coefficients) == 7 * 2
    [one] = view.result.of(level="pooled", coefficient="kendall", metric="noise", aspect="style")
    assert block.coefficients["noise", "style"]["Kendall's τ-b"] == one.estimate.value


def test_points_show_scores_as_they_are_and_only_stories_that_were_compared() -> None:
    view = view_of(tales(reference_systems=("a",)))
    found = study_stories(view)
    assert len(found.stories) == 8 * 4 and {story.system for story in found.stories} == set("bcde")
    assert {one.story for one in found.ratings} == {story.id for story in found.stories}
    values = {one.story: one.value for one in view.dataset.scores if one.scorer == "distance"}
    place = [column.scorer for column in found.columns].index("distance")
    assert found.values[:, place].tolist() == [values[story.id] for story in found.stories]
    assert found.columns[place].direction == "lower"


def test_a_judge_of_aspects_has_points_for_its_own_aspect() -> None:
    rng = np.random.default_rng(0)
    gold = {"plot": rng.normal(size=(6, 4)), "style": rng.normal(size=(6, 4))}
    judge = {("judge:x", aspect): table for aspect, table in gold.items()}
    view = view_of(make_dataset(judge, gold), study=Study(resamples=5), baselines=False)
    [block] = blocks(view, "scatter")
    assert set(block.coefficients) == {("judge:x plot", "plot"), ("judge:x style", "style")}
    assert math.isclose(block.coefficients["judge:x plot", "plot"]["Pearson's r"], 1)
