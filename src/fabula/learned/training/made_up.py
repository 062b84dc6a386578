"""Made-up stories of a thing that goes from hand to hand, as many as are wanted, by a seed.

They are no literature. What happens next depends on who has the thing and where it lies, which the
sentence before says and others do not: a co-author that sees the entries before an entry, and the
cards that are played in it, knows more than one that does not. So an experiment about context can
be tried where no stories are at hand, and has an answer that is known.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from fabula.core.story import Story

_PEOPLE = (
    "Mira", "Oskar", "Tamsin", "Ludo", "Priya", "Anselm", "Wanda", "Kofi", "Elke", "Bram", "Noor",
    "Silvan", "Greta", "Tomas", "Yuna", "Hedda", "Idris", "Marit", "Pavel", "Zelda", "Corin",
    "Odile", "Rasmus", "Thea",
)  # fmt: skip
_PLACES = (
    "Halden", "Marrowby", "Stillwater", "Quarrytown", "Ostmoor", "Ferndale", "Brackwell",
    "Longsands", "Tarnfell", "Ashcombe", "Vellbridge", "Northgate", "Saltmarsh", "Hollowell",
)  # fmt: skip
_THINGS = (
    "lantern", "violin", "clock", "map", "kettle", "compass", "mirror", "ledger", "crown", "puppet",
    "telescope", "umbrella", "music box", "silver key", "green boat", "stone owl", "red kite",
    "glass eye", "tin soldier", "feather coat",
)  # fmt: skip
_OPENINGS = (
    "In {place} people knew {all}, and all of them wanted the {thing} that {one} had.",
    "Everybody in {place} had heard of the {thing} that {one} kept from {others}.",
    "There was but one {thing} in {place}, and of {all} only {one} had it.",
)
_GIVEN = (
    "{holder} gave the {thing} to {other}.",
    "So {holder} sold it to {other} for a loaf of bread.",
    "{other} asked nicely, and {holder} let go of the {thing}.",
)
_STOLEN = (
    "At night {other} stole the {thing} from {holder}.",
    "{holder} looked away, and {other} took it.",
)
_HIDDEN = (
    "{holder} hid the {thing} in {place}.",
    "Afraid of thieves, {holder} buried it in {place}.",
    "{holder} left the {thing} behind in {place} and told nobody.",
)
_FOUND = (
    "{other} went to {place} and found the {thing}.",
    "In {place}, {other} stumbled over it.",
    "It was {other} who dug up the {thing} in {place}.",
)
_SEARCHED = (
    "{other} looked for it in {elsewhere}, and it was not there.",
    "They say that {other} turned every stone in {elsewhere}.",
)
_ENDINGS = (
    "Since then the {thing} has belonged to {holder}, and nobody asks any more.",
    "{holder} has it to this day.",
)
_FEWEST, _MOST = 6, 12


def tell_stories(count: int, *, seed: int = 0) -> Iterator[Story]:
    """Tell so many stories; the first ones of a seed are the same, however many there are."""
    width = len(str(count))
    for number in range(1, count + 1):
        yield _tell_story(f"made-up-{number:0{width}d}", random.Random(f"made-up {seed} {number}"))


def _tell_story(identity: str, draws: random.Random) -> Story:
    people = draws.sample(_PEOPLE, draws.choice((2, 3, 3, 4)))
    places = draws.sample(_PLACES, 3)
    thing = draws.choice(_THINGS)
    named = {"thing": thing, "place": places[0], "one": people[0]}
    named |= {"all": _list_names(people), "others": _list_names(people[1:])}
    told = [draws.choice(_OPENINGS).format(**named)]
    holder, hiding = people[0], ""
    length = draws.randint(_FEWEST, _MOST)
    # The last but one has to leave the thing in somebody's hands.
    while len(told) < length - 1 or hiding:
        other = draws.choice([name for name in people if name != holder])
        named = {"thing": thing, "holder": holder, "other": other, "place": hiding}
        if hiding:
            elsewhere = draws.choice([place for place in places if place != hiding])
            is_found = len(told) >= length - 2 or draws.random() < 0.6
            forms = _FOUND if is_found else _SEARCHED
            holder, hiding = (other, "") if is_found else (holder, hiding)
            told.append(draws.choice(forms).format(**named, elsewhere=elsewhere))
        elif draws.random() < 0.5:
            holder = other
            told.append(draws.choice((*_GIVEN, *_STOLEN)).format(**named))
        else:
            hiding = draws.choice(places)
            told.append(draws.choice(_HIDDEN).format(**named | {"place": hiding}))
    told.append(draws.choice(_ENDINGS).format(thing=thing, holder=holder))
    return Story(identity, " ".join(told), f"Who will have the {thing} in the end?")


def _list_names(names: Sequence[str]) -> str:
    """Write names as people do: Ann, Bob and Cy."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
