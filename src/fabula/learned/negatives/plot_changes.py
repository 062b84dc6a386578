"""MANPLTS's four manipulations of plots, one function each; None says that one is impossible."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fabula.learned.negatives.corpus import TRIES
from fabula.learned.negatives.draw import Seed, draw_order, generator
from fabula.learned.negatives.events import EARLIER, MOST, RELATIONS, Events
from fabula.learned.negatives.plot_recipe import ROC, PlotRecipe
from fabula.learned.negatives.plots import Plot
from fabula.learned.negatives.tags import FUNCTION_WORDS, Tagger, light_tag
from fabula.text.antonyms import Antonyms
from fabula.text.inflect import Form, inflect, plain_forms

JOINTS = ("then", "later", "subsequently")


@dataclass(frozen=True)
class Consequence:
    """An event out of order, in the tense of a verb, and whether it stands after the verb.

    One that is not `verbal` is a noun, as poverty is, and has no tense.
    """

    phrase: str
    after: bool
    verbal: bool


def repeat_keywords(plot: Plot, *, seed: Seed, how: PlotRecipe = ROC) -> Plot | None:
    """Insert a share of the keywords again, each into a share of the sentences, never in front.

    Sentences with few keywords are drawn more often, by 1 / (1 + keywords), if the recipe says so.
    """
    rng = generator(seed)
    found = [list(sentence) for sentence in plot]
    words = [word for sentence in plot for word in sentence]
    if len(plot) < 2 or not words:
        return None
    for word in rng.sample(words, math.ceil(how.repeated * len(words))):
        by_length = how.repeated_by_length
        weights = {n: 1 / (1 + len(one)) if by_length else 1.0 for n, one in enumerate(found)}
        for n in draw_order(rng, weights)[: max(1, len(plot) // how.repeated_every)]:
            found[n].insert(rng.randint(1, max(1, len(found[n]))), word)
    return _if_changed(tuple(tuple(sentence) for sentence in found), plot)


def reorder_events(
    plot: Plot,
    *,
    seed: Seed,
    events: Events | None,
    how: PlotRecipe = ROC,
    tag: Tagger = light_tag,
) -> Plot | None:
    """Tell what goes before a share of the verbs after them, and what follows before them.

    None without a source of events, or where it knows none of the verbs. The later of the two may
    begin with then, later or subsequently.
    """
    rng = generator(seed)
    verbs = _places(plot, lambda word: tag(word.split()[0]).startswith("VB"))
    told: dict[tuple[int, int], list[str]] = {}
    for n, place in rng.sample(verbs, len(verbs)) if events else ():
        if len(told) == math.ceil(how.reordered * len(verbs)):
            break
        if events and (found := draw_consequence(plot[n][place], events, rng, tag=tag)):
            pair = [plot[n][place], found.phrase]
            first, last = pair if found.after else pair[::-1]
            joint = f"{rng.choice(JOINTS)} " if rng.random() < how.joined else ""
            told[n, place] = [first, joint + last]
    return _if_changed(_spliced(plot, told), plot)


def substitute_keywords(
    plot: Plot, *, seed: Seed, others: Sequence[Plot], how: PlotRecipe = ROC
) -> Plot | None:
    """Give a share of the sentences the keywords of a sentence of another story.

    These are a run of so many, of a sentence that has as many, or all of them, as the recipe says.
    """
    rng = generator(seed)
    found, run = list(plot), how.substituted_run
    for n in rng.sample(range(len(plot)), math.ceil(how.substituted * len(plot))):
        if source := _foreign(plot, others, max(1, run), rng):
            start = rng.randint(0, len(source) - run) if run else 0
            found[n] = source[start : start + run] if run else source
    return _if_changed(tuple(found), plot)


def contradict_keywords(
    plot: Plot, *, seed: Seed, antonyms: Antonyms | None, how: PlotRecipe = ROC
) -> Plot | None:
    """Insert an antonym before a share of the keywords that have one; None if none has."""
    rng = generator(seed)
    known = antonyms or Antonyms({})
    able = _places(plot, lambda word: bool(known.of(word)))
    told = {
        (n, place): [rng.choice(known.of(plot[n][place])), plot[n][place]]
        for n, place in rng.sample(able, math.ceil(how.contradicted * len(able)))
    }
    return _if_changed(_spliced(plot, told), plot)


def draw_consequence(
    verb: str, events: Events, rng: random.Random, *, tag: Tagger = light_tag
) -> Consequence | None:
    """Draw a relation in which a verb stands to an event, and one of its ten likeliest events."""
    for plain, form in plain_forms(verb.split()[0].lower()):
        known = {name: events.of(plain, name)[:MOST] for name in RELATIONS}
        names = [name for name in RELATIONS if known[name]]
        if names:
            relation = rng.choice(names)
            phrase = rng.choice(known[relation])
            verbal = _is_verbal(phrase, relation, tag)
            told = _inflected(phrase, form) if verbal else phrase
            return Consequence(told, after=relation in EARLIER, verbal=verbal)
    return None


def _is_verbal(phrase: str, relation: str, tag: Tagger) -> bool:
    """Whether a phrase begins with a verb; what something causes often begins with a noun."""
    first = phrase.split()[0]
    return first not in FUNCTION_WORDS and (relation != "Causes" or tag(first).startswith("VB"))


def _inflected(phrase: str, form: Form) -> str:
    first, _, rest = phrase.partition(" ")
    return f"{inflect(first, form)} {rest}".strip()


def _foreign(
    plot: Plot, others: Sequence[Plot], least: int, rng: random.Random
) -> tuple[str, ...] | None:
    """Draw a sentence of another plot with so many keywords; None after ten plots."""
    for other in rng.sample(others, min(len(others), TRIES)):
        fit = [one for one in other if len(one) >= least and one not in plot]
        if fit:
            return rng.choice(fit)
    return None


def _places(plot: Plot, fits: Callable[[str], bool]) -> list[tuple[int, int]]:
    return [
        (n, place)
        for n, sentence in enumerate(plot)
        for place, word in enumerate(sentence)
        if fits(word)
    ]


def _spliced(plot: Plot, told: Mapping[tuple[int, int], list[str]]) -> Plot:
    """Write keywords in the place of single ones."""
    return tuple(
        tuple(new for place, word in enumerate(sentence) for new in told.get((n, place), [word]))
        for n, sentence in enumerate(plot)
    )


def _if_changed(found: Plot, before: Plot) -> Plot | None:
    return None if found == before else found
