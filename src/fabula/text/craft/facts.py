"""Facts about a story's craft: what was found, where, and how many human stories do as much.

They are what a comment may rest on. A fact says what is there; whether it is a fault is the
writer's to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fabula.text.craft.diction import (
    find_adverbs,
    find_filter_words,
    find_passives,
    find_tag_adverbs,
    find_tag_verbs,
)
from fabula.text.craft.echoes import find_echoes, find_said_twice
from fabula.text.craft.openings import (
    find_even_lengths,
    find_repeated_openings,
    find_repeated_paragraphs,
    measure_rhythm,
)
from fabula.text.craft.prose import Finding, NothingToCheck, Prose, Span, take_apart
from fabula.text.craft.reference import compare_with_humans
from fabula.text.craft.telling import (
    find_late_lead,
    find_late_names,
    find_person_slips,
    find_tense_slips,
)

# What every tenth human story does is no news.
MOST_USUAL = 0.1


@dataclass(frozen=True)
class Check:
    """A pattern that is looked for: the metric's name and aspect, how it is found, what to try.

    `at` is the place of the aspect among the values; fewer spots than `least` are chance. With
    `low` it is low values that stand out. `people` says who was seen to care, where anybody was:
    docs/craft.md has the figures.
    """

    metric: str
    aspect: str
    find: Callable[[Prose], Finding]
    advice: str
    at: int = 0
    least: int = 3
    low: bool = False
    people: str = ""

    @property
    def name(self) -> str:
        """Name by which human stories are known: metric and aspect."""
        return f"{self.metric}.{self.aspect}" if self.aspect else self.metric


@dataclass(frozen=True)
class Fact:
    """What a check found in a story and how rare that is among human stories of its length.

    `said` is the pattern in words, `passage` the span to quote, `spots` all places that count;
    `share` is the share of human stories with as much, `comparison` the same in words, and
    `stories` how many they are; `advice` is what a writer may try, and `people` who cares, as far
    as it was measured ("" where nobody was seen to).
    """

    check: str
    value: float
    said: str
    passage: Span
    spots: tuple[Span, ...]
    share: float
    comparison: str
    stories: int
    advice: str
    people: str = ""

    @property
    def text(self) -> str:
        """Pattern and comparison as one sentence."""
        return f"{self.said[:1].upper()}{self.said[1:]}; {self.comparison}."


CHECKS = (
    Check(
        "repeated_openings", "sentences", find_repeated_openings,
        "Begin one of them with something else: a place, a time, a thing.", at=1,
    ),
    Check(
        "repeated_openings", "paragraphs", find_repeated_paragraphs,
        "Let one of these paragraphs begin otherwise.", at=2,
    ),
    Check(
        "sentence_rhythm", "run", measure_rhythm,
        "Join two of them, or cut one short.", at=1, least=4,
        people="writers scored the version with the shorter run higher in 64 of 100 pairs",
    ),
    Check(
        "sentence_rhythm", "variation", find_even_lengths,
        "Let a short sentence follow a long one where something happens.", low=True, least=5,
        people="writers scored the version that varies more higher in 75 of 100 pairs",
    ),
    Check(
        "word_echoes", "", find_echoes,
        "Read it aloud: what is not meant to ring twice wants another word.",
    ),
    Check(
        "said_twice", "", find_said_twice,
        "Keep the stronger of the two, unless it is a refrain.", least=2,
    ),
    Check(
        "filter_words", "", find_filter_words,
        "Show what is there and leave out that it is seen: “the floor creaked”.",
    ),
    Check("adverbs", "", find_adverbs, "Look for a verb that needs none of them."),
    Check(
        "passive_voice", "", find_passives,
        "Say who does it, where that matters.",
    ),
    Check(
        "dialogue_tags", "verbs", find_tag_verbs,
        "“Said” is not noticed; let the words that are spoken do the work.",
    ),
    Check(
        "dialogue_tags", "adverbs", find_tag_adverbs,
        "Let what is spoken show how.", at=1, least=2,
    ),
    Check(
        "tense_slips", "switches", find_tense_slips,
        "Tell it in one tense, unless the change is meant.",
        people="readers preferred the story with fewer changes in 62 of 100 pairs",
    ),
    Check(
        "person_slips", "", find_person_slips,
        "Whose “I” is it? A thought may be set off, or told.", least=1,
    ),
    Check(
        "late_names", "lead", find_late_lead,
        "Name them earlier, or make the wait worth it.", least=1,
    ),
    Check(
        "late_names", "latest", find_late_names,
        "Let them be heard of before they are needed.", at=1, least=1,
    ),
)  # fmt: skip


def find_facts(text: str, *, most_usual: float = MOST_USUAL) -> list[Fact]:
    """Find what stands out in a story's craft, the rarest among human stories first.

    A text too short to compare has none, and one that no check reads.
    """
    facts = [fact for fact in _find_all(take_apart(text)) if fact.share <= most_usual]
    return sorted(facts, key=lambda fact: fact.share)


def _find_all(prose: Prose) -> Iterator[Fact]:
    """Give what each check found and human stories can be compared with."""
    for check in CHECKS:
        try:
            finding = check.find(prose)
        except NothingToCheck:
            continue
        value = finding.values[check.at]
        beside = compare_with_humans(check.name, value, len(prose.words), low=check.low)
        if beside is not None and finding.said and len(finding.spots) >= check.least:
            yield Fact(
                check.name, value, finding.said, finding.passage, finding.spots,
                beside.share, beside.said, beside.stories, check.advice, check.people,
            )  # fmt: skip
