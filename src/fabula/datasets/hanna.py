"""HANNA: 1,056 stories rated by three people on six criteria, with 72 metrics and five judges."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from fabula.core.card import Direction
from fabula.core.dataset import Annotation, Dataset, DatasetCard, ScorerCard
from fabula.core.errors import InputError, closest
from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.datasets.releases.reading import find_file, get_field, read_rating, require_file
from fabula.datasets.tables.rows import Row, read_rows
from fabula.datasets.tables.text_file import TextFile

# In the order of the stories' ids: 96 of each.
SYSTEMS = tuple(
    "Human|BertGeneration|CTRL|GPT|GPT-2 (tag)|GPT-2|RoBERTa|XLNet|Fusion|HINT|TD-VAE".split("|")
)
ITEMS = 96
CRITERIA = {
    "RE": "relevance",
    "CH": "coherence",
    "EM": "empathy",
    "SU": "surprise",
    "EG": "engagement",
    "CX": "complexity",
}
SCALE = (1.0, 5.0)
_FAMILIES = {"§": "string", "ε": "embedding", "Δ": "model"}
_PARTS = ("Recall", "Precision", "F-Score")
_ROUGES = [f"ROUGE-{kind} {part}" for kind in "1 2 3 4 L W-1.2 S* SU*".split() for part in _PARTS]


def _make_cards(
    glyphs: str, direction: Direction, uses: str, *names: str
) -> Iterator[tuple[str, ScorerCard]]:
    for name in names:
        yield name, ScorerCard(_FAMILIES[glyphs[1]], direction, (uses,) if uses else ())


METRICS: Mapping[str, ScorerCard] = dict(
    [
        *_make_cards("Ξ§", "higher", "reference", "BLEU", *_ROUGES, "METEOR", "chrF", "CIDEr"),
        *_make_cards("Ξε", "higher", "reference", *(f"ROUGE-WE-3 {part}" for part in _PARTS)),
        *_make_cards("Ξε", "higher", "reference", "BERTScore Precision", "BERTScore Recall"),
        *_make_cards("Ξε", "higher", "reference", "BERTScore F1", "MoverScore"),
        *_make_cards("Ξε", "lower", "reference", "DepthScore", "BaryScore-W"),
        *_make_cards(
            "Ξε", "lower", "reference", "BaryScore-SD-10", "BaryScore-SD-5", "BaryScore-SD-1"
        ),
        *_make_cards("Ξε", "lower", "reference", "BaryScore-SD-0.5", "BaryScore-SD-0.1"),
        *_make_cards("Ξε", "lower", "reference", "BaryScore-SD-0.01", "BaryScore-SD-0.001"),
        *_make_cards("ΞΔ", "higher", "reference", "S3-Pyramid", "S3-Responsiveness", "SummaQA"),
        *_make_cards("ΞΔ", "lower", "reference", "InfoLM-FisherRao", "InfoLM-R-FisherRao"),
        *_make_cards("ΞΔ", "lower", "reference", "InfoLM-Sim-FisherRao"),
        *_make_cards("ΞΔ", "higher", "reference", "BARTScore-SH", "BARTScore-HS"),
        *_make_cards("ΞΔ", "higher", "reference", "SUPERT-Golden", "BLANC-Golden"),
        *_make_cards("¤§", "descriptive", "prompt", "Coverage", "Density", "Compression"),
        *_make_cards("¤§", "descriptive", "", "Text length"),
        *_make_cards("¤§", "higher", "prompt", "Novelty-1", "Novelty-2", "Novelty-3"),
        *_make_cards("¤§", "lower", "", "Repetition-1", "Repetition-2", "Repetition-3"),
        *_make_cards("¤ε", "higher", "prompt", "SUPERT-PS", "SUPERT-SS"),
        *_make_cards("¤Δ", "higher", "prompt", "BLANC-Tune-PS", "BLANC-Help-PS"),
        *_make_cards("¤Δ", "higher", "prompt", "BLANC-Tune-SS", "BLANC-Help-SS"),
        *_make_cards("¤Δ", "higher", "prompt", "BARTScore-PS", "BARTScore-SP"),
    ]
)
JUDGE = ScorerCard("judge", "higher", ("prompt",))
_GLYPHS = {a + b for a in "Ξ¤" for b in _FAMILIES}
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
        ANNOTATIONS: "a row per story and rater, with their ids, work times and named characters",
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
    columns=tuple(METRICS),
)


@dataclass(frozen=True)
class HannaColumn:
    """Whose opinion a column holds, and on what: a score, a person's rating or their mean."""

    kind: Literal["score", "rating", "mean"]
    scorer: str
    aspect: str = ""


Values = dict[HannaColumn, dict[str, list[float]]]


@dataclass(frozen=True)
class _Texts:
    """What the files of texts tell: stories, ratings, and whether raters are people."""

    stories: tuple[Story, ...]
    ratings: list[Score]
    raters_known: bool
    annotations: tuple[Annotation, ...] = ()


def load(path: Path | None = None) -> Dataset:
    """Load what a folder holds of the release, or one of its files."""
    text_file = find_file(path, ANNOTATIONS, STORIES)
    score_file = find_file(path, SCORES, OLD_SCORES)
    if text_file is None and score_file is None:
        require_file(path, ANNOTATIONS, STORIES, SCORES, OLD_SCORES)
    values = read_columns(score_file) if score_file else {}
    texts = _read_texts(text_file) if text_file else _number_stories(values)
    scores = list(_list_scores(values, texts.stories, "score"))
    return Dataset(
        "hanna",
        replace(CARD, counts=_expect_counts(values, texts), raters_known=texts.raters_known),
        texts.stories,
        ScoreTable(texts.stories, texts.ratings),
        ScoreTable(texts.stories, scores),
        {score.scorer: METRICS.get(score.scorer, JUDGE) for score in scores},
        annotations=texts.annotations,
    )


def _expect_counts(values: Values, texts: _Texts) -> Mapping[str, int]:
    """Counts of a whole release with the files that are here."""
    scorers = {column.scorer for column in values if column.kind == "score"}
    judged = any(scorer.startswith("judge:") for scorer in scorers)
    raters = 1 if {score.scorer for score in texts.ratings} == {"human:mean"} else 3
    stories = CARD.counts["stories"]
    wanted = {**CARD.counts, "ratings": raters * len(CRITERIA) * stories}
    if not values:
        return wanted | {"scores": 0}
    return wanted if judged else wanted | {"scores": len(METRICS) * stories}


def _read_texts(file: TextFile) -> _Texts:
    known = file.path.name.startswith(ANNOTATIONS)
    stories: dict[str, Story] = {}
    ratings: dict[tuple[str, str, str], Score] = {}
    annotations: list[Annotation] = []
    rows = list(read_rows(file))
    own_prompts = _number_prompts(rows) if known else {}
    for where, row in rows:
        if known:
            story = _read_annotated_story(row, where, own_prompts)
            annotations.append(_read_annotation(row, story.id, where))
        else:
            story = _read_story(row, where)
        again = story.id in stories
        if again and (not known or stories[story.id] != story):
            problem = "differs from an earlier row" if known else "has a row already"
            raise InputError(f"{where}: story {story.id!r} {problem}", "keep one")
        stories[story.id] = story
        for score in _read_annotated_ratings(row, where) if known else _read_ratings(row, where):
            key = score.story, score.scorer, score.aspect
            if key in ratings:
                raise InputError(
                    f"{where}: {score.scorer!r} rated story {story.id!r} already", "keep one"
                )
            ratings[key] = score
    scores = list(ratings.values())
    return _Texts(tuple(stories.values()), scores, known, tuple(annotations))


def _number_prompts(rows: Sequence[tuple[str, Row]]) -> dict[str, int]:
    """Number the prompts of an annotation file that is not the release but of its layout.

    Then systems may have any names. Of the release itself nothing is numbered: its numbers of
    stories say which prompt they answer.
    """
    if all(row.get("Model") in SYSTEMS for _, row in rows):
        return {}
    prompts = dict.fromkeys(str(row.get("Prompt") or "") for _, row in rows)
    return {prompt: place for place, prompt in enumerate(prompts)}


def _read_annotation(row: Row, story: str, where: str) -> Annotation:
    """Read what else is told of a rating, where the file has it."""
    spent = row.get("Work time in seconds")
    try:
        seconds = float(spent) if spent not in (None, "") else math.nan
    except (TypeError, ValueError):
        raise InputError(f"{where}: work time {spent!r} is no number", "mend or empty it") from None
    rater = str(get_field(row, "Worker ID", where))
    named = str(row.get("Name") or "").strip()
    return Annotation(story, rater, seconds, named, str(row.get("Assignment ID") or ""))


def _read_annotated_story(row: Row, where: str, own_prompts: Mapping[str, int]) -> Story:
    number = _read_number(row, "Story ID", where)
    names = "Model Prompt Human Story".split()
    if not own_prompts:
        return _make_story(number, number % ITEMS, row, where, names)
    system, prompt, human, text = (str(get_field(row, name, where)) for name in names)
    item = str(own_prompts[prompt])
    return Story(str(number), text, prompt, (human,) if human else (), system=system, item=item)


def _read_story(row: Row, where: str) -> Story:
    number, item = _read_number(row, "story_id", where), _read_number(row, "prompt_id", where)
    return _make_story(number, item, row, where, "model prompt human story".split())


def _make_story(number: int, item: int, row: Row, where: str, names: list[str]) -> Story:
    system, prompt, human, text = (str(get_field(row, name, where)) for name in names)
    if system not in SYSTEMS:
        problem = f"{where}: no system of the release is {system!r}"
        raise InputError(problem, closest(system, SYSTEMS))
    if not 0 <= item < ITEMS:
        raise InputError(f"{where}: no prompt has the number {item}", f"they go to {ITEMS - 1}")
    return Story(str(number), text, prompt, (human,), system=system, item=str(item))


def _read_number(row: Row, name: str, where: str) -> int:
    value = get_field(row, name, where)
    try:
        return int(value)
    except (TypeError, ValueError):
        raise InputError(f"{where}: {name} {value!r} is no number", "fetch it again") from None


def _read_annotated_ratings(row: Row, where: str) -> Iterator[Score]:
    story, rater = (
        str(_read_number(row, "Story ID", where)),
        str(get_field(row, "Worker ID", where)),
    )
    for aspect in CRITERIA.values():
        name = aspect.capitalize()
        value = read_rating(get_field(row, name, where), f"{where}, {name}", SCALE)
        yield Score(story, f"human:{rater}", aspect, value)


def _read_ratings(row: Row, where: str) -> Iterator[Score]:
    story, given = str(get_field(row, "story_id", where)), get_field(row, "ratings", where)
    for aspect in CRITERIA.values():
        name = aspect.capitalize()
        for rater, value in enumerate(_read_list(given, name, where), 1):
            checked = read_rating(value, f"{where}, {name} of rater {rater}", SCALE)
            yield Score(story, f"human:{rater}", aspect, checked)


def _read_list(given: Any, name: str, where: str) -> list[Any]:
    ratings = given.get(name) if isinstance(given, dict) else None
    if not isinstance(ratings, list):
        raise InputError(f"{where}: no list of ratings on {name}", "fetch it again")
    return ratings


def _number_stories(values: Values) -> _Texts:
    """Stories without texts, and the ratings of the metric file: people's, or their means."""
    stories = tuple(
        Story(str(block * ITEMS + item), "", system=system, item=str(item))
        for block, system in enumerate(SYSTEMS)
        for item in range(ITEMS)
    )
    people = list(_list_scores(values, stories, "rating")) or list(
        _list_scores(values, stories, "mean")
    )
    return _Texts(stories, people, False)


def _list_scores(values: Values, stories: tuple[Story, ...], kind: str) -> Iterator[Score]:
    """Go through the values of the stories that are here, column by column."""
    for column, lists in values.items():
        if column.kind == kind:
            for story in stories:
                value = lists[story.system or ""][int(story.item or 0)]
                yield Score(story.id, column.scorer, column.aspect, value, Status.OK)


def parse_column(name: str, where: str) -> HannaColumn | None:
    """Tell what a column holds; None for means that can be had from others."""
    if name.lower() in CRITERIA.values():
        return HannaColumn("mean", "human:mean", name.lower())
    head, _, last = name.rpartition(" ")
    if last in _GLYPHS:
        if head not in METRICS:
            raise InputError(
                f"{where}: no metric of the release is {head!r}", closest(head, METRICS)
            )
        return HannaColumn("score", head)
    if head.startswith("Human Avg "):
        return None
    if head.startswith("Human ") and last in CRITERIA:
        return HannaColumn("rating", f"human:{head.removeprefix('Human ')}", CRITERIA[last])
    model, _, criterion = head.rpartition(" ")
    if last.isdecimal() and model and criterion in {*CRITERIA, "AVG"}:
        aspect = CRITERIA.get(criterion)
        return HannaColumn("score", f"judge:{model}/{last}", aspect) if aspect else None
    raise InputError(f"{where}: column {name!r} is not of the release", "fetch it again")


def read_columns(file: TextFile) -> Values:
    """Read the values of every column by system: lists of one value per prompt."""
    by_column: Values = {}
    columns: dict[str, HannaColumn] = {}
    seen: set[str] = set()
    for where, row in read_rows(file):
        system = _read_system(row, where, seen)
        for name, cell in row.items():
            if name not in columns and name != "Model":
                if (column := parse_column(name, where)) is None:
                    continue
                columns[name] = column
            if name in columns:
                place = f"{where}, column {name!r}"
                values = _parse_values(cell, place, checked=columns[name].kind != "score")
                by_column.setdefault(columns[name], {})[system] = values
    if missing := [system for system in SYSTEMS if system not in seen]:
        raise InputError(f"{file.label}: no row of {', '.join(missing)}", "fetch it again")
    return by_column


def _read_system(row: Row, where: str, seen: set[str]) -> str:
    system = str(get_field(row, "Model", where))
    if system not in SYSTEMS:
        raise InputError(
            f"{where}: no system of the release is {system!r}", closest(system, SYSTEMS)
        )
    if system in seen:
        raise InputError(f"{where}: a second row of {system!r}", "keep one")
    seen.add(system)
    return system


def _parse_values(cell: Any, where: str, *, checked: bool) -> list[float]:
    try:
        values = json.loads(str(cell).replace("nan", "NaN"))
    except ValueError:
        raise InputError(f"{where}: not a list of numbers", "fetch it again") from None
    if not isinstance(values, list) or len(values) != ITEMS:
        size = f"{len(values)} values" if isinstance(values, list) else "no list"
        raise InputError(f"{where}: {size} where there are {ITEMS} prompts", "fetch it again")
    if checked:
        return [
            read_rating(value, f"{where}, value {i}", SCALE) for i, value in enumerate(values, 1)
        ]
    for place, value in enumerate(values, 1):
        if value is not None and type(value) not in (int, float):
            raise InputError(f"{where}, value {place}: {value!r} is no number", "fetch it again")
    return [math.nan if value is None else value for value in values]
