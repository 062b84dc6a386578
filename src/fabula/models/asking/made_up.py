"""Answers that come of hashes, for tests: instant, deterministic, and without meaning.

A question with choices is answered by one of them, with probabilities; one with a JSON schema by
what follows it; any other by words.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fabula.models.asking.choices import choose_spot
from fabula.models.asking.interview import Feed
from fabula.models.asking.question import Question, Response, Spot
from fabula.models.asking.spending import Prices
from fabula.models.fake import TOKEN, FakeModel

_USUAL_NUMBERS = (1, 5)
_MOST_WORDS = 12


@dataclass(eq=False)
class FakeBackend:
    """Answers by the hash of a question and the seed."""

    model: FakeModel
    place: str = ""
    prices: Prices = field(default_factory=lambda: Prices(0.0, 0.0))

    @property
    def signature(self) -> str:
        """That of the model."""
        return f"{self.model.signature},asked"

    @property
    def window(self) -> int | None:
        """As it is set."""
        return self.model.window

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text."""
        return len(TOKEN.findall(text))

    def answer(self, feed: Feed) -> Iterator[Response]:
        """Answer one after the other."""
        while (question := feed.take()) is not None:
            response = self._answer(question)
            feed.keep(response)
            yield response

    def _answer(self, question: Question) -> Response:
        digest = hashlib.sha256(question.digest(self.signature).encode()).digest()
        chance = random.Random(digest)
        text, spots = self._write(question, chance)
        return Response(
            question.key,
            text,
            probabilities=choose_spot(text, spots),
            tokens_in=self.count_tokens(question.system + question.prompt),
            tokens_out=self.count_tokens(text),
            cost=0.0,
            model="fake",
            spots=spots,
        )

    def _write(self, question: Question, chance: random.Random) -> tuple[str, tuple[Spot, ...]]:
        if question.schema is not None:
            text = json.dumps(make_value(question.schema, chance), ensure_ascii=False)
            return text, ()
        if question.choices:
            shares = draw_shares(question.choices, chance)
            chosen = max(question.choices, key=shares.__getitem__)
            return chosen, (Spot(0, chosen, shares),)
        words = self.model.generate([question.prompt], max_tokens=_MOST_WORDS)[0]
        return words, ()


def draw_shares(choices: Sequence[str], chance: random.Random) -> dict[str, float]:
    """Draw probabilities that sum to one."""
    weights = [chance.random() + 0.01 for _ in choices]
    return {choice: w / sum(weights) for choice, w in zip(choices, weights, strict=True)}


def make_value(schema: Mapping[str, Any], chance: random.Random) -> Any:
    """Make something that follows a JSON schema, of those that servers take."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return chance.choice(list(schema["enum"]))
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return make_value(chance.choice(list(schema[key])), chance)
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    low = schema.get("minimum", _USUAL_NUMBERS[0])
    high = schema.get("maximum", max(_USUAL_NUMBERS[1], low))
    match kind:
        case "object":
            parts = schema.get("properties", {})
            return {name: make_value(part, chance) for name, part in parts.items()}
        case "array":
            count = schema.get("minItems", 1)
            return [make_value(schema.get("items", {}), chance) for _ in range(count)]
        case "integer":
            return chance.randint(int(low), int(high))
        case "number":
            return round(chance.uniform(low, high), 2)
        case "boolean":
            return chance.random() < 0.5
        case "null":
            return None
    return "made up"
