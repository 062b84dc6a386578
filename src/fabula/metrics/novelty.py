"""Novelty: how much of a story is not in its prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fabula.core.card import Card
from fabula.core.metric import StoryMetric
from fabula.core.score import Missing, Status
from fabula.core.settings import AtLeast
from fabula.core.story import Story
from fabula.metrics._words import TOKENS, prompt_tokens, story_tokens
from fabula.text.ngrams import ngrams


@dataclass(frozen=True)
class Novelty(StoryMetric):
    """Share of a story's different n-grams that its prompt does not have."""

    card = Card(
        title="Novelty",
        family="string",
        direction="higher",
        low=0.0,
        high=1.0,
        needs=("prompt",),
        paper="Fabbri et al. (2021). SummEval: Re-evaluating summarization evaluation. TACL 9, "
        "391–409; used on stories by Chhun et al. (2022), HANNA.",
        formula="|n-grams of the story not in the prompt| / |n-grams of the story|, each once",
        compat="HANNA's column: spaCy's English tokens in the case they are written in, with a "
        "newline after both texts (needs the `nlp` extra).",
        quirks=("A story that ignores its prompt has the highest novelty.",),
        cannot_see="Whether what is new is any good, or belongs to the prompt at all.",
        published={
            "hanna": {f"Novelty-{n}": (f"novelty(n={n}, compat=True)", "") for n in (1, 2, 3)}
        },
    )

    n: Annotated[int, AtLeast(1)] = 1

    def traits(self) -> dict[str, str]:
        """Tokeniser."""
        return {"tok": TOKENS[self.compat]}

    def value(self, story: Story) -> float:
        """Share of n-grams that are new."""
        grams = set(ngrams(story_tokens(story, self.compat), self.n))
        if not grams:
            raise Missing(Status.UNDEFINED, f"the story has fewer than {self.n} words")
        return len(grams - set(ngrams(prompt_tokens(story, self.compat), self.n))) / len(grams)
