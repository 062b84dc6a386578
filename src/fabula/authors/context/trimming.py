"""Trimming a text while it is written: what of it may be shown, when it is enough, what stays.

A text is enough when it has the units that are wanted or its sentences; what stays of it has no
fragment of a sentence at its end. All this depends on the text alone, never on where the pieces
begin and end in which a model writes it.
"""

from __future__ import annotations

import re
import unicodedata

from fabula.authors.context.profanity import WordFilter, load_filter
from fabula.authors.context.ranges import OPENING, count_units, locate_ends, locate_units
from fabula.core.author import Request, Unit, Wanted

# What lies farther back than this in the text before decides nothing about where a sentence ends.
_NEAR = 200
# Where a word begins, all sentences before it have ended or go on, whatever comes.
_BEGUN = re.compile(r"\s(?=[^\W_])")


class Trimmer:
    """Is fed the pieces of a text and says what of them may be shown.

    `before` is the text that is written on: it counts for ranges told from the beginning, and what
    is fed may end a word or a sentence of it. `max_sentences` counts the sentences that end in what
    is fed; 0 is no limit. A text in which no sentence ends stays as it is: who asks for five words
    is given five. `cover` has the words that nobody is to see.

        trimmer = Trimmer.of(request)
        for token in model:
            yield Piece(request.id, trimmer.feed(token))
            if trimmer.is_full:
                break
        text, replaces = trimmer.finish()
        yield Piece(request.id, text, status="done", replaces=replaces)
    """

    def __init__(
        self,
        wanted: Wanted,
        before: str = "",
        *,
        max_sentences: int = 0,
        cover: WordFilter | None = None,
    ) -> None:
        length = count_units(before, wanted.unit, keep_fragments=False)
        most = None if wanted.stop is None else wanted.stop + 1 - length
        room = most if wanted.count is None else wanted.count
        if wanted.unit == "sentences" and room is not None:
            max_sentences, room = min(room, max_sentences or room), 0 if room <= 0 else None
        self._unit, self._room = wanted.unit, room
        self._cut = 0 if room is not None and room <= 0 else None
        self._written = self._shown = self._covered = ""
        self._near = before[-_NEAR:]
        self._cover = cover
        self._units = _UnitLimit(wanted.unit, room, before) if room and room > 0 else None
        self._sentences = _SentenceLimit(max_sentences, self._near) if max_sentences > 0 else None

    @classmethod
    def of(cls, request: Request) -> Trimmer:
        """Trim what is written for a request, and cover words where it asks for that."""
        return cls(
            request.wanted,
            request.context.text,
            max_sentences=request.decoding.max_sentences,
            cover=load_filter() if request.decoding.filter else None,
        )

    @property
    def is_full(self) -> bool:
        """Whether it is enough: nothing that comes can change what stays."""
        return self._cut is not None

    @property
    def shown(self) -> str:
        """All that `feed` has given so far."""
        return self._shown

    def feed(self, piece: str) -> str:
        """Take a piece; give what may be shown after all that was shown before.

        Blanks are held back until something follows, and where words are covered, the last word.
        """
        if self.is_full:
            return ""
        self._written += piece
        text = _normalise(self._written, self._unit)
        limits = [limit for limit in (self._units, self._sentences) if limit]
        cuts = [cut for limit in limits if (cut := limit.find(text)) is not None]
        self._cut = min(cuts, default=None)
        text = _keep_settled(text, self._unit) if self._cut is None else text[: self._cut]
        if self._cover:
            text = self._cover_fresh(text)
        text = text.rstrip()
        if not text.startswith(self._shown):
            return ""
        fresh, self._shown = text[len(self._shown) :], text
        return fresh

    def _cover_fresh(self, text: str) -> str:
        """Cover words, read on from where none was under way; a last word may still become one."""
        assert self._cover is not None
        covered, settled = self._cover.cover_on(text[len(self._covered) :])
        whole = (self._covered + covered)[: len(text)]
        self._covered = whole[: len(self._covered) + settled]
        is_open = self._cut is None and text[-1:].strip()
        return whole[: len(text) - len(text.split()[-1])] if is_open else whole

    @property
    def final(self) -> str:
        """What stays if nothing more comes."""
        cut = self._room if self._cut is None and self._unit == "chars" else self._cut
        text = _normalise(self._written, self._unit)[:cut].rstrip()
        bare = text.rstrip(OPENING)
        if bare != text and bare[-1:].isspace():  # a quotation that has hardly been opened
            text = bare.rstrip()
        size = len(self._near)
        ends = [end - size for end, _ in locate_ends(self._near + text) if end > size]
        text = text[: ends[-1]] if ends else text
        return self._cover.cover(text) if self._cover else text

    def finish(self) -> tuple[str, bool]:
        """End the text: what is to be shown yet, and whether it replaces all that was shown."""
        final = self.final
        if final.startswith(self._shown):
            return final[len(self._shown) :], False
        return final, True


class _UnitLimit:
    """Finds the end of the last unit that is wanted; reads every unit of a growing text once."""

    def __init__(self, unit: Unit, room: int, before: str) -> None:
        # A word that the text before leaves open is gone on with, so it belongs to what is fed.
        spans = [] if unit in ("chars", "sentences") else locate_units(before, unit)
        self.open = before[spans[-1][0] :] if spans and spans[-1][1] == len(before) else ""
        self.unit, self.left, self.start = unit, room + bool(self.open), 0

    def find(self, text: str) -> int | None:
        if self.unit == "chars":
            return self.left if len(_keep_settled(text, "chars")) >= self.left else None
        offset = self.start - len(self.open)
        fresh = self.open + text[self.start :]
        spans = locate_units(fresh, self.unit)
        # The last unit may go on as long as nothing follows it.
        if len(spans) >= self.left and spans[self.left - 1][1] < len(fresh):
            return offset + spans[self.left - 1][1]
        if len(spans) > 1:
            self.left -= len(spans) - 1
            self.start, self.open = offset + spans[-1][0], ""
        return None


class _SentenceLimit:
    """Finds the end of the last sentence that is wanted; reads every sentence once."""

    def __init__(self, most: int, near: str) -> None:
        self.left, self.near, self.start = most, near, 0

    def find(self, text: str) -> int | None:
        size = len(self.near)
        fresh = self.near + text[self.start :]
        # At the very end it is not known yet whether the sentence goes on.
        ends = [end for end, after in locate_ends(fresh) if size < end and after < len(fresh)]
        if len(ends) >= self.left:
            return self.start - size + ends[self.left - 1]
        begun = max((match.end() for match in _BEGUN.finditer(fresh, size)), default=0)
        if begun > size:
            self.left -= sum(end < begun for end in ends)
            self.start, self.near = self.start - size + begun, ""
        return None


def _normalise(text: str, unit: Unit) -> str:
    return unicodedata.normalize("NFC", text) if unit == "chars" else text


def _keep_settled(text: str, unit: Unit) -> str:
    """Leave out the last letter of a text in NFC, which marks that follow would change."""
    if unit != "chars":
        return text
    last = len(text) - 1
    while last > 0 and unicodedata.combining(text[last]):
        last -= 1
    return text[: max(0, last)]
