"""A task as its page shows it: stories under letters, questions under what they ask about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from fabula.studio.campaigns.definition import Definition, Question

# Anchors that fit under their numbers, side by side, in characters.
_SHORT_ANCHOR = 14
_MOST_ACROSS, _MOST_BARE_ACROSS = 7, 11


@dataclass(frozen=True)
class SheetStory:
    """A story with what stands beside it; `label` is its letter where there are several, `pictures`
    are addresses, `given` what the writer was given and other fields, by their titles."""

    id: str
    text: str
    label: str = ""
    prompt: str = ""
    references: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()
    given: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class AskedQuestion:
    """A question of the page, about one story or about all that are shown."""

    id: str
    question: Question
    stories: tuple[SheetStory, ...]
    story: SheetStory | None = None
    # Checks have names of their own, which no question may have.
    check: str = ""

    @property
    def name(self) -> str:
        """What its answer is called."""
        return self.check or self.question.name

    @property
    def is_short(self) -> bool:
        """Whether the numbers can stand side by side with what they mean."""
        anchors = [anchor for anchor in self.question.anchors if anchor]
        most = _MOST_ACROSS if anchors else _MOST_BARE_ACROSS
        is_few = self.question.high - self.question.low < most
        return is_few and all(len(anchor) <= _SHORT_ANCHOR for anchor in anchors)


@dataclass(frozen=True)
class Section:
    """Questions about one story, or those that compare, under a title where there are several."""

    title: str
    asked: tuple[AskedQuestion, ...]


def spell_label(number: int, count: int) -> str:
    """Call the stories of a task A, B, C …; one alone has no letter."""
    return f"Story {ascii_uppercase[number % 26]}" if count > 1 else ""


def make_sections(
    definition: Definition,
    stories: Sequence[SheetStory],
    checks: Iterable[AskedQuestion] = (),
) -> list[Section]:
    """Lay the questions out: story by story, with those that compare where the first of them
    stands in the file, before or after; what checks raters comes last."""
    shown = tuple(stories)
    comparing = tuple(
        AskedQuestion(f"q{number}", question, shown)
        for number, question in enumerate(definition.questions)
        if question.compares
    )
    sections = []
    for place, story in enumerate(shown):
        asked = tuple(
            AskedQuestion(f"q{number}-{place}", question, shown, story)
            for number, question in enumerate(definition.questions)
            if not question.compares
        )
        own = tuple(check for check in checks if check.story == story)
        sections.append(Section(story.label, (*asked, *own)))
    sections = [section for section in sections if section.asked]
    if comparing:
        title = ("Both stories" if len(shown) == 2 else "All stories") if sections else ""
        at = 0 if definition.questions[0].compares else len(sections)
        sections.insert(at, Section(title, comparing))
    loose = tuple(check for check in checks if check.story is None)
    return [*sections, Section("", loose)] if loose else sections


def list_choices(definition: Definition) -> Mapping[str, tuple[str, ...]]:
    """Labels of passages, by question."""
    return {
        question.name: question.choices
        for question in definition.questions
        if question.kind == "spans"
    }


def make_page_values(
    definition: Definition, stories: Sequence[SheetStory], sections: Sequence[Section]
) -> dict[str, Any]:
    """What the template needs of questions and stories, and the scripts of texts and labels."""
    kinds = {asked.question.kind for section in sections for asked in section.asked}
    has_spans = "spans" in kinds
    data = {
        # Exact to the character: a page's markup makes one line end of two.
        "texts": {story.id: story.text for story in stories} if has_spans else {},
        "choices": list_choices(definition),
        "language": definition.language,
    }
    return {
        "campaign": definition,
        "stories": stories,
        "sections": sections,
        "has_spans": has_spans,
        "has_digits": bool(kinds - {"text", "spans"}),
        "data": data,
    }
