"""Comments: how likely raters' own are, and how near ours come to them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabula.core.errors import InputError, UserError
from fabula.core.model import Generator, Likelihood
from fabula.core.story import Story
from fabula.learned.comments.composer import compose_comment
from fabula.learned.comments.evidence import Evidence, find_evidence
from fabula.learned.comments.writer import Commenter
from fabula.learned.training.labelled_comments import Said, comments_of
from fabula.meta.resampling import estimate_mean, estimate_rows
from fabula.replication.storyer._findings import Cell, Finding, Table
from fabula.replication.storyer._material import Material
from fabula.scoring.catalogue import METRICS

Array = np.ndarray[Any, np.dtype[Any]]
TITLE = "Comments on aspects: likelihood and overlap with raters' own"
_SET = "storyer_ratings"
_METRICS = {"BLEU": "bleu", "ROUGE-L": "rouge", "METEOR": "meteor", "CIDEr": "cider"}
_PROMPT = "A reader's note on the {aspect} of a story, which is rated {rating:g} of 5. {line}Note:"
_LINE = "The note rests on the line “{quote}”. "


@dataclass(frozen=True)
class Settings:
    """Which model is asked, of how many comments, and whether it writes some itself."""

    model: str = "embedded('smollm2')"
    likelihood: int = 100  # comments whose perplexity is asked; 0: none
    written: bool = False
    written_most: int = 20
    written_s: float = 6.0  # seconds a comment may take


@dataclass(frozen=True)
class Case:
    """An aspect of a story, its evidence, and all that raters said of it."""

    story: Story
    aspect: str
    rating: float
    evidence: Evidence
    said: tuple[str, ...]


def analyse(material: Material, settings: Settings) -> Finding:
    """Ask a language model for the likelihood of comments, and hold ours against raters'."""
    cases = _cases(material)
    tables = [_overlap_table(material, settings, cases)]
    words = [
        f"{sum(len(one.said) for one in cases)} comments on {len(cases)} aspects of stories; no "
        "model here has learned from any of them. A composed comment is told the aspect and the "
        "rating that the raters gave.",
    ]
    if settings.likelihood:
        try:
            tables.insert(0, _likelihood_table(material, settings, cases))
        except UserError as error:
            words.append(f"No perplexity: {error}")
    return Finding("comments", TITLE, words, tables)


def _cases(material: Material) -> list[Case]:
    dataset = material.dataset(_SET)
    stories = {story.id: story for story in dataset.stories}
    grouped: dict[tuple[str, str], list[Said]] = {}
    for one in comments_of(dataset):
        grouped.setdefault((one.story, one.aspect), []).append(one)
    if not grouped:
        raise InputError(f"{_SET} has no comments", "give the files with comments")
    return [
        Case(
            stories[story],
            aspect,
            float(np.mean([one.rating for one in said])),
            find_evidence(stories[story].text, aspect),
            tuple(one.text for one in said),
        )
        for (story, aspect), said in grouped.items()
    ]


def _prompt(case: Case, *, evidence: bool = True) -> str:
    quote = " ".join(case.evidence.quote.split())
    line = _LINE.format(quote=quote) if evidence and quote else ""
    return _PROMPT.format(aspect=case.aspect, rating=case.rating, line=line)


def _likelihood_table(material: Material, settings: Settings, cases: Sequence[Case]) -> Table:
    from fabula.models import load_model, need

    model = need(load_model(settings.model), Likelihood)
    rng = random.Random(material.seed)
    pairs = [(case, text) for case in cases for text in case.said]
    pairs = rng.sample(pairs, min(settings.likelihood, len(pairs)))
    others = [rng.choice([one for one in cases if one.aspect != case.aspect]) for case, _ in pairs]
    contexts = {
        "nothing": ["" for _ in pairs],
        "aspect and rating": [_prompt(case, evidence=False) for case, _ in pairs],
        "aspect, rating and evidence": [_prompt(case) for case, _ in pairs],
        "those of another story": [_prompt(other) for other in others],
    }
    stories = [case.story.id for case, _ in pairs]
    rows: list[list[Cell]] = []
    for name, some in contexts.items():
        given = [
            (before, f" {text}" if before else text)
            for before, (_, text) in zip(some, pairs, strict=True)
        ]
        logs = [one.logs[~np.isnan(one.logs)] for one in model.logs(given)]
        material.report(f"perplexity given {name}: {len(logs)} comments")
        rows.append([name, *_perplexity(material, logs, stories), len(logs)])
    return Table(
        "comments_perplexity",
        f"Perplexity of raters' comments by {settings.model}",
        ("given", "perplexity", "comments"),
        rows,
        "Per token, over all tokens; intervals by drawing stories anew. What the evidence of the "
        "right story is worth is the step from the last row to the one before it.",
        decimals=1,
    )


def _perplexity(material: Material, logs: list[Array], stories: list[str]) -> list[Cell]:
    sums = np.array([one.sum() for one in logs])
    sizes = np.array([len(one) for one in logs])

    def figure(rows: Array) -> float:
        return float(np.exp(-sums[rows].sum() / max(sizes[rows].sum(), 1)))

    return [estimate_rows(figure, stories, resamples=material.resamples)]


def _overlap_table(material: Material, settings: Settings, cases: Sequence[Case]) -> Table:
    made: dict[str, list[Story]] = {}
    composed = [
        (case, found.text)
        for case in cases
        if (found := compose_comment(case.story.text, case.evidence, case.rating)) is not None
    ]
    made["composed"] = [_beside(case, text) for case, text in composed]
    made["baseline: another comment on the aspect"] = _borrowed(material, cases)
    made["another rater's on the same"] = [
        _beside(replace(case, said=case.said[1:]), case.said[0])
        for case in cases
        if len(case.said) > 1
    ]
    if settings.written:
        made["written by the model"], made["composed, of the same"] = _written(
            material, settings, composed
        )
    rows = [[name, *_overlaps(material, some), len(some)] for name, some in made.items() if some]
    return Table(
        "comments_overlap",
        "Overlap with raters' comments on the same story and aspect",
        ("comment", *_METRICS, "aspects of stories"),
        rows,
        "Means over aspects of stories; intervals by drawing stories anew. BLEU and CIDEr as the "
        "metrics give them, ROUGE-L by its f.",
    )


def _beside(case: Case, text: str) -> Story:
    return Story(f"{case.story.id}/{case.aspect}", text, references=case.said, item=case.story.id)


def _borrowed(material: Material, cases: Sequence[Case]) -> list[Story]:
    """Put a comment on the aspect of another story in the place of one."""
    rng, found = random.Random(material.seed), []
    for case in cases:
        others = [
            text
            for one in cases
            if one.aspect == case.aspect and one.story.id != case.story.id
            for text in one.said
        ]
        if others:
            found.append(_beside(case, rng.choice(others)))
    return found


def _written(
    material: Material, settings: Settings, composed: Sequence[tuple[Case, str]]
) -> tuple[list[Story], list[Story]]:
    """Let the model write some; give them, and what is composed in their place."""
    from fabula.models import load_model, need

    commenter = Commenter(need(load_model(settings.model), Generator), budget_s=settings.written_s)
    some = random.Random(material.seed).sample(
        list(composed), min(settings.written_most, len(composed))
    )
    written, beside = [], []
    for case, text in some:
        found = commenter.comment(
            case.story.text, case.evidence, case.rating, until=commenter.deadline()
        )
        if found is not None and found.by == "written":
            written.append(_beside(case, found.text))
            beside.append(_beside(case, text))
    material.report(f"{len(written)} of {len(some)} comments were written and passed the checks")
    return written, beside


def _overlaps(material: Material, stories: Sequence[Story]) -> list[Cell]:
    found: list[Cell] = []
    for spec in _METRICS.values():
        metric = METRICS.build(spec)
        aspect = "f" if "f" in metric.card.aspects else ""
        values = [one.value for one in metric.score(list(stories)) if one.aspect == aspect]
        items = [str(one.item) for one in stories]
        found.append(estimate_mean(np.array(values), items, resamples=material.resamples))
    return found
