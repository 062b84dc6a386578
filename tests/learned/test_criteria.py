"""HANNA's criteria: relevance needs a prompt, and reads it where the weights have learned to."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.learned import criteria
from fabula.learned.criteria import RELEVANCE, Criteria
from fabula.learned.reader import metric as learned_metric
from fabula.learned.reader.config import CRITERIA, Scale
from fabula.learned.reader.inference import Reader, load_reader
from fabula.learned.reader.relation import RELATION_VERSION, Relation, relate
from fabula.models import AssetError

TEXT = "The tram stopped. Nobody got on."


@pytest.fixture
def fake() -> Reader:
    return load_reader("fake")


def score(prompt: str | None, weights: str = "permissive") -> dict[str, Score]:
    scores = Criteria(weights=weights).score([Story("one", TEXT, prompt=prompt)])
    return dict(zip(CRITERIA, scores, strict=True))


def use_relating(monkeypatch: pytest.MonkeyPatch, fake: Reader, relate: Any) -> None:
    """Let the weights be a reader whose relevance is what `relate` says alone."""
    part = Relation(RELATION_VERSION, (0.0, 0.0), (1.0, 1.0))
    scales = {**fake.config.scales, RELEVANCE: Scale((), relation=part)}
    reader = Reader(replace(fake.config, scales=scales), "relating", fake.source, relate)
    monkeypatch.setattr(
        learned_metric, "load_reader", lambda name, **_: {"permissive": reader}[name]
    )


def test_without_a_prompt_relevance_alone_is_missing_and_says_why(fake: Reader) -> None:
    for prompt in (None, "  "):
        by_aspect = score(prompt, "fake")
        relevance = by_aspect.pop("relevance")
        assert relevance.status is Status.MISSING_PROMPT
        assert relevance.note == "give the story a prompt"
        assert math.isnan(relevance.value)
        assert all(one.ok and not one.note for one in by_aspect.values())
    assert all(one.ok for one in score("A tram.", "fake").values())


def test_weights_that_do_not_read_the_prompt_are_doubted(fake: Reader) -> None:
    assert "do not read the prompt" in Criteria(weights="fake").doubts()["relevance"]


def test_relevance_reads_the_prompt_where_the_weights_have_learned_to(
    fake: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = {"A tram.": [1.0, 2.0], "...": [math.nan] * 2}
    use_relating(monkeypatch, fake, lambda asked, texts: np.array([rows[one] for one in asked]))
    monkeypatch.setattr(criteria, "path_of", Path)
    fitting, bare, empty = score("A tram."), score(None), score("...")
    assert fitting["relevance"].value == 3.0
    assert bare["relevance"].status is Status.MISSING_PROMPT
    assert empty["relevance"].status is Status.UNDEFINED
    assert empty["relevance"].note == "the prompt holds no word"
    for found in (fitting, bare, empty):
        assert all(found[name] == bare[name] and bare[name].ok for name in CRITERIA[1:])
    assert not Criteria().doubts()["relevance"]


def test_where_prompts_cannot_be_read_relevance_alone_waits_for_the_encoder(
    fake: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_relating(monkeypatch, fake, None)

    def refuse(name: str) -> Path:
        raise AssetError(f"{name} is not here", "run: pull it")

    monkeypatch.setattr(criteria, "path_of", refuse)
    found = score("A tram.")
    relevance = found.pop("relevance")
    assert (relevance.status, relevance.note) == (
        Status.MISSING_MODEL,
        "minilm is not here; run: pull it",
    )
    assert all(one.ok for one in found.values())
    # What was found without the encoder is not taken for what is found with it.
    absent = Criteria().signature()
    monkeypatch.setattr(criteria, "path_of", Path)
    assert Criteria().signature() != absent


TALES = {
    "A dragon opens a bakery in a small village.": "The villagers smelled bread before dawn. "
    "Behind the counter a dragon dusted flour from her scales and warmed the oven with a sigh.",
    "You find out that your neighbour is a ghost.": "Mrs. Adler never took in her milk. One "
    "night I saw her walk through the hedge, pale as a lamp, and it did not rustle.",
    "The last lighthouse keeper writes a letter to the sea.": "I have lit the lamp each "
    "evening for forty years, he wrote, and you have not answered, though the tide comes.",
}


@pytest.mark.assets
def test_a_story_is_nearer_to_its_own_prompt_than_to_another() -> None:
    prompts = list(TALES)
    try:
        own = relate(prompts, list(TALES.values()))
        for turn in (1, 2):
            other = relate(prompts[turn:] + prompts[:turn], list(TALES.values()))
            assert (own.sum(axis=1) > other.sum(axis=1)).all()
    except AssetError as error:
        pytest.skip(str(error))


@pytest.mark.assets
def test_our_weights_rate_the_right_prompt_above_another() -> None:
    metric = Criteria()
    if not metric.at_hand:
        pytest.skip(metric.absence)
    assert metric.model.scale(RELEVANCE).relation is not None
    prompts, texts = list(TALES), list(TALES.values())
    for turn in (1, 2):
        found = [
            [Story("one", text, prompt=prompt) for prompt, text in zip(asked, texts, strict=True)]
            for asked in (prompts, prompts[turn:] + prompts[:turn])
        ]
        right, wrong = (
            [one.value for one in metric.score(some)[:: len(CRITERIA)]] for some in found
        )
        assert all(own > other for own, other in zip(right, wrong, strict=True))
