"""Answers as what the rest of Fabula reads: scores by `human:<rater>`, and choices between stories.

| question | becomes |
|---|---|
| `scale` | a score on the aspect of the question's name |
| `choice` of two | a score, 1 for the first choice and 0 for the second |
| `choice` of more | a score for every choice, `question=choice`, 1 for the one that was made |
| `aspects` | a score on every chosen aspect, and `chosen:aspect`, 1 or 0, for all of them |
| `best` | choices of the best over each of the others; a tie is one of its own kind |
| `best_worst` | choices of the best over all others, and of all others over the worst |
| `ranking` | choices of every story over all that come after it |
| `text`, `spans` | nothing: they are rows of the export |

What counts is accepted work on the campaign's own stories: neither rejected work, nor planted
stories, nor a story the second time. A rater who met a story in several tasks has the mean.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from fabula.core.dataset import Dataset, DatasetCard, Preference, ScorerCard
from fabula.core.score import Score
from fabula.core.story import Story, count_text
from fabula.core.table import ScoreTable
from fabula.studio.campaigns.definition import TIE, Question
from fabula.studio.campaigns.work import Work, WorkAssignment

CHOSEN = "chosen:"
HUMAN = "human:"


def list_stories(work: Work) -> list[Story]:
    """The campaign's own stories, without what was planted."""
    return [one.story for one in work.stories.values() if not one.is_planted]


def list_counted(work: Work) -> Iterator[WorkAssignment]:
    """Go through the work that counts, in the order it came."""
    return (one for one in work.accepted if work.kind_of(one) == "story")


def make_ratings(work: Work) -> list[Score]:
    """Give what raters said of single stories as scores."""
    gathered: dict[tuple[str, str, str], list[float]] = {}
    for one in list_counted(work):
        scorer = f"{HUMAN}{work.raters[one.rater].name}"
        for place in one.shown:
            if work.stories[place].is_planted:
                continue
            for question in work.definition.questions:
                for aspect, value in score_answer(question, one.answer(question, place)):
                    key = work.stories[place].story.id, scorer, aspect
                    gathered.setdefault(key, []).append(value)
    return [
        Score(*key, statistics.fmean(values), note=_note_mean(len(values)))
        for key, values in gathered.items()
    ]


def _note_mean(count: int) -> str:
    return f"mean of {count_text(count, 'answer')}" if count > 1 else ""


def score_answer(question: Question, answer: Any) -> Iterator[tuple[str, float]]:
    """Give the numbers that an answer about one story stands for, by aspect."""
    if answer is None:
        return
    match question.kind:
        case "scale":
            yield question.name, float(answer)
        case "choice" if len(question.choices) == 2:
            yield question.name, float(answer == question.choices[0])
        case "choice":
            for choice in question.choices:
                yield f"{question.name}={choice}", float(answer == choice)
        case "aspects":
            for choice in question.choices:
                yield f"{CHOSEN}{choice}", float(choice in answer)
                if choice in answer:
                    yield choice, float(answer[choice]["rating"])


def code_choices(work: Work) -> list[Score]:
    """Give answers to questions with choices as numbers of the choices, from 1, the note saying it.

    For coefficients of categories (`agree(…, level="nominal")`), which want one number an answer;
    of a rater who met a story in several tasks the first answer.
    """
    codes: dict[tuple[str, str, str], Score] = {}
    for one in list_counted(work):
        scorer = f"{HUMAN}{work.raters[one.rater].name}"
        for question in work.definition.questions:
            for place in one.shown if question.kind == "choice" else ():
                answer = one.answer(question, place)
                if answer in question.choices and not work.stories[place].is_planted:
                    key = work.stories[place].story.id, scorer, question.name
                    number = float(question.choices.index(answer) + 1)
                    codes.setdefault(key, Score(*key, number, note=answer))
    return list(codes.values())


def make_preferences(work: Work) -> list[Preference]:
    """Give what raters said when they compared stories, question by question."""
    preferences = []
    for one in list_counted(work):
        rater = work.raters[one.rater].name
        own = [place for place in one.shown if not work.stories[place].is_planted]
        for question in work.definition.questions:
            if question.compares:
                for better, worse, is_tie in compare_stories(one.answer(question, ""), own):
                    names = work.stories[better].story.id, work.stories[worse].story.id
                    preferences.append(Preference(*names, rater, question.name, is_tie))
    return preferences


def compare_stories(answer: Any, shown: list[str]) -> Iterator[tuple[str, str, bool]]:
    """Go through the pairs that an answer puts in order: better, worse, and whether it is a tie."""
    if answer == TIE:
        yield from ((one, other, True) for one, other in combinations(shown, 2))
    elif isinstance(answer, str):
        yield from ((answer, other, False) for other in shown if other != answer)
    elif isinstance(answer, list):
        ranked = [place for place in answer if place in shown]
        yield from ((one, other, False) for one, other in combinations(ranked, 2))
    elif isinstance(answer, Mapping):
        best, worst = answer.get("best"), answer.get("worst")
        others = [place for place in shown if place not in (best, worst)]
        if best in shown and worst in shown:
            yield best, worst, False
        yield from ((best, other, False) for other in others if best in shown)
        yield from ((other, worst, False) for other in others if worst in shown)


def make_dataset(work: Work) -> Dataset:
    """Give a campaign as a data set: for agreement, rankings and studies as it goes on."""
    stories = tuple(list_stories(work))
    scales: dict[str, tuple[float, float]] = {}
    for question in work.definition.questions:
        ends = float(question.low), float(question.high)
        if question.kind == "scale":
            scales[question.name] = ends
        elif question.kind == "aspects":
            scales |= dict.fromkeys(question.choices, ends)
    # All that is left is 1 or 0.
    card = DatasetCard(
        work.definition.title,
        work.definition.about or f"The campaign {work.name}.",
        "your own",
        scales={"": (0.0, 1.0)} | scales,
    )
    known = {story.id for story in stories}
    scores = [score for score in work.scores if score.story in known]
    cards = {score.scorer: ScorerCard("other", "higher") for score in scores}
    return Dataset(
        work.name,
        card,
        stories,
        ScoreTable(stories, make_ratings(work)),
        ScoreTable(stories, scores),
        cards,
        tuple(make_preferences(work)),
    )


def list_rated_aspects(work: Work) -> list[str]:
    """Aspects that say how good a story is, in the order they are asked about."""
    aspects: list[str] = []
    for question in work.definition.questions:
        if question.kind == "scale" or (question.kind == "choice" and len(question.choices) == 2):
            aspects.append(question.name)
        elif question.kind == "aspects":
            aspects += question.choices
    return list(dict.fromkeys(aspects))
