"""Models of text: what disorder surprises, which sentence comes first, which words are masked."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from fabula.core.errors import UserError
from fabula.core.plain import read_json
from fabula.core.score import Status
from fabula.core.story import Story
from fabula.datasets import datasets_below, load_dataset
from fabula.learned.reader.inference import load_reader
from fabula.learned.training.stories import UnratedStories, human_references
from fabula.meta.distributions import wilson_interval
from fabula.meta.resampling import Estimate
from fabula.models import path_of
from fabula.replication.checks._learned import (
    correlate_columns,
    load_below,
    measure_shares,
    published_values,
    score_stories,
)
from fabula.replication.checks._result import CheckResult, judge, report, skip
from fabula.scoring.evaluate import evaluate
from fabula.text.detokenise import split_any_case
from fabula.text.perturb import shuffle, shuffle_words

if TYPE_CHECKING:
    from fabula.learned.training.corpus import TokenCorpus
    from fabula.learned.training.encoder import EncoderRecipe
    from fabula.learned.training.encoder_batches import Guessed

_PERPLEXITY = "Perplexity of stories in disorder"
_PERPLEXITY_STORIES = 100
_CHANGES = {"words": (shuffle_words, 0.99), "sentences": (shuffle, 0.75)}
_ENCODER = "The story encoder"
# Recipes lie beside the package in a clone of the repository alone.
_RECIPE = Path(__file__).resolve().parents[4] / "recipes" / "encoder.toml"
_LEAST_GUESSED = {"rocstories": 0.57, "writingprompts": 0.44}
_ORDER = "Sentence order (rovist_c)"
_ORDER_WEIGHTS = "order"
_PUBLISHED_STORIES = 2000  # reading all takes too long for a check
_ROC = "neighbours in order, ROCStories kept back"
_VIST = "neighbours in order, VIST's test references"
_LEAST_ORDER = {_ROC: 0.84, _VIST: 0.69}
_ROVIST_C = "RoViST-C"
# The published values go with the story so far, not with neighbours: both are told.
_LEAST_ROVIST_C: dict[str, float | None] = {
    "rovist_c(by='logit')": 0.50,
    "rovist_c(by='probability')": None,
    "rovist_c(by='logit', context='story')": 0.60,
    "rovist_c(context='story')": None,
}
T = TypeVar("T")


def check_perplexity(data: Path | None) -> Iterator[CheckResult]:
    """Count the stories whose shuffled version is the more surprising one."""
    source, stories = _draw_stories(data)
    table = evaluate(stories, "perplexity")
    missing = next((score for score in table if score.status is Status.MISSING_MODEL), None)
    ours = {score.story: score.value for score in table if score.aspect == ""}
    for what, (change, least) in _CHANGES.items():
        claim = f"SmolLM2 is more surprised by shuffled {what}, {source}"
        if missing:
            yield skip(_PERPLEXITY, claim, missing.note)
            continue
        texts = [(story, change(story.text)) for story in stories]
        changed = [replace(story, text=text) for story, text in texts if text is not None]
        scores = evaluate(changed, "perplexity")
        theirs = {score.story: score.value for score in scores if score.aspect == ""}
        yield _compare_perplexity(claim, ours, theirs, least)


def _draw_stories(data: Path | None) -> tuple[str, list[Story]]:
    """Stories of ROCStories in their own case, else those of the examples that people wrote."""
    folder = datasets_below(data) / "rocstories" if data else None
    if folder is None or not folder.is_dir():
        return "example stories", [
            story for story in load_dataset("examples").stories if story.system == "human"
        ]
    cased = [
        story
        for story in load_dataset("rocstories", folder).stories
        if story.id.startswith("cased:") or ":" not in story.id
    ]
    return "ROCStories", draw_alike(cased, _PERPLEXITY_STORIES)


def _compare_perplexity(
    claim: str, ours: dict[str, float], changed: dict[str, float], least: float
) -> CheckResult:
    higher = sum(value > ours[story] for story, value in changed.items())
    low, high = wilson_interval(higher, len(changed))
    before = median(ours[story] for story in changed)
    return CheckResult(
        _PERPLEXITY,
        claim,
        f"≥ {least:.0%} of the stories",
        f"{higher} of {len(changed)} [{low:.2f}, {high:.2f}], "
        f"median {before:.1f} → {median(changed.values()):.1f}",
        "verified" if higher >= least * len(changed) else "short",
    )


def check_story_encoder(data: Path | None) -> Iterator[CheckResult]:
    """Hide the same tokens of the same stories as in training, and count what is guessed."""
    claims = {name: f"masked tokens of held-out {name} guessed" for name in _LEAST_GUESSED}
    try:
        guessed = _evaluate_encoder(data)
    except UserError as error:
        for claim in claims.values():
            yield skip(_ENCODER, claim, str(error))
        return
    for name, claim in claims.items():
        yield _check_guesses(claim, guessed[name], _LEAST_GUESSED[name])


def _evaluate_encoder(data: Path | None) -> dict[str, Guessed]:
    if data is None:
        raise UserError("needs data below --data")
    if not _RECIPE.is_file():
        raise UserError("needs recipes/encoder.toml of a clone of the repository")
    from fabula.learned.training.encoder import EncoderRecipe
    from fabula.learned.training.recipe import read_recipe

    recipe, folder = read_recipe(EncoderRecipe, _RECIPE), path_of("story_encoder")
    return _count_guesses(recipe, _read_held_out(recipe, datasets_below(data), folder), folder)


def _read_held_out(recipe: EncoderRecipe, data: Path, folder: Path) -> TokenCorpus:
    """Split the stories as for training; those held out must be the very ones of its record."""
    from fabula.learned.training.corpus import read_split, tokenise

    split = read_split(recipe, data)
    corpus = tokenise(replace(split, train={}), folder)
    record = read_json(folder / "training.json")["data"]
    if corpus.describe()["held_out"] != record["held_out"]:
        raise UserError("the data give other stories than were held out of its training")
    return corpus


def _count_guesses(recipe: EncoderRecipe, corpus: TokenCorpus, folder: Path) -> dict[str, Guessed]:
    """How often the encoder in a folder guesses right, by held-out data set."""
    from fabula.learned.training.bert import load_weights, read_shape
    from fabula.learned.training.encoder import MaskedEncoder
    from fabula.learned.training.encoder_batches import held_out_batches
    from fabula.learned.training.loop import choose_device

    shape = read_shape(folder)
    weights = load_weights(folder, shape, seed=recipe.seed)
    model = MaskedEncoder(weights, shape, recipe=recipe, device=choose_device("cpu"))
    return model.evaluate(
        {name: held_out_batches(texts, recipe) for name, texts in corpus.held_out.items()}
    )


def _check_guesses(claim: str, guessed: Guessed, least: float) -> CheckResult:
    shares = f"top-1 {_share_words(guessed.top1)}, top-5 {_share_words(guessed.top5)}"
    return CheckResult(
        _ENCODER,
        claim,
        f"top-1 ≥ {least:.2f}",
        f"{shares}; {guessed.tokens:,} tokens of {guessed.stories:,} stories",
        "verified" if guessed.top1.value >= least else "short",
    )


def _share_words(share: Estimate) -> str:
    return f"{share.value:.3f} [{share.low:.3f}, {share.high:.3f}]"


def check_learned_order(data: Path | None) -> Iterator[CheckResult]:
    """Count neighbours that are told apart, either way round, and compare the published scores."""
    for claim, stories in ((_ROC, _roc_stories), (_VIST, _vist_stories)):
        try:
            yield _check_order(claim, stories(data))
        except UserError as error:
            yield skip(_ORDER, claim, str(error))
    try:
        yield from _check_rovist_c(data)
    except UserError as error:
        yield skip(_ORDER, f"{_ROVIST_C} as published", str(error))


def draw_alike(stories: Sequence[T], count: int) -> list[T]:
    """Draw so many stories, always the same."""
    return random.Random(0).sample(list(stories), min(count, len(stories)))


def _roc_stories(data: Path | None) -> list[Story]:
    """Give the stories that the training kept back: it keeps its recipe beside the weights."""
    record = read_json(path_of(_ORDER_WEIGHTS) / "training.json")
    corpus = load_below("rocstories", data)
    free = UnratedStories([load_below(name, data) for name in record["recipe"]["left_out"]])
    return free.stories([corpus], kept_back=True)


def _vist_stories(data: Path | None) -> list[Story]:
    return human_references(load_below("vist", data), "test")


def _check_order(claim: str, stories: Sequence[Story]) -> CheckResult:
    pairs: list[tuple[str, str]] = []
    items = []
    for story in stories:
        for first, second in pairwise(split_any_case(story.text)):
            if first.strip().lower() != second.strip().lower():
                pairs.append((first, second))
                items.append(str(story.item or story.id))
    reader = load_reader(_ORDER_WEIGHTS)
    ahead = reader.pair_outputs(pairs, "order")[:, 0] > 0
    behind = reader.pair_outputs([(second, first) for first, second in pairs], "order")[:, 0] < 0
    measured = measure_shares({"order": (ahead + behind.astype(np.float64)) / 2}, items)
    found = f"{measured.words('order')}, {len(pairs):,} pairs either way round, "
    found += f"{len(stories):,} stories"
    least = _LEAST_ORDER[claim]
    good = measured.value["order"] >= least
    return judge(_ORDER, claim, wanted=f"accuracy ≥ {least:.2f}", found=found, good=good)


def _check_rovist_c(data: Path | None) -> Iterator[CheckResult]:
    released = load_below("rovist", data)
    known = {score.story for score in released.scores.of(_ROVIST_C)}
    scored = [story for story in released.stories if story.id in known]
    stories = draw_alike(scored, _PUBLISHED_STORIES)
    theirs, items = published_values(released, stories, _ROVIST_C), [one.id for one in stories]
    columns = {spec: score_stories(stories, spec) for spec in _LEAST_ROVIST_C}
    measured = correlate_columns(columns, theirs, items)
    for spec, least in _LEAST_ROVIST_C.items():
        words = f"{measured.words(spec)}, {measured.n:,} human VIST stories"
        claim = f"{_ROVIST_C} as published, Spearman with {spec}"
        if least is None:
            yield report(_ORDER, claim, words)
            continue
        good = measured.value[spec] >= least
        yield judge(_ORDER, claim, wanted=f"ρ ≥ {least:.2f}", found=words, good=good)
