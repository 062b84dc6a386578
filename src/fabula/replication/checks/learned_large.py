"""The large weights: what their training recorded of corpora left out, and choices unseen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.errors import InputError, UserError
from fabula.learned.coherence import Coherence
from fabula.learned.storyer import Storyer
from fabula.learned.training.choices import gather_choices
from fabula.learned.training.left_out import Held, measure_columns
from fabula.replication.checks._learned import (
    correlate_columns,
    load_below,
    mean_ratings,
    score_baselines,
    score_stories,
    story_items,
)
from fabula.replication.checks._result import CheckResult, judge, report, skip
from fabula.replication.unseen import UnseenValues, read_unseen
from fabula.scoring.evaluate import BASELINES

_WEIGHTS = {"preference": "large", "coherence": Coherence.large}
_LEFT_OUT = (
    "Corpora left out of the training (weights='large'), choices that agree; as the training "
    "recorded it"
)
_UNSEEN = "Choices of unseen items (weights='large'), 5 folds by item"
_TAUGHT = (
    "Choices of unseen items (storyer), by a head that weights='large' taught, 5 folds by item"
)
_NEVER_LEARNED = "coherence(weights='large'), coherence_roc300, never learned from"
_WORST = -0.03  # what no corpus's interval may lie below
_LEAST = 0.40  # ρ with the ratings of coherence_roc300
_SAME = 0.0005  # a choice in two thousand


def check_learned_large(data: Path | None) -> Iterator[CheckResult]:
    """Give what was recorded of corpora left out, and measure choices of unseen items again."""
    try:
        unseen = {scale: read_unseen(name) for scale, name in _WEIGHTS.items()}
    except UserError as error:
        yield skip(_LEFT_OUT, "gains over trivial baselines", str(error))
        return
    figures = {
        scale: one.config.training["validation"]["scales"][scale] for scale, one in unseen.items()
    }
    for scale in _WEIGHTS:
        yield from judge_left_out(scale, figures[scale])
    for scale in _WEIGHTS:
        yield from _check_unseen(_UNSEEN, scale, unseen[scale], data)
    yield _check_never_learned(data)
    yield from _check_unseen(_TAUGHT, "preference", read_unseen(Storyer.small), data)


def judge_left_out(scale: str, figures: Mapping[str, Any]) -> Iterator[CheckResult]:
    """Judge the mean gain over the best trivial baseline of every corpus left out, and the least.

    The gain is paired: the share of choices that agree less that of the corpus's own best trivial
    baseline, items drawn again.
    """
    rows = figures["left_out"]
    mean, worst = figures["mean_gain"], min(rows, key=lambda row: row["gain"]["high"])
    yield judge(
        _LEFT_OUT, f"{scale}: mean gain over the best trivial baseline of each corpus",
        wanted="its interval above 0", found=f"{_say(mean, sign=True)}, {len(rows)} corpora",
        good=mean["low"] > 0,
    )  # fmt: skip
    yield judge(
        _LEFT_OUT, f"{scale}: the corpus whose interval ends lowest",
        wanted=f"no interval below {_WORST}",
        found=f"{worst['corpus']} {_say(worst['gain'], sign=True)}",
        good=worst["gain"]["high"] >= _WORST,
    )  # fmt: skip
    for row in rows:
        gain, rival = _say(row["gain"], sign=True), row["baseline"]
        found = f"{_say(row['accuracy'])} of {row['choices']:,} choices; {gain} over {rival}"
        yield report(_LEFT_OUT, f"{scale}: {row['corpus']}", found)


def _say(figure: Mapping[str, float], *, sign: bool = False) -> str:
    how = "+.3f" if sign else ".3f"
    return f"{figure['value']:{how}} [{figure['low']:{how}}, {figure['high']:{how}}]"


def _check_unseen(
    title: str, scale: str, unseen: UnseenValues, data: Path | None
) -> Iterator[CheckResult]:
    recorded = unseen.config.training["validation"]["scales"][scale]["unseen"]
    try:
        yield from _measure_unseen(title, scale, unseen, recorded, data)
    except UserError as error:
        yield skip(title, scale, str(error))


def _measure_unseen(
    title: str,
    scale: str,
    unseen: UnseenValues,
    recorded: Sequence[Mapping[str, Any]],
    data: Path | None,
) -> Iterator[CheckResult]:
    """Measure the values of folds on the choices of every corpus that a head learned from."""
    if data is None:
        raise InputError("needs data below --data", "name the folder of the data sets")
    corpora = gather_choices(data, [row["corpus"] for row in recorded])
    columns = {
        one.corpus: unseen.in_order(scale, one.corpus, len(one.texts))[0][:, None]
        for one in corpora
    }
    for row, held in zip(recorded, measure_columns(corpora, columns), strict=True):
        yield _compare(title, f"{scale}: {held.corpus}", held, row["accuracy"]["value"])


def _compare(title: str, claim: str, held: Held, recorded: float) -> CheckResult:
    accuracy, gain = asdict(held.accuracy), asdict(held.gain)
    found = f"{_say(accuracy)} of {held.choices:,} choices; "
    found += f"{_say(gain, sign=True)} over {held.name}"
    good = abs(held.accuracy.value - recorded) <= _SAME
    return judge(title, claim, wanted=f"{recorded:.3f}, as recorded", found=found, good=good)


def _check_never_learned(data: Path | None) -> CheckResult:
    try:
        rated = load_below("coherence", data)
        stories = list(rated.stories)
        ours = score_stories(stories, "coherence(weights='large')")
    except UserError as error:
        return skip(_UNSEEN, _NEVER_LEARNED, str(error))
    columns = {"ours": ours, **score_baselines(stories)}
    gold = mean_ratings(rated, stories, "coherence")
    known = np.isfinite(gold)
    measured = correlate_columns(
        {name: values[known] for name, values in columns.items()},
        gold[known],
        [item for item, there in zip(story_items(stories), known, strict=True) if there],
    )
    found = f"ρ {measured.words('ours')}, {measured.n} stories; {measured.gain('ours', BASELINES)}"
    return judge(
        _UNSEEN, _NEVER_LEARNED, wanted=f"ρ ≥ {_LEAST}", found=found,
        good=measured.estimate("ours").value >= _LEAST,
    )  # fmt: skip
