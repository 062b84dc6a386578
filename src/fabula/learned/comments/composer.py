"""Comments composed from what was measured: no language model is asked.

`observe` gives what few human stories do: the line, the pattern, how rare it is and what to try,
what is surest and easiest to act on first. `compose_comment` speaks of an aspect that a reader has
rated: a template is chosen by the story's digest and a seed. It says how the aspect is rated, if
it is, and what the quote is; all else in it are questions and advice, which claim nothing.
"""

from __future__ import annotations

import hashlib
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal, Protocol

from fabula.learned.comments.evidence import Evidence, Span, cut_span, find_cuts
from fabula.text.craft.facts import Fact, find_facts
from fabula.text.repetition import Repetition
from fabula.text.words import words

Band = Literal["low", "middle", "high", "unrated"]
By = Literal["composed", "written", "raw"]

_MIDDLE, _HALF = 3.0, 0.5

MOST_OBSERVATIONS = 5
# Rarer than this nothing is surer: beyond 1 in 200 the human stories that we know are too few.
_RAREST = 0.005
# What each check is called, and how easily a writer can act on it, from 0 to 1: a slip can be
# mended where it stands, a rhythm only by writing anew.
_CHECKS = {
    "tense_slips": ("tense", 1.0),
    "person_slips": ("person", 1.0),
    "said_twice": ("said twice", 0.95),
    "repeated_openings": ("openings", 0.9),
    "word_echoes": ("words near each other", 0.9),
    "filter_words": ("filter words", 0.8),
    "dialogue_tags": ("who speaks", 0.75),
    "adverbs": ("adverbs", 0.7),
    "passive_voice": ("passive", 0.65),
    "sentence_rhythm": ("rhythm", 0.6),
    "late_names": ("names", 0.4),
}
_OTHER_CHECK = 0.5
# Which share of the words stands in runs that come again: 1 human story in 20, in 100 and in 200
# has more, of up to 300 words and of more (1,978 of WritingPrompts: benchmarks/review.py, option
# --repeated).
_REPEATED = {
    300: ((0.105, 0.05), (0.21, 0.01), (0.27, 0.005)),
    0: ((0.077, 0.05), (0.18, 0.01), (0.21, 0.005)),
}
_LOOP = 0.5  # of the text: whatever else is found follows from that
_LEAST_WORDS = 75  # of the human stories that are compared
_AGAIN = "said again"


@dataclass(frozen=True)
class Observation:
    """Something measured in a story that few human stories do.

    `said` is the pattern in a sentence, `comparison` how many do as much, `advice` what to try.
    `quote` stands at `span`; `spots` are all places that count. `share` is that of the human
    stories that do as much; `weight` how sure and how actionable it is.
    """

    name: str
    said: str
    comparison: str
    advice: str
    span: Span
    quote: str
    spots: tuple[Span, ...] = field(default=(), repr=False)
    share: float = math.nan
    weight: float = 0.0
    cut: tuple[bool, bool] = (False, False)  # whether a sentence is, before or after the quote

    @property
    def shown(self) -> str:
        """The quote on one line, with dots where a sentence is cut."""
        before, after = self.cut
        return f"{'… ' * before}{' '.join(self.quote.split())}{' …' * after}"

    @property
    def text(self) -> str:
        """The whole: the line, what is measured, the comparison, and what to try."""
        quote = put_in_quotes(self.shown)
        said = f"{self.said[:1].upper()}{self.said[1:]}"
        return f"{quote} {said}; {self.comparison}. {self.advice}"

    def plain(self) -> dict[str, Any]:
        """Write it as plain values."""
        start, end = self.span
        share = None if math.isnan(self.share) else self.share
        return {
            "name": self.name, "said": self.said, "comparison": self.comparison,
            "advice": self.advice, "quote": self.quote, "start": start, "end": end,
            "spots": [list(spot) for spot in self.spots], "share": share, "text": self.text,
        }  # fmt: skip


def observe(text: str, repetition: Sequence[Repetition]) -> tuple[Observation, ...]:
    """Give at most five observations on a story, what is surest and most actionable first.

    A text that goes round in circles is told that alone.
    """
    again = _observe_repetition(text, repetition)
    if again and sum(run.share for run in repetition) >= _LOOP:
        return (again,)
    observations = [again] if again else []
    observations += [_weigh_fact(text, fact) for fact in find_facts(text)]
    observations.sort(key=lambda observation: -observation.weight)
    by_name: dict[str, Observation] = {}
    for observation in observations:
        # Of one name the weightiest; nor is it told twice that something comes again.
        if not (again and observation.name == _CHECKS["said_twice"][0]):
            by_name.setdefault(observation.name, observation)
    return tuple(by_name.values())[:MOST_OBSERVATIONS]


def weigh(share: float, actionable: float) -> float:
    """Weigh something that a share of human stories does by how easily it can be acted on."""
    sure = math.log(max(share, _RAREST)) / math.log(_RAREST)
    return sure * actionable


def _weigh_fact(text: str, fact: Fact) -> Observation:
    check = fact.check.partition(".")[0]
    name, actionable = _CHECKS.get(check, (check.replace("_", " "), _OTHER_CHECK))
    start, end = cut_span(text, fact.passage, fact.spots)
    weight = weigh(fact.share, actionable)
    return Observation(
        name, fact.said, fact.comparison, fact.advice, (start, end), text[start:end], fact.spots,
        fact.share, weight, find_cuts(text, (start, end)),
    )  # fmt: skip


def _observe_repetition(text: str, runs: Sequence[Repetition]) -> Observation | None:
    """Tell what comes again word for word, where few human stories repeat themselves as much."""
    total = sum(run.share for run in runs)
    count = len(words(text))
    if count < _LEAST_WORDS and not any(run.count > 2 and run.share >= _LOOP for run in runs):
        return None
    bounds = _REPEATED[300 if count < 300 else 0]
    share = min((rare for least, rare in bounds if total > least), default=math.nan)
    if not runs or math.isnan(share):
        return None
    run = max(runs, key=lambda run: run.share)
    start, end = cut_span(text, run.places[0], ())
    size = len(words(run.text))
    these = f"these {size} words come" if size > len(words(text[start:end])) else "this comes"
    often = "twice" if run.count == 2 else f"{run.count} times"
    said = f"{these} {often}{'' if run.exact else ', nearly the same'}; in all "
    said += f"{100 * total:.0f} % of the text is said more than once"
    fewer = f"about 1 in {1 / share:.0f} human stories repeats"
    if share == _RAREST:
        fewer = f"fewer than 1 in {1 / share:.0f} human stories repeat"
    return Observation(
        _AGAIN, said, f"{fewer} as much", "Keep the time that counts, unless it is a refrain.",
        (start, end), text[start:end], tuple(place for run in runs for place in run.places),
        share, weigh(share, 1.0), find_cuts(text, (start, end)),
    )  # fmt: skip


@dataclass(frozen=True)
class Comment:
    """What is said of an aspect, on which evidence, and by whom.

    `problems` are why earlier tries of a language model were not taken.
    """

    text: str
    evidence: Evidence
    by: By = "composed"
    problems: tuple[str, ...] = ()


class Commenting(Protocol):
    """Who writes comments, for so long in all."""

    def deadline(self) -> float:
        """When the time is spent, if it begins now."""
        ...

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
        """Give a comment on a story's aspect; None without evidence."""
        ...


def band_of(rating: float, usual: float = _MIDDLE) -> Band:
    """Name the band of a rating: half a point from what raters give as a rule is low, or high."""
    if math.isnan(rating):
        return "unrated"
    if rating < usual - _HALF:
        return "low"
    return "high" if rating >= usual + _HALF else "middle"


def compose_comment(
    text: str, evidence: Evidence, rating: float, *, usual: float = _MIDDLE, seed: int = 0
) -> Comment | None:
    """Compose a comment on a story's aspect; None where there is no evidence to rest on."""
    if not evidence.found:
        return None
    variants = templates()[evidence.aspect][band_of(rating, usual)]
    template = variants[_draw_number(text, evidence.aspect, seed) % len(variants)]
    quote = put_in_quotes(evidence.quote)
    return Comment(template.format(quote=quote, how=evidence.how, rating=f"{rating:.1f}"), evidence)


def put_in_quotes(quote: str) -> str:
    """Put a quote in the quotation marks that it does not hold itself."""
    double = any(mark in quote for mark in '“”"')
    return f"‘{quote}’" if double else f"“{quote}”"


@lru_cache(maxsize=1)
def templates() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Read our templates: aspect → band → variants."""
    text = (files(__package__) / "_templates.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _draw_number(text: str, aspect: str, seed: int) -> int:
    parts = f"{seed}|{aspect}|{text}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(parts, digest_size=8).digest(), "big")
