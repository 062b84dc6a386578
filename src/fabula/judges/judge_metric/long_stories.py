"""Stories that do not fit into a model's window: too long, or summarised part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fabula.core.story import Story
from fabula.judges.judge_metric.prompting import LONG, fence, open_prompt, system_prompt
from fabula.models.asking.question import Question, Respondent
from fabula.models.servers.wire import Wish
from fabula.text.sentences import sentence_spans

# Tokens of a summary: fewer say nothing, more are not read faster than the part itself.
_LEAST_SUMMARY, _MOST_SUMMARY = 40, 300
_TOKENS_PER_WORD = 1.5
# What a server adds round a question, and by how far an estimate of its tokens may be short.
_SLACK = 32


@dataclass(frozen=True)
class ShownStory:
    """What is shown of a story: all of it, or its last part and a summary of what comes before."""

    story: Story
    text: str
    summary: str = ""

    @property
    def coverage(self) -> float:
        """Share of the story that is shown word for word."""
        return len(self.text) / len(self.story.text)


@dataclass(frozen=True)
class PartedStory:
    """A long story in parts, the last of which is shown as it is, and how long summaries may be."""

    story: Story
    parts: tuple[str, ...]
    summary_tokens: int

    def ask_summaries(self, key: str, *, temperature: float, seed: int) -> Iterator[Question]:
        """Ask for a summary of every part but the last."""
        prompt = self.story.prompt
        before = f"The prompt of the story:\n\n{fence(prompt, 'prompt')}\n\n" if prompt else ""
        wish = Wish(self.summary_tokens, temperature, 1.0, seed=seed)
        for number, part in enumerate(self.parts[:-1], 1):
            asked = open_prompt(LONG).fill(
                "summary",
                prompt=before,
                number=number,
                count=len(self.parts),
                story=fence(part, "part"),
                words=int(self.summary_tokens / _TOKENS_PER_WORD),
            )
            yield Question(f"{key}/{number}", asked, system_prompt(), wish)

    def show(self, summaries: Sequence[str]) -> ShownStory:
        """Show the last part after the summaries of the others."""
        told = "\n\n".join(f"Part {number}: {text}" for number, text in enumerate(summaries, 1))
        return ShownStory(self.story, self.parts[-1], told)


def measure_question(respondent: Respondent, question: Question) -> int:
    """Count the tokens of a question and of the longest answer to it."""
    asked = respondent.count_tokens(f"{question.system}\n{question.prompt}")
    return asked + question.wish.max_tokens + _SLACK


def part_story(
    respondent: Respondent, story: Story, window: int, ask: Callable[[ShownStory], Question]
) -> PartedStory | None:
    """Cut a story into parts that fit into the window; None where even summaries would not.

    Half of what the question leaves is for the last part, the other half for the summaries.
    """
    room = (window - measure_question(respondent, ask(ShownStory(story, "")))) // 2
    longest = min(room // 2, _MOST_SUMMARY)
    blank = PartedStory(story, ("", ""), max(longest, 1)).ask_summaries("", temperature=0, seed=0)
    left = window - max(measure_question(respondent, question) for question in blank)
    if longest < _LEAST_SUMMARY or left < _LEAST_SUMMARY:
        return None
    pieces = cut_text(story.text, min(room, left), respondent.count_tokens)
    tokens = min(longest, room // max(len(pieces) - 1, 1))
    return PartedStory(story, tuple(pieces), tokens) if tokens >= _LEAST_SUMMARY else None


def cut_text(text: str, room: int, count: Callable[[str], int]) -> list[str]:
    """Cut a text before sentences into pieces of at most so many tokens; the last is the fullest.

    Filling begins at the end, for the end is what is shown as it is. A sentence that is too long
    by itself is cut anywhere.
    """
    starts = [span[0] for span in sentence_spans(text)] or [0]
    starts[0] = 0
    pieces: list[str] = []
    for start, stop in reversed(list(zip(starts, [*starts[1:], len(text)], strict=True))):
        for piece in reversed(_cut_anywhere(text[start:stop], room, count)):
            if pieces and count(piece + pieces[-1]) <= room:
                pieces[-1] = piece + pieces[-1]
            else:
                pieces.append(piece)
    return pieces[::-1]


def _cut_anywhere(text: str, room: int, count: Callable[[str], int]) -> list[str]:
    """Halve a text until its pieces fit."""
    if count(text) <= room or len(text) < 2:
        return [text]
    middle = len(text) // 2
    return [*_cut_anywhere(text[:middle], room, count), *_cut_anywhere(text[middle:], room, count)]
