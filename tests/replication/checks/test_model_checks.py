"""Checks of models, where what they need is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.replication.checks import metric_values, text_models


def test_without_data_the_story_encoder_is_not_checked(bare: Path) -> None:
    (bare / "data").mkdir()
    found = [*text_models.check_story_encoder(None), *text_models.check_story_encoder(bare)]
    assert {one.outcome for one in found} == {"not checked here"}
    assert [one.found for one in found[:2]] == ["needs data below --data"] * 2


def test_outside_a_clone_the_story_encoder_is_not_checked(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bare / "data").mkdir()
    monkeypatch.setattr(text_models, "_RECIPE", bare / "encoder.toml")
    found = list(text_models.check_story_encoder(bare))
    assert {one.outcome for one in found} == {"not checked here"}
    assert "clone" in found[0].found


@pytest.mark.usefixtures("bare")
def test_without_the_model_perplexity_is_not_checked() -> None:
    found = list(text_models.check_perplexity(None))
    assert [one.outcome for one in found] == ["not checked here"] * 2


@pytest.mark.usefixtures("bare")
def test_without_the_package_or_the_model_bertscore_is_not_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(metric_values, "find_spec", lambda name: None)
    (package,) = metric_values.check_bertscore(None)
    monkeypatch.setattr(metric_values, "find_spec", lambda name: name)
    (model,) = metric_values.check_bertscore(None)
    assert {package.outcome, model.outcome} == {"not checked here"}
    assert package.found == "needs the package bert-score"


def test_without_rocstories_the_examples_are_drawn_that_people_wrote(tmp_path: Path) -> None:
    name, stories = text_models._draw_stories(tmp_path)
    assert name == "example stories"
    assert {story.system for story in stories} == {"human"}


def test_perplexities_that_do_not_rise_fall_short() -> None:
    before = {"a": 10.0, "b": 20.0, "c": 30.0, "d": 40.0}
    after = {"a": 11.0, "b": 21.0, "c": 31.0, "d": 39.0}
    finding = text_models._compare_perplexity("claim", before, after, 0.75)
    # Wilson: z² = 3.8415; (.75 + z²/8 ± z √(.1875/4 + z²/64)) / (1 + z²/4) = .628 ± .327.
    assert finding.found == "3 of 4 [0.30, 0.95], median 25.0 → 26.0"
    assert finding.outcome == "verified"
    assert text_models._compare_perplexity("claim", before, after, 0.8).outcome == "short"
