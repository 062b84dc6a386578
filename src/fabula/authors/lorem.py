"""A co-author for tests and tries: words without meaning, at once, the same for the same seed.

It is also how to write one: the four methods, and what each owes to whoever calls it.
"""

from __future__ import annotations

import random
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Annotated

from fabula.authors.context.trimming import Trimmer
from fabula.core.author import Context, Piece, Request
from fabula.core.errors import UserError
from fabula.core.settings import AtLeast, Between
from fabula.text.context.packing import Packed, pack_context

# Packages that must be there, as pip names them; `fabula author install NAME` brings them.
REQUIRES: tuple[str, ...] = ()

_REVISION = 1
_KEPT_STORIES = 256
_SENTENCE_WORDS = (4, 14)
_LEXICON = (
    "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut "
    "labore et dolore magna aliqua enim ad minim veniam quis nostrud exercitation ullamco laboris "
    "nisi aliquip ex ea commodo consequat duis aute irure in reprehenderit voluptate velit esse "
    "cillum eu fugiat nulla pariatur excepteur sint occaecat cupidatat non proident sunt culpa qui "
    "officia deserunt mollit anim id est laborum"
).split()


def load(
    *,
    delay_s: Annotated[float, AtLeast(0)] = 0.0,
    fail: Annotated[float, Between(0, 1)] = 0.0,
    words: Annotated[int, AtLeast(1)] = 60,
    window: Annotated[int, AtLeast(100)] = 4000,
) -> Lorem:
    """Make it: seconds before every word, the share of requests that fail, how many words a text
    has where nobody says, and how many characters it reads."""
    return Lorem(delay_s=delay_s, fail=fail, words=words, window=window)


class Lorem:
    """Writes words without meaning; reading, its token is a character, and writing, a word."""

    def __init__(self, *, delay_s: float, fail: float, words: int, window: int) -> None:
        self.delay_s, self.fail, self.words, self.window = delay_s, fail, words, window
        self._kept: OrderedDict[str, tuple[Context, Packed]] = OrderedDict()

    @property
    def signature(self) -> str:
        """What its texts depend on. How slow it is and how often it fails changes no text."""
        return f"lorem,words={self.words},revision={_REVISION}"

    def startup(self) -> None:
        """Nothing has to be loaded. Called again, it changes nothing."""

    def shutdown(self) -> None:
        """Forget all stories."""
        self._kept.clear()

    def preprocess(self, context: Context) -> None:
        """Keep what it sees of a story; of many stories, those that were used last."""
        self._look_at(context)

    def generate(self, requests: Sequence[Request]) -> Iterator[Piece]:
        """Write on for all requests side by side, a word of each in turn."""
        texts = [self._write(request) for request in requests]
        while texts:
            if self.delay_s:
                time.sleep(self.delay_s)
            still_writing = []
            for text in texts:
                piece = next(text)
                if piece.text or piece.status:
                    yield piece
                if not piece.status:
                    still_writing.append(text)
            texts = still_writing

    def _look_at(self, context: Context) -> Packed:
        """What fits into the window; where nothing has changed, what was kept."""
        kept = self._kept.pop(context.story, None)
        if kept is None or kept[0] != context:
            packed = pack_context(
                context,
                lambda text: [ord(sign) for sign in text],
                lambda ids: "".join(map(chr, ids)),
                self.window,
            )
            kept = (context, packed)
        self._kept[context.story] = kept
        while len(self._kept) > _KEPT_STORIES:
            self._kept.popitem(last=False)
        return kept[1]

    def _write(self, request: Request) -> Iterator[Piece]:
        """The pieces of one text, word by word; the last has a status."""
        # The words depend on the seed and what is gone on with, not on the request's place or id.
        before = request.context.text
        draw = random.Random(f"{request.seed}/{request.context.story}/{before}")
        fails_after = draw.randint(0, 9) if draw.random() < self.fail else None
        try:
            seen, trimmer = self._look_at(request.context).seen, Trimmer.of(request)
        except UserError as error:  # one that fails does not take the others along
            yield Piece(request.id, "", "failed", problem=str(error))
            return
        ending = _draw_words(draw, before)
        written = 0
        while not trimmer.is_full and (written < self.words or _is_told(request)):
            if request.is_cancelled():
                yield Piece(request.id, "", "cancelled", tokens=written, seen=seen)
                return
            if fails_after is not None and written >= fails_after:
                problem = "lorem was told to fail now and then"
                yield Piece(request.id, "", "failed", problem=problem, tokens=written, seen=seen)
                return
            written += 1
            yield Piece(request.id, trimmer.feed(next(ending)))
        text, replaces = trimmer.finish()
        yield Piece(request.id, text, "done", replaces=replaces, tokens=written, seen=seen)


def _is_told(request: Request) -> bool:
    """Whether the request says itself when it is enough, in units or in sentences."""
    wanted = request.wanted
    return wanted.stop is not None or wanted.count is not None


def _draw_words(draw: random.Random, before: str) -> Iterator[str]:
    """Sentences without end; a blank before every word but where a text or a line begins."""
    is_first = not before or before[-1].isspace()
    while True:
        size = draw.randint(*_SENTENCE_WORDS)
        for place in range(size):
            word = draw.choice(_LEXICON)
            word = word.capitalize() if place == 0 else word
            mark = "." if place == size - 1 else "," if draw.random() < 0.1 else ""
            yield f"{'' if is_first else ' '}{word}{mark}"
            is_first = False
