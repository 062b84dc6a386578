"""Trimming a text while it is written: what of it may be shown, when it is enough, what stays.

A text is enough when it has the units that are wanted or its sentences; what stays of it has no
fragment of a sentence at its end. All this depends on the text alone, never on where the pieces
begin and end in which a model writes it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from fabula.authors.context.ranges import OPENING, count_units, locate_ends, locate_units
from fabula.core.author import Request, Wanted

# What lies farther back than this in the text before decides nothing about where a sentence ends.
_NEAR = 200


class Trimmer:
    """Is fed the pieces of a text and says what of them may be shown.

    `before` is the text that is written on: it counts for ranges told from the beginning, and what
    is fed may end a word or a sentence of it. `max_sentences` counts the sentences that end in what
    is fed; 0 is no limit. A text in which no sentence ends stays as it is: who asks for five words
    is given five. `cover` gives a text of the same length with words covered.

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
        cover: Callable[[str], str] | None = None,
    ) -> None:
        self.is_full = False
        self._unit = wanted.unit
        self._cover = cover
        self._written = self._shown = ""
        self._near = before[-_NEAR:]
        # A word that the text before leaves open is gone on with, so it belongs to what is fed.
        spans = [] if wanted.unit == "chars" else locate_units(before, wanted.unit)
        is_open = bool(spans) and wanted.unit != "sentences" and spans[-1][1] == len(before)
        self._open = before[spans[-1][0] :] if is_open else ""
        length = count_units(before, wanted.unit, keep_fragments=False)
        most = wanted.stop + 1 if wanted.stop is not None else None
        room = wanted.count if most is None else most - length
        self._room = None if room is None else max(0, room) + is_open
        self._sentences = max_sentences or None
        if room is not None and room <= 0:
            self._room, self.is_full = 0, True
        elif room is not None and wanted.unit == "sentences":
            self._sentences = min(room, max_sentences or room)
            self._room = None

    @classmethod
    def of(cls, request: Request) -> Trimmer:
        """Trim what is written for a request, and cover words where it asks for that."""
        from fabula.authors.context.profanity import cover_profanities

        return cls(
            request.wanted,
            request.context.text,
            max_sentences=request.decoding.max_sentences,
            cover=cover_profanities if request.decoding.filter else None,
        )

    def feed(self, piece: str) -> str:
        """Take a piece; give what may be shown after all that was shown before.

        Blanks are held back until something follows, and where words are covered, the last word.
        """
        if self.is_full:
            return ""
        self._written += piece
        cut = self._find_cut()
        self.is_full = cut is not None
        text = self._normalise(self._written)
        text = self._keep_settled(text) if cut is None else text[:cut]
        if self._cover:
            covered = self._cover(text)
            is_open = cut is None and text[-1:].strip()
            text = covered[: len(text) - len(text.split()[-1])] if is_open else covered
        text = text.rstrip()
        if not text.startswith(self._shown):
            return ""
        fresh, self._shown = text[len(self._shown) :], text
        return fresh

    @property
    def shown(self) -> str:
        """All that `feed` has given so far."""
        return self._shown

    @property
    def final(self) -> str:
        """What stays if nothing more comes."""
        cut = self._find_cut()
        if cut is None and self._unit == "chars":
            cut = self._room
        text = self._normalise(self._written)[:cut].rstrip()
        bare = text.rstrip(OPENING)
        if bare != text and bare[-1:].isspace():  # a quotation that has hardly been opened
            text = bare.rstrip()
        ends = [end for end, _ in self._locate_ends(text)]
        text = text[: ends[-1]] if ends else text
        return self._cover(text) if self._cover else text

    def finish(self) -> tuple[str, bool]:
        """End the text: what is to be shown yet, and whether it replaces all that was shown."""
        final = self.final
        if final.startswith(self._shown):
            return final[len(self._shown) :], False
        return final, True

    def _find_cut(self) -> int | None:
        """Where what was written is enough, or None if it is not yet."""
        if self._room == 0:
            return 0
        places = [self._find_unit_cut(), self._find_sentence_cut()]
        return min((place for place in places if place is not None), default=None)

    def _find_unit_cut(self) -> int | None:
        if self._room is None:
            return None
        if self._unit == "chars":
            settled = self._keep_settled(self._normalise(self._written))
            return self._room if len(settled) >= self._room else None
        text = self._open + self._written
        spans = locate_units(text, self._unit)
        if len(spans) < self._room:
            return None
        # The last unit may go on as long as nothing follows it.
        end = spans[self._room - 1][1]
        return end - len(self._open) if end < len(text) else None

    def _find_sentence_cut(self) -> int | None:
        if self._sentences is None:
            return None
        text = self._normalise(self._written)
        # At the very end it is not known yet whether the sentence goes on.
        ends = [end for end, after in self._locate_ends(text) if after < len(text)]
        return ends[self._sentences - 1] if len(ends) >= self._sentences else None

    def _locate_ends(self, text: str) -> list[tuple[int, int]]:
        """Ends of sentences in a text that follows the one before, and where the next begin."""
        size = len(self._near)
        ends = locate_ends(self._near + text)
        return [(end - size, after - size) for end, after in ends if end > size]

    def _normalise(self, text: str) -> str:
        return unicodedata.normalize("NFC", text) if self._unit == "chars" else text

    def _keep_settled(self, text: str) -> str:
        """Leave out the last letter of a text in NFC, which marks that follow would change."""
        if self._unit != "chars":
            return text
        last = len(text) - 1
        while last > 0 and unicodedata.combining(text[last]):
            last -= 1
        return text[: max(0, last)]
