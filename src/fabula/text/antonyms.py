"""Words and their contraries, from WordNet's files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fabula.core.errors import InputError
from fabula.text.inflect import Form, inflect, match_case, plain_forms

_PARTS = ("noun", "verb", "adj", "adv")
_KINDS = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}


@dataclass(frozen=True)
class Antonyms:
    """Contraries of plain lower-case words, the better known first."""

    pairs: Mapping[str, tuple[str, ...]]

    def of(self, word: str) -> tuple[str, ...]:
        """Contraries in the form and case of the word: `Hotter` gives `Colder`."""
        plain, form = self._known(word)
        antonyms = dict.fromkeys(inflect(antonym, form) for antonym in self.pairs.get(plain, ()))
        return tuple(match_case(word, other) for other in antonyms if other != word.lower())

    def _known(self, word: str) -> tuple[str, Form]:
        """Give the first plain form that has contraries, and which form of it the word is."""
        forms = plain_forms(word.lower())
        return next((pair for pair in forms if pair[0] in self.pairs), ("", "plain"))


def read_wordnet(folder: Path) -> Antonyms:
    """Read the direct antonyms of single words from WordNet's index and data files.

    A word's antonyms stand in the order of its senses, the most frequent first.
    """
    try:
        direct = dict(_direct_antonyms(folder))
        return _gather(
            (word, antonym)
            for part in _PARTS
            for word, offsets in _senses(folder / f"index.{part}")
            for offset in offsets
            for antonym in direct.get((part, offset, word), ())
        )
    except OSError as error:
        problem = f"{folder} is no folder of WordNet's files ({error.strerror})"
        raise InputError(problem, "give the one that holds data.noun") from None


def _gather(pairs: Iterable[tuple[str, str]]) -> Antonyms:
    """Gather contraries by word, each once, in the order they come."""
    gathered: dict[str, dict[str, None]] = {}
    for word, antonym in pairs:
        if word != antonym:
            gathered.setdefault(word, {})[antonym] = None
    return Antonyms({word: tuple(antonyms) for word, antonyms in gathered.items()})


_Sense = tuple[str, str, str]


def _direct_antonyms(folder: Path) -> Iterator[tuple[_Sense, tuple[str, ...]]]:
    """Antonyms of a part's synset in the sense of one of its words."""
    rows = {part: dict(_synsets(folder / f"data.{part}")) for part in _PARTS}
    for part, synsets in rows.items():
        for offset, (words, pointers) in synsets.items():
            for number, word in enumerate(words, 1):
                ends = [rows[kind][at][0][to - 1] for kind, at, by, to in pointers if by == number]
                if single := tuple(end for end in ends if end.isalpha()):
                    yield (part, offset, word), single


_Synset = tuple[list[str], list[tuple[str, str, int, int]]]


def _synsets(path: Path) -> Iterator[tuple[str, _Synset]]:
    """Read synsets with antonyms: their words, and pointers of part, offset, word from and to."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.startswith(" ") or " ! " not in (head := line.partition(" | ")[0]):
                continue
            fields = head.split()
            last = 4 + 2 * int(fields[3], 16)
            words = [word.partition("(")[0].lower() for word in fields[4:last:2]]
            four = zip(*(fields[last + 1 + place :: 4] for place in range(4)), strict=False)
            pointers = [
                (_KINDS[part], offset, int(ends[:2], 16), int(ends[2:], 16))
                for sign, offset, part, ends in four
                if sign == "!"
            ]
            yield fields[0], (words, pointers)


def _senses(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Read words and the offsets of their synsets, the most frequent sense first."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            fields = line.split()
            if not line.startswith(" "):
                yield fields[0], fields[-int(fields[2]) :]
