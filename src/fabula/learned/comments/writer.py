"""Comments written by a language model, checked, and composed instead where they do not pass.

The model is shown the evidence alone, so that it cannot speak of other parts of the story, after
notes of ours on other lines; it goes on after a beginning that quotes the evidence.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from fabula.core.model import Generator
from fabula.learned.comments.composer import (
    Band,
    Comment,
    band_of,
    compose_comment,
    put_in_quotes,
)
from fabula.learned.comments.evidence import Evidence, stem_list, stem_word, word_list
from fabula.learned.joint.config import comment_input
from fabula.text.layout import Layout
from fabula.text.ngrams import ngrams
from fabula.text.words import locate_words

TRIES = 3
BUDGET_S = 18.0
_TOKENS = 28
_JOINT_TOKENS = 60
_STOPS = (".", "!", "?", "\n", "<|im_end|>")
LEAST_WORDS, MOST_WORDS = 15, 50
_LEAST_SAID = 5
_EDITORIAL = ("editor", "praise", "blame")
# No sentence ends with these: the model was cut short.
_DANGLING = frozenset(
    "a an the and or but of to with for that which as by from into its their his her is are".split()
)

_QUOTED = re.compile(r"“([^”]*)”|\"([^\"]*)\"|‘([^’]*)’(?!\w)")
_EDGE = " \t\n.,;:!?…-–—"

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
    "unrated": "The {aspect} is worth a second look: it",
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
    "unrated": """\
“The kettle had been singing for an hour.” The opening is worth a second look: it sets a mood and \
asks the reader to wait.
“He folded the map and put it in the stove.” The ending is worth a second look: it rests on one act.
“Rain ran down the tin roof and into her shoes.” The description of the scene is worth a second \
look: it lets the reader hear the place before anyone speaks.""",
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
            said = take_first_sentence(self._generate(text, evidence, band, seed=seed + attempt))
            took_s = self.clock() - began
            own = f"{self._beginning(evidence, band)}{said}".lstrip()
            written = f"{put_in_quotes(evidence.quote)} {own}"
            if not (problem := self._find_problem(written, said, text, evidence, band)):
                return Comment(written, evidence, "written", tuple(problems))
            problems.append(problem)
        return replace(composed, problems=tuple(problems))

    def _generate(self, text: str, evidence: Evidence, band: Band, *, seed: int) -> str:
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

    def _find_problem(
        self, written: str, said: str, text: str, evidence: Evidence, band: Band
    ) -> str:
        """Say what is wrong with a comment; "" if nothing."""
        if said and said in _EXAMPLES[band]:
            return "says what it was shown"
        return find_problem(written, said, text, evidence=evidence, band=band)


@dataclass(frozen=True)
class JointCommenter(Commenter):
    """Asks StoryER's decoder for a comment on an aspect; its first sentence stands by the quote.

    It is shown the story in the layout that it learned stories in. It may use the story's words and
    an editor's. Where it does not pass, a comment is composed.
    """

    layout: Layout = "given"

    def _generate(self, text: str, evidence: Evidence, band: Band, *, seed: int) -> str:
        prompt = comment_input(text, evidence.aspect, self.layout)
        [said] = self.generator.generate([prompt], max_tokens=_JOINT_TOKENS, seed=seed)
        return said

    def _beginning(self, evidence: Evidence, band: Band) -> str:
        return ""

    def _find_problem(
        self, written: str, said: str, text: str, evidence: Evidence, band: Band
    ) -> str:
        whole = replace(evidence, quote=text)
        return find_problem(written, said, text, evidence=whole, band=band)


@dataclass(frozen=True)
class RawCommenter(Commenter):
    """Gives what StoryER's decoder says of an aspect as it says it, by nucleus sampling at .9.

    Nothing is checked: it may speak of what the story does not say. It rests on no line, and takes
    the time that it takes.
    """

    budget_s: float = math.inf
    layout: Layout = "given"

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
        """Let the model speak once; None where it says nothing."""
        prompt = comment_input(text, evidence.aspect, self.layout)
        [said] = self.generator.generate([prompt], seed=seed)
        own = Evidence(evidence.aspect, reason="the model named no line")
        return Comment(" ".join(said.split()), own, "raw") if said.strip() else None


def comment_prompt(evidence: Evidence, band: Band) -> str:
    """Write what the model is asked: aspect, rating and evidence, and the beginning it goes on."""
    return _PROMPT.format(
        examples=_EXAMPLES[band],
        quote=put_in_quotes(" ".join(evidence.quote.split())),
        beginning=_beginning(evidence, band),
    )


def _beginning(evidence: Evidence, band: Band) -> str:
    return _BEGINNINGS[band].format(aspect=_SPOKEN[evidence.aspect])


def find_problem(comment: str, said: str, story: str, *, evidence: Evidence, band: Band) -> str:
    """Say what is wrong with a comment, of which `said` is the model's own part; "" if nothing.

    The model may use function words, an editor's words and those of the evidence. Whatever else
    it says would be a claim on what it was not shown.
    """
    count = len(locate_words(comment))
    if not LEAST_WORDS <= count <= MOST_WORDS:
        return f"{count} words"
    if rambling := _find_rambling(said):
        return rambling
    for quote in map("".join, _QUOTED.findall(said)):
        # Of quotation marks around nothing, "" is left, which any story holds.
        if quote.strip(_EDGE) not in story:
            return f"quotes “{quote}”, which the story does not say"
    if foreign := _find_foreign_words(said, evidence):
        return f"speaks of “{foreign[0]}”, which is not in the evidence"
    return _find_contradiction(said, band)


def _find_foreign_words(said: str, evidence: Evidence) -> list[str]:
    """Words that neither an editor nor the evidence would use, in order; names among them."""
    shown = {stem_word(word.word) for word in locate_words(evidence.quote)}
    known = shown.union({stem_word(evidence.aspect)}, *map(stem_list, _EDITORIAL))
    return [
        word.word
        for word in locate_words(said)
        if word.word not in word_list("stop")
        and stem_word(word.word.removesuffix("'s")) not in known
        if len(word.word) > 1
    ]


def take_first_sentence(said: str) -> str:
    """Give what stands before the first full stop or line end, with its blank before and a stop."""
    before = re.split(r"[.!?\n]|<\|", said, maxsplit=1)[0].rstrip(" ,;:-–—*")
    joint = "" if before.startswith((" ", "'", "’", ",")) else " "
    return f"{joint}{before}." if before.strip() else ""


def _find_rambling(said: str) -> str:
    """Say whether the model had nothing to say, did not come to an end, or went round."""
    words = [word.word for word in locate_words(said)]
    if len(words) < _LEAST_SAID:
        return "hardly anything was said"
    if words[-1] in _DANGLING:
        return "the sentence does not end"
    runs = ngrams(words, 3)
    return "goes round in circles" if len(set(runs)) < len(runs) else ""


def _find_contradiction(said: str, band: Band) -> str:
    """Say whether words of praise or blame go against the rating."""
    words = {word.word for word in locate_words(said)}
    blame = sorted(words & word_list("blame"))
    if band == "high" and blame:
        return f"finds fault (“{blame[0]}”) with what is rated high"
    praise = sorted(words & word_list("praise"))
    if band == "low" and praise:
        return f"praises (“{praise[0]}”) what is rated low"
    if band == "low" and not blame and not any(word.endswith("n't") for word in words):
        return "finds no fault with what is rated low"
    return ""
