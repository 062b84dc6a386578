"""Who and what a story names: its characters, places and things, each with where it is spoken of.

Names are told by their capitals, for which many stories are read at once, or by spaCy's small
model. One that is a part of another (`Mary`, `Mary Smith`) is the same one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fabula.core.errors import SettingError
from fabula.core.score import Missing
from fabula.core.story import Story
from fabula.text.names import learn_names
from fabula.text.sentences import speeches

Kind = Literal["person", "place", "thing"]
Finder = Literal["capitals", "spacy"]
FINDERS: tuple[Finder, ...] = ("capitals", "spacy")

# What the story calls who tells it.
TELLER = "I"
_TELLER = re.compile(r"(?<![\w’'])I(?![\w.])")
_WORD = re.compile(r"(?<!\w)[^\W\d_]+(?!\w)")
_BETWEEN = re.compile(r"[ \t]|-")
# A name is a place where these stand before it at least half of the time.
_AT = re.compile(
    r"(?<!\w)(?:in|into|near|across|through|throughout|outside|inside|around|toward|towards)"
    r"\s(?:the\s)?$",
    re.IGNORECASE,
)
# Before a name, these are a part of it, and it is a place: New York, Mount Ember.
_PLACE_WORDS = frozenset(
    "New North South East West Old Great Upper Lower Lake Mount Fort Port Las Los Saint".split()
)
# Capitalised, but nobody's names.
_PEOPLES = frozenset(
    "African Arab Arabic Asian Australian Austrian Brazilian British Canadian Catholic Celtic "
    "Chinese Christian Danish Dutch Egyptian European Greek Hebrew Indian Iranian Irish Islamic "
    "Israeli Italian Japanese Jewish Korean Latin Mexican Muslim Nazi Nordic Norwegian Persian "
    "Polish Portuguese Roman Russian Scottish Soviet Spanish Swedish Swiss Turkish Victorian "
    "Viking Welsh Internet Facebook Google Bible Congress".split()
)
_KINDS: Mapping[str, Kind] = {
    "PERSON": "person", "GPE": "place", "LOC": "place", "FAC": "place", "ORG": "thing",
    "PRODUCT": "thing", "WORK_OF_ART": "thing", "EVENT": "thing", "LAW": "thing",
}  # fmt: skip


@dataclass(frozen=True)
class Member:
    """Somebody or something that a story names, and the places of the text that speak of it."""

    name: str
    kind: Kind
    places: tuple[int, ...]

    @property
    def is_teller(self) -> bool:
        """Whether it is who tells the story and is called nothing but `I`."""
        return self.name == TELLER

    def is_in(self, start: int, stop: int) -> bool:
        """Whether it is spoken of between two places."""
        return any(start <= place < stop for place in self.places)


@dataclass(frozen=True)
class _Found:
    """A name where it stands."""

    start: int
    name: str
    kind: Kind | None = None


class CastFinder:
    """Finds who and what stories name; by capitals it has read all of them before."""

    def __init__(self, stories: Iterable[Story], names: Finder = "capitals") -> None:
        if names not in FINDERS:
            raise SettingError(f"names={names!r} is unknown", f"choose {' or '.join(FINDERS)}")
        self._by_capitals = names == "capitals"
        texts = (story.text for story in stories)
        self._known = learn_names(texts) - _PEOPLES if self._by_capitals else frozenset()

    def find(self, text: str) -> list[Member]:
        """Give the cast in the order of its first places; who tells the story, as `I`, too."""
        found = (
            list(_find_runs(text, self._known)) if self._by_capitals else list(_find_labelled(text))
        )
        members = _join(text, found)
        told = tuple(match.start() for match in _TELLER.finditer(_drop_speech(text)))
        if told:
            members.append(Member(TELLER, "person", told))
        return sorted(members, key=lambda member: member.places[0])


def _drop_speech(text: str) -> str:
    """Put blanks for what is said in quotation marks: an I in it is anybody's."""
    for speech in speeches(text):
        text = text.replace(speech, " " * len(speech), 1)
    return text


def _find_runs(text: str, known: frozenset[str]) -> Iterator[_Found]:
    """Go through names: words that are known, and runs of such words as one name.

    Where every word of a run also stands alone more than once, each is a name of its own: `In
    Halden Mira slept.`
    """
    names = known | _PLACE_WORDS
    runs = _list_runs(text, [word for word in _WORD.finditer(text) if word[0] in names])
    # A word such as New is no name unless one follows.
    runs = [run for run in runs if run[-1][0] in known]
    alone = Counter(run[0][0] for run in runs if len(run) == 1)
    for run in runs:
        if len(run) > 1 and all(alone[word[0]] > 1 for word in run):
            yield from (_Found(word.start(), word[0]) for word in run)
        else:
            yield _Found(run[0].start(), text[run[0].start() : run[-1].end()])


def _list_runs(text: str, words: Sequence[re.Match[str]]) -> list[list[re.Match[str]]]:
    """Part words where anything but one blank or hyphen stands between them."""
    runs: list[list[re.Match[str]]] = []
    for word in words:
        if runs and _BETWEEN.fullmatch(text, runs[-1][-1].end(), word.start()):
            runs[-1].append(word)
        else:
            runs.append([word])
    return runs


def _find_labelled(text: str) -> Iterator[_Found]:
    """Go through the names that spaCy finds; those it cannot read are none."""
    from fabula.models.reading.tagging import label_names

    try:
        names = label_names(text, what="a story")
    except Missing:
        return
    for (start, stop), label in names:
        name = re.sub(r"['’]s$|^(?:the|a|an)\s", "", text[start:stop], flags=re.IGNORECASE)
        if label in _KINDS and name[:1].isupper():
            yield _Found(text.index(name, start), " ".join(name.split()), _KINDS[label])


def _join(text: str, found: Sequence[_Found]) -> list[Member]:
    """Make one member of all names whose words are a part of one other's."""
    whole = sorted({each.name for each in found}, key=lambda name: (-len(name), name))
    owners: dict[str, str] = {}
    for name in whole:
        longer = [other for other in owners.values() if _is_part(name, other)]
        # `Smith` may be either of two Smiths: then it stands for itself.
        owners[name] = longer[0] if len(set(longer)) == 1 else name
    mentions: dict[str, list[_Found]] = {}
    for each in found:
        mentions.setdefault(owners[each.name], []).append(each)
    return [
        Member(name, _choose_kind(text, places), tuple(each.start for each in places))
        for name, places in mentions.items()
    ]


def _is_part(name: str, other: str) -> bool:
    return name != other and set(name.split()) < set(other.split())


def _choose_kind(text: str, found: Sequence[_Found]) -> Kind:
    """Give the kind that was found most often; by capitals, whether it is a place."""
    kinds = Counter(each.kind for each in found if each.kind)
    if kinds:
        return kinds.most_common(1)[0][0]
    if any(each.name.split()[0] in _PLACE_WORDS for each in found):
        return "place"
    at = sum(_AT.search(text, max(0, each.start - 20), each.start) is not None for each in found)
    return "place" if 2 * at >= len(found) else "person"
