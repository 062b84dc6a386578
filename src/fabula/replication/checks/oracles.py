"""The same numbers as other implementations give, on our own example stories."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fabula.core.story import Story
from fabula.datasets import load_dataset
from fabula.replication.checks._finding import Finding, equality, unchecked
from fabula.scoring.evaluate import evaluate

_PART = "Other implementations, on the example stories"


def findings(data: Path | None) -> Iterator[Finding]:
    """Compare with sacrebleu and rouge-score."""
    stories = load_dataset("examples").stories
    yield _beside("sacrebleu", "bleu", stories, _sacrebleu("BLEU", effective_order=True), 1e-12)
    yield _beside("sacrebleu", "chrf", stories, _sacrebleu("CHRF"), 1e-9)
    yield _beside(
        "sacrebleu", "chrf(word_order=2)", stories, _sacrebleu("CHRF", word_order=2), 1e-9
    )
    plain = [story for story in stories if _one_ascii_line(story)]
    for name, spec in (("rouge1", "rouge(n=1)"), ("rouge2", "rouge(n=2)"), ("rougeL", "rouge")):
        if find_spec("rouge_score") is None:
            claim = f"{spec} equals rouge-score's {name}"
            yield unchecked(_PART, claim, "needs the package rouge-score")
        else:
            yield _beside("rouge-score", spec, plain, _rouge_score(name), 1e-12)


def _beside(
    package: str,
    spec: str,
    stories: Any,
    other: Callable[[Story], tuple[float, ...]],
    tolerance: float,
) -> Finding:
    from importlib.metadata import version

    ours = [score.value for score in evaluate(stories, spec)]
    theirs = [value for story in stories for value in other(story)]
    claim = f"{spec} equals {package} {version(package)}"
    values = list(zip(ours, theirs, strict=True))
    return equality(_PART, claim, values, tolerance=tolerance, share=1.0)


def _sacrebleu(name: str, **settings: Any) -> Callable[[Story], tuple[float, ...]]:
    import sacrebleu

    scorer = getattr(sacrebleu, name)(**settings)
    return lambda story: (scorer.sentence_score(story.text, list(story.references)).score,)


def _rouge_score(name: str) -> Callable[[Story], tuple[float, ...]]:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer([name], use_stemmer=True)

    def values(story: Story) -> tuple[float, ...]:
        found = scorer.score(story.references[0], story.text)[name]
        return found.recall, found.precision, found.fmeasure

    return values


def _one_ascii_line(story: Story) -> bool:
    texts = (story.text, *story.references)
    return all(text.isascii() and "\n" not in text for text in texts)
