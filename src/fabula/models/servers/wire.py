"""The two wire formats that servers of models speak: OpenAI's and Anthropic's.

A wire makes a question of a prompt and a wish, and reads text, counts of tokens and the reason of
the end out of answers, whole or streamed. Checked against the published references of both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from fabula.models.servers.http import describe_fault

Style = Literal["openai", "anthropic"]
Ending = Literal["", "stop", "length", "refusal"]
Tokens = tuple[int | None, int | None]


@dataclass(frozen=True)
class Wish:
    """How an answer is to be drawn; `extra` are options that this very server knows."""

    max_tokens: int = 128
    temperature: float = 0.8
    top_p: float = 0.95
    top_k: int | None = None
    stop: Sequence[str] = ()
    seed: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Delta:
    """What an event of a stream adds; `problem` is what went wrong at the server."""

    text: str = ""
    ending: Ending = ""
    tokens: Tokens = (None, None)
    is_last: bool = False
    problem: str = ""


class Wire(Protocol):
    """A wire format."""

    style: Style
    path: str
    kind: str
    key_env: str
    key_header: str
    headers: tuple[tuple[str, str], ...]

    def make_question(self, model: str, prompt: str, system: str, wish: Wish) -> dict[str, Any]:
        """Spell a question."""
        ...

    def make_stream_question(self, question: dict[str, Any]) -> dict[str, Any]:
        """Ask for the same answer piece by piece."""
        ...

    def read_answer(self, answer: Mapping[str, Any]) -> Delta:
        """Read a whole answer; one of another shape is a KeyError, IndexError or TypeError."""
        ...

    def read_tokens(self, answer: Mapping[str, Any]) -> Tokens:
        """Read how many tokens were read and written, where the server counts."""
        ...

    def make_logs_wish(self) -> dict[str, Any]:
        """Spell the wish for the logs of tokens that might have been written; {} if it has none."""
        ...

    def make_schema_wish(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Spell the wish for an answer that follows a JSON schema."""
        ...

    def read_logs(self, answer: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """Read the tokens of an answer with their logs, where they were told."""
        ...

    def read_refusal(self, answer: Mapping[str, Any]) -> str:
        """Read the words of a model that declines, where they do not stand in its text."""
        ...

    def read_event(self, event: Mapping[str, Any]) -> Delta:
        """Read an event of a stream; one that is not known adds nothing."""
        ...


class OpenAi:
    """Chat completions."""

    style: Style = "openai"
    path = "chat/completions"
    kind = "an OpenAI-compatible server"
    key_env = "OPENAI_API_KEY"
    key_header = "Authorization"
    headers: tuple[tuple[str, str], ...] = ()
    _endings: Mapping[str, Ending] = {"length": "length", "content_filter": "refusal"}

    def make_question(self, model: str, prompt: str, system: str, wish: Wish) -> dict[str, Any]:
        """Spell a question; what the system says is the first message."""
        told = [{"role": "system", "content": system}] if system else []
        question: dict[str, Any] = {
            "model": model,
            "messages": [*told, {"role": "user", "content": prompt}],
            "max_tokens": wish.max_tokens,
            "temperature": wish.temperature,
            "top_p": wish.top_p,
            "seed": wish.seed,
        }
        if wish.stop:
            question["stop"] = list(wish.stop)
        return question | dict(wish.extra)

    def make_stream_question(self, question: dict[str, Any]) -> dict[str, Any]:
        """Ask for pieces, and for the counts of tokens that come without otherwise being told."""
        return question | {"stream": True, "stream_options": {"include_usage": True}}

    def read_answer(self, answer: Mapping[str, Any]) -> Delta:
        """Read the first choice."""
        choice = answer["choices"][0]
        text = str(choice["message"]["content"] or "")
        return Delta(text, self._read_ending(choice), self.read_tokens(answer), is_last=True)

    def read_tokens(self, answer: Mapping[str, Any]) -> Tokens:
        """Read the usage."""
        return _read_counts(answer.get("usage"), "prompt_tokens", "completion_tokens")

    def make_logs_wish(self) -> dict[str, Any]:
        """Ask for as many as are told."""
        return {"logprobs": True, "top_logprobs": _MOST_LOGS}

    def make_schema_wish(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Hold the model to it."""
        named = {"name": "answer", "strict": True, "schema": dict(schema)}
        return {"response_format": {"type": "json_schema", "json_schema": named}}

    def read_logs(self, answer: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """Read those of the first choice."""
        logs = answer["choices"][0].get("logprobs") or {}
        return list(logs.get("content") or ())

    def read_refusal(self, answer: Mapping[str, Any]) -> str:
        """Read the message's own field for it."""
        return str(answer["choices"][0]["message"].get("refusal") or "")

    def read_event(self, event: Mapping[str, Any]) -> Delta:
        """Read a chunk; the one with the usage has no choice."""
        if event.get("error"):
            return Delta(problem=_describe(event["error"]))
        choices = event.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        choice = first if isinstance(first, Mapping) else {}
        delta = choice.get("delta")
        text = delta.get("content") if isinstance(delta, Mapping) else None
        return Delta(
            text if isinstance(text, str) else "",
            self._read_ending(choice),
            self.read_tokens(event),
        )

    def _read_ending(self, choice: Mapping[str, Any]) -> Ending:
        told = choice.get("message") or choice.get("delta") or {}
        if isinstance(told, Mapping) and told.get("refusal"):
            return "refusal"
        reason = choice.get("finish_reason")
        return self._endings.get(str(reason), "stop") if reason else ""


class Anthropic:
    """Messages."""

    style: Style = "anthropic"
    path = "messages"
    kind = "an Anthropic-compatible server"
    key_env = "ANTHROPIC_API_KEY"
    key_header = "x-api-key"
    headers: tuple[tuple[str, str], ...] = (("anthropic-version", "2023-06-01"),)
    _endings: Mapping[str, Ending] = {"max_tokens": "length", "refusal": "refusal"}

    def make_question(self, model: str, prompt: str, system: str, wish: Wish) -> dict[str, Any]:
        """Spell a question. There is no seed, and of temperature and nucleus the newer models take
        one only: the nucleus where the temperature changes nothing."""
        question: dict[str, Any] = {
            "model": model,
            "max_tokens": wish.max_tokens,
            "messages": [{"role": "user", "content": prompt}],
        }
        if system:
            question["system"] = system
        if wish.temperature != 1:
            question["temperature"] = min(wish.temperature, 1.0)  # its range ends there
        elif wish.top_p < 1:
            question["top_p"] = wish.top_p
        if wish.top_k:
            question["top_k"] = wish.top_k
        # Blanks alone would be refused.
        if stops := [each for each in wish.stop if each.strip()]:
            question["stop_sequences"] = stops
        return question | dict(wish.extra)

    def make_stream_question(self, question: dict[str, Any]) -> dict[str, Any]:
        """Ask for pieces."""
        return question | {"stream": True}

    def read_answer(self, answer: Mapping[str, Any]) -> Delta:
        """Put the blocks of text together."""
        blocks = [block for block in answer["content"] if block["type"] == "text"]
        text = "".join(str(block["text"]) for block in blocks)
        reason = answer.get("stop_reason")
        return Delta(text, self._read_ending(reason), self.read_tokens(answer), is_last=True)

    def read_tokens(self, answer: Mapping[str, Any]) -> Tokens:
        """Read the usage."""
        return _read_counts(answer.get("usage"), "input_tokens", "output_tokens")

    def make_logs_wish(self) -> dict[str, Any]:
        """These servers tell none."""
        return {}

    def make_schema_wish(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Hold the model to it."""
        return {"output_config": {"format": {"type": "json_schema", "schema": dict(schema)}}}

    def read_logs(self, answer: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """These servers tell none."""
        return ()

    def read_refusal(self, answer: Mapping[str, Any]) -> str:
        """What is said stands in the text."""
        return ""

    def read_event(self, event: Mapping[str, Any]) -> Delta:
        """Read an event by its type; counts of written tokens are those so far."""
        kind, delta = event.get("type"), event.get("delta")
        delta = delta if isinstance(delta, Mapping) else {}
        if kind == "error":
            return Delta(problem=_describe(event.get("error")))
        if kind == "message_start" and isinstance(message := event.get("message"), Mapping):
            return Delta(tokens=self.read_tokens(message))
        if kind == "content_block_delta" and delta.get("type") == "text_delta":
            return Delta(str(delta.get("text") or ""))
        if kind == "message_delta":
            ending = self._read_ending(delta.get("stop_reason"))
            return Delta(ending=ending, tokens=self.read_tokens(event))
        return Delta(is_last=kind == "message_stop")

    def _read_ending(self, reason: object) -> Ending:
        return self._endings.get(str(reason), "stop") if reason else ""


WIRES: Mapping[Style, Wire] = {"openai": OpenAi(), "anthropic": Anthropic()}
# What models that think before they write call `max_tokens`.
_THINKERS_MOST = "max_completion_tokens"
# Rivals of a token that OpenAI's servers tell at most.
_MOST_LOGS = 20
# Options that an answer can do without; some models refuse them.
_OPTIONAL = (
    "temperature", "top_p", "top_k", "seed", "stop", "stop_sequences", "stream_options",
    "logprobs", "top_logprobs", "response_format", "output_config",
)  # fmt: skip


def find_refused(question: Mapping[str, Any], said: str) -> str:
    """Name the option that a server says it will not take; "" where it names none.

    Where two exclude one another, it is the one that is named last.
    """
    if "max_tokens" in question and _THINKERS_MOST in said:
        return "max_tokens"
    named = [name for name in question if name in _OPTIONAL and re.search(rf"\b{name}\b", said)]
    return max(named, key=said.rindex, default="")


def leave_out(question: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Ask without options that are refused; how much may be written is told by its other name."""
    kept = {key: value for key, value in question.items() if key not in names}
    if "max_tokens" in names and "max_tokens" in question:
        kept[_THINKERS_MOST] = question["max_tokens"]
    return kept


def _read_counts(usage: Any, read: str, written: str) -> Tokens:
    counts = usage if isinstance(usage, Mapping) else {}
    found = (counts.get(read), counts.get(written))
    return tuple(count if type(count) is int else None for count in found)  # type: ignore[return-value]


def _describe(error: Any) -> str:
    return describe_fault({"error": error})
