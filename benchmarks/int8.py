"""What int8 costs: its values beside those of fp32, and how far both agree with people.

    python benchmarks/int8.py DATA [--sets hanna,mans,coherence] [--stories N]

DATA is the folder of the data sets (hanna, mans, coherence). Every learned metric that has the
setting reads all stories twice, in fp32 and in int8. Printed are the correlation (Pearson) of the
two, the largest difference and its share of the values' standard deviation; then Spearman's rho
with the mean of people's ratings for either, over all stories, and the difference with its interval
of 95 %, items (stories, where there are none) drawn again, the same for both. Most of these weights
have learned from HANNA and MANS, so that rho is higher there than with others' stories; what counts
here is the difference. Nothing is read from the cache of states or kept in it.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

os.environ["FABULA_VECTORS_MB"] = "0"

from fabula import Dataset, load_dataset
from fabula.meta.coefficients import correlate
from fabula.meta.resampling import estimate_rows
from fabula.scoring.catalogue import METRICS

Array = np.ndarray[Any, np.dtype[Any]]
RESAMPLES, BATCH = 1000, 64
INT8 = "dtype='int8'"
CRITERIA = ("relevance", "coherence", "empathy", "surprise", "engagement", "complexity")
ENCODER = "bertscore(model=\"embedded('minilm'{})\")"
# Of each data set: metric (with a place for the setting), its aspect, and what people were asked.
QUESTIONS = {
    "hanna": [
        *(("criteria({})", aspect, aspect) for aspect in CRITERIA),
        ("coherence({})", "", "coherence"),
        ("storyer({})", "", "engagement"),
        (ENCODER, "f", "relevance"),
    ],
    "mans": [
        ("coherence({})", "", "overall"),
        ("union({})", "", "overall"),
        ("manplts({})", "", "overall"),
    ],
    "coherence": [
        ("coherence({})", "", "coherence"),
        ("union({})", "", "coherence"),
        ("manplts({})", "", "coherence"),
    ],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default=",".join(QUESTIONS))
    parser.add_argument("--stories", type=int, default=0, help="of each data set; else all")
    given = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}")
    head = f"{'':34}{'r':>8}{'largest':>9}{'of SD':>7}{'fp32':>8}{'int8':>8}   int8 - fp32"
    for name in given.sets.split(","):
        dataset = load_dataset(name, given.data / name)
        for part, stories in split(dataset, given.stories):
            print(f"\n{part}, {len(stories):,} stories\n{head}", flush=True)
            show(dataset, stories, QUESTIONS[name])
    print(f"load {os.getloadavg()[0]:.1f}")


def split(dataset: Dataset, most: int) -> Iterator[tuple[str, list[Any]]]:
    """Give the stories of a data set, those of MANS by where their prompts come from."""
    parts: dict[str, list[Any]] = {}
    for story in dataset.stories:
        source = (story.item or "").partition(":")[0] if dataset.name == "mans" else ""
        parts.setdefault(f"{dataset.name} {source}".strip(), []).append(story)
    yield from ((part, stories[: most or None]) for part, stories in parts.items())


def show(dataset: Dataset, stories: list[Any], questions: list[tuple[str, str, str]]) -> None:
    """Print a line a metric and aspect, and how long both took."""
    values: dict[str, dict[str, Array]] = {}
    spent: dict[str, float] = {}
    units = [story.item or story.id for story in stories]
    for spec, aspect, asked in questions:
        for setting in ("", INT8):
            filled = spell(spec, setting)
            if filled not in values:
                began = time.process_time()
                values[filled] = score(filled, stories)
                spent[filled] = time.process_time() - began
        exact, coarse = (values[spell(spec, setting)][aspect] for setting in ("", INT8))
        gold = people(dataset, stories, asked)
        compare(f"{label(spec)} {aspect}".strip() + f" / {asked}", exact, coarse, gold, units)
    for spec in dict.fromkeys(spec for spec, _, _ in questions):
        both = [spent[spell(spec, setting)] for setting in ("", INT8)]
        told = f"{both[0]:.0f} s of a processor, in int8 {both[1]:.0f}"
        shared = " (what another metric has read already is not read again)" * (both[0] < 1)
        print(f"  {label(spec)}: {told}{shared}", flush=True)


def spell(spec: str, setting: str) -> str:
    return spec.format(f", {setting}" if setting and spec is ENCODER else setting)


def label(spec: str) -> str:
    return spec.partition("(")[0]


def score(spec: str, stories: list[Any]) -> dict[str, Array]:
    """Give the values of every aspect, story by story."""
    metric, rows = METRICS.build(spec), []
    if metric.absence:
        raise SystemExit(metric.absence)
    for start in range(0, len(stories), BATCH):
        rows += list(metric.score(stories[start : start + BATCH]))
    aspects = list(dict.fromkeys(row.aspect for row in rows))
    return {
        aspect: np.array([row.value for row in rows if row.aspect == aspect]) for aspect in aspects
    }


def people(dataset: Dataset, stories: list[Any], asked: str) -> Array:
    """Give the mean of people's ratings of every story."""
    ratings: dict[str, list[float]] = {}
    for rating in dataset.ratings:
        if rating.aspect == asked:
            ratings.setdefault(rating.story, []).append(rating.value)
    return np.array([np.mean(ratings.get(story.id, [np.nan])) for story in stories])


def compare(name: str, exact: Array, coarse: Array, gold: Array, units: list[str]) -> None:
    there = ~(np.isnan(exact) | np.isnan(coarse) | np.isnan(gold))
    exact, coarse, gold = exact[there], coarse[there], gold[there]
    known = [unit for unit, ok in zip(units, there, strict=True) if ok]
    largest = float(np.abs(exact - coarse).max())
    before, after = (float(correlate(own, gold, "spearman")) for own in (exact, coarse))

    def gain(rows: Array) -> float:
        one, other = (correlate(own[rows], gold[rows], "spearman") for own in (coarse, exact))
        return float(one - other)

    found = estimate_rows(gain, known, resamples=RESAMPLES)
    told = f"{found.value:+.4f} [{found.low:+.4f}, {found.high:+.4f}]"
    print(
        f"  {name:32}{correlate(exact, coarse, 'pearson'):8.5f}{largest:9.3f}"
        f"{largest / exact.std():7.2f}{before:8.4f}{after:8.4f}   {told}",
        flush=True,
    )


if __name__ == "__main__":
    main()
