"""Comments: how likely raters' own are, and how near ours come to them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError, UserError
from fabula.core.model import Generator, Likelihood
from fabula.core.score import Status
from fabula.core.story import Story
from fabula.learned.comments.composer import compose_comment
from fabula.learned.comments.evidence import Evidence, find_evidence
from fabula.learned.comments.writer import Commenter
from fabula.learned.training.augmentation import LabelledComment, comments_of
from fabula.meta.resampling import Estimate
from fabula.replication.findings import Findings, StudyRow, StudyTable
from fabula.replication.storyer.material import Material
from fabula.scoring.catalogue import METRICS

Array = np.ndarray[Any, np.dtype[Any]]
_SET = "storyer_ratings"
OVERLAPS = {"BLEU": "bleu", "ROUGE-L": "rouge", "METEOR": "meteor", "CIDEr": "cider"}
_PROMPT = "A reader's note on the {aspect} of a story, which is rated {rating:g} of 5. {line}Note:"
_LINE = "The note rests on the line “{quote}”. "


@dataclass(frozen=True)
class CommentSettings:
    """Which model is asked, of how many comments, and whether it writes some itself."""

    model: str = "embedded('smollm2')"
    likelihood: int = 100  # comments whose perplexity is asked; 0: none
    written: bool = False
    written_most: int = 20
    written_s: float = 6.0  # seconds a comment may take


@dataclass(frozen=True)
class RatedAspect:
    """An aspect of a story, its evidence, and all that raters said of it."""

    story: Story
    aspect: str
    rating: float
    evidence: Evidence
    comments: tuple[str, ...]


def analyse_comments(material: Material, settings: CommentSettings) -> Findings:
    """Ask a language model for the likelihood of comments, and hold ours against raters'."""
    cases = list_cases(material.dataset(_SET))
    tables = [_overlap_table(material, settings, cases)]
    count = sum(len(case.comments) for case in cases)
    words = [
        f"{count} comments on {len(cases)} aspects of stories; no "
        "model here has learned from any of them. A composed comment is told the aspect and the "
        "rating that the raters gave.",
    ]
    if settings.likelihood:
        try:
            tables.insert(0, _likelihood_table(material, settings, cases))
        except UserError as error:
            words.append(f"No perplexity: {error}")
    return words, tables


def list_cases(dataset: Dataset) -> list[RatedAspect]:
    """Gather what raters said of every aspect of every story."""
    stories = {story.id: story for story in dataset.stories}
    grouped: dict[tuple[str, str], list[LabelledComment]] = {}
    for comment in comments_of(dataset):
        grouped.setdefault((comment.story, comment.aspect), []).append(comment)
    if not grouped:
        raise InputError(f"{dataset.name} has no comments", "give the files with comments")
    return [
        RatedAspect(
            stories[story],
            aspect,
            float(np.mean([comment.rating for comment in comments])),
            find_evidence(stories[story].text, aspect),
            tuple(comment.text for comment in comments),
        )
        for (story, aspect), comments in grouped.items()
    ]


def _prompt(case: RatedAspect, *, evidence: bool = True) -> str:
    quote = " ".join(case.evidence.quote.split())
    line = _LINE.format(quote=quote) if evidence and quote else ""
    return _PROMPT.format(aspect=case.aspect, rating=case.rating, line=line)


def _likelihood_table(
    material: Material, settings: CommentSettings, cases: Sequence[RatedAspect]
) -> StudyTable:
    from fabula.models import load_model, need

    model = need(load_model(settings.model), Likelihood)
    rng = random.Random(material.seed)
    pairs = [(case, text) for case in cases for text in case.comments]
    pairs = rng.sample(pairs, min(settings.likelihood, len(pairs)))
    others = [
        rng.choice([other for other in cases if other.aspect != case.aspect]) for case, _ in pairs
    ]
    contexts = {
        "nothing": ["" for _ in pairs],
        "aspect and rating": [_prompt(case, evidence=False) for case, _ in pairs],
        "aspect, rating and evidence": [_prompt(case) for case, _ in pairs],
        "those of another story": [_prompt(other) for other in others],
    }
    stories = [case.story.id for case, _ in pairs]
    rows: list[StudyRow] = []
    for name, prompts in contexts.items():
        given = [
            (before, f" {text}" if before else text)
            for before, (_, text) in zip(prompts, pairs, strict=True)
        ]
        logs = [known.logs[~np.isnan(known.logs)] for known in model.logs(given)]
        material.report(f"perplexity given {name}: {len(logs)} comments")
        rows.append([name, estimate_perplexity(material, logs, stories), len(logs)])
    return StudyTable(
        "comments_perplexity",
        f"Perplexity of raters' comments by {settings.model}",
        ("given", "perplexity", "comments"),
        rows,
        "Per token, over all tokens; intervals by drawing stories anew. What the evidence of the "
        "right story is worth is the step from the last row to the one before it.",
        decimals=1,
    )


def estimate_perplexity(material: Material, logs: list[Array], stories: list[str]) -> Estimate:
    """Estimate exp of the mean negative log-probability of a token, over all tokens."""
    sums = np.array([of_comment.sum() for of_comment in logs])
    sizes = np.array([len(of_comment) for of_comment in logs])

    def figure(rows: Array) -> float:
        return float(np.exp(-sums[rows].sum() / max(sizes[rows].sum(), 1)))

    return material.estimate_rows(figure, stories)


def _overlap_table(
    material: Material, settings: CommentSettings, cases: Sequence[RatedAspect]
) -> StudyTable:
    composed = [
        (case, comment.text)
        for case in cases
        if (comment := compose_comment(case.story.text, case.evidence, case.rating)) is not None
    ]
    candidates: dict[str, list[Story]] = {
        "composed": [as_story(case, text) for case, text in composed],
        "baseline: another comment on the aspect": borrow_comments(material, cases),
    }
    candidates["another rater's on the same"] = [
        as_story(replace(case, comments=case.comments[1:]), case.comments[0])
        for case in cases
        if len(case.comments) > 1
    ]
    if settings.written:
        written, beside = _write(material, settings, composed)
        candidates |= {"written by the model": written, "composed, of the same": beside}
    rows: list[StudyRow] = [
        [name, *estimate_overlaps(material, stories), len(stories)]
        for name, stories in candidates.items()
        if stories
    ]
    return StudyTable(
        "comments_overlap",
        "Overlap with raters' comments on the same story and aspect",
        ("comment", *OVERLAPS, "aspects of stories"),
        rows,
        "Means over aspects of stories; intervals by drawing stories anew. BLEU and CIDEr as the "
        f"metrics give them, ROUGE-L by its f.{explain_overlaps(candidates['composed'])}",
    )


def as_story(case: RatedAspect, text: str) -> Story:
    """Give a comment as a metric reads it: raters' own are its references."""
    return Story(
        f"{case.story.id}/{case.aspect}", text, references=case.comments, item=case.story.id
    )


def borrow_comments(material: Material, cases: Sequence[RatedAspect]) -> list[Story]:
    """Put a comment on the aspect of another story in the place of one."""
    rng, borrowed = random.Random(material.seed), []
    for case in cases:
        others = [
            text
            for other in cases
            if other.aspect == case.aspect and other.story.id != case.story.id
            for text in other.comments
        ]
        if others:
            borrowed.append(as_story(case, rng.choice(others)))
    return borrowed


def _write(
    material: Material, settings: CommentSettings, composed: Sequence[tuple[RatedAspect, str]]
) -> tuple[list[Story], list[Story]]:
    """Let the model write some; give them, and what is composed in their place."""
    from fabula.models import load_model, need

    commenter = Commenter(need(load_model(settings.model), Generator), budget_s=settings.written_s)
    count = min(settings.written_most, len(composed))
    sample = random.Random(material.seed).sample(list(composed), count)
    written, beside = [], []
    for case, text in sample:
        comment = commenter.comment(
            case.story.text, case.evidence, case.rating, until=commenter.deadline()
        )
        if comment is not None and comment.by == "written":
            written.append(as_story(case, comment.text))
            beside.append(as_story(case, text))
    material.report(f"{len(written)} of {len(sample)} comments were written and passed the checks")
    return written, beside


def estimate_overlaps(material: Material, stories: Sequence[Story]) -> list[Estimate]:
    """Estimate every overlap of `OVERLAPS` of comments with their references."""
    estimates = []
    items = [str(story.item) for story in stories]
    for spec in OVERLAPS.values():
        metric = METRICS.build(spec)
        aspect = "f" if "f" in metric.card.aspects else ""
        scores = metric.score(list(stories))
        values = np.array([score.value for score in scores if score.aspect == aspect])
        estimates.append(material.estimate_mean(values, items))
    return estimates


def explain_overlaps(stories: Sequence[Story]) -> str:
    """Say which overlaps have no value here and why, as a METEOR without its files; "" if none."""
    lacks = []
    for name, spec in OVERLAPS.items():
        for score in METRICS.build(spec).score(list(stories[:1])):
            if score.status is Status.MISSING_MODEL:
                lacks.append(f" No {name}: {score.note}.")
                break
    return "".join(lacks)
