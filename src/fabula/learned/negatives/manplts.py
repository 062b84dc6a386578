"""Negatives as MANPLTS makes them (Ghazarian et al., 2021): plots tampered with, in four ways.

The paper has a BART tell stories from the tampered plots (`manipulate`). Where there is none,
`rewrite` does the same to the keywords within a text; that is ours, not the paper's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabula.learned.negatives.corpus import Corpus
from fabula.learned.negatives.draw import Seed, generator
from fabula.learned.negatives.events import Events
from fabula.learned.negatives.negative import Negative, apply_in_turn
from fabula.learned.negatives.plot_changes import (
    contradict_keywords,
    reorder_events,
    repeat_keywords,
    substitute_keywords,
)
from fabula.learned.negatives.plot_recipe import ROC, TECHNIQUES, WP, PlotRecipe
from fabula.learned.negatives.plots import Plot
from fabula.learned.negatives.rewriting import Rewriter
from fabula.learned.negatives.tags import Tagger, light_tag
from fabula.text.antonyms import Antonyms

__all__ = [
    "NEEDS",
    "ROC",
    "SEED",
    "TECHNIQUES",
    "WP",
    "Manipulated",
    "PlotRecipe",
    "contradict_keywords",
    "manipulate",
    "reorder_events",
    "repeat_keywords",
    "rewrite",
    "substitute_keywords",
]

SEED = 100  # the authors'
NEEDS = {
    "repetition": "two sentences with keywords",
    "order": "a source of events that knows one of the verbs",
    "substitution": "another story with a sentence of enough keywords",
    "contradiction": "a source of antonyms that knows one of the keywords",
}
# The original draws 1 to 4 and asks for 0 to 3: what stands at 0 is never done, and 4 is nothing.
_NOTHING = "nothing"
_COMPAT = (*TECHNIQUES[:3], _NOTHING)


@dataclass(frozen=True)
class Manipulated:
    """A tampered plot; the rest as in `Negative`."""

    plot: Plot
    techniques: tuple[str, ...]
    changed: bool
    impossible: tuple[str, ...] = ()


def manipulate(
    plot: Plot,
    *,
    others: Sequence[Plot],
    seed: Seed = SEED,
    antonyms: Antonyms | None = None,
    events: Events | None = None,
    how: PlotRecipe = ROC,
    tag: Tagger = light_tag,
    compat: bool = False,
) -> Manipulated:
    """Tamper with a plot in two to four ways, drawn without replacement.

    A technique that the plot does not admit of, or whose source is not given (`NEEDS`), is named
    in `impossible`, and another one stands in for it. With compat none does, contradiction is
    never drawn, and in its place stands nothing at all, as in the authors' code.
    """
    rng = generator(seed)
    count = rng.randint(how.fewest, how.most)
    order = rng.sample(_COMPAT if compat else TECHNIQUES, len(TECHNIQUES))

    def change(name: str, found: Plot) -> Plot | None:
        match name:
            case "repetition":
                return repeat_keywords(found, seed=rng, how=how)
            case "order":
                return reorder_events(found, seed=rng, events=events, how=how, tag=tag)
            case "substitution":
                return substitute_keywords(found, seed=rng, others=others, how=how)
            case "contradiction":
                return contradict_keywords(found, seed=rng, antonyms=antonyms, how=how)
        return found

    done = apply_in_turn(plot, order, count=count, change=change, stand_in=not compat)
    techniques = tuple(name for name in done.techniques if name != _NOTHING)
    return Manipulated(done.result, techniques, done.result != plot, done.impossible)


def rewrite(
    sentences: Sequence[str],
    *,
    others: Corpus,
    seed: Seed = SEED,
    antonyms: Antonyms | None = None,
    events: Events | None = None,
    how: PlotRecipe = ROC,
) -> Negative:
    """Do to the keywords of a text what `manipulate` does to a plot; ours, not the paper's.

    The first sentence stays as it is. So that what comes out can be read without a generator that
    smooths it, keywords are not inserted but take the place of keywords of the same tag, in the
    right form: a keyword is repeated in other sentences, a sentence gets another story's keywords,
    a word becomes its antonym. An event out of order is joined by "and then": before its
    verb, or at the end of its sentence.
    """
    rng = generator(seed)
    writer = Rewriter(others, rng, how, antonyms=antonyms, events=events)
    given = list(sentences)

    def change(name: str, found: list[str]) -> list[str] | None:
        match name:
            case "repetition":
                return writer.repeat(found)
            case "order":
                return writer.reorder(found)
            case "substitution":
                return writer.substitute(found)
        return writer.contradict(found)

    count = rng.randint(how.fewest, how.most)
    order = rng.sample(TECHNIQUES, len(TECHNIQUES))
    done = apply_in_turn(given, order, count=count, change=change)
    changed = done.result != given
    return Negative(tuple(done.result), done.techniques, changed, done.impossible)
