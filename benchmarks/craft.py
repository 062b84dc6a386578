"""What human stories do by every craft check, and what readers and writers make of it.

    python benchmarks/craft.py DATA            # percentiles by length; how often others pass them
    python benchmarks/craft.py DATA --write    # and the table that ships with Fabula
    python benchmarks/craft.py DATA --people   # beside readers' choices and writers' scores

The table is of WritingPrompts' stories, notes around them dropped and tokens put together; those
all in small letters are left out. A table of one half of them is held against the other half, of
which 5 % should be rarer than 1 in 20, and against pupils' and machines' stories.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import cast

import numpy as np

import fabula.text.craft
from fabula.core.files import write_text
from fabula.core.metric import Metric
from fabula.core.story import Story
from fabula.datasets import load_dataset
from fabula.learned.training.stories import data_folder
from fabula.meta.resampling import Estimate
from fabula.scoring.catalogue import choose_metrics
from fabula.text.craft.facts import CHECKS, Check
from fabula.text.craft.prose import take_apart
from fabula.text.craft.reference import BANDS, LEVELS, Distribution, band_of, describe_values
from fabula.text.detokenise import respace
from fabula.text.posts import clean_post
from fabula.text.words import locate_words

LEAST_CAPITALS = 0.005
LEAST_STORIES = 100  # of a band and a check
LEAST_PARAGRAPHS, PARAGRAPHS = 5, "repeated_openings.paragraphs"
RARE = 0.05
SHOWN = (0.05, 0.5, 0.9, 0.95, 0.99)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--people", action="store_true")
    options = parser.parse_args()
    if options.people:
        show_people(options.data)
        return
    texts = clean_texts("writingprompts", options.data)
    table = make_table(texts)
    show_table(table)
    if options.write:
        write_table(table, len(texts))
    show_others(texts, options.data)


def clean_texts(name: str, data: Path) -> list[str]:
    """Different texts of a data set as people would have written them."""
    stories = load_dataset(name, data_folder(name, data), partial=True).stories
    texts = [clean_post(respace(story.text)).text for story in stories]
    return [text for text in dict.fromkeys(texts) if is_cased(text)]


def is_cased(text: str) -> bool:
    return sum(map(str.isupper, text)) > LEAST_CAPITALS * len(text)


@cache
def read_checks(text: str) -> Mapping[str, float]:
    """Values of all checks for a text by check and aspect; those that are missing are not there."""
    return {
        f"{score.scorer}.{score.aspect}".rstrip("."): score.value
        for metric in metrics()
        for score in metric.score([Story("text", text)])
        if score.ok
    }


@cache
def metrics() -> list[Metric]:
    return choose_metrics("checks")


def make_table(texts: Iterable[str]) -> dict[str, dict[int, Distribution]]:
    """Distribution of each check by band of length."""
    values: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for text in texts:
        if band := band_of(len(locate_words(text))):
            for name, value in read_checks(text).items():
                # Of a text without line breaks nothing can be said of its paragraphs.
                if name != PARAGRAPHS or len(take_apart(text).paragraphs) >= LEAST_PARAGRAPHS:
                    values[name][band].append(value)
    return {
        name: {
            band: describe_values(bands[band])
            for band in BANDS
            if len(bands[band]) >= LEAST_STORIES
        }
        for name, bands in sorted(values.items())
    }


def show_table(table: Mapping[str, Mapping[int, Distribution]]) -> None:
    print(f"{'check':30}{'words':>6}{'stories':>9}" + "".join(f"{one:>8.0%}" for one in SHOWN))
    for name, bands in table.items():
        for band, known in bands.items():
            shown = [known.quantiles[LEVELS.index(level)] for level in SHOWN]
            row = "".join(f"{value:>8.2f}" for value in shown)
            print(f"{name:30}{band:>5}+{known.count:>9,}{row}")


def write_table(table: Mapping[str, Mapping[int, Distribution]], stories: int) -> None:
    """Write the numbers beside the code that reads them."""
    checks = {
        name: {
            str(band): {"count": known.count, "quantiles": list(known.quantiles)}
            for band, known in bands.items()
        }
        for name, bands in table.items()
    }
    about = f"{stories:,} stories of WritingPrompts, by benchmarks/craft.py"
    lines = [
        f"  {json.dumps(name)}: {{\n"
        + ",\n".join(f"   {json.dumps(band)}: {json.dumps(row)}" for band, row in bands.items())
        + "\n  }"
        for name, bands in checks.items()
    ]
    body = f'{{\n "about": {json.dumps(about)},\n "checks": {{\n' + ",\n".join(lines) + "\n }\n}\n"
    folder = Path(cast(str, fabula.text.craft.__file__)).parent
    write_text(folder / "_reference.json", body)


def show_others(texts: list[str], data: Path) -> None:
    """Print how many stories are rarer than 1 in 20, by a table of half of the human ones."""
    table = make_table(texts[::2])
    hanna = load_dataset("hanna", data_folder("hanna", data), partial=True).stories
    others = {
        "other half": texts[1::2],
        "pupils": clean_texts("narratives", data),
        "machines": [respace(one.text) for one in hanna if one.system != "Human"],
    }
    head = "".join(f"{f'{name} ({len(of):,})':>22}" for name, of in others.items())
    print(f"\nrarer than 1 in 20 {'':11}{head}")
    for check in CHECKS:
        cells = [share_rare(check, table, of) for of in others.values()]
        print(f"{check.name:30}" + "".join(f"{cell:>22}" for cell in cells))


def share_rare(
    check: Check, table: Mapping[str, Mapping[int, Distribution]], texts: Iterable[str]
) -> str:
    """Share of the texts a check calls rare, and how many it can compare."""
    rare = []
    for text in texts:
        known = table[check.name].get(band_of(len(locate_words(text))) or 0)
        value = read_checks(text).get(check.name)
        if known is not None and value is not None:
            beyond = known.share_above(value) if check.low else known.share_below(value)
            rare.append(1 - beyond <= RARE)
    return f"{sum(rare) / len(rare):.1%} of {len(rare):,}" if rare else "–"


def show_people(data: Path) -> None:
    """Print how often the story with less of a habit is the one that people like better."""
    readers, writers = read_pairs(data)
    print(f"{'less of':30}{'readers prefer (pairs)':>34}{'writers prefer (pairs)':>34}")
    for name in sorted({name for _, worse in [*readers, *writers] for name in read_checks(worse)}):
        cells = [describe_pairs(name, pairs) for pairs in (readers, writers)]
        print(f"{name:30}{cells[0]:>34}{cells[1]:>34}")


def read_pairs(data: Path) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Texts, the better first: StoryER's readers, and writers' scores of a paragraph's versions."""
    dataset = load_dataset("storyer", data_folder("storyer", data), partial=True)
    texts = {story.id: clean_post(respace(story.text)).text for story in dataset.stories}
    readers = [(texts[one.better], texts[one.worse]) for one in dataset.preferences]
    scored = load_dataset("lamp", data_folder("lamp", data), partial=True)
    ratings: dict[str, list[float]] = defaultdict(list)
    for score in scored.scores:
        ratings[score.story].append(score.value)
    versions: dict[str, list[Story]] = defaultdict(list)
    for story in scored.stories:
        versions[str(story.item)].append(story)
    writers = [
        (better.text, worse.text)
        for stories in versions.values()
        for better in stories
        for worse in stories
        if np.mean(ratings[better.id]) > np.mean(ratings[worse.id])
    ]
    return readers, writers


def describe_pairs(name: str, pairs: list[tuple[str, str]]) -> str:
    """Share of the pairs that differ in which the better has less, with its 95 % interval."""
    values = [
        (read_checks(better).get(name), read_checks(worse).get(name)) for better, worse in pairs
    ]
    less = [a < b for a, b in values if a is not None and b is not None and a != b]
    if not less:
        return "–"
    share = sum(less) / len(less)
    # Pairs are taken for independent, which those of one prompt are not quite.
    half = 1.96 * math.sqrt(share * (1 - share) / len(less))
    found = Estimate(share, share - half, share + half, len(less))
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}] ({found.n:,})"


if __name__ == "__main__":
    main()
