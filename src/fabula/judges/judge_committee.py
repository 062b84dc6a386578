"""Several judges together: the mean of their ratings, and how far they agree on a story."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, cast

from fabula.core.card import Card, Need
from fabula.core.catalogue import MetricCatalogue, pick_subclass
from fabula.core.metric import Metric
from fabula.core.score import Reading, Status
from fabula.core.settings import Means, parse_spec, split_specs
from fabula.core.story import Story
from fabula.judges.judge_metric import SMOKE_TEST, JudgeMetric
from fabula.models.asking.opening import respondent_spec

_JUDGES = MetricCatalogue(
    "judge", ("fabula.judges",), lambda module: cast(type[Metric], pick_subclass(module, Metric))
)
_LOW, _HIGH = 1.0, 5.0


@dataclass(frozen=True)
class JudgeCommittee(Metric):
    """Mean of several judges, moved to one scale from 1 to 5, criterion by criterion."""

    card = Card(
        title="Committee of judges",
        label="Committee",
        family="judge",
        direction="higher",
        low=_LOW,
        high=_HIGH,
        uses=("prompt",),
        aspects=("relevance", "coherence", "empathy", "surprise", "engagement", "complexity"),
        assets=("smollm2",),
        paper="After Verga et al. (2024). Replacing judges with juries: Evaluating LLM generations "
        "with a panel of diverse models. arXiv:2404.18796.",
        formula="mean over the members of 1 + 4 (v - low) / (high - low), turned where lower is "
        "better; agreement is 1 less the mean distance of two members as a share of the scale",
        quirks=(
            "`model` names the members, separated by commas: models, each asked as `judge` asks "
            "with this rubric, or whole judges, such as judge_checklist(model=\"api('NAME')\").",
            "A criterion has a value where more than half of the members that rate it have one.",
            "The note says what each member said where they are apart, and how far they agree.",
            "The default is a committee of one, and a smoke test.",
        ),
        cannot_see="What all members are blind to: models that learned from the same texts share "
        "their taste, and agree without being right. A certificate tells.",
    )

    model: Annotated[str, Means("models or judges, separated by commas")] = SMOKE_TEST
    rubric: Annotated[str, Means("one of ours, or a TOML file")] = "hanna"

    def check(self) -> None:
        """Spell the members in full; refuse a committee without any, or one that does not rate."""
        if not self.members:
            raise self.setting_error("a committee has members", "name models in model='…, …'")
        spelled = [_spell(part) for part in split_specs(self.model)]
        object.__setattr__(self, "model", ", ".join(spelled))

    @cached_property
    def members(self) -> tuple[Metric, ...]:
        """The judges."""
        return tuple(self._appoint(part) for part in split_specs(self.model))

    def _appoint(self, part: str) -> Metric:
        name = parse_spec(part)[0]
        if name not in _JUDGES:
            judge = _JUDGES.get("judge")
            return judge(model=part, rubric=self.rubric)  # type: ignore[call-arg]
        member = _JUDGES.build(part)
        if not all(map(math.isfinite, _find_range(member))) or name == self.name:
            raise self.setting_error(f"{name} gives no ratings", "take judge or judge_checklist")
        return member

    @property
    def aspects(self) -> tuple[str, ...]:
        """Criteria of any member."""
        return tuple(dict.fromkeys(name for member in self.members for name in member.aspects))

    @property
    def needs(self) -> tuple[Need, ...]:
        """What no member can do without."""
        first, *others = (set(member.needs) for member in self.members)
        return tuple(need for need in self.members[0].needs if need in first.intersection(*others))

    @property
    def absence(self) -> str:
        """Why none of the members can be had, if none can."""
        return self.members[0].absence if all(member.absence for member in self.members) else ""

    def traits(self) -> dict[str, str]:
        """Give the identities of the members."""
        return {f"member{place}": one.identity for place, one in enumerate(self.members, 1)}

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Ask every member about all stories, and take the means."""
        said = [member.read(stories) for member in self.members]
        pairs = zip(stories, zip(*said, strict=True), strict=True)
        return [self._join(story, each) for story, each in pairs]

    def _join(self, story: Story, readings: Sequence[Reading]) -> Reading:
        by_aspect: dict[str, dict[str, float]] = {name: {} for name in self.aspects}
        raters: dict[str, int] = dict.fromkeys(self.aspects, 0)
        for number, (member, reading) in enumerate(zip(self.members, readings, strict=True), 1):
            for score in member.scores_of(story, reading):
                raters[score.aspect] += 1
                if score.ok:
                    by_aspect[score.aspect][f"{number}"] = _rescale(member, score.value)
        values = tuple(
            sum(said.values()) / len(said) if 2 * len(said) > raters[name] else math.nan
            for name, said in by_aspect.items()
        )
        if not any(map(math.isfinite, values)):
            worst = next(one for one in readings if one.status is not Status.OK)
            return self.missing(worst.status, worst.note)
        statuses = tuple(Status.OK if math.isfinite(v) else Status.UNDEFINED for v in values)
        coverage = min(one.coverage for one in readings if one.status is Status.OK or one.coverage)
        note = _describe(by_aspect) + _list_silent(readings)
        return Reading(
            values, Status.OK, coverage, note, () if len(set(statuses)) == 1 else statuses
        )


def _spell(part: str) -> str:
    is_judge = parse_spec(part)[0] in _JUDGES
    return _JUDGES.build(part).spec if is_judge else respondent_spec(part)


def _find_range(member: Metric) -> tuple[float, float]:
    """Lowest and highest value: those of the rubric, or of the card."""
    if isinstance(member, JudgeMetric) and member.name == "judge":
        return float(member.scale.low), float(member.scale.high)
    return member.card.low, member.card.high


def _rescale(member: Metric, value: float) -> float:
    low, high = _find_range(member)
    share = (value - low) / (high - low)
    return _LOW + (_HIGH - _LOW) * (1 - share if member.direction == "lower" else share)


def measure_agreement(said: Sequence[float]) -> float:
    """Give 1 less the mean distance between two members as a share of the scale; NaN for one."""
    pairs = [abs(a - b) for place, a in enumerate(said) for b in said[place + 1 :]]
    return 1 - sum(pairs) / len(pairs) / (_HIGH - _LOW) if pairs else math.nan


def _describe(by_aspect: dict[str, dict[str, float]]) -> str:
    """Say how far the members agree, and where they are furthest apart."""
    agreed = {name: measure_agreement(list(said.values())) for name, said in by_aspect.items()}
    known = {name: value for name, value in agreed.items() if not math.isnan(value)}
    if not known:
        return "a committee of one"
    widest = min(known, key=lambda name: known[name])
    told = ", ".join(f"{value:.2g}" for value in by_aspect[widest].values())
    mean = sum(known.values()) / len(known)
    apart = f"; furthest apart on {widest or 'the story'}: {told}" if known[widest] < 1 else ""
    return f"agreement {mean:.2f}{apart}"


def _list_silent(readings: Sequence[Reading]) -> str:
    silent = [str(place) for place, one in enumerate(readings, 1) if one.status is not Status.OK]
    return f"; no value of member {', '.join(silent)}" if silent else ""
