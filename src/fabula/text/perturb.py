"""Perturbations of a text by name: what each breaks, and what a good metric should say to it."""

from __future__ import annotations

import random
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from fabula.core.errors import SettingError, UnknownName, closest
from fabula.text.names import find_capitalised, swap_names
from fabula.text.negate import negate
from fabula.text.places import (
    draw_places,
    find_words,
    part_letters,
    part_sentences,
    put_into,
    reorder,
)
from fabula.text.relayout import (
    add_note,
    add_title,
    break_paragraphs,
    emphasise,
    flatten,
    tokenise,
    wrap,
)
from fabula.text.spoil import change_name, graft, loop, mix_words, swap_paragraphs

_UNSPACED_ENDS = "。！？｡"
_CLOSINGS = "\"'”’»)]」』）"


def shuffle(text: str, *, share: float = 1.0, seed: int = 0) -> str | None:
    """Put a share of the sentences into another order; what stands between them stays."""
    parted = part_sentences(text)
    sentences = list(parted.sentences)
    if len(set(sentences)) < 2:
        return None
    rng = random.Random(seed)
    order = rng.sample(range(len(sentences)), len(sentences))
    wanted = max(2, round(share * len(sentences)))
    while len({sentences[place] for place in order[:wanted]}) < 2:
        wanted += 1
    places = sorted(order[:wanted])
    moved = reorder([sentences[place] for place in places], rng)
    for place, sentence in zip(places, moved, strict=True):
        sentences[place] = sentence
    return parted.joined(sentences)


def shuffle_words(text: str, *, share: float = 1.0, seed: int = 0) -> str | None:
    """Put the words of a share of the sentences into another order; marks and blanks stay."""
    parted = part_sentences(text)
    names = find_capitalised(text)
    rng = random.Random(seed)
    sentences = list(parted.sentences)
    able = [place for place, sentence in enumerate(sentences) if _has_two_words(sentence)]
    for place in draw_places(rng, able, share * len(sentences)):
        sentences[place] = _move_words(sentences[place], names, rng)
    changed = parted.joined(sentences)
    return None if changed == text else changed


def repeat(text: str, *, share: float = 0.3, seed: int = 0) -> str | None:
    """Say a share of the sentences twice, one after the other."""
    parted = part_sentences(text)
    sentences = list(parted.sentences)
    if not sentences:
        return None
    for place in draw_places(random.Random(seed), range(len(sentences)), share * len(sentences)):
        sentences[place] += _blank_after(sentences[place]) + sentences[place]
    return parted.joined(sentences)


def drop_ending(text: str, *, share: float = 0.2, seed: int = 0) -> str | None:
    """Leave out the last sentences; chance plays no part."""
    parted = part_sentences(text)
    count = len(parted.sentences)
    kept = count - max(1, round(share * count))
    if kept < 1:
        return None
    pairs = zip(parted.gaps, parted.sentences[:kept], strict=False)
    return "".join(part for pair in pairs for part in pair)


def truncate(text: str, *, share: float = 0.5, seed: int = 0) -> str | None:
    """Break off after a word within a sentence, so that a share of the words is lost."""
    words = find_words(text)
    kept = len(words) - max(1, round(share * len(words)))
    if kept < 1:
        return None
    ends = _sentence_ends(text)
    within = [n for n in range(1, len(words)) if not _crosses(ends, words[n - 1][1], words[n][0])]
    kept = min(within, key=lambda n: (abs(n - kept), n), default=kept)
    return text[: words[kept - 1][1]]


def _has_two_words(sentence: str) -> bool:
    return len({sentence[start:end].lower() for start, end in find_words(sentence)}) > 1


def _move_words(sentence: str, names: set[str], rng: random.Random) -> str:
    """Move the words; a capital that only marks the beginning stays at the beginning."""
    spans = find_words(sentence)
    written = [sentence[start:end] for start, end in spans]
    begins_large = written[0][:1].isupper()
    if begins_large and not _keeps_capital(written[0], names):
        written[0] = written[0][:1].lower() + written[0][1:]
    moved = reorder(written, rng)
    if begins_large:
        moved[0] = moved[0][:1].upper() + moved[0][1:]
    return put_into(sentence, dict(zip(spans, moved, strict=True)))


def _keeps_capital(word: str, names: set[str]) -> bool:
    head = word.replace("’", "'").partition("'")[0]
    return head == "I" or head in names or (len(head) > 1 and head.isupper())


def _blank_after(sentence: str) -> str:
    return "" if sentence.rstrip(_CLOSINGS)[-1:] in _UNSPACED_ENDS else " "


def _sentence_ends(text: str) -> list[int]:
    parted = part_sentences(text)
    ends, place = [], 0
    for gap, sentence in zip(parted.gaps, parted.sentences, strict=False):
        place += len(gap) + len(sentence)
        ends.append(place)
    return ends


def _crosses(ends: Sequence[int], before: int, after: int) -> bool:
    """Whether a sentence ends between two places."""
    place = bisect_left(ends, before)
    return place < len(ends) and ends[place] <= after


_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = {
    key: row[max(0, place - 1) : place] + row[place + 1 : place + 2]
    for row in _ROWS
    for place, key in enumerate(row)
}
_SHORTEST = 3

_BLANK = re.compile(r"(?<=\S) (?=\S)")
_ODD_BLANKS = ("  ", "   ", "\n", " \n")

_STRAIGHT = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‟": '"', "‘": "'", "’": "'", "‚": "'", "‛": "'"}
)
_OPENS_AFTER = "([{-–—"


def typos(text: str, *, share: float = 0.1, seed: int = 0) -> str | None:
    """Mistype a share of the words once each: letters swapped, dropped, doubled or next keys.

    Words of fewer than three letters and words with digits are left alone.
    """
    spans = find_words(text)
    rng = random.Random(seed)
    wanted = max(1, round(share * len(spans)))
    changes: dict[tuple[int, int], str] = {}
    for place in rng.sample(range(len(spans)), len(spans)):
        if len(changes) == wanted:
            break
        start, end = spans[place]
        slip = _mistype(text[start:end], rng)
        if slip is not None:
            changes[start, end] = slip
    return put_into(text, changes) if changes else None


def spacing(text: str, *, share: float = 0.3, seed: int = 0) -> str | None:
    """Make a share of the single blanks double ones or line breaks; no paragraph begins or ends."""
    blanks = [match.span() for match in _BLANK.finditer(text)]
    blanks = [span for span in blanks if unicodedata.category(text[span[1]])[0] != "M"]
    if not blanks:
        return None
    rng = random.Random(seed)
    chosen = draw_places(rng, range(len(blanks)), share * len(blanks))
    return put_into(text, {blanks[place]: rng.choice(_ODD_BLANKS) for place in chosen})


def quotes(text: str, *, share: float | None = None, seed: int = 0) -> str | None:
    """Write curly quotation marks straight, or straight ones curly where none is curly."""
    straight = text.translate(_STRAIGHT)
    if straight != text:
        return straight
    curly = _curl(text)
    return None if curly == text else curly


def _mistype(word: str, rng: random.Random) -> str | None:
    letters = part_letters(word)
    if len(letters) < _SHORTEST or not all(letter[:1].isalpha() for letter in letters):
        return None
    slips: list[Callable[[list[str], int, random.Random], list[str]]] = [
        _swap, _drop, _double, _next_key,
    ]  # fmt: skip
    rng.shuffle(slips)
    for slip in slips:
        mistyped = "".join(slip(letters, rng.randrange(len(letters)), rng))
        if mistyped != word:
            return mistyped
    return None


def _swap(letters: list[str], place: int, rng: random.Random) -> list[str]:
    """Swap two letters; a large one at the beginning stays where it is."""
    left = max(1, min(place, len(letters) - 2)) if letters[0].isupper() else place
    left = min(left, len(letters) - 2)
    return [*letters[:left], letters[left + 1], letters[left], *letters[left + 2 :]]


def _drop(letters: list[str], place: int, rng: random.Random) -> list[str]:
    place = max(1, place)
    return letters[:place] + letters[place + 1 :]


def _double(letters: list[str], place: int, rng: random.Random) -> list[str]:
    place = max(1, place)
    return [*letters[: place + 1], *letters[place:]]


def _next_key(letters: list[str], place: int, rng: random.Random) -> list[str]:
    keys = _NEIGHBOURS.get(letters[place].lower(), "")
    if not keys:
        return letters
    key = rng.choice(keys)
    return [
        *letters[:place],
        key.upper() if letters[place].isupper() else key,
        *letters[place + 1 :],
    ]


def _curl(text: str) -> str:
    """Turn each mark by what stands before it; one within a word is an apostrophe."""
    if not {'"', "'"} & set(text):
        return text
    written: list[str] = []
    for char in text:
        before = written[-1] if written else " "
        opens = before.isspace() or before in _OPENS_AFTER or before in "“‘"
        if char == '"':
            char = "“" if opens else "”"
        elif char == "'":
            char = "‘" if opens else "’"
        written.append(char)
    return "".join(written)


Expected = Literal["worse", "same"]


class Change(Protocol):
    """Changes a text; None where it cannot be changed in this way."""

    def __call__(self, text: str, *, share: float, seed: int) -> str | None:
        """Give the changed text."""


class Joining(Protocol):
    """Makes one text of two; None where it cannot."""

    def __call__(self, text: str, *, share: float, seed: int, other: str) -> str | None:
        """Give the changed text."""


@dataclass(frozen=True)
class Perturbation:
    """A change of a text, what it does to it in words, and what should become of its scores.

    `share` is how much of the text it touches unless told otherwise, counted in `unit`; one
    without a unit always touches all there is. One with `join` takes from another story.
    """

    name: str
    change: Change | None
    expected: Expected
    does: str
    unit: str = ""
    share: float = 1.0
    join: Joining | None = None

    def __call__(
        self, text: str, *, share: float | None = None, seed: int = 0, other: str = ""
    ) -> str | None:
        """Change a text; None where nothing could be changed: not applicable, not unharmed."""
        wanted = self.share if share is None or not self.unit else share
        if not 0 < wanted <= 1:
            raise SettingError(f"share={wanted} will not do", "give a number above 0, at most 1")
        if self.join is not None:
            changed = self.join(text, share=wanted, seed=seed, other=other)
        else:
            assert self.change is not None
            changed = self.change(text, share=wanted, seed=seed)
        return None if changed == text else changed


_ALL = (
    Perturbation("shuffle", shuffle, "worse", "puts the sentences out of order", "sentences"),
    Perturbation(
        "shuffle_words", shuffle_words, "worse",
        "puts the words of each sentence out of order", "sentences",
    ),
    Perturbation("repeat", repeat, "worse", "says sentences twice", "sentences", 0.3),
    Perturbation("swap_names", swap_names, "worse", "mistakes the two main names for each other"),
    Perturbation(
        "negate", negate, "worse", "turns sentences into their contrary", "sentences", 0.3,
    ),
    Perturbation("drop_ending", drop_ending, "worse", "leaves out the ending", "sentences", 0.2),
    Perturbation("truncate", truncate, "worse", "breaks off within a sentence", "words", 0.5),
    Perturbation("typos", typos, "worse", "mistypes words", "words", 0.1),
    Perturbation("swap_paragraphs", swap_paragraphs, "worse", "puts the paragraphs out of order"),
    Perturbation("loop", loop, "worse", "says the first two sentences again and again"),
    Perturbation("salad", mix_words, "worse", "puts all words of the text out of order"),
    Perturbation(
        "wrong_name", change_name, "worse", "calls the main person by another name half-way",
    ),
    Perturbation(
        "graft", None, "worse", "goes on with the end of another story", "sentences", 0.5, graft,
    ),
    Perturbation("spacing", spacing, "same", "doubles blanks and breaks lines", "blanks", 0.3),
    Perturbation("quotes", quotes, "same", "turns straight quotes curly, or curly ones straight"),
    Perturbation("flat", flatten, "same", "takes all line breaks out"),
    Perturbation("paragraphs", break_paragraphs, "same", "begins paragraphs elsewhere, indented"),
    Perturbation("wrap", wrap, "same", "wraps lines at 72 characters"),
    Perturbation("markdown", emphasise, "same", "sets words in italics or bold", "words", 0.05),
    Perturbation("title", add_title, "same", "puts a title above"),
    Perturbation("note", add_note, "same", "puts a note about the post below"),
    Perturbation("tokenised", tokenise, "same", "writes marks apart, as a tokeniser does"),
)  # fmt: skip

PERTURBATIONS: Mapping[str, Perturbation] = {
    perturbation.name: perturbation for perturbation in _ALL
}


def choose_perturbations(names: str | Iterable[str] | None = None) -> list[Perturbation]:
    """Give perturbations by their names, with commas or in a list, each once; all without any."""
    if names is None:
        return list(_ALL)
    given = [names] if isinstance(names, str) else names
    wanted = [part.strip() for name in given for part in name.split(",") if part.strip()]
    for name in wanted:
        if name not in PERTURBATIONS:
            raise UnknownName(f"no perturbation is called {name!r}", closest(name, PERTURBATIONS))
    if not wanted:
        raise SettingError("no perturbation is chosen", f"known: {', '.join(PERTURBATIONS)}")
    return [PERTURBATIONS[name] for name in dict.fromkeys(wanted)]
