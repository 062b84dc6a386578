"""What a campaign will be, before anybody is asked: ratings, money, hours, and what raters see."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabula.core.story import Story, count_text
from fabula.studio.campaigns.definition import TIE, Definition, Question
from fabula.studio.campaigns.stories import Material
from fabula.studio.campaigns.tasks import PlannedTask, plan_tasks

# Silent reading of English fiction (Brysbaert, 2019), and about what an answer takes to choose.
WORDS_PER_MINUTE = 260
ANSWER_S = {"text": 30.0, "spans": 60.0, "aspects": 90.0}
_USUAL_ANSWER_S = 6.0
_WIDTH = 96
_MOST_SHOWN_CHARACTERS = 700


@dataclass(frozen=True)
class Outlook:
    """Tasks and ratings of a campaign, with what they cost and how long they take.

    `checks` are tasks that raters do beside the others: planted ones and duplicates. `task_s` is
    what the file expects a task to take, or else reckoned from the words that are shown.
    """

    stories: int
    systems: int
    items: int
    tasks: int
    ratings: int
    checks: int
    task_s: float
    amount: float
    currency: str

    @property
    def hours(self) -> float:
        """Hours that raters spend together."""
        return (self.ratings + self.checks) * self.task_s / 3600

    @property
    def cost(self) -> float:
        """What raters are paid together; what a crowd site takes comes on top."""
        return (self.ratings + self.checks) * self.amount

    @property
    def hourly(self) -> float:
        """What an hour of work pays."""
        return self.amount / self.task_s * 3600 if self.task_s else 0.0


def foresee(definition: Definition, material: Sequence[Material]) -> Outlook:
    """Count what is asked, what it costs and how long it takes."""
    stories = [each.story for each in material]
    tasks = plan_tasks(definition, stories)
    ratings = sum(task.wanted for task in tasks)
    each_in = [n for n in (definition.checks.planted, definition.checks.duplicates) if n]
    expected = definition.pay.expected_s or _estimate_task(definition, stories, tasks)
    return Outlook(
        stories=len(stories),
        systems=len({story.system for story in stories if story.system}),
        items=len({task.item for task in tasks if task.item is not None}),
        tasks=len(tasks),
        ratings=ratings,
        checks=sum(ratings // n for n in each_in),
        task_s=expected,
        amount=definition.pay.amount,
        currency=definition.pay.currency,
    )


def describe_outlook(outlook: Outlook, definition: Definition) -> list[str]:
    """Say it in a few lines."""
    per_task = "" if definition.shown == 1 else f" of {definition.shown} stories"
    systems = f" by {count_text(outlook.systems, 'system')}" if outlook.systems else ""
    lines = [
        f"{count_text(outlook.stories, 'story', 'stories')}{systems}:"
        f" {count_text(outlook.tasks, 'task')}{per_task}, {_spell_raters(definition)}:"
        f" {count_text(outlook.ratings, 'rating')}"
    ]
    if outlook.checks:
        lines.append(f"{count_text(outlook.checks, 'task')} more to check raters, about")
    lines.append(f"about {_spell_hours(outlook.hours)} of work, {outlook.task_s:.0f} s a task")
    if outlook.amount:
        lines.append(
            f"{outlook.cost:,.2f} {outlook.currency} at {outlook.amount:,.2f} a task, which is"
            f" {outlook.hourly:,.2f} an hour (what a crowd site takes comes on top)"
        )
    return lines


def preview(definition: Definition, material: Sequence[Material]) -> str:
    """Write what raters see, as text: the instructions, then the first task."""
    stories = [each.story for each in material]
    task = plan_tasks(definition, stories)[0]
    parts = [definition.title, "=" * len(definition.title), "", definition.instructions.strip(), ""]
    verdicts = [example.verdict for example in definition.examples]
    about = [
        count_text(verdicts.count("good"), "good example"),
        count_text(verdicts.count("bad"), "bad example"),
        count_text(len(definition.training), "story to practise on", "stories to practise on"),
    ]
    parts += [f"({', '.join(about)})", "", "Then tasks like this one:", ""]
    for number, place in enumerate(task.stories, 1):
        label = "Story" if definition.shown == 1 else f"Story {number}"
        parts += _show_story(definition, material[place], label, is_first=number == 1)
    parts += [line for question in definition.questions for line in _show_question(question)]
    if definition.checks.character:
        parts += ["Who is named first in the story? (a name, or None)", ""]
    return "\n".join(parts).rstrip()


def _spell_raters(definition: Definition) -> str:
    if definition.overlap == 1 or definition.raters == 1:
        return f"{count_text(definition.raters, 'rater')} each"
    return f"{definition.raters} raters for {definition.overlap:.0%} of them and one for the others"


def _spell_hours(hours: float) -> str:
    return f"{hours * 60:,.0f} minutes" if hours < 2 else f"{hours:,.0f} hours"


def _estimate_task(
    definition: Definition, stories: Sequence[Story], tasks: Sequence[PlannedTask]
) -> float:
    words = [_count_words(definition, story) for story in stories]
    shown = sum(words[place] for task in tasks for place in task.stories) / max(len(tasks), 1)
    answers = sum(
        ANSWER_S.get(question.kind, _USUAL_ANSWER_S)
        * (1 if question.compares else definition.shown)
        for question in definition.questions
    )
    return shown / WORDS_PER_MINUTE * 60 + answers


def _count_words(definition: Definition, story: Story) -> int:
    texts = [story.text]
    if definition.show.prompt:
        texts.append(story.prompt or "")
    if definition.show.reference:
        texts += story.references[:1]
    return sum(len(text.split()) for text in texts)


def _show_story(
    definition: Definition, each: Material, label: str, *, is_first: bool
) -> Iterator[str]:
    """One story of a task; what all of a task share stands before the first."""
    story, show = each.story, definition.show
    shared = is_first or definition.within == "all"
    if show.pictures and shared:
        yield from _show_part("Pictures", "\n".join(story.images))
    if show.prompt and story.prompt and shared:
        yield from _show_part("Prompt", story.prompt)
    for name, text in each.extra.items():
        yield from _show_part(name.capitalize(), str(text))
    if show.reference and story.references:
        yield from _show_part("For comparison", story.references[0])
    yield from _show_part(label, story.text)


def _show_part(name: str, text: str) -> list[str]:
    cut = text if len(text) <= _MOST_SHOWN_CHARACTERS else f"{text[:_MOST_SHOWN_CHARACTERS]}…"
    wrapped = [
        row
        for line in cut.splitlines()
        for row in textwrap.wrap(line, _WIDTH, initial_indent="  ", subsequent_indent="  ") or [""]
    ]
    return [f"{name}:", *wrapped, ""]


def _show_question(question: Question) -> list[str]:
    head = f"{question.text}{'' if question.required else ' (may be left out)'}"
    lines = [f"{question.title}: {head}" if question.title else head]
    if question.help:
        lines += _show_part("", question.help)[1:-1]
    if question.kind in ("scale", "aspects"):
        words = question.anchors or ("",) * len(question.values)
        numbers = range(question.low, question.high + 1)
        lines += [f"  {n}  {word}".rstrip() for n, word in zip(numbers, words, strict=True)]
    if question.choices:
        choices = ", ".join(question.choices)
        lines += textwrap.wrap(choices, _WIDTH, initial_indent="  ", subsequent_indent="  ")
    if question.kind == "best":
        lines.append(f"  one of the stories{f', or {TIE}' if question.ties else ''}")
    return [*lines, ""]
