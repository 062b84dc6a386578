"""Distinct: how varied the n-grams of a story are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fabula.core.card import Card
from fabula.core.score import Missing, Status
from fabula.core.settings import AtLeast
from fabula.core.story import Story
from fabula.metrics._words import WordMetric
from fabula.text.ngrams import ngrams


@dataclass(frozen=True)
class Distinct(WordMetric):
    """Share of a story's n-grams that differ from one another (Li et al., 2016)."""

    card = Card(
        title="Distinct-n",
        label="Distinct-{n}",
        family="string",
        direction="higher",
        low=0.0,
        high=1.0,
        paper="Li et al. (2016). A diversity-promoting objective function for neural "
        "conversation models. NAACL, 110–119.",
        formula="different n-grams / n-grams",
        compat="Words by the ASCII rule of rouge-score.",
        quirks=(
            "Of one story, not of a corpus: the paper pools all answers of a system.",
            "It falls with length; see it beside `words` and `mattr`.",
        ),
        cannot_see="Sense: words drawn at random are as distinct as can be.",
    )

    n: Annotated[int, AtLeast(1)] = 2

    def value(self, story: Story) -> float:
        """Different n-grams as a share of all."""
        grams = ngrams(self.words_of(story), self.n)
        if not grams:
            raise Missing(Status.UNDEFINED, f"the story has fewer than {self.n} words")
        return len(set(grams)) / len(grams)
