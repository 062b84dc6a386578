"""Comments written by a language model, checked, and composed instead where they do not pass.

The model is shown the evidence alone, so that it cannot speak of other parts of the story, after
notes of ours on other lines; it goes on after a beginning that quotes the evidence.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from fabula.core.model import Generator
from fabula.learned.comments._checked import first_sentence, problem_with
from fabula.learned.comments.composed import Band, Comment, band_of, compose_comment, quoted
from fabula.learned.comments.evidence import Evidence

TRIES = 3
BUDGET_S = 18.0
_TOKENS = 28
_STOPS = (".", "!", "?", "\n", "<|im_end|>")
_SPOKEN = {
    "opening": "opening",
    "middle": "middle of the story",
    "ending": "ending",
    "character": "drawing of character",
    "scene": "description of the scene",
    "heartwarming": "warmth",
    "sad": "sadness",
    "horror": "horror",
    "funny": "humour",
    "novelty": "idea",
}
_BEGINNINGS: dict[Band, str] = {
    "high": "The {aspect} works: it",
    "middle": "The {aspect} is only fair: it",
    "low": "The {aspect} is weak: it",
}
# Notes of ours on lines of ours: a small model goes on in the manner of what it is shown.
_EXAMPLES: dict[Band, str] = {
    "high": """\
“The kettle had been singing for an hour.” The opening works: it makes the reader wonder at once.
“He folded the map and put it in the stove.” The ending works: it leaves the reader with an image.
“Rain ran down the tin roof and into her shoes.” The description of the scene works: it lets the \
reader hear and feel the place.""",
    "middle": """\
“The kettle had been singing for an hour.” The opening is only fair: it sets a mood but asks no \
question.
“He folded the map and put it in the stove.” The ending is only fair: it is clear but comes too \
soon.
“Rain ran down the tin roof and into her shoes.” The description of the scene is only fair: it \
shows the place but not what it means.""",
    "low": """\
“The kettle had been singing for an hour.” The opening is weak: it gives the reader no reason \
to go on.
“He folded the map and put it in the stove.” The ending is weak: it does not answer any question.
“Rain ran down the tin roof and into her shoes.” The description of the scene is weak: it is too \
brief to leave a picture.""",
}
_PROMPT = """Notes of a kind editor on single lines of stories. Each note is one short sentence.

{examples}
{quote} {beginning}"""


@dataclass(frozen=True)
class Commenter:
    """Writes comments with a language model, for so many seconds in all; then composes them."""

    generator: Generator
    tries: int = TRIES
    budget_s: float = BUDGET_S
    clock: Callable[[], float] = time.monotonic

    def deadline(self) -> float:
        """When the time is spent, if it begins now."""
        return self.clock() + self.budget_s

    def comment(
        self,
        text: str,
        evidence: Evidence,
        rating: float,
        *,
        until: float,
        usual: float = 3.0,
        seed: int = 0,
    ) -> Comment | None:
        """Write a comment that passes every check, or compose one; None without evidence.

        No try begins that, by the last one, would end after the time `until`.
        """
        composed = compose_comment(text, evidence, rating, usual=usual, seed=seed)
        if composed is None:
            return None
        problems: list[str] = []
        took_s = 0.0
        for attempt in range(self.tries):
            began = self.clock()
            if began + took_s > until:
                problems.append("no time was left")
                break
            band = band_of(rating, usual)
            said = first_sentence(self._said(text, evidence, band, seed=seed + attempt))
            took_s = self.clock() - began
            own = f"{self._beginning(evidence, band)}{said}".lstrip()
            written = f"{quoted(evidence.quote)} {own}"
            if not (problem := self._problem(written, said, text, evidence, band)):
                return Comment(written, evidence, "written", tuple(problems))
            problems.append(problem)
        return replace(composed, problems=tuple(problems))

    def _said(self, text: str, evidence: Evidence, band: Band, *, seed: int) -> str:
        """Ask the model, which is shown the evidence and no more of the text."""
        [said] = self.generator.generate(
            [comment_prompt(evidence, band)],
            max_tokens=_TOKENS,
            temperature=0.7,
            top_p=0.9,
            stop=_STOPS,
            seed=seed,
        )
        return said

    def _beginning(self, evidence: Evidence, band: Band) -> str:
        """Give what stands between the quote and what the model says."""
        return _beginning(evidence, band)

    def _problem(self, written: str, said: str, text: str, evidence: Evidence, band: Band) -> str:
        """Say what is wrong with a comment; "" if nothing."""
        if said and said in _EXAMPLES[band]:
            return "says what it was shown"
        return problem_with(written, said, text, evidence=evidence, band=band)


def comment_prompt(evidence: Evidence, band: Band) -> str:
    """Write what the model is asked: aspect, rating and evidence, and the beginning it goes on."""
    return _PROMPT.format(
        examples=_EXAMPLES[band],
        quote=quoted(" ".join(evidence.quote.split())),
        beginning=_beginning(evidence, band),
    )


def _beginning(evidence: Evidence, band: Band) -> str:
    return _BEGINNINGS[band].format(aspect=_SPOKEN[evidence.aspect])
