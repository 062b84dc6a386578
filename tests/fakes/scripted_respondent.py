"""A language model that answers as it was told, so that a judge's scores can be worked out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import pytest

from fabula.judges import judge_metric
from fabula.models.asking.question import Question, Response, Status

Answer = str | Mapping[str, float] | Response


@dataclass
class ScriptedRespondent:
    """Answers every question by a function of it, the last question first; keeps what was asked."""

    answer: Callable[[Question], Answer]
    window: int | None = None
    signature: str = "scripted"
    asked: list[Question] = field(default_factory=list)

    def count_tokens(self, text: str) -> int:
        """A word is a token."""
        return len(text.split())

    def ask(self, questions: Iterable[Question]) -> Iterator[Response]:
        listed = list(questions)
        self.asked += listed
        for question in reversed(listed):
            answer = self.answer(question)
            if isinstance(answer, Mapping):
                yield Response(question.key, "4", probabilities=answer)
            elif isinstance(answer, Response):
                yield replace(answer, key=question.key)
            else:
                yield Response(question.key, answer)


def respond(text: str = "", status: Status = "answered", problem: str = "") -> Response:
    """A response whose key is that of the question."""
    return Response("", text, status, problem)


def let_answer(
    monkeypatch: pytest.MonkeyPatch,
    answer: Answer | Callable[[Question], Answer],
    *,
    window: int | None = None,
) -> ScriptedRespondent:
    """Make the model of every judge one that answers so."""
    told = answer if callable(answer) else lambda question: answer
    respondent = ScriptedRespondent(told, window)
    monkeypatch.setattr(judge_metric, "open_respondent", lambda spec: respondent)
    return respondent
