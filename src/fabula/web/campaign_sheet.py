"""A task as its page shows it: stories under letters, questions under what they ask about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import Any

from fabula.studio.campaigns.answer_rules import CHARACTER, INSTRUCTED
from fabula.studio.campaigns.definition import Definition, Question, TrainingStory
from fabula.studio.campaigns.showing import Assignment, ShownStory
from fabula.text.sentences import sentence_spans

# Anchors that fit under their numbers, side by side, in characters: the whole, and its longest word
# beside one story and beside several, where there is less room.
_SHORT_ANCHOR, _SHORT_WORD, _SHORTER_WORD = 14, 11, 7
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
        words = [word for anchor in anchors for word in anchor.split()]
        longest = _SHORT_WORD if len(self.stories) == 1 else _SHORTER_WORD
        return (
            is_few
            and all(len(anchor) <= _SHORT_ANCHOR for anchor in anchors)
            and all(len(word) <= longest for word in words)
        )


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


def lay_out_task(
    definition: Definition, assignment: Assignment, *, pictures: str
) -> tuple[list[SheetStory], list[Section]]:
    """Lay out what a rater is shown and asked; `pictures` is the address of the campaign's."""
    count = len(assignment.stories)
    stories = [
        _make_story(story, spell_label(place, count), pictures)
        for place, story in enumerate(assignment.stories)
    ]
    shown, checks = tuple(stories), []
    if definition.checks.character:
        asks = "Who is named first in the story? Write “None” if nobody has a name."
        question = Question("character", "text", asks, title="Character")
        for place, story in enumerate(shown):
            checks.append(AskedQuestion(f"character-{place}", question, shown, story, CHARACTER))
    if instructed := assignment.instructed:
        asks = f"This question shows that you read along: please choose {instructed.value}."
        low, high = instructed.low, instructed.high
        question = Question("instructed", "scale", asks, title="Attention", low=low, high=high)
        checks.append(AskedQuestion("instructed", question, shown, None, INSTRUCTED))
    return stories, make_sections(definition, stories, checks)


def _make_story(story: ShownStory, label: str, pictures: str) -> SheetStory:
    names = {"input": "What the writer was given"}
    given = [(names.get(name, name), spell_field(value)) for name, value in story.fields.items()]
    if story.system:
        given.insert(0, ("Written by", story.system))
    return SheetStory(
        id=story.id,
        text=story.text,
        label=label,
        prompt=story.prompt or "",
        references=story.references,
        pictures=tuple(f"{pictures}/{digest}" for digest in story.pictures),
        given=tuple(given),
    )


def spell_field(value: Any) -> str:
    """Write a field of a story for people: a list line by line, a table with its names."""
    if isinstance(value, Mapping):
        return "\n".join(f"{name}: {spell_field(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return "\n".join(spell_field(inner) for inner in value)
    return "" if value is None else str(value)


def lay_out_practice(
    definition: Definition, story: TrainingStory
) -> tuple[SheetStory, list[Section]]:
    """Lay out a story to practise on: it stands alone, and only some questions are asked of it."""
    references = (story.reference,) if story.reference else ()
    shown = SheetStory("practice", story.text, prompt=story.prompt, references=references)
    asked = tuple(
        AskedQuestion(f"q{number}", question, (shown,))
        for number, question in enumerate(definition.questions)
        if question.name in story.answers
    )
    return shown, [Section("", asked)]


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
    shared = _find_shared(stories)
    kinds = {asked.question.kind for section in sections for asked in section.asked}
    has_spans = "spans" in kinds
    data: dict[str, Any] = {
        # Exact to the character: a page's markup makes one line end of two.
        "texts": {story.id: story.text for story in stories if has_spans},
        "sentences": {story.id: sentence_spans(story.text) for story in stories if has_spans},
        "choices": list_choices(definition),
    }
    return {
        "campaign": definition,
        "stories": [
            replace(
                story,
                prompt="" if shared.prompt else story.prompt,
                pictures=() if shared.pictures else story.pictures,
            )
            for story in stories
        ],
        "shared": shared,
        "sections": sections,
        "has_spans": has_spans,
        "has_digits": bool(kinds - {"text", "spans"}),
        "data": data,
    }


def _find_shared(stories: Sequence[SheetStory]) -> SheetStory:
    """What all stories of a task have beside them, and is shown once: prompt and pictures."""
    first = stories[0]
    is_several = len(stories) > 1
    has_prompt = is_several and all(story.prompt == first.prompt for story in stories)
    has_pictures = is_several and all(story.pictures == first.pictures for story in stories)
    prompt, pictures = first.prompt if has_prompt else "", first.pictures if has_pictures else ()
    return SheetStory("", "", prompt=prompt, pictures=pictures)
