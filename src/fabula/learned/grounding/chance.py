"""How much of a match is chance: what nouns chosen blindly would have had in the same pictures.

Similarities of one grounder do not compare with another's, and every picture looks a little like
every noun. What does compare is the share of other nouns that match the same pictures as well.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from fabula.learned.grounding.nouns import open_weights

if TYPE_CHECKING:
    from fabula.learned.grounding.grounder import GroundedStory, Grounder

# Nouns that stand for all others: of the usual ones of the table that ships, every fifth.
BLIND, _STEP = 200, 5


@lru_cache(maxsize=1)
def choose_blind() -> tuple[str, ...]:
    """Give nouns that no story has chosen: always the same, from usual to less usual ones."""
    counts = open_weights("examples").counts
    ranked = sorted(counts, key=lambda noun: (-counts[noun], noun))
    return tuple(islice(ranked, 0, BLIND * _STEP, _STEP))


def find_chances(story: GroundedStory, grounder: Grounder) -> tuple[float, ...]:
    """Give for each noun of a story the share of blind nouns that match its pictures as well.

    Of blind nouns that match exactly as well half count: the noun itself may be one of them. NaN
    for a noun without a match, and where the grounder knows no blind noun.
    """
    pictures = [sight.picture for sight in story.sights]
    tables = [sight.similarities for sight in grounder.look(pictures, choose_blind())]
    rows = np.concatenate(tables) if tables else np.zeros((0, BLIND))  # (regions, blind)
    known = rows[:, ~np.isnan(rows).any(axis=0)]
    if not known.size:
        return tuple(math.nan for _ in story.nouns)
    blind = known.max(axis=0)  # (blind,)
    matches = np.array([noun.match for noun in story.nouns])
    above = (blind > matches[:, None]).mean(axis=1)
    equal = (blind == matches[:, None]).mean(axis=1)
    return tuple(np.where(np.isnan(matches), math.nan, above + equal / 2).tolist())


def rate_story(story: GroundedStory, grounder: Grounder) -> float:
    """Give how much better than blind nouns those of a story are seen, from 0 to 1; .5 is chance.

    It is the mean, by the nouns' weights, of the share of blind nouns that match worse: a number
    that compares between grounders, and with probabilities. NaN where no noun has a match.
    """
    pairs = [
        (noun.weight, 1 - chance)
        for noun, chance in zip(story.nouns, find_chances(story, grounder), strict=True)
        if not math.isnan(chance)
    ]
    total = math.fsum(weight for weight, _ in pairs)
    return math.fsum(weight * share for weight, share in pairs) / total if total else math.nan
