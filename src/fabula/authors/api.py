"""A co-author on a server that speaks OpenAI's or Anthropic's protocol.

The packed context is the prompt, the system text asks to go on in the same voice. Answers are
streamed, several side by side. How many tokens a text has only the server knows: lengths here are
estimates, four characters a token.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from fabula.authors.context.ranges import count_remaining
from fabula.authors.serving.side_by_side import write_side_by_side
from fabula.core.author import Context, Decoding, Piece, Request
from fabula.core.errors import SettingError, closest
from fabula.core.settings import AtLeast
from fabula.models.api import ApiModel, AtOnce, Count, Price, Seconds
from fabula.models.api import load as load_model
from fabula.models.servers.http import ServerError
from fabula.models.servers.stream import TextStream
from fabula.models.servers.wire import Style, Wish
from fabula.text.context.packing import Packed, pack_context
from fabula.text.prompting import render_prompt

# Packages that must be there, as pip names them: none.
REQUIRES: tuple[str, ...] = ()

# When the words below change, so do the texts.
_PROMPT_VERSION = 1
_SYSTEM = (
    "You continue stories. Write on from exactly where the text ends, in the same voice, person "
    "and tense, true to what you are told of characters and events.{length} Give the continuation "
    "alone: no preamble, no title, no remarks, nothing of the text repeated."
)
_CHARS_PER_TOKEN = 4
# Tokens a unit may need, generously: what is too much is cut, what is too little cannot be mended.
_TOKENS_PER_UNIT = {"chars": 0.5, "words": 2.0, "tokens": 2.5, "sentences": 60.0}
_LEAST_TOKENS, _UNTOLD_TOKENS, _MOST_TOKENS = 32, 512, 4096
_CLOSING = ",.;:!?…)]"
# Options beyond those that all servers know, and what of the decoding they are.
_OPTIONS = {"top_k": "top_k", "repetition_penalty": "penalty"}


def load(
    model: str,
    *,
    base_url: str,
    style: Style = "openai",
    key_env: str | None = None,
    budget: Annotated[int, AtLeast(200)] = 4000,
    thinking: Count = 0,
    options: str = "",
    timeout_s: Seconds = 60.0,
    retries: Count = 4,
    max_concurrent: AtOnce = 8,
    price_in: Price = None,
    price_out: Price = None,
    log: str | None = None,
) -> ServerAuthor:
    """Take a model of a server; `base_url`, keys, prices and `log` are those of a model's spec.

    `budget` is how many tokens of a context are shown, `thinking` how many a model may spend before
    it writes, `options` names what else the server knows: `top_k,repetition_penalty`.
    """
    names = tuple(name.strip() for name in options.split(",") if name.strip())
    for name in names:
        if name not in _OPTIONS:
            raise SettingError(f"api: no option is called {name!r}", closest(name, _OPTIONS))
    server_model = load_model(
        model,
        base_url=base_url,
        style=style,
        key_env=key_env,
        timeout_s=timeout_s,
        retries=retries,
        max_concurrent=max_concurrent,
        price_in=price_in,
        price_out=price_out,
        log=log,
    )
    return ServerAuthor(server_model, style, budget, thinking, names)


class _Answer:
    """The answer of a server as a text that goes on with another."""

    def __init__(self, stream: TextStream, before: str, packed: Packed) -> None:
        self.stream, self.before, self.seen = stream, before, packed.seen

    def __iter__(self) -> Iterator[str]:
        """Give the pieces; one that declines to write has failed."""
        is_first = True
        for piece in self.stream:
            yield self._join(piece) if is_first else piece
            is_first = False
        if self.stream.ending == "refusal":
            raise ServerError("the model declined to go on with this text")
        if self.stream.ending == "length" and not self.stream.text.strip():
            raise ServerError("the model thought and wrote nothing", "give it more: thinking=4000")

    def close(self) -> None:
        """Close the connection."""
        self.stream.close()

    def count_tokens(self) -> int:
        """As the server counts, else by characters."""
        return self.stream.tokens[1] or -(-len(self.stream.text) // _CHARS_PER_TOKEN)

    def _join(self, piece: str) -> str:
        """Put a blank where an answer begins with a word and the text does not end with one."""
        if not self.before or self.before[-1].isspace():
            return piece.lstrip()
        is_joined = not piece or piece[0].isspace() or piece[0] in _CLOSING
        return piece if is_joined else f" {piece}"


@dataclass(eq=False)
class ServerAuthor:
    """Asks a server to go on with each text, as many side by side as it may."""

    model: ApiModel
    style: Style
    budget: int
    thinking: int
    options: tuple[str, ...]

    @property
    def signature(self) -> str:
        """Style, model, prompt and budget; where the server stands is nobody's business."""
        parts = ["api", self.style, self.model.model, f"prompt={_PROMPT_VERSION}"]
        parts += [f"budget={self.budget}", *(["thinking"] if self.thinking else []), *self.options]
        return ",".join(parts)

    def startup(self) -> None:
        """Look whether there is a key, or a server on this machine; nothing is asked yet."""
        server = self.model.server
        server.need_reach()
        if not server.is_local and not server.key:
            raise SettingError(f"{server.host} wants a key", f"set {server.key_env}")

    def shutdown(self) -> None:
        """Nothing is kept."""

    def preprocess(self, context: Context) -> None:
        """Servers keep nothing of a story."""

    def generate(self, requests: Sequence[Request]) -> Iterator[Piece]:
        """Write on for all requests, as many side by side as are allowed."""
        return write_side_by_side(requests, self._open, self.model.max_concurrent or 1)

    def _open(self, request: Request) -> _Answer:
        packed = _pack(request.context, self.budget)
        stream = self.model.stream(
            _make_prompt(packed), self._make_wish(request), system=_make_system(request.decoding)
        )
        return _Answer(stream, request.context.text, packed)

    def _make_wish(self, request: Request) -> Wish:
        decoding = request.decoding
        return Wish(
            max_tokens=_find_most_tokens(request) + self.thinking,
            temperature=decoding.temperature,
            top_p=decoding.top_p,
            top_k=decoding.top_k,
            seed=request.seed,
            extra={name: getattr(decoding, _OPTIONS[name]) for name in self.options},
        )


def _find_most_tokens(request: Request) -> int:
    """How many tokens an answer may have to be sure to hold what is wanted."""
    unit, sentences = request.wanted.unit, request.decoding.max_sentences
    room = count_remaining(request.wanted, request.context.text)
    most = _UNTOLD_TOKENS if room is None else room * _TOKENS_PER_UNIT[unit]
    if sentences:
        most = min(most, sentences * _TOKENS_PER_UNIT["sentences"])
    return round(min(max(most, _LEAST_TOKENS), _MOST_TOKENS))


def _make_system(decoding: Decoding) -> str:
    most = decoding.max_sentences
    length = f" Write at most {most} sentence{'s' if most > 1 else ''}." if most else ""
    return _SYSTEM.format(length=length)


def _make_prompt(packed: Packed) -> str:
    told = render_prompt(packed.blocks, tag="")
    text = packed.text.strip()
    return f"{told}The text so far:\n\n{text}" if text else f"{told}Nothing is written yet: begin."


def _pack(context: Context, budget: int) -> Packed:
    """Fit a context into the budget, by tokens of four characters."""
    parts: list[str] = []

    def encode(text: str) -> Sequence[int]:
        begin = len(parts)
        parts.extend(
            text[at : at + _CHARS_PER_TOKEN] for at in range(0, len(text), _CHARS_PER_TOKEN)
        )
        return range(begin, len(parts))

    return pack_context(context, encode, lambda ids: "".join(parts[i] for i in ids), budget)
