from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from fabula.learned.comments.composer import compose_comment
from fabula.learned.comments.evidence import Evidence, find_evidence
from fabula.learned.comments.writer import (
    Commenter,
    comment_prompt,
    find_problem,
    take_first_sentence,
)
from fakes.review import TEXT

SCENE = find_evidence(TEXT, "scene")
GOOD = " sets a vivid mood through plain details that the reader can feel."
BAD = " gives the dragon a crown of ice and a long memory of war."


@dataclass
class Said:
    """A generator that says what it is told to, and remembers what it was asked."""

    lines: Sequence[str]
    asked: list[dict[str, Any]] = field(default_factory=list)

    @property
    def signature(self) -> str:
        return "said"

    def generate(self, prompts: Sequence[str], **options: Any) -> list[str]:
        self.asked.append({"prompts": list(prompts), **options})
        return [self.lines[(len(self.asked) - 1) % len(self.lines)] for _ in prompts]


def ticks(step_s: float) -> Iterator[float]:
    now = 0.0
    while True:
        yield now
        now += step_s


def write(lines: Sequence[str], rating: float = 4.2, evidence: Evidence = SCENE, **options: Any):
    said = Said(lines)
    commenter = Commenter(said, **options)
    return commenter.comment(TEXT, evidence, rating, until=commenter.deadline()), said


def test_a_comment_that_passes_begins_with_the_quote() -> None:
    comment, said = write([GOOD])
    assert comment.by == "written" and comment.problems == ()
    assert comment.text == (
        f"“{SCENE.quote}” The description of the scene works: it sets a vivid mood through plain "
        "details that the reader can feel."
    )
    assert len(said.asked) == 1


def test_the_prompt_holds_aspect_rating_and_evidence_and_no_more_of_the_story() -> None:
    prompt = comment_prompt(SCENE, "low")
    assert SCENE.quote in prompt and prompt.endswith("The description of the scene is weak: it")
    assert "Mara" not in prompt


def test_a_second_try_is_drawn_otherwise() -> None:
    comment, said = write([BAD, GOOD])
    assert comment.by == "written" and len(comment.problems) == 1
    assert said.asked[0]["seed"] != said.asked[1]["seed"]


def test_after_three_tries_the_comment_is_composed() -> None:
    comment, said = write([BAD])
    assert comment.text == compose_comment(TEXT, SCENE, 4.2).text
    assert comment.by == "composed" and len(comment.problems) == len(said.asked) == 3


def test_when_the_time_is_spent_comments_are_composed() -> None:
    clock = ticks(8.0)
    comment, said = write([BAD], clock=lambda: next(clock), budget_s=20.0)
    # Began at 8 s and took until 16; the next try would end at 32, after the budget.
    assert len(said.asked) == 1
    assert comment.by == "composed" and comment.problems[-1] == "no time was left"


def test_what_was_shown_as_an_example_is_no_comment() -> None:
    comment, _ = write([" makes the reader wonder at once."])
    assert comment.by == "composed" and set(comment.problems) == {"says what it was shown"}


def test_without_evidence_nobody_is_asked() -> None:
    comment, said = write([GOOD], evidence=Evidence("sad", reason="nothing"))
    assert comment is None and said.asked == []


@pytest.mark.parametrize(
    ("said", "band", "problem"),
    [
        (BAD, "high", "speaks of “dragon”"),
        (" shows how Tomas feels the dark sea.", "high", "speaks of “tomas”"),
        (" is “cold as stone” in a way that readers feel.", "high", "quotes “cold as stone”"),
        (" lacks detail and leaves the reader with nothing.", "high", "finds fault"),
        (" paints a vivid picture of the dark sea here.", "low", "praises"),
        (" sets the scene with details of the sea.", "low", "finds no fault"),
        (" works.", "high", "hardly anything was said"),
        (" gives the reader a sense of the", "high", "the sentence does not end"),
        (" gives a sense of place and a sense of place.", "high", "goes round"),
        (" ".join(["vivid detail"] * 30), "high", "words"),
        (" is “black and quiet” in a way that readers feel.", "high", ""),
        (" lacks detail, and the reader is not drawn in.", "low", ""),
        (" sets a mood but leaves little to wonder about.", "middle", ""),
    ],
)
def test_what_a_model_says_is_checked(said: str, band: Any, problem: str) -> None:
    comment = f"“{SCENE.quote}” The scene is there: it{said}"
    found = find_problem(comment, said, TEXT, evidence=SCENE, band=band)
    assert problem in found if problem else found == ""


def test_too_few_words_in_all_are_refused() -> None:
    short = Evidence("opening", 0, 4, "Yes.", "the first words of the story")
    said = " sets a clear tone now."
    problem = find_problem(f"“Yes.” It{said}", said, "Yes.", evidence=short, band="high")
    assert problem == "7 words"


def test_only_the_first_sentence_of_what_is_said_is_taken() -> None:
    assert take_first_sentence(" is good. And more.") == " is good."
    assert take_first_sentence("'s a start\nUser:") == "'s a start."
    assert take_first_sentence("is fine<|im_end|>") == " is fine."
    assert take_first_sentence(" . ") == ""
