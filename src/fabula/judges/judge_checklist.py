"""A language model that answers yes or no: a criterion's value is the share of its questions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from fabula.core.card import Card
from fabula.core.score import Status
from fabula.core.settings import Means
from fabula.judges.judge_metric import JudgeMetric, Verdict
from fabula.judges.judge_metric.answers import explain, read_yes, read_yeses, take_text
from fabula.judges.judge_metric.long_stories import ShownStory
from fabula.judges.judge_metric.prompting import open_prompt, show_story, system_prompt
from fabula.judges.judge_metric.rubric import Criterion
from fabula.models.asking.question import Question, Response

_CHOICES = ("Yes", "No")
_ONE, _EACH = 8, 12  # tokens of an answer, and of one among several


@dataclass(frozen=True)
class JudgeChecklist(JudgeMetric):
    """Share of yes among plain questions about a story, criterion by criterion.

    The questions stand in the rubric; where it has none, one is made of every anchor above the
    lowest. They are the same for every story, so that scores compare.
    """

    card = Card(
        title="Judge with a checklist",
        label="Checklist",
        family="judge",
        direction="higher",
        low=0.0,
        high=1.0,
        uses=("prompt",),
        aspects=("relevance", "coherence", "empathy", "surprise", "engagement", "complexity"),
        assets=("smollm2",),
        paper="After Lee et al. (2025). CheckEval: A reliable LLM-as-a-judge framework for "
        "evaluating text generation using checklists. EMNLP. The questions are ours.",
        formula="yes / (yes + no); with value='expected' the mean of P(yes) / (P(yes) + P(no))",
        quirks=(
            "The default model is a smoke test, as that of `judge`.",
            "A criterion has a value where every one of its questions was answered.",
            "ask='each' asks every question by itself: thirty a story in HANNA's rubric. "
            "ask='criterion' asks those of a criterion together.",
            "A rubric without questions is asked whether a story deserves at least what each "
            "anchor says.",
        ),
        cannot_see="What no question asks for. Most stories get most questions right: the share "
        "tells bad stories from fair ones better than good ones from the best.",
    )
    prompt: ClassVar[str] = "judge_checklist"

    ask: Annotated[
        Literal["each", "criterion"], Means("every question by itself, or those of a criterion")
    ] = "criterion"
    value: Annotated[
        Literal["written", "expected"], Means("yes or no, or how probable a yes is")
    ] = "written"

    def check(self) -> None:
        """Refuse criteria that nothing can be asked of, and probabilities of several answers."""
        super().check()
        for criterion in self.list_criteria():
            if not criterion.list_checks():
                problem = f"criterion {criterion.name} has neither checks nor anchors"
                raise self.setting_error(problem, "give it checks: yes/no questions")
        if self.value == "expected" and self.ask != "each":
            problem = "probabilities are told of one answer at a time"
            raise self.setting_error(problem, "say ask='each'")

    @property
    def ends(self) -> tuple[float, float]:
        """Those of a share."""
        return 0.0, 1.0

    def choose_length(self) -> int:
        """Leave room for a word, or for one a question."""
        most = max(len(criterion.list_checks()) for criterion in self.list_criteria())
        return _ONE if self.ask == "each" else _ONE + _EACH * most

    def list_questions(self, shown: ShownStory) -> Iterator[Question]:
        """Ask the questions of every criterion; about the prompt only if there is one."""
        has_prompt = bool((shown.story.prompt or "").strip())
        for criterion in self.list_criteria():
            if not has_prompt and criterion.needs_prompt:
                continue
            checks = criterion.list_checks()
            if self.ask == "criterion":
                yield self._ask_together(shown, criterion.name, checks)
                continue
            for number, check in enumerate(checks, 1):
                yield self._ask_alone(shown, f"{criterion.name}/{number}", check)

    def read_responses(self, responses: Mapping[str, Response]) -> dict[str, Verdict]:
        """Give the share of yes for every criterion that was asked about."""
        verdicts = {}
        for criterion in self.list_criteria():
            own = [
                response
                for key, response in responses.items()
                if key.partition("/")[0] == criterion.name
            ]
            if own:
                verdicts[criterion.name] = self._count(criterion, own)
        return verdicts

    def _ask_alone(self, shown: ShownStory, key: str, check: str) -> Question:
        file = open_prompt(self.prompt)
        asked = self._fill(shown, file.fill("one", check=check), file.fill("yes or no"))
        choices = _CHOICES if self.value == "expected" else ()
        return Question(key, asked, system_prompt(), self.wish, choices)

    def _ask_together(self, shown: ShownStory, key: str, checks: tuple[str, ...]) -> Question:
        file, numbers = open_prompt(self.prompt), [str(n) for n in range(1, len(checks) + 1)]
        listed = "\n".join(f"{n}. {check}" for n, check in zip(numbers, checks, strict=True))
        fields = ", ".join(f'"{number}": "ANSWER"' for number in numbers)
        question = file.fill("all", checks=listed)
        asked = self._fill(shown, question, file.fill("answers as JSON", fields=fields))
        answer = {"type": "string", "enum": ["yes", "no"]}
        schema = {
            "type": "object",
            "properties": dict.fromkeys(numbers, answer),
            "required": numbers,
            "additionalProperties": False,
        }
        return Question(key, asked, system_prompt(), self.wish, schema=schema)

    def _fill(self, shown: ShownStory, question: str, answer: str) -> str:
        return open_prompt(self.prompt).fill(
            "user",
            shown=show_story(shown.text, shown.story.prompt, summary=shown.summary),
            question=question,
            answer=answer,
        )

    def _count(self, criterion: Criterion, responses: list[Response]) -> Verdict:
        """Give the share of yes, or why a question has no answer."""
        shares: list[float] = []
        for response in responses:
            answers = self._read_answers(criterion, response)
            if not all(map(math.isfinite, answers)):
                return Verdict(math.nan, *self._explain(response))
            shares += answers
        return Verdict(math.fsum(shares) / len(shares))

    def _read_answers(self, criterion: Criterion, response: Response) -> list[float]:
        if response.status in ("failed", "refused"):
            return [math.nan]
        if self.value == "expected":
            yes, no = (response.probabilities.get(choice, 0.0) for choice in _CHOICES)
            return [yes / (yes + no) if yes + no > 0 else math.nan]
        text = take_text(response)
        if self.ask == "each":
            return [read_yes(text)]
        numbers = [str(n) for n in range(1, len(criterion.list_checks()) + 1)]
        return list(read_yeses(text, numbers).values())

    def _explain(self, response: Response) -> tuple[Status, str]:
        status, note = explain(response)
        is_answer = math.isfinite(read_yes(take_text(response)))
        if self.value == "expected" and status is Status.UNPARSED and is_answer:
            told = "the model tells no log-probabilities; take value='written'"
            return Status.UNDEFINED, told
        return status, note
