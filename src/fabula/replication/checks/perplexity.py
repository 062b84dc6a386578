"""Perplexity tells stories from the same stories in disorder."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from fabula.core.score import Status
from fabula.core.story import Story
from fabula.datasets import load_dataset
from fabula.meta.effects import wilson_interval
from fabula.replication.checks._finding import Finding, unchecked
from fabula.scoring.evaluate import evaluate
from fabula.text.perturb import shuffle, shuffle_words

_PART = "Perplexity of stories in disorder"
_STORIES = 100
_CHANGES = {"words": (shuffle_words, 0.99), "sentences": (shuffle, 0.75)}


def findings(data: Path | None) -> Iterator[Finding]:
    """Count the stories whose shuffled version is the more surprising one."""
    source, stories = _drawn(data)
    table = evaluate(stories, "perplexity")
    missing = next((one for one in table if one.status is Status.MISSING_MODEL), None)
    ours = {one.story: one.value for one in table if one.aspect == ""}
    for what, (change, least) in _CHANGES.items():
        claim = f"SmolLM2 is more surprised by shuffled {what}, {source}"
        if missing:
            yield unchecked(_PART, claim, missing.note)
            continue
        texts = [(story, change(story.text)) for story in stories]
        changed = [replace(story, text=text) for story, text in texts if text is not None]
        yield _compared(claim, ours, _perplexities(changed), least)


def _drawn(data: Path | None) -> tuple[str, list[Story]]:
    """Stories of ROCStories in their own case, else those of the examples that people wrote."""
    folder = data / "data" / "rocstories" if data else None
    if folder is None or not folder.is_dir():
        return "example stories", [
            story for story in load_dataset("examples").stories if story.system == "human"
        ]
    cased = [
        story
        for story in load_dataset("rocstories", folder).stories
        if story.id.startswith("cased:") or ":" not in story.id
    ]
    return "ROCStories", random.Random(0).sample(cased, min(_STORIES, len(cased)))


def _perplexities(stories: Sequence[Story]) -> dict[str, float]:
    return {one.story: one.value for one in evaluate(stories, "perplexity") if one.aspect == ""}


def _compared(
    claim: str, ours: dict[str, float], changed: dict[str, float], least: float
) -> Finding:
    higher = sum(value > ours[story] for story, value in changed.items())
    low, high = wilson_interval(higher, len(changed))
    before = median(ours[story] for story in changed)
    return Finding(
        _PART,
        claim,
        f"≥ {least:.0%} of the stories",
        f"{higher} of {len(changed)} [{low:.2f}, {high:.2f}], "
        f"median {before:.1f} → {median(changed.values()):.1f}",
        "verified" if higher >= least * len(changed) else "short",
    )
