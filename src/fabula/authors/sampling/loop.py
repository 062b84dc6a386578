"""The loop: contexts are read, tokens drawn side by side, and texts given out piece by piece.

Every request has its own state, generator of chance and trimmer; they share the products of a step
alone. One that ends, fails or is cancelled leaves the batch, which goes on without it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.authors.context.ranges import count_remaining
from fabula.authors.context.trimming import Trimmer
from fabula.authors.sampling.prefixes import PrefixCache
from fabula.authors.sampling.rules import (
    Vocabulary,
    adjust_logits,
    check_decoding,
    choose_candidates,
    draw_token,
    estimate_tokens,
    open_chance,
)
from fabula.core.author import Piece, Request, SeenSegment
from fabula.core.errors import UserError

if TYPE_CHECKING:
    from fabula.models.networks.decoder import Decoder

_log = logging.getLogger(__name__)

# Tokens that are read at once: between two such parts it is asked whether to go on.
_READ_AT_ONCE = 256
# Tokens of the prompt that are decoded before those that were written, so that blanks stay.
_ANCHOR = 4
# A sentence of prose, for how long a text will get that is limited by sentences.
_SENTENCE_TOKENS = 22
# How much longer than estimated a text may get, in a language of rare tokens.
_STRETCH = 4


@dataclass(frozen=True)
class Prompt:
    """What a model is shown for a request: its tokens, and what they were made of.

    `is_begun`: a blank was taken off the end of the text, so that the first word brings its own.
    """

    ids: tuple[int, ...]
    seen: tuple[SeenSegment, ...]
    is_begun: bool


class _Cancelled(Exception):
    """Nobody wants the text any more."""


@dataclass(eq=False)
class _Writing:
    """One request while it is written; `_begin` fills what it needs."""

    request: Request
    prompt: Prompt = Prompt((), (), is_begun=False)
    state: Any = field(default=None, repr=False)
    trimmer: Trimmer = field(init=False)
    chance: np.random.Generator = field(init=False)
    wanted: int = 1  # tokens that the end is penalised by
    most: int = 1  # tokens after which it is over
    ids: list[int] = field(default_factory=list)
    text: str = ""

    def end(
        self, status: Any, text: str = "", *, replaces: bool = False, problem: str = ""
    ) -> Piece:
        """Make the last piece."""
        return Piece(
            self.request.id,
            text,
            status,
            replaces=replaces,
            problem=problem,
            tokens=len(self.ids),
            seen=self.prompt.seen,
        )


@dataclass(eq=False)
class Loop:
    """A causal model with its tokeniser, writing for several requests at once.

    `places` is how many tokens a text may have in all; `make_prompt` says what is shown.
    """

    decoder: Decoder[Any] = field(repr=False)
    tokenizer: Any = field(repr=False)
    vocabulary: Vocabulary
    places: int
    prefixes: PrefixCache
    make_prompt: Callable[[Request], Prompt]

    def read(self, story: str, ids: Sequence[int], stop: Callable[[], bool] = lambda: False) -> Any:
        """Read a text and give its state and the logits after it; what was kept is not read again.

        What was read is kept at once, also where `stop` then ends it.
        """
        state = self.prefixes.take(story, ids) or self.decoder.open_state()
        logits = None
        while len(state.ids) < len(ids):
            if stop():
                self.prefixes.keep(story, state)
                raise _Cancelled
            part = ids[len(state.ids) : len(state.ids) + _READ_AT_ONCE]
            [logits] = self.decoder.advance([state], [part])
        return state, logits

    def write(self, requests: Sequence[Request]) -> Iterator[Piece]:
        """Write on for all requests; every one ends with a piece that has a status."""
        running: list[_Writing] = []
        for writing in map(_Writing, requests):
            is_over = yield from self._guard(writing, self._begin(writing))
            running += [] if is_over else [writing]
        while running:
            wanted: list[_Writing] = []
            for writing in running:
                if writing.request.is_cancelled():
                    yield self._leave(writing, writing.end("cancelled"))
                else:
                    wanted.append(writing)
            running = []
            for writing, logits in zip(wanted, self._advance(wanted), strict=True):
                is_over = yield from self._guard(writing, self._go_on(writing, logits))
                running += [] if is_over else [writing]

    def _guard(self, writing: _Writing, pieces: Iterator[Piece]) -> Generator[Piece, None, bool]:
        """Give the pieces of one request, and whether the last one was among them.

        What fails becomes its last piece, a sentence.
        """
        is_over = False
        try:
            for piece in pieces:
                is_over = is_over or bool(piece.status)
                yield piece
        except _Cancelled:
            yield writing.end("cancelled")
        except UserError as error:
            yield writing.end("failed", problem=str(error))
        except Exception as error:  # the border at which a model's failure becomes a sentence
            _log.exception("request %s failed", writing.request.id)
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            problem = f"the model failed ({reason}); ask again, or choose another co-author"
            yield writing.end("failed", problem=problem)
        else:
            return is_over
        return True

    def _begin(self, writing: _Writing) -> Iterator[Piece]:
        """Read what the model is shown, and draw the first token."""
        request = writing.request
        check_decoding(request.decoding)
        if request.is_cancelled():
            raise _Cancelled
        writing.prompt, writing.trimmer = self.make_prompt(request), Trimmer.of(request)
        if writing.trimmer.is_full:
            yield writing.end("done")
            return
        ids = writing.prompt.ids
        remaining = count_remaining(request.wanted, request.context.text)
        wanted, limit = estimate_tokens(request.wanted, remaining), request.decoding.max_sentences
        writing.wanted = min(wanted, limit * _SENTENCE_TOKENS) if limit else wanted
        writing.most = min(wanted * _STRETCH + _SENTENCE_TOKENS, self.places - len(ids))
        writing.chance = open_chance(request.seed, ids)
        writing.state, logits = self.read(request.context.story, ids, request.is_cancelled)
        yield from self._go_on(writing, logits)

    def _advance(self, writings: Sequence[_Writing]) -> list[Any]:
        """Read the last token of all; give the logits of each, or what went wrong with it."""
        if not writings:
            return []
        news = [[writing.ids[-1]] for writing in writings]
        try:
            return list(self.decoder.advance([writing.state for writing in writings], news))
        except Exception as error:  # each by itself, and only what fails again has failed
            if len(writings) == 1:
                return [error]
            return [self._advance([writing])[0] for writing in writings]

    def _go_on(self, writing: _Writing, logits: Any) -> Iterator[Piece]:
        """Draw the next token; give what it adds to the text, or end it."""
        if isinstance(logits, Exception):
            raise logits
        decoding, trimmer = writing.request.decoding, writing.trimmer
        adjusted = adjust_logits(
            logits.double().cpu().numpy(),
            decoding,
            self.vocabulary,
            written=writing.ids,
            context=len(writing.prompt.ids),
            wanted=writing.wanted,
        )
        token = draw_token(*choose_candidates(adjusted, decoding), writing.chance.random())
        is_end = token in self.vocabulary.ends
        if not is_end:
            writing.ids.append(token)
            if shown := trimmer.feed(self._decode_on(writing)):
                yield Piece(writing.request.id, shown)
        if is_end or trimmer.is_full or len(writing.ids) >= writing.most:
            text, replaces = trimmer.finish()
            yield self._leave(writing, writing.end("done", text, replaces=replaces))

    def _decode_on(self, writing: _Writing) -> str:
        """Give what the last token adds to the text: whole characters only.

        All is decoded anew, with a little of the prompt before it: what a token says may depend on
        those beside it, and a character may need several.
        """
        anchor = list(writing.prompt.ids[-_ANCHOR:])
        before = self._decode(anchor)
        text = self._decode([*anchor, *writing.ids])
        text = text[len(before) :] if text.startswith(before) else self._decode(writing.ids)
        text = text.rstrip("\ufffd")
        if writing.prompt.is_begun:
            text = text.lstrip(" ") if writing.request.context.text else text.lstrip()
        if not text.startswith(writing.text):
            return ""
        fresh, writing.text = text[len(writing.text) :], text
        return fresh

    def _decode(self, ids: Sequence[int]) -> str:
        # A number beyond the vocabulary says what a token belongs to as well: see `storium`.
        plain = [number % self.vocabulary.size for number in ids]
        return str(
            self.tokenizer.decode(
                plain, skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )

    def _leave(self, writing: _Writing, piece: Piece) -> Piece:
        """End a text that has not failed: what was read of it is kept for the next request."""
        self.prefixes.keep(writing.request.context.story, writing.state)
        return piece
