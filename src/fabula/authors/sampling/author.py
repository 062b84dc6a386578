"""A co-author on a causal model: `embedded` and `huggingface` differ in where its weights are."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

from fabula.authors.sampling.loop import Loop, Prompt
from fabula.authors.sampling.prefixes import PrefixCache
from fabula.authors.sampling.rules import estimate_tokens, read_vocabulary
from fabula.core.author import Context, Piece, Request, Wanted
from fabula.core.errors import InputError, SettingError
from fabula.core.settings import AtLeast
from fabula.text.context.packing import Packed, pack_context
from fabula.text.prompting import render_prompt

if TYPE_CHECKING:
    from fabula.models.networks.checkpoint import Checkpoint

Tokens = Annotated[int, AtLeast(64)]
Count = Annotated[int, AtLeast(1)]
Megabytes = Annotated[int, AtLeast(0)]

# Of a context that does not fit, the text may grow by so many tokens before other segments give
# way: until then the prompt begins with the same tokens, and these need not be read again.
_GROWTH = 64
# The sign at the beginning, and the line that parts prompt and story.
_FRAME = 8
# What an assistant is asked for; its answer begins with the text that is written on.
_ASK = "Write a story."
# A name changes with how prompts are made and tokens are drawn, so that signatures do.
_REVISION = 1


@dataclass(frozen=True)
class SamplingSettings:
    """What may be set: the tokens that are shown, how many texts are written at once, the memory
    for what was read of stories, threads, and whether the model is asked as one asks an assistant.
    """

    window: int
    batch: int
    cache_mb: int
    threads: int | None = None
    is_chat: bool = False


@dataclass(eq=False)
class SampledAuthor:
    """Shows a context as training did, and draws what follows.

    `find` says where its weights are. Contexts have at most `window` tokens, 1,024 less the 25 of
    a request, as in STORIUM; fewer where the model's own window leaves no room for what is wanted.
    """

    find: Callable[[], Checkpoint]
    settings: SamplingSettings
    _checkpoint: Checkpoint | None = field(default=None, repr=False)
    _loop: Loop | None = field(default=None, repr=False)

    @property
    def signature(self) -> str:
        """Co-author, weights, precision, and what is shown."""
        manner = "chat," if self.settings.is_chat else ""
        settings = f"{manner}window={self.settings.window},revision={_REVISION}"
        return f"{self.checkpoint.identity},{settings}"

    @property
    def checkpoint(self) -> Checkpoint:
        """Where the weights are; what is not there is a `UserError`."""
        if self._checkpoint is None:
            _wait_quietly()
            self._checkpoint = self.find()
        return self._checkpoint

    def startup(self) -> None:
        """Load weights and tokeniser, unless that is done."""
        if self._loop is not None:
            return
        checkpoint = self.checkpoint
        net = checkpoint.model("AutoModelForCausalLM")
        if self.settings.is_chat and not checkpoint.tokenizer.chat_template:
            raise SettingError(f"{checkpoint.name} has no form for a chat", "leave chat out")
        if self._room(checkpoint, 1) < 32:
            raise SettingError(f"{checkpoint.name} reads too few tokens at once", "take another")
        if self.settings.threads:
            import torch

            torch.set_num_threads(self.settings.threads)
        self._loop = Loop(
            self._open_decoder(net),
            checkpoint.tokenizer,
            read_vocabulary(checkpoint.tokenizer, _find_ends(net)),
            self._places(checkpoint),
            PrefixCache(self.settings.cache_mb * 2**20),
            self._make_prompt,
        )

    def _open_decoder(self, net: Any) -> Any:
        """Make what reads on with the model's weights, which are loaded."""
        from fabula.models.networks.decoder import open_decoder

        return open_decoder(self.checkpoint, self._places(self.checkpoint), net=net)

    def shutdown(self) -> None:
        """Free weights and all that was kept."""
        if self._loop is not None:
            self._loop.prefixes.clear()
            self._loop = None
            gc.collect()

    def preprocess(self, context: Context) -> None:
        """Read a context, and keep what was read under its story.

        Of a game alone nothing is read: what of it will be shown is not known yet.
        """
        if not context.segments and not context.text:
            return
        loop = self._started()
        prompt = self._make_prompt(Request("", context))
        state, _ = loop.read(context.story, prompt.ids)
        loop.prefixes.keep(context.story, state)

    def generate(self, requests: Sequence[Request]) -> Iterator[Piece]:
        """Write on for all requests, `batch` of them side by side."""
        loop, size = self._started(), self.settings.batch
        for start in range(0, len(requests), size):
            yield from loop.write(requests[start : start + size])

    def _started(self) -> Loop:
        self.startup()
        assert self._loop is not None
        return self._loop

    def _places(self, checkpoint: Checkpoint) -> int:
        """Tokens of a whole text: what is shown and as much again, as far as the model reads."""
        wanted = 2 * self.settings.window
        return min(wanted, checkpoint.limit or wanted)

    def _room(self, checkpoint: Checkpoint, wanted: int) -> int:
        """Tokens of a context, beside what is wanted: at least half of what the model reads."""
        places = self._places(checkpoint)
        frame = len(self._encode_blocks(())) if self.settings.is_chat else 0
        return min(self.settings.window, places - min(wanted, places // 2)) - frame - _FRAME

    def _make_prompt(self, request: Request) -> Prompt:
        text = request.context.text
        # A word brings the blank before it: after a blank of the text it would be a second one.
        bare = text.rstrip(" ")
        packed = self._pack(replace(request.context, text=bare), request.wanted)
        if not (ids := (*self._encode_blocks(packed.blocks), *packed.ids[-1])):
            raise InputError("there is nothing to write on from", "give a prompt or a beginning")
        return Prompt(ids, packed.seen, is_begun=bare != text or not bare)

    def _pack(self, context: Context, wanted: Wanted) -> Packed:
        room = self._room(self.checkpoint, estimate_tokens(wanted, wanted.count))
        packed = pack_context(context, self._encode, self._decode, room)
        if all(segment.tokens == segment.available for segment in packed.seen):
            return packed
        length = len(self._encode(context.text))
        return pack_context(
            context, self._encode, self._decode, max(room - (-length % _GROWTH), room // 2)
        )

    def _encode_blocks(self, blocks: Sequence[tuple[str, str]]) -> list[int]:
        """What stands before the text: blocks as training shows them, or a message that asks."""
        from fabula.models.reading.tokens import find_beginning

        tokenizer = self.checkpoint.tokenizer
        if not self.settings.is_chat:
            return [*find_beginning(tokenizer), *self._encode(render_prompt(blocks))]
        message = {"role": "user", "content": f"{_ASK}\n\n{render_prompt(blocks, '')}".strip()}
        asked = tokenizer.apply_chat_template([message], tokenize=False, add_generation_prompt=True)
        return self._encode(asked)

    def _encode(self, text: str) -> list[int]:
        from fabula.models.reading.tokens import tokenise

        return list(tokenise(self.checkpoint.tokenizer, [text])[0].ids)

    def _decode(self, ids: Sequence[int]) -> str:
        tokenizer = self.checkpoint.tokenizer
        return str(tokenizer.decode(list(ids), clean_up_tokenization_spaces=False))


def _wait_quietly() -> None:
    """Let threads of torch sleep while they wait for one another, unless the user says otherwise.

    They would spin: beside a server, or anything else that wants the same cores, a token then takes
    ten times as long. It is read when torch is first imported.
    """
    if "torch" not in sys.modules:
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def _find_ends(net: Any) -> list[int]:
    """Tokens that a checkpoint says texts end with: none, one or several."""
    ends = getattr(getattr(net, "generation_config", None), "eos_token_id", None)
    return (
        [] if ends is None else [int(end) for end in (ends if isinstance(ends, list) else [ends])]
    )
