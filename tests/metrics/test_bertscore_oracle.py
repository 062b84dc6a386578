"""BERTScore against the bert-score package, with the same folder and layer."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from fabula.core.story import Story
from fabula.scoring.evaluate import evaluate
from fakes.assets import need_asset

pytest.importorskip("torch")
pytestmark = pytest.mark.assets

PAIRS = [
    ("The miller sold his last sack and walked home.", "Having sold all his flour, he left."),
    ("Rain fell. Nobody came to the fair!", "The fair was empty because of the rain."),
    ("A fox.", "Long ago, an unusually sleepless fox guarded the abbot's seven brass bells."),
    ("She said nothing, and the train left.", "She said nothing, and the train left."),
]


@pytest.fixture(scope="module")
def folder() -> Path:
    return need_asset("minilm")


@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("layer", [0, 3, 5, 6])
def test_it_equals_the_package(
    folder: Path, layer: int, idf: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    texts, references = zip(*PAIRS, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bert_score = pytest.importorskip("bert_score")
        scorer = bert_score.BERTScorer(
            model_type=str(folder),
            num_layers=layer,
            device="cpu",
            nthreads=0,
            idf=idf,
            idf_sents=list(references) if idf else None,
        )
        theirs = scorer.score(list(texts), list(references))
    stories = [Story(str(n), text, references=(other,)) for n, (text, other) in enumerate(PAIRS)]
    ours = [score.value for score in evaluate(stories, f"bertscore(layer={layer}, idf={idf})")]
    expected = [float(value) for row in zip(*theirs, strict=True) for value in row]
    assert ours == pytest.approx(expected, abs=1e-4)
