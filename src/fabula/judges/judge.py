"""A language model as a rater: it rates a story on the criteria of a rubric."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from fabula.core.card import Card
from fabula.core.score import Status
from fabula.core.settings import Means
from fabula.judges.judge_metric import JudgeMetric, Verdict
from fabula.judges.judge_metric.answers import (
    expect_number,
    explain,
    read_score,
    read_scores,
    take_text,
)
from fabula.judges.judge_metric.long_stories import ShownStory
from fabula.judges.judge_metric.prompting import open_prompt, show_story, system_prompt
from fabula.judges.judge_metric.rubric import Criterion
from fabula.models.asking.question import Question, Response

_ALL = "all"
# Tokens of a number in any form, of reasons, and of a number for one of several criteria; where
# probabilities count, those of the first tokens do.
_NUMBER, _REASON, _EACH, _FIRST = 24, 512, 24, 4
# Below this share of the probability the numbers are hardly what the model meant to write.
_LITTLE = 0.5


@dataclass(frozen=True)
class Judge(JudgeMetric):
    """Ratings by a language model on the criteria of a rubric: HANNA's six, or one's own.

    Of a judge without a certificate nobody knows whether it agrees with people: `fabula judge
    certify` finds out.
    """

    card = Card(
        title="Judge: a language model's ratings",
        label="Judge",
        family="judge",
        direction="higher",
        low=1.0,
        high=5.0,
        uses=("prompt",),
        aspects=("relevance", "coherence", "empathy", "surprise", "engagement", "complexity"),
        assets=("smollm2",),
        paper="Criteria: Chhun, Colombo, Suchanek and Clavel (2022). Of human criteria and "
        "automatic metrics. COLING. Judges of them: Chhun, Suchanek and Clavel (2024). Do language "
        "models enjoy their own stories? TACL 12. Values by probability: Liu, Iter, Xu, Wang, Xu "
        "and Zhu (2023). G-Eval. EMNLP. Prompts and wording are ours.",
        formula="the number that the model writes, or, with value='expected', Σ p·n / Σ p over the "
        "numbers n of the scale by their probabilities p",
        quirks=(
            "The default model is a smoke test: SmolLM2 with 135 million parameters shows that all "
            "works, and its ratings mean nothing. Name another: model=\"api('NAME', "
            "base_url='https://…')\".",
            "Aspects and the range are those of the rubric: six criteria from 1 to 5 in HANNA's.",
            "An answer that cannot be read is `unparsed`, with its words in the note; one that the "
            "model declines to give is `refused`. Numbers off the scale cannot be read.",
            "A story is fenced by marks that it cannot hold, and the model is told that nothing "
            "between them is an instruction. `fabula judge probe` measures how far that helps.",
            "A story that does not fit into the model's window is `too_long`. With long='parts' "
            "the model first summarises all but its end; coverage is the share that it read word "
            "for word.",
            "ask='each' asks a question a criterion; ask='all' is six times cheaper, and the "
            "numbers lean on one another.",
            "Values by probability need a server that tells log-probabilities, or a model that "
            "runs here.",
        ),
        cannot_see="What it has no certificate for. Judges like long texts, their own style and "
        "the first of two; they know public stories, and what was said of them, by heart.",
    )
    prompt: ClassVar[str] = "judge"

    ask: Annotated[Literal["each", "all"], Means("one question a criterion, or one for all")] = (
        "each"
    )
    reason: Annotated[bool, Means("the model gives its reason first")] = False
    value: Annotated[
        Literal["written", "expected"], Means("the number, or the mean by probabilities")
    ] = "written"

    def check(self) -> None:
        """Refuse probabilities of several numbers at once, of which no server tells."""
        super().check()
        if self.value == "expected" and self.ask == _ALL:
            problem = "probabilities are told of one number at a time"
            raise self.setting_error(problem, "leave ask='all' or value='expected' out")

    def choose_length(self) -> int:
        """Leave room for a number, or for reasons and all numbers."""
        if self.value == "expected" and not self.reason:
            return _FIRST
        count = len(self.list_criteria()) if self.ask == _ALL else 1
        return (_REASON if self.reason else _NUMBER) + _EACH * (count - 1)

    def list_questions(self, shown: ShownStory) -> Iterator[Question]:
        """Ask about every criterion by itself, or about all; about the prompt only if there is."""
        has_prompt = bool((shown.story.prompt or "").strip())
        asked = [one for one in self.list_criteria() if has_prompt or not one.needs_prompt]
        for group in [asked] if self.ask == _ALL else [[one] for one in asked]:
            yield self._ask_about(shown, group)

    def read_responses(self, responses: Mapping[str, Response]) -> dict[str, Verdict]:
        """Read the number of every criterion."""
        if self.ask == _ALL:
            return self._read_all(responses[_ALL])
        return {name: self._read_one(response) for name, response in responses.items()}

    def _ask_about(self, shown: ShownStory, criteria: list[Criterion]) -> Question:
        file, rubric = open_prompt(self.prompt), self.scale
        ends: dict[str, Any] = {"low": rubric.low, "high": rubric.high}
        described = [self._describe(criterion) for criterion in criteria]
        fields = ", ".join(f'"{criterion.name}": NUMBER' for criterion in criteria)
        if self.ask == _ALL:
            question = file.fill(_ALL, criteria="\n\n".join(described))
        else:
            question = file.fill("one", criterion=described[0])
        prompt = file.fill(
            "user",
            shown=show_story(shown.text, shown.story.prompt, summary=shown.summary),
            question=question,
            about=rubric.about.strip(),
            answer=file.fill(self._choose_form(), fields=fields, **ends),
        )
        return Question(
            _ALL if self.ask == _ALL else criteria[0].name,
            prompt,
            system_prompt(),
            self.wish,
            choices=rubric.numbers if self.value == "expected" else (),
            schema=self._make_schema(criteria) if self.value == "written" else None,
        )

    def _describe(self, criterion: Criterion) -> str:
        low = self.scale.low
        anchors = [f"{low + place}: {words}" for place, words in enumerate(criterion.anchors)]
        return open_prompt(self.prompt).fill(
            "criterion",
            title=criterion.name.capitalize(),
            text=criterion.text,
            help=criterion.help,
            anchors="\n".join(anchors),
        )

    def _choose_form(self) -> str:
        """Name the section that says what an answer looks like."""
        what = "numbers" if self.ask == _ALL else "number"
        form = f"reason and {what}" if self.reason else what
        return form if self.value == "expected" else f"{form} as JSON"

    def _make_schema(self, criteria: list[Criterion]) -> dict[str, Any]:
        """Spell the JSON schema of an answer; the reason comes first."""
        names = [criterion.name for criterion in criteria] if self.ask == _ALL else ["score"]
        number = {"type": "integer", "enum": list(range(self.scale.low, self.scale.high + 1))}
        fields: dict[str, Any] = {"reason": {"type": "string"}} if self.reason else {}
        fields |= dict.fromkeys(names, number)
        return {
            "type": "object",
            "properties": fields,
            "required": list(fields),
            "additionalProperties": False,
        }

    def _read_one(self, response: Response) -> Verdict:
        rubric = self.scale
        if response.status in ("failed", "refused"):
            return Verdict(math.nan, *explain(response))
        if self.value == "expected":
            return self._read_probabilities(response)
        number = read_score(take_text(response), rubric.low, rubric.high)
        return Verdict(number) if math.isfinite(number) else Verdict(number, *explain(response))

    def _read_all(self, response: Response) -> dict[str, Verdict]:
        rubric = self.scale
        if response.status in ("failed", "refused"):
            return dict.fromkeys(self.aspects, Verdict(math.nan, *explain(response)))
        numbers = read_scores(take_text(response), self.aspects, rubric.low, rubric.high)
        return {
            name: Verdict(number) if math.isfinite(number) else Verdict(number, *explain(response))
            for name, number in numbers.items()
        }

    def _read_probabilities(self, response: Response) -> Verdict:
        status, note = explain(response)
        told = response.probabilities
        if not told and not self.reason and response.spots and status is not Status.REFUSED:
            told = response.spots[0].probabilities  # where the number was due
        mean = expect_number(told, self.scale.numbers)
        if math.isfinite(mean):
            mass = math.fsum(told.get(number, 0.0) for number in self.scale.numbers)
            little = f"the numbers hold {mass:.0%} of the probability" if mass < _LITTLE else ""
            return Verdict(mean, note=little)
        number = read_score(take_text(response), self.scale.low, self.scale.high)
        if status is Status.UNPARSED and math.isfinite(number):
            note = "the model tells no log-probabilities; take value='written'"
            return Verdict(math.nan, Status.UNDEFINED, note)
        return Verdict(math.nan, status, note)
