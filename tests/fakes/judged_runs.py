"""Runs in which the made-up judge scored made-up stories, and certificates of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fabula.core.story import Story
from fabula.meta.certificate import Agreement, Certificate, Figure, Rival, Verdict
from fabula.scoring.catalogue import METRICS
from fabula.scoring.certificates import save_certificate
from fabula.scoring.evaluate import evaluate
from fakes.runs import make_record, write_record
from fakes.tiny_tasks import tale

JUDGE = "judge(model='fake')"
# Ends of the interval of a gain by the verdict that follows.
_GAINS = {"beyond baselines": (0.1, 0.3), "no better": (-0.1, 0.1), "worse": (-0.3, -0.1)}


def judged_stories(count: int, *, with_prompt: bool = True) -> list[Story]:
    prompt = "Of kings." if with_prompt else None
    return [
        Story(f"j{i}", tale(700 + i, good=i / count), item=f"j{i // 2}", prompt=prompt)
        for i in range(count)
    ]


def write_judged_run(folder: Path, *judges: str, count: int = 16, with_prompt: bool = True) -> Path:
    """Let judges score a few stories into a folder; without any, the made-up one."""
    metrics = [METRICS.build(spec) for spec in judges or (JUDGE,)]
    table = evaluate(judged_stories(count, with_prompt=with_prompt), metrics, cache=False)
    table.save(folder)
    write_record(folder, make_record(metrics, count))
    return folder


def certify(
    verdicts: Mapping[str, Verdict], *, gold: str = "toy", signature: str = "", judge: str = JUDGE
) -> None:
    """Keep a certificate with these verdicts."""
    agreements = tuple(
        Agreement(aspect, "item", "spearman", Figure(0.3, 0.2, 0.4), 90,
                  rivals=(Rival("baseline", "words", Figure(0.2), Figure(0, *_GAINS[verdict])),))
        for aspect, verdict in verdicts.items()
    )  # fmt: skip
    sign = signature or METRICS.build(judge).identity
    sizes = 9, 3, 3, 9
    save_certificate(
        Certificate(judge, sign, gold, "2026-01-02", "0", *sizes, "spearman", 10, 0, 0.05,
                    agreements)
    )  # fmt: skip
