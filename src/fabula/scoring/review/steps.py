"""A story is reviewed step by step: everyone is asked, then comments come one after the other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from fabula.core.errors import SettingError, UserError
from fabula.core.metric import Metric
from fabula.core.score import Missing, Score, Status
from fabula.core.settings import format_spec
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.aspects import Aspects
from fabula.learned.comments.composer import Commenting, compose_comment, observe
from fabula.learned.comments.evidence import StorySentences, find_evidence, word_list
from fabula.learned.reader.domain import describe_other_writing
from fabula.learned.reader.metric import BOTH, LARGE, ReaderMetric, ScaleMetric
from fabula.learned.rovist_c import RovistC
from fabula.scoring.catalogue import METRICS, choose_metrics
from fabula.scoring.evaluate import evaluate
from fabula.scoring.review.parts import (
    WRITERS,
    AspectReview,
    MissingPart,
    Opinions,
    PlacedTransition,
    Review,
    rate_step,
    read_writers,
)
from fabula.text.odd_words import OddWords, describe_odd_words, find_odd_words
from fabula.text.repetition import find_repetitions

WEIGHTS, ORDER_WEIGHTS = "reader", "order"
PREFERENCE, CONFIDENCE, ORDER, BASELINES = "storyer", "confidence", "rovist_c", "baselines"
CRITERIA = "criteria"
PROMPT = "closeness to the prompt"
# Readers of StoryER spoke of three to five of the ten aspects.
LEAST_COMMENTS, MOST_COMMENTS = 3, 5
_WITH_WRITTEN = 2  # observations beside comments that a model writes
PARTS = (PREFERENCE, WRITERS, CRITERIA, "coherence", "aspects", CONFIDENCE, ORDER, PROMPT)
OPINIONS = {PREFERENCE, WRITERS, CRITERIA, "aspects", CONFIDENCE}  # what weights are named for
_APART = "weights disagree"  # as notes of metrics with both weights say
_FAKE = "fake"  # for tests, where no part has weights


def review_story(
    story: Story,
    *,
    weights: str = WEIGHTS,
    order: str = ORDER_WEIGHTS,
    comments: bool = True,
    commenter: Commenting | None = None,
    seed: int = 0,
    cache: bool | str | Path = False,
    grounder: str = "",
    judge: str = "",
) -> Iterator[Review]:
    """Review a story. The first review holds all but the comments, each after it one more of them.

    Comments are composed by rules unless a `commenter` writes them, and may take long then. The
    last review is the whole: `*_, review = review_story(story)`. A story with images is looked for
    in them, by the `grounder` that is named; a `judge` is asked where one is.
    """
    review = assemble_review(story, ask_metrics(story, weights=weights, order=order, cache=cache))
    if story.images:
        from fabula.scoring.review.pictures import add_pictures

        named = "" if order == ORDER_WEIGHTS else order
        review = add_pictures(review, grounder=grounder, order=named, cache=cache)
    if weights != WEIGHTS:
        from fabula.scoring.review.commenters import choose_spoken, find_joint

        review = choose_spoken(review, joint) if (joint := find_joint(weights)) else review
    if judge:
        from fabula.scoring.review.judging import add_judge

        review = add_judge(review, judge, cache=cache)
    yield review
    if comments:
        yield from add_comments(review, commenter, seed=seed)


def count_story(story: Story) -> Review:
    """Give what can be counted at once; nobody is asked for an opinion."""
    trivial = [*choose_metrics(BASELINES), *choose_metrics("sentences")]
    scores = _group_scores(evaluate([story], trivial), {}, trivial)
    signatures = {metric.spec: metric.signature() for metric in trivial}
    unlike = describe_other_writing(story.text)
    return assemble_review(story, Opinions(scores, signatures=signatures, unlike=unlike))


@dataclass(frozen=True)
class ReviewMetrics:
    """The learned metrics of a review by its parts, their signatures, and which there are not."""

    parts: dict[str, Metric] = field(default_factory=dict)
    signatures: dict[str, str] = field(default_factory=dict)
    missing: list[MissingPart] = field(default_factory=list)
    unlearned: list[MissingPart] = field(default_factory=list)


def choose_parts(
    weights: str, order: str = ORDER_WEIGHTS, wanted: Iterable[str] = ()
) -> ReviewMetrics:
    """Build the learned metrics of a review, or of the parts wanted; say which there are not.

    Weights that the user has named must be there, and have learned one of the parts at least.
    """
    specs = _list_specs(weights, order)
    chosen = ReviewMetrics()
    for part in wanted or specs:
        name, settings = specs[part]
        try:
            metric = METRICS.build(format_spec(name, settings))
            if part == CRITERIA and not settings and not _can_be_asked(metric):
                # Those of the small reader want no asset but its own; they read no prompt.
                metric = METRICS.build(format_spec(name, {"weights": WEIGHTS}))
            chosen.signatures[metric.spec] = metric.signature()
            lack = metric.find_lack() if isinstance(metric, ReaderMetric) else ""
            if lack:
                # Few weights know what writers think: that is no fault to be mended.
                lacks = chosen.unlearned if part == WRITERS else chosen.missing
                lacks.append(MissingPart(part, lack))
            else:
                chosen.parts[part] = metric
        except UserError as error:
            if settings.get("weights", WEIGHTS) != WEIGHTS:
                raise
            chosen.missing.append(MissingPart(part, str(error)))
    lacking = [lack for lack in (*chosen.missing, *chosen.unlearned) if lack.part in OPINIONS]
    if weights != WEIGHTS and lacking and not OPINIONS & chosen.parts.keys():
        raise SettingError(lacking[0].why, "name weights that judge stories")
    return chosen


def _can_be_asked(metric: Metric) -> bool:
    return not isinstance(metric, ReaderMetric) or metric.at_hand


def _list_specs(weights: str, order: str) -> dict[str, tuple[str, dict[str, object]]]:
    """Name the metric of every part, and its settings."""
    reader = {} if weights == WEIGHTS else {"weights": weights}
    # Aspects are the small reader's own. Coherence has weights of its own, small and large.
    alone = {} if weights in (LARGE, BOTH) else reader
    shared = {"weights": weights} if weights in (_FAKE, LARGE, BOTH) else {}
    return {
        PREFERENCE: (PREFERENCE, {**reader, "interval": True}),
        WRITERS: (WRITERS, {**reader, "interval": True}),
        # By their usual weights, which writers' opinion asks as well, and which read the prompt.
        CRITERIA: (CRITERIA, {**reader}),
        "coherence": ("coherence", {**shared}),
        "aspects": ("aspects", {**alone}),
        CONFIDENCE: ("aspects", {**alone, "confidence": True}),
        ORDER: (ORDER, {} if order == ORDER_WEIGHTS else {"weights": order}),
        PROMPT: ("supert", {"model": "fake()", "layer": 0} if weights == _FAKE else {}),
    }


def ask_metrics(
    story: Story,
    *,
    weights: str = WEIGHTS,
    order: str = ORDER_WEIGHTS,
    cache: bool | str | Path = False,
) -> Opinions:
    """Ask the learned metrics and the trivial baselines about a story.

    What cannot be had is said, with what to do. Of a text that is hardly a story the learned ones
    know nothing, and are not asked.
    """
    trivial = [*choose_metrics(BASELINES), *choose_metrics("sentences")]
    counted = {metric.spec: metric.signature() for metric in trivial}
    unlike = describe_other_writing(story.text)
    named = (weights, order) != (WEIGHTS, ORDER_WEIGHTS)
    # Weights that were named must be there, even where they are not asked.
    wanted = [part for part in PARTS if part != PROMPT or story.prompt]
    chosen = choose_parts(weights, order, wanted) if named or not unlike else ReviewMetrics()
    parts = {} if unlike else chosen.parts
    table = evaluate([story], [*parts.values(), *trivial], cache=cache)
    scores = _group_scores(table, parts, trivial)
    absent = [
        MissingPart(part, score.note)
        for part, by_aspect in scores.items()
        for score in [*by_aspect.values()][:1]
        if score.status is Status.MISSING_MODEL
    ]
    transitions = _find_transitions(story, parts.get(ORDER), scores.get(ORDER, {}), absent)
    ratings = parts.get("aspects")
    usual = ratings.usual() if isinstance(ratings, Aspects) and ratings.at_hand else {}
    missing = (*chosen.missing, *absent)
    doubts = {part: _find_doubts(metric) for part, metric in parts.items()}
    signatures = {metric.spec: chosen.signatures[metric.spec] for metric in parts.values()}
    signatures |= counted
    unlearned = () if unlike else tuple(chosen.unlearned)
    odd = _find_odd_words(story, parts)
    return Opinions(scores, transitions, missing, signatures, usual, doubts, unlike, unlearned, odd)


def _find_odd_words(story: Story, parts: Mapping[str, Metric]) -> OddWords:
    """Find odd words by the vocabulary that bounds were measured with: the small weights' own."""
    for metric in (parts.get("coherence"), parts.get(ORDER)):
        if isinstance(metric, ReaderMetric) and metric.is_usual and metric.at_hand:
            return find_odd_words(story.text, metric.model.source.lengths)
    return OddWords()


def _find_doubts(metric: Metric) -> dict[str, str]:
    """Say of each aspect of a metric why its value tells nothing of a story; "" where it may."""
    return metric.doubts() if isinstance(metric, ScaleMetric) and metric.at_hand else {}


def _group_scores(
    table: ScoreTable, parts: dict[str, Metric], trivial: list[Metric]
) -> dict[str, dict[str, Score]]:
    """Give the scores of one story by part and aspect; those of all baselines are one part."""
    by_spec: dict[str, dict[str, Score]] = {}
    for score in table:
        by_spec.setdefault(score.scorer, {})[score.aspect] = score
    scores = {part: by_spec[metric.spec] for part, metric in parts.items()}
    scores[BASELINES] = {
        f"{metric.spec} {aspect}".strip(): score
        for metric in trivial
        for aspect, score in by_spec[metric.spec].items()
    }
    return scores


def _find_transitions(
    story: Story,
    metric: Metric | None,
    scores: Mapping[str, Score],
    absent: list[MissingPart],
) -> tuple[PlacedTransition, ...]:
    """Give transitions where the order has a value; why they cannot be had is added to `absent`."""
    if not isinstance(metric, RovistC) or not any(score.ok for score in scores.values()):
        return ()
    try:
        steps = place_transitions(story, metric)
        # What is known of human stories was measured with the weights that Fabula ships.
        known = metric.weights == ORDER_WEIGHTS
        return tuple(rate_step(story.text, step) for step in steps) if known else steps
    except Missing as error:
        absent.append(MissingPart(ORDER, error.note))
    except UserError as error:
        absent.append(MissingPart(ORDER, str(error)))
    return ()


def place_transitions(story: Story, metric: RovistC) -> tuple[PlacedTransition, ...]:
    """Give transitions with the places of their sentences in the story."""
    return tuple(
        PlacedTransition(*transition.places, float(transition.probability))
        for transition in metric.transitions(story)
    )


def assemble_review(story: Story, opinions: Opinions) -> Review:
    """Put together all but the comments, from what everyone says."""
    sentences, notes = StorySentences(story.text), _collect_notes(opinions)
    odd = describe_odd_words(opinions.odd)
    spelling = [f"spelling: {odd}"] if odd else []
    aspects = tuple(
        AspectReview(
            name,
            opinions.value(CONFIDENCE, name),
            opinions.value("aspects", name),
            find_evidence(sentences, name),
            usual=opinions.usual.get(name, 3.0),
            unrated=opinions.doubt("aspects", name),
        )
        for name in ASPECTS
    )
    review = Review(
        story=story,
        preference=opinions.value(PREFERENCE),
        percentile=opinions.value(PREFERENCE, "percentile"),
        interval=(opinions.value(PREFERENCE, "low"), opinions.value(PREFERENCE, "high")),
        coherence=opinions.value("coherence"),
        criteria=opinions.values(CRITERIA),
        aspects=aspects,
        transitions=opinions.transitions,
        repetition=find_repetitions(story.text, stop_words=word_list("stop")),
        statistics=opinions.values(BASELINES),
        warnings=(*spelling, *(note for note, parts in notes.items() if _is_warning(note, parts))),
        missing=opinions.missing,
        signatures=opinions.signatures,
        order=opinions.value(ORDER),
        prompt=opinions.value(PROMPT),
        left_out=(*opinions.unlearned, *_collect_doubts(opinions)),
        unlike=opinions.unlike,
        notes=tuple(note for note, parts in notes.items() if not _is_warning(note, parts)),
    )
    return replace(review, writers=read_writers(review, opinions))


def _is_warning(note: str, parts: list[str]) -> bool:
    """Whether a note is for everyone: of the preference, or of two weights that disagree."""
    return PREFERENCE in parts or _APART in note


def _collect_doubts(opinions: Opinions) -> tuple[MissingPart, ...]:
    """Say which values there would be that tell nothing of this story."""
    left_out = []
    for part, doubts in opinions.doubts.items():
        for aspect, why in doubts.items():
            if part == WRITERS and aspect:
                continue  # the same as of the score itself
            score = opinions.scores.get(part, {}).get(aspect)
            if score is not None and score.status is Status.MISSING_PROMPT:
                reason = f"no prompt is given, and {why}" if why else "no prompt is given"
                left_out.append(MissingPart(f"{part}.{aspect}", reason))
            elif why and score is not None and (score.ok or score.note == why):
                left_out.append(MissingPart(f"{part}.{aspect}".rstrip("."), why))
    return tuple(left_out)


def _collect_notes(opinions: Opinions) -> dict[str, list[str]]:
    """What scores say of themselves, each once, and which parts do; `missing` speaks of models."""
    lacking = {lack.why for lack in opinions.missing}
    notes: dict[str, list[str]] = {}
    for part, scores in opinions.scores.items():
        for aspect, score in scores.items():
            said = score.note and score.status is not Status.MISSING_PROMPT
            # Why a value tells nothing is said beside it.
            said = said and score.note != opinions.doubt(part, aspect)
            if said and score.note not in lacking:
                parts = notes.setdefault(score.note, [])
                name = score.scorer.partition("(")[0] if part == BASELINES else part
                if name not in parts:
                    parts.append(name)
    return {f"{', '.join(parts)}: {note}": parts for note, parts in notes.items()}


def add_comments(
    review: Review, commenter: Commenting | None = None, *, seed: int = 0
) -> Iterator[Review]:
    """Add what was observed, then a comment at a time on aspects; give the review after each.

    Where a model writes, it speaks of the aspects we are surest of; rules speak of those that a
    reader has rated, as far as five comments in all leave room.
    """
    text = review.story.text
    until = commenter.deadline() if commenter else math.inf
    if not (review.unlike or review.spoken):
        most = _WITH_WRITTEN if commenter else MOST_COMMENTS
        review = replace(review, observations=observe(text, review.repetition)[:most])
    chosen = choose_aspects(review, written=commenter is not None)
    if review.observations or not chosen:
        yield review
    for aspect in chosen:
        if commenter is None:
            comment = compose_comment(
                text, aspect.evidence, aspect.rating, usual=aspect.usual, seed=seed
            )
        else:
            comment = commenter.comment(
                text, aspect.evidence, aspect.rating, until=until, usual=aspect.usual, seed=seed
            )
        if comment is not None:
            commented = replace(
                aspect, comment=comment.text, by=comment.by, evidence=comment.evidence
            )
            aspects = [commented if old.name == aspect.name else old for old in review.aspects]
            review = replace(review, aspects=tuple(aspects))
            yield review


def choose_aspects(review: Review, *, written: bool = True) -> list[AspectReview]:
    """Choose the aspects to comment on: with evidence, and surer than an even share.

    At least three, where there are so many, and at most five with what was observed. Where nothing
    is known of what readers would speak of here, those that come first: readers of StoryER spoke
    of them most. Unless they are `written`, only what a reader has rated is spoken of. A reader
    that chooses by itself speaks of those. There is no comment on a text that is hardly a story.
    """
    if review.unlike:
        return []
    if review.spoken:
        by_name = {aspect.name: aspect for aspect in review.aspects}
        return [by_name[name] for name in review.spoken]
    most = MOST_COMMENTS - len(review.observations or ())
    ready = [aspect for aspect in review.aspects if aspect.evidence.found]
    ready = [aspect for aspect in ready if written or math.isfinite(aspect.rating)]
    if not any(math.isfinite(aspect.confidence) for aspect in ready):
        return ready[:most]
    ready.sort(key=lambda aspect: -aspect.confidence if math.isfinite(aspect.confidence) else 0.0)
    sure = sum(aspect.confidence > 1 / len(ASPECTS) for aspect in ready)
    return ready[: min(max(sure, LEAST_COMMENTS), most)]
