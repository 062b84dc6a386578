"""Metrics in the shape of Hugging Face's `evaluate`, which need not be installed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from fabula.core.errors import InputError, SettingError, UserError
from fabula.core.metric import Metric
from fabula.core.score import Score
from fabula.core.settings import changed_settings, named_settings
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.scoring.catalogue import METRICS
from fabula.scoring.evaluate import evaluate
from fabula.scoring.inputs import clean_cell, read_references

_INPUTS = """\
predictions: stories to score, as texts.
references: for each a text, several texts or None, where the metric compares.
prompts: for each a text or None, where the metric reads the prompt.
Other names are settings of the metric."""


def as_evaluate(spec: str | Metric) -> EvaluateMetric:
    """Give a metric the shape of one of `evaluate`'s: compute, add, add_batch and its words."""
    return EvaluateMetric(spec if isinstance(spec, Metric) else METRICS.build(spec))


@dataclass
class EvaluateMetric:
    """A metric with the methods of `evaluate.EvaluationModule`; `evaluate.combine` takes it."""

    metric: Metric
    _stories: list[Story] = field(default_factory=list, repr=False)

    @property
    def name(self) -> str:
        """Spec of the metric."""
        return self.metric.spec

    @property
    def description(self) -> str:
        """What the metric is and how to read it."""
        card = self.metric.card
        return f"{card.title} ({card.arrow}): {card.formula}. It cannot see: {card.cannot_see}"

    @property
    def citation(self) -> str:
        """Paper of the metric."""
        return self.metric.card.paper

    @property
    def inputs_description(self) -> str:
        """What `compute` takes."""
        return _INPUTS

    def add(
        self,
        *,
        prediction: str | None = None,
        reference: Any = None,
        prompt: str | None = None,
        **several: Any,
    ) -> None:
        """Put one story aside for the next `compute`."""
        # `evaluate.combine` hands single ones on under the names of several.
        single = {"predictions": prediction, "references": reference, "prompts": prompt} | several
        self.add_batch(**{name: None if part is None else [part] for name, part in single.items()})

    def add_batch(
        self,
        *,
        predictions: Any = None,
        references: Any = None,
        prompts: Any = None,
        **unknown: Any,
    ) -> None:
        """Put stories aside for the next `compute`."""
        if unknown:
            raise SettingError(
                f"stories have no {', '.join(unknown)}", "give predictions, references, prompts"
            )
        self._stories += _stories(predictions, references, prompts, len(self._stories))

    def compute(
        self,
        *,
        predictions: Any = None,
        references: Any = None,
        prompts: Any = None,
        **settings: Any,
    ) -> dict[str, Any]:
        """Score these stories and those put aside: means by aspect, scores, statuses, signature.

        The means stand under names like `rouge(n=2).f`, and leave out stories without a value.
        """
        metric = self._with_settings(settings)
        if predictions is not None or references is not None or prompts is not None:
            self.add_batch(predictions=predictions, references=references, prompts=prompts)
        stories, self._stories = self._stories, []
        if not stories:
            raise InputError("there is nothing to compute", "give predictions=[...]")
        return _result(metric, evaluate(stories, metric))

    def _with_settings(self, settings: dict[str, Any]) -> Metric:
        """Give the metric with other settings."""
        cls = type(self.metric)
        given = changed_settings(self.metric) | settings
        return cls(**named_settings(cls, self.metric.name, (), given)) if settings else self.metric

    def _feature_names(self) -> list[str]:
        """Inputs that `evaluate.combine` has to hand on."""
        prompts = ["prompts"] if "prompt" in self.metric.card.needs else []
        return ["predictions", "references", *prompts]


def _stories(predictions: Any, references: Any, prompts: Any, first: int) -> list[Story]:
    texts = _as_list("predictions", predictions)
    if texts is None:
        raise InputError("there are no predictions", "give predictions=[...]")
    others = _as_list_for("references", references, len(texts))
    asked = _as_list_for("prompts", prompts, len(texts))
    return [
        Story(
            str(number),
            text,
            clean_cell(prompt),
            read_references(reference, f"references[{number - first}]"),
        )
        for number, (text, reference, prompt) in enumerate(
            zip(texts, others, asked, strict=True), first
        )
    ]


def _as_list(name: str, values: Any) -> list[Any] | None:
    if values is None:
        return None
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{name} must be several texts", f"write {name}=['…']")
    return list(values)


def _as_list_for(name: str, values: Any, count: int) -> list[Any]:
    """List what belongs to the predictions, one for each."""
    listed = _as_list(name, values)
    if listed is None:
        return [None] * count
    if len(listed) != count:
        raise UserError(f"{count} predictions but {len(listed)} {name}", "give one for each story")
    return listed


def _result(metric: Metric, table: ScoreTable) -> dict[str, Any]:
    scores: dict[str, list[Score]] = {}
    for score in table:
        scores.setdefault(score.label, []).append(score)
    values = {label: [score.value for score in own] for label, own in scores.items()}
    statuses = {label: [str(score.status) for score in own] for label, own in scores.items()}
    return table.means() | {
        "scores": values,
        "statuses": statuses,
        "left_out": {label: sum(map(math.isnan, own)) for label, own in values.items()},
        "signature": metric.signature(),
    }
