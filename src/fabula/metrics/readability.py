"""Readability: how hard a story's sentences and words are to read."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.core.metric import Value
from fabula.core.story import Story
from fabula.metrics._words import WordMetric
from fabula.text.sentences import split_sentences
from fabula.text.words import count_syllables


@dataclass(frozen=True)
class Readability(WordMetric):
    """Flesch's reading ease and the Flesch–Kincaid grade of a story."""

    card = Card(
        title="Readability",
        family="string",
        direction="descriptive",
        aspects=("grade", "ease"),
        paper="Flesch (1948). A new readability yardstick. Journal of Applied Psychology 32(3), "
        "221–233. Kincaid et al. (1975). Derivation of new readability formulas for Navy "
        "enlisted personnel.",
        formula="ease = 206.835 − 1.015 · words / sentences − 84.6 · syllables / words; "
        "grade = 0.39 · words / sentences + 11.8 · syllables / words − 15.59",
        compat="Words by the ASCII rule of rouge-score.",
        quirks=(
            "Syllables are counted by a rule of thumb, sentences by punctuation.",
            "English only.",
        ),
        cannot_see="Whether a story is worth reading; hard words in short sentences look easy.",
    )

    def value(self, story: Story) -> Value:
        """Grade and ease."""
        words = self.words_of(story)
        per_sentence = len(words) / max(1, len(split_sentences(story.text)))
        per_word = sum(map(count_syllables, words)) / len(words)
        grade = 0.39 * per_sentence + 11.8 * per_word - 15.59
        return grade, 206.835 - 1.015 * per_sentence - 84.6 * per_word
