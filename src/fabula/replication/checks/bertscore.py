"""BERTScore as the bert-score package gives it, with the same model and layer."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

from fabula.core.machine import switch_on
from fabula.core.score import Status
from fabula.core.story import Story
from fabula.datasets import load_dataset
from fabula.models import path_of
from fabula.replication.checks._finding import Finding, equality, unchecked
from fabula.scoring.evaluate import evaluate

_PART = "Other implementations, on the example stories"
_LAYER = 5
_WRITERS = ("human", "loop")
_SWITCHES = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")


def findings(data: Path | None) -> Iterator[Finding]:
    """Compare precision, recall and F; this needs no data, but the package."""
    del data
    claim = f"bertscore equals the package bert-score, MiniLM's layer {_LAYER}"
    if find_spec("bert_score") is None:
        yield unchecked(_PART, claim, "needs the package bert-score")
        return
    # None of them is longer than the model's window, at which the package cuts.
    stories = [one for one in load_dataset("examples").stories if one.system in _WRITERS]
    table = evaluate(stories, f"bertscore(layer={_LAYER})")
    if missing := next((one for one in table if one.status is Status.MISSING_MODEL), None):
        yield unchecked(_PART, claim, missing.note)
        return
    theirs = _package_values(stories, path_of("minilm"))
    values = list(zip([one.value for one in table], theirs, strict=True))
    claim = claim.replace("bert-score", f"bert-score {version('bert-score')}")
    yield equality(_PART, claim, values, tolerance=1e-4, share=1.0)


def _package_values(stories: Sequence[Story], folder: Path) -> list[float]:
    """Precision, recall and F of every story, one after the other."""
    with _alone():
        scorer = import_module("bert_score").BERTScorer(
            model_type=str(folder), num_layers=_LAYER, device="cpu"
        )
        found = scorer.score(
            [story.text for story in stories], [story.references[0] for story in stories]
        )
    return [float(value) for row in zip(*found, strict=True) for value in row]


@contextmanager
def _alone() -> Iterator[None]:
    """Keep other packages from the network, and quiet."""
    with switch_on(*_SWITCHES), warnings.catch_warnings(), redirect_stderr(StringIO()):
        warnings.simplefilter("ignore")
        yield
