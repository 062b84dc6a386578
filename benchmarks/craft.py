"""What human stories do by every craft check, and what readers and writers make of it.

    python benchmarks/craft.py DATA            # percentiles by length; how often others pass them
    python benchmarks/craft.py DATA --write    # and the table that ships with Fabula
    python benchmarks/craft.py DATA --people   # beside readers' choices and writers' scores
    python benchmarks/craft.py DATA --spacy    # the rules beside spaCy's parser, on 150 stories

The table is of WritingPrompts' stories, notes around them dropped and tokens put together; those
all in small letters are left out. A table of one half of them is held against the other half, of
which 5 % should be rarer than 1 in 20, and against pupils' and machines' stories.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
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
from fabula.meta.resampling import estimate_mean
from fabula.models.reading.tagging import parse_text
from fabula.scoring.catalogue import choose_metrics
from fabula.text.craft.diction import find_adverbs, find_passives
from fabula.text.craft.facts import CHECKS, Check
from fabula.text.craft.prose import Finding, NothingToCheck, Prose, take_apart
from fabula.text.craft.reference import (
    BANDS,
    Distribution,
    band_of,
    describe_values,
    read_reference,
)
from fabula.text.craft.telling import tense_of
from fabula.text.detokenise import respace
from fabula.text.posts import clean_post
from fabula.text.words import locate_words

LEAST_CAPITALS = 0.005
LEAST_STORIES = 100  # of a band and a check
LEAST_PARAGRAPHS, PARAGRAPHS = 5, "repeated_openings.paragraphs"
RARE = 0.05
FINITE = {"VBD": "past", "VBZ": "present", "VBP": "present"}
Pair = tuple[str, str, str]
SHOWN = (0.05, 0.5, 0.9, 0.95, 0.99)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--people", action="store_true")
    parser.add_argument("--spacy", action="store_true")
    options = parser.parse_args()
    if options.people:
        show_people(options.data)
        return
    texts = clean_texts("writingprompts", options.data)
    if options.spacy:
        show_parser(texts[:: len(texts) // 150])
        return
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
            shown = [known.at(level) for level in SHOWN]
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
    readers, writers = read_choices(data), read_scores(data)
    print(f"{'less of it is better':30}{'to readers (pairs)':>30}{'to writers (pairs)':>30}")
    for name in read_reference():
        cells = [describe_pairs(name, pairs) for pairs in (readers, writers)]
        print(f"{name:30}{cells[0]:>30}{cells[1]:>30}", flush=True)


def read_choices(data: Path) -> list[Pair]:
    """Prompt, better and worse text by StoryER's readers."""
    dataset = load_dataset("storyer", data_folder("storyer", data), partial=True)
    texts = {story.id: clean_post(respace(story.text)).text for story in dataset.stories}
    prompts = {story.id: str(story.item) for story in dataset.stories}
    return [
        (prompts[one.better], texts[one.better], texts[one.worse]) for one in dataset.preferences
    ]


def read_scores(data: Path) -> list[Pair]:
    """Item, better and worse text of a paragraph and its edits by professional writers' scores."""
    dataset = load_dataset("lamp", data_folder("lamp", data), partial=True)
    ratings: dict[str, list[float]] = defaultdict(list)
    for score in dataset.ratings:
        ratings[score.story].append(score.value)
    means = {story: float(np.mean(values)) for story, values in ratings.items()}
    versions: dict[str, list[Story]] = defaultdict(list)
    for story in dataset.stories:
        if story.id in means:
            versions[str(story.item)].append(story)
    return [
        (item, better.text, worse.text)
        for item, stories in versions.items()
        for better in stories
        for worse in stories
        if means[better.id] > means[worse.id]
    ]


def describe_pairs(name: str, pairs: list[Pair]) -> str:
    """Share of the pairs in which the better has less; ties and missing values are left out."""
    less, units = [], []
    for unit, *texts in pairs:
        better, worse = (read_checks(text).get(name, math.nan) for text in texts)
        if better < worse or worse < better:
            less.append(float(better < worse))
            units.append(unit)
    found = estimate_mean(np.array(less), units, resamples=2000)
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}] ({found.n:,})"


def show_parser(texts: Iterable[str]) -> None:
    """Print how the rules for passives, adverbs and tense agree with spaCy's small model."""
    counts: Counter[str] = Counter()
    for text in texts:
        prose = take_apart(text)
        told = {word.start for word in prose.told}
        parsed = parse_text(text)
        tags = {word.start: word.tag for sentence in parsed for word in sentence}
        passives = {
            sentence[word.head].stop
            for sentence in parsed
            for word in sentence
            if word.relation == "auxpass" and word.start in told
        }
        adverbs = {at for at in told if tags.get(at) == "RB" and ends_in_ly(prose, at)}
        count_agreement(
            counts, "passives", {end for _, end in spots(find_passives, prose)}, passives
        )
        count_agreement(counts, "adverbs", {at for at, _ in spots(find_adverbs, prose)}, adverbs)
        for sentence in prose.sentences:
            first = next(
                (tags[w.start] for w in sentence.told if tags.get(w.start) in FINITE), None
            )
            if first and (tense := tense_of(sentence)):
                counts[f"tense {tense == FINITE[first]}"] += 1
    for what in ("passives", "adverbs"):
        both, ours, theirs = (counts[f"{what} {part}"] for part in ("both", "ours", "theirs"))
        print(f"{what}: precision {both / ours:.3f}, recall {both / theirs:.3f} ({theirs:,})")
    right, wrong = counts["tense True"], counts["tense False"]
    print(f"tense: {right / (right + wrong):.3f} of {right + wrong:,} sentences")


def spots(find: Callable[[Prose], Finding], prose: Prose) -> tuple[tuple[int, int], ...]:
    try:
        return find(prose).spots
    except NothingToCheck:
        return ()


def ends_in_ly(prose: Prose, start: int) -> bool:
    [word] = [word for word in prose.told if word.start == start]
    return word.word.endswith("ly")


def count_agreement(counts: Counter[str], what: str, ours: set[int], theirs: set[int]) -> None:
    counts.update({f"{what} both": len(ours & theirs), f"{what} ours": len(ours)})
    counts[f"{what} theirs"] += len(theirs)


if __name__ == "__main__":
    main()
