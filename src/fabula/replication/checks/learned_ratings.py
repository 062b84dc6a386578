"""People's ratings of machine stories: HANNA's criteria, coherence, relevance to a prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError, UserError
from fabula.core.story import Story
from fabula.datasets.hanna import METRICS as HANNA_METRICS
from fabula.learned.criteria import UNREAD, Criteria
from fabula.learned.reader.config import CRITERIA
from fabula.learned.reader.relation import clean_prompt, fit_relation, relate
from fabula.learned.ruber_model.network import cosine, load_ruber
from fabula.learned.training.recipe import Task
from fabula.learned.training.stories import task_stories
from fabula.meta.arrays import Values
from fabula.replication.checks._learned import (
    Columns,
    Gain,
    MeasuredColumns,
    correlate_columns,
    load_below,
    mean_ratings,
    measure_pairs,
    published_values,
    score_baselines,
    score_stories,
    story_items,
)
from fabula.replication.checks._result import CheckResult, judge, report, skip
from fabula.replication.checks.text_models import draw_alike
from fabula.replication.hanna.columns import by_machines
from fabula.replication.unseen import read_unseen
from fabula.scoring.evaluate import BASELINES
from fabula.text.words import words

_CRITERIA = "HANNA's criteria (criteria), 5 folds by prompt, Spearman over all stories"
_CRITERIA_WEIGHTS = ("permissive", "reader", "large")
_PROMPTED_WEIGHTS = ("permissive", "reader")  # the large ones read 400 stories for half an hour
_BARRED = ("relevance", "engagement", "complexity")
_LENGTH = ("words",)
_COHERENCE = "Coherence (coherence), Spearman over all stories"
_OTHER_WEIGHTS = "permissive"
_NEVER_LEARNED = "coherence_roc300, never learned from"
_LEAST_NEVER_LEARNED = 0.30
_OTHER_SCORERS = ("coherence(weights='permissive')", "union", "manplts")
_RELEVANCE = "Relevance (ruber), HANNA's machine stories, Spearman over all stories"
_RUBER = "ruber, the prompt and the story"
_PROMPTS = "The right prompt or another's (criteria, relevance), human stories on unseen prompts"
_LEAST_PROMPTS = 0.80
_PROMPT_STORIES = 200
_PROMPT_WORDS = range(150, 451)


def check_learned_criteria(data: Path | None) -> Iterator[CheckResult]:
    """Correlate with the raters' means, criterion by criterion."""
    try:
        hanna = load_below("hanna", data)
        if not len(hanna.scores):
            raise InputError("hanna has no scores here", "fabula data show hanna names the file")
        rivals = _score_rivals(hanna)
    except UserError as error:
        yield skip(_CRITERIA, "criteria", str(error))
        return
    for weights in _CRITERIA_WEIGHTS:
        try:
            ours = _read_criteria(hanna, weights)
        except UserError as error:
            yield skip(_CRITERIA, f"criteria(weights={weights!r})", str(error))
            continue
        for name in CRITERIA:
            columns = {"ours": ours[name], **rivals}
            yield from _check_criterion(hanna, name, columns, weights=weights)


def _read_criteria(hanna: Dataset, weights: str) -> dict[str, Values]:
    unseen, ids = read_unseen(weights), [f"hanna:{story.id}" for story in hanna.stories]
    if "ids/criteria" in unseen.arrays:
        return {name: unseen.by_seed(f"criteria.{name}", "criteria", ids) for name in CRITERIA}
    return {
        name: unseen.in_order(f"criteria.{name}", f"hanna {name}", len(ids)) for name in CRITERIA
    }


def _score_rivals(hanna: Dataset) -> dict[str, Values]:
    """Score the baselines, and lay out the published metrics."""
    stories = list(hanna.stories)
    return {
        **score_baselines(stories),
        **{name: published_values(hanna, stories, name) for name in HANNA_METRICS},
    }


def _check_criterion(
    hanna: Dataset, name: str, columns: Columns, *, weights: str
) -> Iterator[CheckResult]:
    stories = list(hanna.stories)
    gold, items = mean_ratings(hanna, stories, name), story_items(stories)
    measured = correlate_columns(columns, gold, items)
    beyond = correlate_columns({"ours": columns["ours"]}, gold, items, given=columns["words"])
    claim = f"criteria(weights={weights!r}), {name}"
    found = f"{measured.words('ours')} ({measured.each_seed('ours')}), {measured.n:,} stories"
    yield report(_CRITERIA, claim, found)
    length, rival = measured.gain("ours", _LENGTH), measured.gain("ours", list(HANNA_METRICS))
    given = f"given words {beyond.words('ours')}"
    # Weights that do not read the prompt claim nothing of relevance.
    asked = name if name != "relevance" or _reads_prompts(weights) else ""
    yield _check_gain(f"{claim}, beyond length", f"{length}; {given}", length, asked)
    yield _check_gain(
        f"{claim}, beyond the best of {len(HANNA_METRICS)} published", str(rival), rival, asked
    )
    yield from _report_beside(measured, hanna, columns, gold=gold, claim=claim)


def _reads_prompts(weights: str) -> bool:
    return Criteria(weights).doubts()["relevance"] != UNREAD


def _check_gain(claim: str, found: str, gain: Gain, name: str) -> CheckResult:
    if name not in _BARRED:
        return report(_CRITERIA, claim, found)
    wanted = "a gain with its interval above 0"
    return judge(_CRITERIA, claim, wanted=wanted, found=found, good=gain.is_sure)


def _report_beside(
    measured: MeasuredColumns, hanna: Dataset, columns: Columns, *, gold: Values, claim: str
) -> Iterator[CheckResult]:
    """Give the trivial baselines, and all figures again without the stories people wrote.

    Metrics that read a reference compare those with themselves.
    """
    found = f"{measured.plain(BASELINES)}; gain {measured.gain('ours', BASELINES)}"
    yield report(_CRITERIA, f"{claim}, trivial baselines", found)
    people = set(hanna.card.reference_systems)
    chosen = np.array([story.system not in people for story in hanna.stories])
    items = [item for item, there in zip(story_items(hanna.stories), chosen, strict=True) if there]
    of_machines = {name: np.atleast_2d(rows)[:, chosen] for name, rows in columns.items()}
    machine = correlate_columns(of_machines, gold[chosen], items)
    gains = (machine.gain("ours", rivals) for rivals in (BASELINES, list(HANNA_METRICS)))
    found = f"{machine.words('ours')}, {machine.n} stories; {'; '.join(map(str, gains))}"
    yield report(_CRITERIA, f"{claim}, machine stories alone", found)


@dataclass(frozen=True)
class RatedSet:
    """Stories with ratings that were left out fold by fold."""

    claim: str
    task: str
    data: str
    aspect: str
    split: str = ""
    with_prompt: bool = False
    least: float | None = None
    scorers: tuple[str, ...] = ()


_FOLDED_SETS = (
    RatedSet("MANS, ROCStories", "mans_roc", "mans", "overall", "roc:", True, 0.40),
    RatedSet("MANS, WritingPrompts", "mans_wp", "mans", "overall", "wp:", False, 0.26),
    RatedSet("HANNA's coherence", "criteria", "hanna", "coherence"),
    RatedSet(
        "UNION's ratings", "union_ratings", "union", "reasonable", scorers=("UNION", "UNION-recon")
    ),
)


def check_learned_coherence(data: Path | None) -> Iterator[CheckResult]:
    """Correlate the weights with ratings never learned from, and folds with those learned from."""
    yield from _check_never_learned(data)
    for rated_set in _FOLDED_SETS:
        claim = f"{rated_set.claim}, 5 folds by item"
        try:
            yield from _check_folded(rated_set, claim, data)
        except UserError as error:
            yield skip(_COHERENCE, claim, str(error))


def _check_never_learned(data: Path | None) -> Iterator[CheckResult]:
    try:
        rated = load_below("coherence", data)
        stories = list(rated.stories)
        columns = {"coherence": score_stories(stories, "coherence"), **score_baselines(stories)}
        columns |= {name: published_values(rated, stories, name) for name in rated.scorers}
        gold, items = mean_ratings(rated, stories, "coherence"), story_items(stories)
        measured = correlate_columns(columns, gold, items)
    except UserError as error:
        yield skip(_COHERENCE, _NEVER_LEARNED, str(error))
        return
    yield _check_coherence(_NEVER_LEARNED, measured, _LEAST_NEVER_LEARNED, tuple(rated.scorers))
    yield _report_baselines(_NEVER_LEARNED, measured)
    for spec in _OTHER_SCORERS:
        claim = f"{spec}, {_NEVER_LEARNED}"
        try:
            values = {"ours": score_stories(stories, spec)}
        except UserError as error:
            yield skip(_COHERENCE, claim, str(error))
            continue
        measured = correlate_columns(values, gold, items)
        yield report(_COHERENCE, claim, f"{measured.words('ours')}, {measured.n} stories")


def _check_folded(of: RatedSet, claim: str, data: Path | None) -> Iterator[CheckResult]:
    rated = load_below(of.data, data)
    task = Task("ratings", (of.data,), of.task, split=of.split, with_prompt=of.with_prompt)
    stories = task_stories(rated, task)
    ids = [f"{of.data}:{story.id}" for story in stories]
    columns: dict[str, Values] = {
        "coherence": read_unseen("coherence").by_seed("coherence", of.task, ids),
        **score_baselines(stories),
    }
    if of.data != "union":  # whose stories the other weights keep away from
        columns[_OTHER_WEIGHTS] = read_unseen(_OTHER_WEIGHTS).by_seed("coherence", of.task, ids)
    scorers = tuple(name for name in of.scorers if name in rated.scorers)
    columns |= {name: published_values(rated, stories, name) for name in scorers}
    gold = mean_ratings(rated, stories, of.aspect)
    measured = correlate_columns(columns, gold, story_items(stories))
    yield _check_coherence(claim, measured, of.least, scorers)
    yield _report_baselines(claim, measured)


def _check_coherence(
    claim: str, measured: MeasuredColumns, least: float | None, scorers: tuple[str, ...]
) -> CheckResult:
    seeds = measured.seeds["coherence"]
    found = measured.words("coherence")
    found += f" ({measured.each_seed('coherence')})" if len(seeds) > 1 else ""
    found += f", {measured.n:,} stories of {measured.items:,} items"
    if scorers:
        found += f"; published: {measured.plain(scorers)}"
    if least is None:
        return report(_COHERENCE, claim, found)
    good = measured.value["coherence"] >= least
    return judge(_COHERENCE, claim, wanted=f"ρ ≥ {least:.2f}", found=found, good=good)


def _report_baselines(claim: str, measured: MeasuredColumns) -> CheckResult:
    found = f"{measured.plain(BASELINES)}; coherence {measured.gain('coherence', BASELINES)}"
    if _OTHER_WEIGHTS in measured.value:
        found += f"; weights='{_OTHER_WEIGHTS}' {measured.words(_OTHER_WEIGHTS)}"
    return report(_COHERENCE, f"{claim}: beside", found)


def check_learned_relevance(data: Path | None) -> Iterator[CheckResult]:
    """Correlate with the raters' relevance; HANNA is not learned from."""
    try:
        hanna = load_below("hanna", data)
        stories = list(by_machines(hanna))
        columns = {
            "ruber": score_stories(stories, "ruber"),
            "cosine": _cosines(stories),
            "overlap": np.array([_overlap(story) for story in stories]),
            "relation": _relations(stories),
            **score_baselines(stories),
        }
    except UserError as error:
        yield skip(_RELEVANCE, _RUBER, str(error))
        return
    gold = mean_ratings(hanna, stories, "relevance")
    measured = correlate_columns(columns, gold, story_items(stories))
    rivals = [name for name in columns if name != "ruber"]
    found = f"{measured.words('ruber')}, {measured.n} stories; {measured.gain('ruber', rivals)}"
    yield report(_RELEVANCE, _RUBER, found)
    claims = {
        "cosine": "cosine of the pooled vectors of prompt and story, no training",
        "overlap": "share of the prompt's words that the story holds",
        "relation": "what criteria's relevance reads of the prompt, no training",
    }
    for name, claim in claims.items():
        yield report(_RELEVANCE, claim, measured.words(name))


def _cosines(stories: Sequence[Story]) -> Values:
    model = load_ruber("ruber")
    texts, prompts = [story.text for story in stories], [story.prompt or "" for story in stories]
    pooled = zip(model.pool(texts), model.pool(prompts), strict=True)
    return np.array([cosine(one.vector, other.vector) for one, other in pooled])


def _overlap(story: Story) -> float:
    asked = set(words(story.prompt or ""))
    return len(asked & set(words(story.text))) / len(asked) if asked else float("nan")


def _relations(stories: Sequence[Story]) -> Values:
    rows = relate([story.prompt for story in stories], [story.text for story in stories])
    values: Values = fit_relation([rows], 1.0).parts(rows)
    return values


def check_learned_prompts(data: Path | None) -> Iterator[CheckResult]:
    """Give stories their own prompt, and that of another one: which makes them more relevant?"""
    try:
        hanna, corpus = load_below("hanna", data), load_below("writingprompts", data)
    except UserError as error:
        yield skip(_PROMPTS, "criteria", str(error))
        return
    stories = choose_prompted(corpus, hanna)
    others = [
        replace(story, prompt=other.prompt)
        for story, other in zip(stories, stories[1:] + stories[:1], strict=True)
    ]
    for weights in _PROMPTED_WEIGHTS:
        spec, places = f"criteria(weights={weights!r})", np.arange(len(stories))
        try:
            values = [score_stories(some, spec, "relevance") for some in (stories, others)]
        except UserError as error:
            yield skip(_PROMPTS, spec, str(error))
            continue
        both = {"ours": np.concatenate(values)}
        found = measure_pairs(both, places, places + len(places), story_items(stories))
        words = f"{found.words('ours')}, {found.n} stories"
        if not _reads_prompts(weights):
            yield report(_PROMPTS, spec, f"{words}: they do not read it")
            continue
        good = found.value["ours"] >= _LEAST_PROMPTS
        wanted = f"≥ {_LEAST_PROMPTS:.2f}"
        yield judge(_PROMPTS, spec, wanted=wanted, found=words, good=good)


def choose_prompted(corpus: Dataset, rated: Dataset) -> list[Story]:
    """Draw stories with a prompt that no rated story has, each of another prompt."""
    barred = {clean_prompt(story.prompt or "") for story in rated.stories}
    by_prompt: dict[str, Story] = {}
    for story in corpus.stories:
        prompt = clean_prompt(story.prompt or "")
        if prompt and prompt not in barred and len(story.text.split()) in _PROMPT_WORDS:
            by_prompt.setdefault(prompt, story)
    return draw_alike(list(by_prompt.values()), _PROMPT_STORIES)
