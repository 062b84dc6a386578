"""The nouns of stories as the grounder looks for them, and how much each weighs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from fabula.models.reading.tagging import parse_text
from fabula.text.grounding import NounCounts, read_table
from fabula.text.nouns import (
    RELEASED,
    Noun,
    NounRules,
    blank_brackets,
    find_nouns,
    find_placeholders,
)

# Of WordNet's example sentences; `count_examples` made it.
EXAMPLES = Path(__file__).parent / "_example_nouns.tsv"
# Nouns that fewer stories have are not worth a line of a table.
LEAST = 3
# Sentences that make a story of VIST.
_SENTENCES = 5
_EXAMPLE = re.compile(r'"([^"]+)"')


def read_nouns(
    text: str, rules: NounRules | None = None, *, compat: bool = False
) -> tuple[Noun, ...]:
    """Give the nouns of a story; with `compat` by the rules of RoViST's released code.

    That code tags with NLTK, this with spaCy: some words are nouns to one of them alone.
    """
    sentences = parse_text(blank_brackets(text), what="a story")
    if compat:
        return tuple(find_nouns(sentences, RELEASED))
    return tuple(find_nouns(sentences, rules, placeholders=find_placeholders(text)))


def count_nouns(
    texts: Iterable[str], rules: NounRules | None = None, *, least: int = LEAST
) -> NounCounts:
    """Count in how many stories each noun occurs: what `write_table` makes a file of."""
    counts = NounCounts()
    for text in texts:
        counts.add(noun.text for noun in read_nouns(text, rules))
    return counts.keep_frequent(least)


def count_examples(wordnet: Path, *, least: int = LEAST) -> NounCounts:
    """Count nouns in the sentences that WordNet gives as examples, five to a story.

    Neighbours in WordNet's files are examples of the same word: they go to different stories.
    """
    examples = list(_read_examples(wordnet))
    number = len(examples) // _SENTENCES
    nouns: list[set[str]] = [set() for _ in range(number)]
    for place, example in enumerate(examples):
        nouns[place % number].update(noun.text for noun in read_nouns(example))
    counts = NounCounts()
    for named in nouns:
        counts.add(named)
    return counts.keep_frequent(least)


def _read_examples(wordnet: Path) -> Iterator[str]:
    """Give what stands in quotation marks in the glosses of WordNet's synsets."""
    for part in ("noun", "verb", "adj", "adv"):
        with (wordnet / f"data.{part}").open(encoding="utf-8") as file:
            for line in file:
                if not line.startswith(" "):  # the licence does, at the head of each file
                    yield from _EXAMPLE.findall(line.partition("|")[2])


@lru_cache(maxsize=4)
def open_weights(table: str) -> NounCounts:
    """Give the counts of a table: 'examples' is the one that ships, else it is a file's name.

    The shipped one was counted in the 48,339 sentences that WordNet 3.0 gives as examples, five to
    a story. Over the nouns of 3,000 stories of VIST, each as often as it is named, its weights
    correlate at ρ = .65 with those counted in these stories themselves, while those counted in
    one half correlate at .98 with the other's: stories of the same kind are the better measure.
    """
    return read_table(EXAMPLES if table == "examples" else Path(table))
