"""WordNet's synsets of a word, read from its own files (Fellbaum, 1998)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_PARTS = ("noun", "verb", "adj", "adv")

# What WordNet's own morphology takes from the end of a word, and what it puts in its place.
_ENDINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "noun": (
        ("s", ""),
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "verb": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}


_MOST_RELATED = 100_000


class WordNet:
    """Single words and their synsets; a synset is a number, different for each part of speech."""

    def __init__(self, folder: Path) -> None:
        self._synsets: dict[str, dict[str, tuple[int, ...]]] = {part: {} for part in _PARTS}
        self._exceptions: dict[str, dict[str, list[str]]] = {part: {} for part in _PARTS}
        self._known: dict[str, frozenset[int]] = {}
        self._related: dict[str, set[str]] = {}
        self._members: dict[int, list[str]] = {}
        self.forgotten = 0
        for number, part in enumerate(_PARTS):
            self._read_index(folder / f"index.{part}", part, number)
            self._read_exceptions(folder / f"{part}.exc", part)

    def synsets(self, word: str) -> frozenset[int]:
        """Synsets of a lower-case word and of the words it may be a form of."""
        if word not in self._known:
            self._known[word] = frozenset(
                synset
                for part in _PARTS
                for form in self._forms(word, part)
                for synset in self._synsets[part].get(form, ())
            )
        return self._known[word]

    def lemma(self, word: str) -> str:
        """Give the form of a lower-case word that WordNet lists: as a noun, else as a verb, an
        adjective, an adverb; the word itself where it lists none."""
        forms = ((form, part) for part in _PARTS for form in self._forms(word, part))
        return next((form for form, part in forms if form in self._synsets[part]), word)

    def find_related(self, word: str) -> set[str]:
        """Words met so far, by this method, that share a synset with a word.

        Each word is compared with those before it once; later it is there for the asking.
        """
        if word not in self._related:
            self._relate(word)
        return self._related[word]

    def make_room(self) -> int:
        """Forget the words met if they are too many; give the number of times this was done.

        Who relies on words having been met calls this first, and starts anew if the number grew.
        """
        if len(self._related) >= _MOST_RELATED:
            self._known, self._related, self._members = {}, {}, {}
            self.forgotten += 1
        return self.forgotten

    def _relate(self, word: str) -> None:
        mine: set[str] = set()
        for synset in self.synsets(word):
            members = self._members.setdefault(synset, [])
            mine.update(members)
            members.append(word)
        for other in mine:
            self._related[other].add(word)
        self._related[word] = mine

    def _forms(self, word: str, part: str) -> Iterator[str]:
        yield word
        if word in self._exceptions[part]:
            yield from self._exceptions[part][word]
            return
        for ending, other in _ENDINGS[part]:
            if word.endswith(ending):
                yield word[: len(word) - len(ending)] + other

    def _read_index(self, path: Path, part: str, number: int) -> None:
        """Read lines of lemma, part, number of synsets, …, and the synsets' offsets at the end."""
        with path.open(encoding="utf-8") as file:
            for line in file:
                fields = line.split()
                if line.startswith(" ") or "_" in fields[0]:
                    continue
                offsets = fields[-int(fields[2]) :]
                self._synsets[part][fields[0]] = tuple(4 * int(o) + number for o in offsets)

    def _read_exceptions(self, path: Path, part: str) -> None:
        with path.open(encoding="utf-8") as file:
            for line in file:
                form, *lemmas = line.split()
                self._exceptions[part][form] = lemmas
