"""HANNA: 1,056 stories rated by three people on six criteria, with 72 metrics and five judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabula.core.dataset import Dataset, DatasetCard, ScorerCard
from fabula.core.errors import InputError, closest
from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.datasets._hanna_columns import (
    CRITERIA,
    ITEMS,
    JUDGE,
    METRICS,
    SCALE,
    SYSTEMS,
    Values,
    read_columns,
)
from fabula.datasets._lines import TextFile
from fabula.datasets._release import field, file_rows, find_release_file, rating, release_file
from fabula.datasets._rows import Row

ANNOTATIONS, STORIES = "hanna_stories_annotations.csv", "hanna_stories.jsonl"
SCORES, OLD_SCORES = "hanna_metric_scores_llm.csv", "hanna_metric_scores.csv"

CARD = DatasetCard(
    title="HANNA",
    about="96 prompts of WritingPrompts, each answered by a person and ten systems. Three people "
    "rated every story from 1 to 5 on relevance (fit to the prompt: unrelated … full match), "
    "coherence (senseless … sensible throughout), empathy (left cold … completely involved in the "
    "characters' emotions), surprise (ending obvious or nonsensical … surprising yet supported by "
    "clues), engagement (bored … wants a sequel) and complexity (one or two characters or concepts "
    "… three or more of: complex concepts, realistic characters, intricate plot, circumstances, "
    "precise description). Raters were Mechanical Turk Masters of English-speaking countries; they "
    "saw the human story beside the other, ignored an unfinished last sentence, and let a story "
    "off the prompt lose on relevance alone. With the scores of 72 metrics, and in the later file "
    "the ratings of five language models on four tasks.",
    licence="MIT",
    citation="Chhun, Colombo, Suchanek and Clavel (2022): Of Human Criteria and Automatic Metrics: "
    "A Benchmark of the Evaluation of Story Generation. COLING. The judges: Chhun, Suchanek and "
    "Clavel (2024): Do Language Models Enjoy Their Own Stories? Prompting Large Language Models "
    "for Automatic Story Evaluation. TACL 12.",
    source="github.com/dig-team/hanna-benchmark-asg",
    files={
        ANNOTATIONS: "a row per story and rater, with the raters' ids",
        STORIES: "or a row per story, with three ratings in the order they arrived",
        SCORES: "scores of 72 metrics and of five judges, a list of 96 in each cell",
        OLD_SCORES: "or those of the metrics alone (2022)",
    },
    checksums={
        STORIES: "3d28df47d03e35e39efa9868cc7a45206a82f7b8beba380291631578f9f4f50a",
        SCORES: "d0ce43f9b5cc12894f8b7bf3f7b4da06d19cdbea2c989dd3f173f2240dfee26d",
    },
    counts={"stories": 1056, "items": 96, "systems": 11, "ratings": 19008, "scores": 202752},
    scales={"": SCALE},
    quirks=(
        "The human stories are the references: metrics compare them with themselves.",
        "Without the annotation file nobody knows who rated what: raters 1, 2 and 3 are places in "
        "a list, another person from story to story, so that agreement by rater means nothing.",
        "The three InfoLM columns are the same numbers.",
        "BaryScore-SD-0.001 did not converge: every value lies between 0 and 0.00002.",
        "The later file's means of people and of judges are left out: they can be had again.",
        "Judges' values are means of several answers; 1,051 of 126,720 are below 1, down to -1.",
        "Every text given to the metrics ended in a line break.",
    ),
    reference_systems=("Human",),
)


@dataclass(frozen=True)
class _Told:
    """What the files of texts tell: stories, ratings, and whether raters are people."""

    stories: tuple[Story, ...]
    ratings: list[Score]
    raters_known: bool


def load(path: Path | None = None) -> Dataset:
    """Load what a folder holds of the release, or one of its files."""
    texts = find_release_file(path, ANNOTATIONS, STORIES)
    numbers = find_release_file(path, SCORES, OLD_SCORES)
    if texts is None and numbers is None:
        release_file(path, ANNOTATIONS, STORIES, SCORES, OLD_SCORES)
    values = read_columns(numbers) if numbers else {}
    told = _told(texts) if texts else _without_texts(values)
    scores = list(_scores(values, told.stories, "score"))
    return Dataset(
        "hanna",
        replace(CARD, counts=_counts(values, told), raters_known=told.raters_known),
        told.stories,
        ScoreTable(told.stories, told.ratings),
        ScoreTable(told.stories, scores),
        {name: _scorer_card(name) for name in dict.fromkeys(one.scorer for one in scores)},
    )


def _scorer_card(name: str) -> ScorerCard:
    return METRICS.get(name, JUDGE)


def _counts(values: Values, told: _Told) -> Mapping[str, int]:
    """Counts of a whole release with the files that are here."""
    scorers = {column.scorer for column in values if column.kind == "score"}
    judged = any(scorer.startswith("judge:") for scorer in scorers)
    raters = 1 if {one.scorer for one in told.ratings} == {"human:mean"} else 3
    stories = CARD.counts["stories"]
    wanted = {**CARD.counts, "ratings": raters * len(CRITERIA) * stories}
    if not values:
        return wanted | {"scores": 0}
    return wanted if judged else wanted | {"scores": len(METRICS) * stories}


def _told(file: TextFile) -> _Told:
    known = file.path.name.startswith(ANNOTATIONS)
    stories: dict[str, Story] = {}
    ratings: dict[tuple[str, str, str], Score] = {}
    for where, row in file_rows(file):
        story = _annotated_story(row, where) if known else _story(row, where)
        again = story.id in stories
        if again and (not known or stories[story.id] != story):
            problem = "differs from an earlier row" if known else "has a row already"
            raise InputError(f"{where}: story {story.id!r} {problem}", "keep one")
        stories[story.id] = story
        for score in _annotated_ratings(row, where) if known else _ratings(row, where):
            key = score.story, score.scorer, score.aspect
            if key in ratings:
                raise InputError(
                    f"{where}: {score.scorer!r} rated story {story.id!r} already", "keep one"
                )
            ratings[key] = score
    return _Told(tuple(stories.values()), list(ratings.values()), known)


def _annotated_story(row: Row, where: str) -> Story:
    number = _number(row, "Story ID", where)
    return _made(number, number % ITEMS, row, where, "Model Prompt Human Story".split())


def _story(row: Row, where: str) -> Story:
    number, item = _number(row, "story_id", where), _number(row, "prompt_id", where)
    return _made(number, item, row, where, "model prompt human story".split())


def _made(number: int, item: int, row: Row, where: str, names: list[str]) -> Story:
    system, prompt, human, text = (str(field(row, name, where)) for name in names)
    if system not in SYSTEMS:
        problem = f"{where}: no system of the release is {system!r}"
        raise InputError(problem, closest(system, SYSTEMS))
    if not 0 <= item < ITEMS:
        raise InputError(f"{where}: no prompt has the number {item}", f"they go to {ITEMS - 1}")
    return Story(str(number), text, prompt, (human,), system=system, item=str(item))


def _number(row: Row, name: str, where: str) -> int:
    value = field(row, name, where)
    try:
        return int(value)
    except (TypeError, ValueError):
        raise InputError(f"{where}: {name} {value!r} is no number", "fetch it again") from None


def _annotated_ratings(row: Row, where: str) -> Iterator[Score]:
    story, rater = str(_number(row, "Story ID", where)), str(field(row, "Worker ID", where))
    for aspect in CRITERIA.values():
        name = aspect.capitalize()
        value = rating(field(row, name, where), f"{where}, {name}", SCALE)
        yield Score(story, f"human:{rater}", aspect, value)


def _ratings(row: Row, where: str) -> Iterator[Score]:
    story, given = str(field(row, "story_id", where)), field(row, "ratings", where)
    for aspect in CRITERIA.values():
        name = aspect.capitalize()
        for rater, value in enumerate(_list(given, name, where), 1):
            checked = rating(value, f"{where}, {name} of rater {rater}", SCALE)
            yield Score(story, f"human:{rater}", aspect, checked)


def _list(given: Any, name: str, where: str) -> list[Any]:
    found = given.get(name) if isinstance(given, dict) else None
    if not isinstance(found, list):
        raise InputError(f"{where}: no list of ratings on {name}", "fetch it again")
    return found


def _without_texts(values: Values) -> _Told:
    """Stories without texts, and the ratings of the metric file: people's, or their means."""
    stories = tuple(
        Story(str(block * ITEMS + item), "", system=system, item=str(item))
        for block, system in enumerate(SYSTEMS)
        for item in range(ITEMS)
    )
    people = list(_scores(values, stories, "rating")) or list(_scores(values, stories, "mean"))
    return _Told(stories, people, False)


def _scores(values: Values, stories: tuple[Story, ...], kind: str) -> Iterator[Score]:
    """Go through the values of the stories that are here, column by column."""
    for column, lists in values.items():
        if column.kind == kind:
            for story in stories:
                value = lists[story.system or ""][int(story.item or 0)]
                yield Score(story.id, column.scorer, column.aspect, value, Status.OK)
