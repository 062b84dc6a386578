"""Metrics of one run that ask the same encoder share one pass over the texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fabula.core.story import Story
from fabula.models import load_model
from fabula.models.networks.hf_encoder import EncoderModel
from fabula.scoring.evaluate import evaluate
from fakes.tiny_models import TEXTS, save_bert

STORIES = [
    Story(str(number), text, references=(TEXTS[0],)) for number, text in enumerate(TEXTS[1:])
]


@pytest.fixture
def spec(tmp_path: Path) -> str:
    return f"huggingface({str(save_bert(tmp_path / 'bert'))!r})"


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, list[int]]]:
    """How many texts each pass has read, and which layers it gave."""
    found: list[tuple[int, list[int]]] = []
    usual = EncoderModel._encode

    def counted(self: EncoderModel, texts: Any, layers: list[int]) -> Any:
        found.append((len(texts), layers))
        return usual(self, texts, layers)

    monkeypatch.setattr(EncoderModel, "_encode", counted)
    return found


def metrics(model: str) -> list[str]:
    return [
        f'bertscore(model="{model}", layer=1)',
        f'moverscore(model="{model}", layer=2, stop_words="")',
        f'depthscore(model="{model}", layer=0, directions=20)',
    ]


def test_every_text_is_read_once_for_all_layers(
    spec: str, passes: list[tuple[int, list[int]]]
) -> None:
    table = evaluate(STORIES, metrics(spec))
    assert all(score.ok for score in table)
    assert passes == [(len(TEXTS), [0, 1, 2])]


def test_the_values_are_those_of_metrics_that_are_asked_alone(spec: str) -> None:
    together = list(evaluate(STORIES, metrics(spec)))
    alone = [score for one in metrics(spec) for score in evaluate(STORIES, one)]
    key = lambda score: (score.story, score.scorer, score.aspect)  # noqa: E731
    for one, other in zip(sorted(together, key=key), sorted(alone, key=key), strict=True):
        assert one.value == pytest.approx(other.value, abs=1e-6)


def test_wishes_of_an_earlier_run_are_forgotten(
    spec: str, passes: list[tuple[int, list[int]]]
) -> None:
    evaluate(STORIES, metrics(spec))
    evaluate([Story("new", "A dog ran home.", references=("The dog ran.",))], metrics(spec)[0])
    assert passes[-1] == (2, [1])
    model: Any = load_model(spec)
    assert model.cache.expected == (1,)
