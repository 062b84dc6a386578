"""A story beside its pictures: where each of its nouns is seen best, and how much that counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from fabula.core.model import Picture
from fabula.learned.grounding.grounder import GroundedNoun, GroundedStory, Grounder, Sight
from fabula.learned.grounding.nouns import open_weights
from fabula.text.grounding import NounCounts, Pooling, pool
from fabula.text.nouns import Noun

# How much it says that a story names a noun.
Weigh = Callable[[str], float]
RUN, OFF = "run", "off"


def weigh_by(idf: str, counted: NounCounts | None = None, *, compat: bool = False) -> Weigh:
    """Say how nouns weigh: by their idf in the stories of a run, in a table, or all alike.

    `idf` is 'run' (then `counted` are the nouns of the run's stories), 'examples' (the table that
    ships), the path of a table, or 'off': every noun weighs 1, a match counts as it is.
    """
    if idf == OFF:
        return lambda noun: 1.0
    table = counted if idf == RUN else open_weights(idf)
    if table is None:
        raise ValueError("the nouns of the run have not been counted")
    return lambda noun: table.weigh(noun, compat=compat)


def ground_story(
    nouns: Sequence[Noun], pictures: Sequence[Picture], grounder: Grounder, weigh: Weigh
) -> GroundedStory:
    """Look for each noun of a story in all regions of all its pictures; the best match counts.

    A noun that several sentences name is looked for once and stands in each of them.
    """
    names = list(dict.fromkeys(noun.text for noun in nouns))
    sights = tuple(grounder.look(pictures, names))
    best = {name: _find_best(sights, column) for column, name in enumerate(names)}
    grounded = tuple(GroundedNoun(noun, weigh(noun.text), *best[noun.text]) for noun in nouns)
    return GroundedStory(sights, grounded)


def _find_best(sights: Sequence[Sight], column: int) -> tuple[float, int | None, int | None]:
    """Give a noun's best similarity and the places of its picture and region, the first of equals.

    NaN and no place where there is no region, or the noun is not known.
    """
    match, picture, region = math.nan, None, None
    for place, sight in enumerate(sights):
        values = np.asarray(sight.similarities)[:, column]  # (regions,)
        if not len(values) or np.isnan(values).all():
            continue
        highest = int(np.nanargmax(values))
        if picture is None or values[highest] > match:
            match, picture, region = float(values[highest]), place, highest
    return match, picture, region


def list_found(story: GroundedStory) -> list[GroundedNoun]:
    """Nouns of a story that have a match: all that the grounder knows, well seen or not."""
    return [noun for noun in story.nouns if not math.isnan(noun.match)]


def pool_story(story: GroundedStory, how: Pooling = "lme") -> float:
    """Make one number of a story: its nouns' matches times their weights, pooled.

    NaN where no noun has a match.
    """
    return pool([noun.weight * noun.match for noun in list_found(story)], how)
