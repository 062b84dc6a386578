"""MANS, the annotated part of OpenMEVA: machine stories rated by five people each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.datasets.releases.reading import (
    Placed,
    check_object,
    find_files,
    gather_scores,
    gather_stories,
    get_field,
    get_list,
    get_text,
    read_object,
    read_slot_ratings,
)

CARD = DatasetCard(
    title="OpenMEVA-MANS",
    about="Five systems, each with a story for 200 openings of ROCStories (items `roc:…`) and 200 "
    "prompts of WritingPrompts (`wp:…`); five people rated each story from 1 to 5.",
    licence="MIT",
    citation="Guan, Zhang, Feng, Liu, Ding, Mao, Fan and Huang (2021). OpenMEVA: A benchmark for "
    "evaluating open-ended story generation metrics. ACL-IJCNLP, 6394–6407.",
    source="TIGER-AI-Lab/TIGERScore",
    files={
        "mans_roc.json": "item → prompt, gold_response, gen (system → text, five ratings)",
        "mans_wp.json": "the same for WritingPrompts",
    },
    checksums={
        "mans_roc.json": "3c4a7dc47c2db86af20da01a0c94a4a9adc5e822dfe0d9ebe8b6f139ac7ea7e7",
        "mans_wp.json": "f42e5ef6c6e95fd642502f86635401f10c16ea08f553741b44c44ac9b94ae22b",
    },
    counts={"stories": 2_000, "items": 400, "systems": 5, "ratings": 10_000},
    scales={"overall": (1.0, 5.0)},
    quirks=(
        "The five ratings of a story are sorted: `human:1` is the lowest, not a person, so that "
        "agreement between places says nothing.",
        "Texts are tokenised, and names in the ROC half are masked.",
    ),
    raters_known=False,
)
_HALVES = {"mans_roc.json": "roc", "mans_wp.json": "wp"}
_RATERS = 5


def load(path: Path | None = None) -> Dataset:
    """Load the halves that are there."""
    stories: list[Placed[Story]] = []
    ratings: list[Placed[Score]] = []
    for name, file in find_files(path, *_HALVES).items():
        for key, task in read_object(file).items():
            where = f"{file.label}, item {key!r}"
            for place, story, values in _read_answers(
                check_object(task, where), f"{_HALVES[name]}:{key}", where
            ):
                stories.append((place, story))
                ratings += read_slot_ratings(
                    story.id, values, place, aspect="overall", scale=CARD.scales["overall"]
                )
    gathered = gather_stories(stories)
    return Dataset("mans", CARD, gathered, gather_scores(gathered, ratings))


def _read_answers(
    task: dict[str, Any], item: str, where: str
) -> Iterator[tuple[str, Story, list[Any]]]:
    prompt = get_text(task, "prompt", where)
    gold = get_text(task, "gold_response", where)
    for system, answer in check_object(get_field(task, "gen", where), where).items():
        place = f"{where}, system {system!r}"
        text = get_text(check_object(answer, place), "text", place)
        story = Story(f"{item}/{system}", text, prompt, (gold,), system=system, item=item)
        yield place, story, get_list(answer, "score", place, _RATERS)
